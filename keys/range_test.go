package keys_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keys"
)

func TestSuccessorCodePoints(t *testing.T) {
	for _, tt := range []struct {
		prefix, want string
		ok           bool
	}{
		{"USER#1#", "USER#1$", true},
		{"", "", false},
		{"a\U0010FFFF", "b", true},
		{"\U0010FFFF\U0010FFFF", "", false},
		{"\ud7ff", "\ue000", true},
		{"\x7f", "\u0080", true},
		{"\u07ff", "\u0800", true},
		{"\uffff", "\U00010000", true},
		{"a\xff", "", false},
	} {
		if got, ok := keys.Successor(tt.prefix); got != tt.want || ok != tt.ok {
			t.Errorf("Successor(%q) = %q, %v, want %q, %v", tt.prefix, got, ok, tt.want, tt.ok)
		}
	}
	// No UTF-8 string lies between the strings with a prefix and the successor, because the successor's last code
	// point is the next valid one.
	for r := range utf8.MaxRune {
		if !utf8.ValidRune(r) {
			continue
		}
		next := r + 1
		for !utf8.ValidRune(next) {
			next++
		}
		if got, ok := keys.Successor("x" + string(r)); got != "x"+string(next) || !ok {
			t.Fatalf("Successor(%q) = %q, %v", "x"+string(r), got, ok)
		}
	}
}

func TestRanges(t *testing.T) {
	order := keys.MustParse("C#{customer}#{placed:date}#{id}")
	latest := keys.MustParse("{score:int(4):desc}#{name}")
	day := keys.MustParse("{at:date}")
	for _, tt := range []struct {
		name string
		r    keys.Range
		err  error
		want string
	}{
		ranged("all", order.Under)(`begins_with "C#"`),
		ranged("customer", order.Under, "7")(`begins_with "C#7#"`),
		ranged("key", order.Under, "7", "2026-01-05", "x")(`= "C#7#2026-01-05#x"`),
		begins("month", order, "2026-01", "7")(`begins_with "C#7#2026-01"`),
		between("days", order, "2026-01-05", "2026-01-31", 7)(`BETWEEN "C#7#2026-01-05#" AND "C#7#2026-01-31$"`),
		between("from", order, "2026-01-05", nil, 7)(`BETWEEN "C#7#2026-01-05#" AND "C#7$"`),
		between("until", order, nil, "2026-01-05", 7)(`BETWEEN "C#7#" AND "C#7#2026-01-05$"`),
		between("before", order, nil, keys.Excluding("2026-01-05"), 7)(`BETWEEN "C#7#" AND "C#7#2026-01-05#"`),
		between("after", order, keys.Excluding("2026-01-05"), nil, 7)(`BETWEEN "C#7#2026-01-05$" AND "C#7$"`),
		between("ids", order, "a", "b", 7, "2026-01-05")(`BETWEEN "C#7#2026-01-05#a" AND "C#7#2026-01-05#b"`),
		between("inner ids", order, keys.Excluding("a"), keys.Excluding("b"), 7, "2026-01-05")(
			`BETWEEN "C#7#2026-01-05#a\x00" AND "C#7#2026-01-05#a` + "\U0010ffff" + `"`,
		),
		between("open", order, nil, nil, 7)(`begins_with "C#7#"`),
		between("reversed", latest, 100, 200)(`BETWEEN "9799#" AND "9899$"`),
		between("at least", latest, 100, nil)(`<= "9899$"`),
		between("at most", latest, nil, 100)(`>= "9899#"`),
		between("one", day, "2026-01-05", "2026-01-05")(`= "2026-01-05"`),
		between("everything", day, nil, nil)(`all keys`),
	} {
		if tt.err != nil {
			t.Errorf("%s: %v", tt.name, tt.err)
		}
		if got := strings.ReplaceAll(tt.r.String(), `\U0010ffff`, "\U0010ffff"); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.name, got, tt.want)
		}
	}
}

type rangeCase = struct {
	name string
	r    keys.Range
	err  error
	want string
}

func ranged(name string, f func(...any) (keys.Range, error), args ...any) func(string) rangeCase {
	r, err := f(args...)
	return func(want string) rangeCase { return rangeCase{name, r, err, want} }
}

func between(name string, t *keys.Template, from, to any, outer ...any) func(string) rangeCase {
	r, err := t.Between(from, to, outer...)
	return func(want string) rangeCase { return rangeCase{name, r, err, want} }
}

func begins(name string, t *keys.Template, partial string, outer ...any) func(string) rangeCase {
	r, err := t.BeginsWith(partial, outer...)
	return func(want string) rangeCase { return rangeCase{name, r, err, want} }
}

// TestBetween compares Contains with a check of the values of each key.
func TestBetween(t *testing.T) {
	for _, src := range []string{
		"T#{a:int(2)}#{b:signed(1)}#{c}", "{a:int(2):desc}{b:decimal(1,1)}{c}", "{a:int(2)}{b:signed(1):desc}#",
		"{a:int(2):desc}#{b:signed(1)}##",
	} {
		t.Run(src, func(t *testing.T) {
			tmpl := keys.MustParse(src)
			proptest.Check(t, 100, func(t *proptest.T) { checkBetween(t, tmpl) })
		})
	}
}

func checkBetween(t *proptest.T, tmpl *keys.Template) {
	parts := slices.DeleteFunc(tmpl.Parts(), func(p keys.Part) bool { return p.Name == "" })
	draw := func() []any {
		row := []any{t.Text("019", 1, 1), proptest.Pick(t, "", "-") + t.Text("019", 1, 1), t.Text("a~", 1, 2)}
		return row[:len(parts)]
	}
	row, bounds, outer := draw(), [2][]any{draw(), draw()}, draw()
	level := t.IntN(len(parts))
	if t.Bool() {
		copy(outer, row[:level])
	}
	key, err := tmpl.Format(row...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	in := true
	for i := range level {
		c, err := parts[i].Type.Compare(row[i].(string), outer[i].(string))
		in = in && c == 0 && err == nil
	}
	var ends [2]any
	for i, sign := range [2]int{1, -1} {
		kind := proptest.Pick(t, "open", "included", "excluded")
		if kind == "open" {
			continue
		}
		ends[i] = bounds[i][level]
		// The test compares values in the order of the values, not of their keys.
		plain := parts[level].Type
		plain.Desc = false
		c, err := plain.Compare(row[level].(string), ends[i].(string))
		if err != nil {
			t.Fatalf("%v", err)
		}
		in = in && (c*sign > 0 || c == 0 && kind == "included")
		if kind == "excluded" {
			ends[i] = keys.Excluding(ends[i])
		}
	}
	r, err := tmpl.Between(ends[0], ends[1], outer[:level]...)
	if err != nil {
		if in {
			t.Fatalf("%v, and %q is between them", err, key)
		}
		return
	}
	if r.Contains(key) != in {
		t.Fatalf("%v contains %q: %v, want %v", r, key, r.Contains(key), in)
	}
	if r.Prefix != "" && strings.HasPrefix(key, r.Prefix) != in {
		t.Fatalf("%v: %q has the prefix: %v, want %v", r, key, !in, in)
	}
}

func TestContains(t *testing.T) {
	r := keys.Range{Low: "b", High: "d"}
	for key, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true, "d0": false} {
		if r.Contains(key) != want {
			t.Errorf("%v contains %q: %v, want %v", r, key, !want, want)
		}
	}
}
