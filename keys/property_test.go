package keys_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sortkey/sortkey/keys"
)

// Values in text form, for each type. Small alphabets make values close to
// each other, which is where order goes wrong.
var (
	digits  = func(n int) *rapid.Generator[string] { return rapid.StringMatching(`[019]{1,` + strconv.Itoa(n) + `}`) }
	signed  = rapid.StringMatching(`-?[019]{1,6}`)
	decimal = rapid.StringMatching(`-?[019]{1,4}(\.[019]{1,3})?`)
	moments = rapid.Custom(func(t *rapid.T) string {
		at := time.Unix(rapid.Int64Range(0, 9_999_999_999).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos"))
		zone := time.FixedZone("", 900*rapid.IntRange(-48, 56).Draw(t, "zone"))
		return at.In(zone).Format(time.RFC3339Nano)
	})
	words = rapid.StringMatching(`[a!#:/~é\x{FFFF}\x{10FFFF}]{1,4}`)
)

var generators = map[string]*rapid.Generator[string]{
	"string": words, "path": words,
	"int(6)": digits(6), "int(6):desc": digits(6), "int(38)": digits(38),
	"signed(6)": signed, "signed(6):desc": signed,
	"decimal(4,3)": decimal, "decimal(4,3):desc": decimal, "decimal(6,0)": signed,
	"number": decimal,
	"year":   moments, "month": moments, "date": moments, "time": moments, "millis": moments, "micros": moments, "nanos": moments,
	"epoch": moments, "epochms": moments, "date:desc": moments, "nanos:desc": moments, "epoch:desc": moments, "epochms:desc": moments,
	"uuid":          rapid.StringMatching(`[0fF]{8}-[0f]{4}-[0f]{4}-[0f]{4}-[09aA]{12}`),
	"ulid":          rapid.StringMatching(`[07][09AZz]{25}`),
	"ksuid":         rapid.StringMatching(`[0Z][09AZaz]{26}`),
	"hex(4)":        rapid.StringMatching(`[09aF]{4}`),
	"enum(A,BB,C)":  rapid.SampledFrom([]string{"A", "BB", "C"}),
	"enum(NEW,OLD)": rapid.SampledFrom([]string{"NEW", "OLD"}),
	"enum(B,A)":     rapid.SampledFrom([]string{"B", "A"}),
}

func typeOf(t rapid.TB, text string) keys.Type {
	typ, err := keys.ParseType(text)
	if err != nil {
		t.Fatalf("ParseType(%q): %v", text, err)
	}
	return typ
}

func encode(t rapid.TB, typ keys.Type, text string) string {
	part, err := typ.Encode(text)
	if err != nil {
		t.Fatalf("%s.Encode(%q): %v", typ, text, err)
	}
	return part
}

func TestTypesAreCovered(t *testing.T) {
	for _, name := range keys.TypeNames() {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(generators)), func(s string) bool {
			return s == name || strings.HasPrefix(s, name+"(")
		}) {
			t.Errorf("type %s has no generator", name)
		}
	}
}

func TestOrder(t *testing.T) {
	for name, texts := range generators {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			typ := typeOf(t, name)
			a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
			pa, pb := encode(t, typ, a), encode(t, typ, b)
			want, err := typ.Compare(a, b)
			if err != nil {
				t.Fatalf("Compare(%q, %q): %v", a, b, err)
			}
			if got := strings.Compare(pa, pb); typ.Ordered() && got != want {
				t.Fatalf("%q and %q are %q and %q: bytes compare %d, values %d", a, b, pa, pb, got, want)
			}
			if (want == 0) != (pa == pb) {
				t.Fatalf("%q and %q are %q and %q, values compare %d", a, b, pa, pb, want)
			}
		}))
	}
}

// TestCompare holds Compare itself to an order that is told in another way.
func TestCompare(t *testing.T) {
	t.Run("numbers", rapid.MakeCheck(func(t *rapid.T) {
		a, b := decimal.Draw(t, "a"), decimal.Draw(t, "b")
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		if got, err := typeOf(t, "number").Compare(a, b); err != nil || got != cmp.Compare(x, y) {
			t.Fatalf("Compare(%q, %q) = %d, %v", a, b, got, err)
		}
	}))
	t.Run("times", rapid.MakeCheck(func(t *rapid.T) {
		a, b := moments.Draw(t, "a"), moments.Draw(t, "b")
		x, _ := time.Parse(time.RFC3339Nano, a)
		y, _ := time.Parse(time.RFC3339Nano, b)
		if got, err := typeOf(t, "nanos:desc").Compare(a, b); err != nil || got != y.Compare(x) {
			t.Fatalf("Compare(%q, %q) = %d, %v", a, b, got, err)
		}
	}))
}

func TestRoundTrip(t *testing.T) {
	for name, texts := range generators {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			typ := typeOf(t, name)
			text := texts.Draw(t, "text")
			part := encode(t, typ, text)
			canonical, err := typ.Canonical(text)
			if err != nil {
				t.Fatalf("Canonical(%q): %v", text, err)
			}
			if got, err := typ.Decode(part); got != canonical || err != nil {
				t.Fatalf("Decode(%q) = %q, %v, want %q", part, got, err, canonical)
			}
			if again := encode(t, typ, canonical); again != part {
				t.Fatalf("Encode(%q) = %q, of the canonical %q = %q", text, part, canonical, again)
			}
			if width, fixed := typ.Fixed(); fixed && len(part) != width {
				t.Fatalf("Encode(%q) = %q, which is not %d bytes", text, part, width)
			}
			if n := rapid.IntRange(0, len(canonical)).Draw(t, "n"); utf8.ValidString(canonical[:n]) {
				if prefix, err := typ.EncodePrefix(canonical[:n]); err == nil && !strings.HasPrefix(part, prefix) {
					t.Fatalf("EncodePrefix(%q) = %q, and %q is %q", canonical[:n], prefix, canonical, part)
				}
			}
		}))
	}
}

// templates are built of random parts; what Parse refuses is drawn again.
var templates = rapid.Custom(func(t *rapid.T) *keys.Template {
	var b strings.Builder
	names := slices.Sorted(maps.Keys(generators))
	for i := range rapid.IntRange(1, 4).Draw(t, "components") {
		b.WriteString(rapid.SampledFrom([]string{"", "#", "##", "a#", ":", "é", "A"}).Draw(t, "literal"))
		b.WriteString("{c" + strconv.Itoa(i) + ":" + rapid.SampledFrom(names).Draw(t, "type") + "}")
	}
	b.WriteString(rapid.SampledFrom([]string{"", "#", "##"}).Draw(t, "literal"))
	tmpl, _ := keys.Parse(b.String())
	return tmpl
}).Filter(func(t *keys.Template) bool { return t != nil })

func TestTemplates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tmpl := templates.Draw(t, "template")
		values, want := map[string]string{}, map[string]string{}
		for _, p := range tmpl.Parts() {
			if p.Name != "" {
				values[p.Name] = generators[p.Type.String()].Draw(t, p.Name)
				want[p.Name], _ = p.Type.Canonical(values[p.Name])
			}
		}
		key, err := tmpl.Build(values)
		if err != nil {
			if e, ok := err.(*keys.Error); !ok || e.Component == "" || e.Advice == "" {
				t.Fatalf("%s: %#v", tmpl, err)
			}
			return // a value holds the delimiter
		}
		got, ok := tmpl.Match(key)
		if !ok || !maps.Equal(got, want) {
			t.Fatalf("%s: Match(%q) = %v, %v, want %v", tmpl, key, got, ok, want)
		}
		if again, err := tmpl.Build(got); again != key || err != nil {
			t.Fatalf("%s: Build(Match(%q)) = %q, %v", tmpl, key, again, err)
		}
	})
}

// TestAmbiguity tries every key of a small alphabet: one that matches is made
// of the values it matches with, so no two lists of values share a key.
func TestAmbiguity(t *testing.T) {
	for _, src := range []string{"{a}#{b}", "{a}##{b}", "#{a}#", "{a}#", "{a}aa{b:path}", "{a:hex(1)}{b}#{c:path}#", "{a:number}-{b:number}"} {
		tmpl := keys.MustParse(src)
		matched := 0
		all("a#-1", 6, func(key string) {
			values, ok := tmpl.Match(key)
			if !ok {
				return
			}
			matched++
			if again, err := tmpl.Build(values); again != key || err != nil {
				t.Errorf("%s: Match(%q) = %v, whose key is %q, %v", src, key, values, again, err)
			}
		})
		if matched == 0 {
			t.Errorf("%s matched none", src)
		}
	}
}

// all calls f with every string of the letters of at most n of them.
func all(letters string, n int, f func(string)) {
	f("")
	level := []string{""}
	for range n {
		var next []string
		for _, s := range level {
			for _, r := range letters {
				next = append(next, s+string(r))
				f(s + string(r))
			}
		}
		level = next
	}
}
