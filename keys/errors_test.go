package keys_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/sortkey/sortkey/keys"
)

// TestErrors checks the texts of errors. An input line has the template or the
// type, then the arguments.
func TestErrors(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			words := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
			args := make([]any, 0, len(words))
			for _, w := range words[1:] {
				args = append(args, w)
			}
			text, err := run(d.Cmd, words, args)
			if err != nil {
				if _, ok := errors.AsType[*keys.Error](err); !ok {
					t.Errorf("%s: %#v is not a *keys.Error", line, err)
				}
				text = err.Error()
			}
			out.WriteString(text + "\n")
		}
		return out.String()
	})
}

func run(cmd string, words []string, args []any) (string, error) {
	switch cmd {
	case "type":
		typ, err := keys.ParseType(words[0])
		return typ.String(), err
	case "encode":
		typ, err := keys.ParseType(words[0])
		if err != nil {
			return "", err
		}
		return typ.Encode(words[1])
	case "decode":
		typ, err := keys.ParseType(words[0])
		if err != nil {
			return "", err
		}
		return typ.Decode(words[1])
	case "begin":
		typ, err := keys.ParseType(words[0])
		if err != nil {
			return "", err
		}
		return typ.EncodePrefix(words[1])
	}
	t, err := keys.Parse(words[0])
	if err != nil || cmd == "template" {
		return "a template", err
	}
	switch cmd {
	case "format":
		return t.Format(args...)
	case "values":
		values, err := t.Values(words[1])
		return strings.Join(values, " | "), err
	case "between":
		r, err := t.Between(args[0], args[1], args[2:]...)
		return r.String(), err
	}
	return "no such command", nil
}

func TestBuildWithout(t *testing.T) {
	_, err := keys.MustParse("{a}#{b}").Build(map[string]string{"a": "1", "c": "2"})
	if want := `template "{a}#{b}": component b: has no value; every component needs a value: a, b`; err == nil ||
		err.Error() != want {
		t.Errorf("Build = %v, want %s", err, want)
	}
	prefix, n, err := keys.MustParse("A#{a}#{b}#{c}").BuildPrefix(map[string]string{"a": "1", "c": "2"})
	if prefix != "A#1#" || n != 1 || err != nil {
		t.Errorf("BuildPrefix = %q, %d, %v", prefix, n, err)
	}
}

type (
	userID int32
	status string
	level  uint8
)

func (l level) String() string { return strings.Repeat("x", int(l)) }

func TestFormatArguments(t *testing.T) {
	at := time.Date(2026, 1, 5, 11, 0, 0, 5e8, time.FixedZone("", 3600))
	for _, tt := range []struct {
		typ  string
		arg  any
		want string
	}{
		{"string", "a", "a"},
		{"string", status("NEW"), "NEW"},
		{"string", level(2), "xx"},
		{"int(4)", 42, "0042"},
		{"int(4)", userID(42), "0042"},
		{"int(20)", uint64(math.MaxUint64), "18446744073709551615"},
		{"signed(19)", int64(math.MinInt64), "00776627963145224191"},
		{"decimal(3,2)", "1.5", "1001.50"},
		{"time", at, "2026-01-05T10:00:00Z"},
		{"date", &at, "2026-01-05"},
		{"epochms", at, "1767607200500"},
		{"epoch", int64(1767607200), "1767607200"},
	} {
		tmpl := keys.MustParse("{a:" + tt.typ + "}")
		if got, err := tmpl.Format(tt.arg); got != tt.want || err != nil {
			t.Errorf("%s of %T: Format(%v) = %q, %v, want %q", tt.typ, tt.arg, tt.arg, got, err, tt.want)
		}
	}
	for _, text := range []string{"JF", "JFKX", ""} {
		if got, err := keys.MustParse("{a:string(3)}").Format(text); err == nil {
			t.Errorf("string(3): Format(%q) = %q, want an error", text, got)
		}
	}
	for _, src := range []string{"{a:string(0)}", "{a:string()}", "{a:string(2,3)}", "{a:string(1025)}"} {
		if _, err := keys.Parse(src); err == nil {
			t.Errorf("Parse(%q) succeeds", src)
		}
	}
	for _, arg := range []any{nil, 1.5, true, []byte("a"), (*time.Time)(nil), time.Time{}, struct{}{}} {
		if got, err := keys.MustParse("{a}").Format(arg); err == nil {
			t.Errorf("Format(%#v) = %q, want an error", arg, got)
		}
	}
}

func TestScan(t *testing.T) {
	tmpl := keys.MustParse("{s}#{n:signed(5):desc}#{u:int(3)}#{d:date}#{y:year}#{e:epoch}#{id}")
	at := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	key, err := tmpl.Format(status("NEW"), -7, 200, at, at, at, "x")
	if err != nil {
		t.Fatal(err)
	}
	var (
		s       status
		n       userID
		u       uint8
		d, y, e time.Time
	)
	if err := tmpl.Scan(key, &s, &n, &u, &d, &y, &e, nil); err != nil {
		t.Fatal(err)
	}
	if s != "NEW" || n != -7 || u != 200 || !d.Equal(at.Truncate(24*time.Hour)) || y.Year() != 2026 ||
		y.YearDay() != 1 || !e.Equal(at) {
		t.Errorf("Scan(%q) = %v %v %v %v %v %v", key, s, n, u, d, y, e)
	}
	var small int8
	var text string
	var nowhere *string
	for _, dst := range [][]any{
		{&s},
		{&s, &n, &small, &d, &y, &e, nil}, // 200 does not fit in an int8
		{&s, &n, &u, &d, &y, &e, text},
		{&s, &n, &u, &d, &y, &e, nowhere},
		{&s, &n, &u, &d, &y, &e, &d}, // x is not a time
		{&s, &n, &u, &d, &y, &e, &small},
		{&s, &n, &u, &d, &y, &e, new(float64)},
	} {
		if err := tmpl.Scan(key, dst...); err == nil {
			t.Errorf("Scan into %T succeeds", dst)
		}
	}
}

// TestMatchDoesNotAllocate checks that Match does not allocate for a key of another template, so that finding the
// template of a key among many is cheap.
func TestMatchDoesNotAllocate(t *testing.T) {
	tmpl := keys.MustParse("ORDER#{placed:date}#{id}")
	if n := testing.AllocsPerRun(100, func() { tmpl.Match("CUSTOMER#7") }); n != 0 {
		t.Errorf("Match allocates %v times for the key of another template, want 0", n)
	}
}
