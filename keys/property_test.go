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

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keys"
)

// A generator returns values of a type in text form. Small alphabets give values close to each other, where mistakes
// in the order are likely. Some values are equal but have different texts.
type generator = func(*proptest.T) string

func digits(n int) generator {
	return func(t *proptest.T) string { return t.Text("0019", 1, t.Between(1, n)) }
}

func signed(t *proptest.T) string { return proptest.Pick(t, "", "-") + digits(6)(t) }

func decimal(t *proptest.T) string {
	text := proptest.Pick(t, "", "-") + digits(4)(t)
	if t.Bool() {
		text += "." + digits(3)(t)
	}
	return text
}

func times(t *proptest.T) string {
	day := proptest.Pick(t, 0, 0, 0, 0, 20_454, 115_740, t.IntN(115_740))
	second := proptest.Pick(t, 0, 1, 86_399, t.IntN(86_400))
	nano := proptest.Pick(t, 0, 1, 999_999_999, t.IntN(1_000_000_000))
	at := time.Unix(int64(min(86_400*day+second, 9_999_999_999)), int64(nano))
	zone := time.FixedZone("", 900*t.Between(-48, 56))
	return at.In(zone).Format(time.RFC3339Nano)
}

func words(t *proptest.T) string { return t.Text("a!#:/~é\uffff\U0010ffff", 1, 4) }

func uuid(t *proptest.T) string {
	return t.Text("0fF", 8, 8) + "-" + t.Text("0f", 4, 4) + "-" + t.Text("0f", 4, 4) + "-" + t.Text("0f", 4, 4) + "-" +
		t.Text("09aA", 12, 12)
}

func ulid(t *proptest.T) string { return t.Text("07", 1, 1) + t.Text("09AZz", 25, 25) }

func ksuid(t *proptest.T) string { return t.Text("0Z", 1, 1) + t.Text("09AZaz", 26, 26) }

func enum(values ...string) generator {
	return func(t *proptest.T) string { return proptest.Pick(t, values...) }
}

var generators = map[string]generator{
	"string": words, "path": words,
	"int(6)": digits(6), "int(6):desc": digits(6), "int(38)": digits(38),
	"signed(6)": signed, "signed(6):desc": signed,
	"decimal(4,3)": decimal, "decimal(4,3):desc": decimal, "decimal(6,0)": signed,
	"number": decimal,
	"year":   times, "month": times, "date": times, "time": times, "millis": times, "micros": times, "nanos": times,
	"epoch": times, "epochms": times, "date:desc": times, "nanos:desc": times, "epoch:desc": times,
	"epochms:desc": times, "uuid": uuid, "ulid": ulid, "ksuid": ksuid,
	"string(3)":     func(t *proptest.T) string { return t.Text("AZ#a", 3, 3) },
	"hex(4)":        func(t *proptest.T) string { return t.Text("09aF", 4, 4) },
	"enum(A,BB,C)":  enum("A", "BB", "C"),
	"enum(NEW,OLD)": enum("NEW", "OLD"),
	"enum(B,A)":     enum("B", "A"),
}

func typeOf(t *proptest.T, text string) keys.Type {
	typ, err := keys.ParseType(text)
	if err != nil {
		t.Fatalf("ParseType(%q): %v", text, err)
	}
	return typ
}

func encode(t *proptest.T, typ keys.Type, text string) string {
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
		t.Run(name, func(t *testing.T) {
			proptest.Check(t, 100, func(t *proptest.T) {
				typ := typeOf(t, name)
				a, b := texts(t), texts(t)
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
			})
		})
	}
}

// TestCompare compares the results of Compare with an independent definition of
// the order.
func TestCompare(t *testing.T) {
	t.Run("numbers", func(t *testing.T) {
		proptest.Check(t, 100, func(t *proptest.T) {
			a, b := decimal(t), decimal(t)
			x, _ := strconv.ParseFloat(a, 64)
			y, _ := strconv.ParseFloat(b, 64)
			if got, err := typeOf(t, "number").Compare(a, b); err != nil || got != cmp.Compare(x, y) {
				t.Fatalf("Compare(%q, %q) = %d, %v", a, b, got, err)
			}
		})
	})
	t.Run("times", func(t *testing.T) {
		proptest.Check(t, 100, func(t *proptest.T) {
			a, b := times(t), times(t)
			x, _ := time.Parse(time.RFC3339Nano, a)
			y, _ := time.Parse(time.RFC3339Nano, b)
			if got, err := typeOf(t, "nanos:desc").Compare(a, b); err != nil || got != y.Compare(x) {
				t.Fatalf("Compare(%q, %q) = %d, %v", a, b, got, err)
			}
		})
	})
}

func TestRoundTrip(t *testing.T) {
	for name, texts := range generators {
		t.Run(name, func(t *testing.T) {
			proptest.Check(t, 100, func(t *proptest.T) {
				typ := typeOf(t, name)
				text := texts(t)
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
				if n := t.Between(0, len(canonical)); utf8.ValidString(canonical[:n]) {
					if prefix, err := typ.EncodePrefix(canonical[:n]); err == nil && !strings.HasPrefix(part, prefix) {
						t.Fatalf("EncodePrefix(%q) = %q, and %q is %q", canonical[:n], prefix, canonical, part)
					}
				}
			})
		})
	}
}

// drawTemplate builds a template of random parts. It draws again until Parse
// accepts one.
func drawTemplate(t *proptest.T) *keys.Template {
	names := slices.Sorted(maps.Keys(generators))
	for {
		var b strings.Builder
		for i := range t.Between(1, 4) {
			b.WriteString(proptest.Pick(t, "", "#", "##", "a#", ":", "é", "A"))
			b.WriteString("{c" + strconv.Itoa(i) + ":" + proptest.Pick(t, names...) + "}")
		}
		b.WriteString(proptest.Pick(t, "", "#", "##"))
		if tmpl, err := keys.Parse(b.String()); err == nil {
			return tmpl
		}
	}
}

func TestTemplates(t *testing.T) {
	proptest.Check(t, 100, func(t *proptest.T) {
		tmpl := drawTemplate(t)
		values, want := map[string]string{}, map[string]string{}
		for _, p := range tmpl.Parts() {
			if p.Name != "" {
				values[p.Name] = generators[p.Type.String()](t)
				want[p.Name], _ = p.Type.Canonical(values[p.Name])
			}
		}
		key, err := tmpl.Build(values)
		if err != nil {
			if e, ok := err.(*keys.Error); !ok || e.Component == "" || e.Advice == "" {
				t.Fatalf("%s: %#v", tmpl, err)
			}
			return // a value contains the delimiter
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

// TestAmbiguity tries every key over a small alphabet. If a key matches, building a key of its values must give the
// same key, so no two lists of values share a key.
func TestAmbiguity(t *testing.T) {
	for _, src := range []string{
		"{a}#{b}", "{a}##{b}", "#{a}#", "{a}#", "{a}aa{b:path}", "{a:hex(1)}{b}#{c:path}#", "{a:number}-{b:number}",
	} {
		tmpl := keys.MustParse(src)
		matched := 0
		all("a#-1", 6, func(key string) {
			values, ok := tmpl.Match(key)
			if !ok {
				return
			}
			matched++
			if again, err := tmpl.Build(values); again != key || err != nil {
				t.Errorf("%s: Match(%q) = %v, which build %q, %v", src, key, values, again, err)
			}
		})
		if matched == 0 {
			t.Errorf("%s matched no key", src)
		}
	}
}

// all calls f with every string of at most n of the letters.
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
