package keys_test

import (
	"testing"

	"github.com/sortkey/sortkey/keys"
)

// FuzzMatch checks that no template and no key panics, and that the values of a
// matching key build the same key.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{
		{"ORDER#{placed:date}#{id}", "ORDER#2026-01-05#7"},
		{"{a:signed(3):desc}{b:decimal(2,2)}{c:path}", "9005112.50x/y"},
		{"{{{a:enum(A,B)}}}", "{A}"},
		{"{a:epochms:desc}##{n:number}", "8232392799876##-1.5"},
		{"{a:ulid}{b:ksuid}{c:uuid}{d:hex(2)}", "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{"{y:year}{m:month}{t:nanos}", "20262026-012026-01-05T10:00:00.000000000Z"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, src, key string) {
		tmpl, err := keys.Parse(src)
		if err != nil {
			return
		}
		if tmpl.String() != src {
			t.Fatalf("Parse(%q).String() = %q", src, tmpl)
		}
		values, ok := tmpl.Match(key)
		list, err := tmpl.Values(key)
		if ok != (err == nil) || len(list) != len(values) {
			t.Fatalf("%q: Match(%q) = %v, %v, Values = %q, %v", src, key, values, ok, list, err)
		}
		if !ok {
			return
		}
		if again, err := tmpl.Build(values); again != key || err != nil {
			t.Fatalf("%q: Match(%q) = %v, which build %q, %v", src, key, values, again, err)
		}
		if r, err := tmpl.Under(); err != nil || !r.Contains(key) {
			t.Fatalf("%q: Under() = %v, %v, without %q", src, r, err, key)
		}
	})
}

// FuzzType checks that decoding inverts encoding, and that a type's text parses
// to the same type.
func FuzzType(f *testing.F) {
	for name := range generators {
		f.Add(name, "2026-01-05T10:00:00.5+01:00", "7")
	}
	f.Add("number", "1e125", "-1E-130")
	f.Add("decimal(2,36)", "-0.1", "+.1e1")
	f.Fuzz(func(t *testing.T, name, a, b string) {
		typ, err := keys.ParseType(name)
		if err != nil {
			return
		}
		if again, err := keys.ParseType(typ.String()); err != nil || again.String() != typ.String() {
			t.Fatalf("ParseType(%q) = %s, parsed again %s, %v", name, typ, again, err)
		}
		_, _ = typ.EncodePrefix(a)
		_, _ = typ.Decode(a)
		pa, err := typ.Encode(a)
		if err != nil {
			return
		}
		text, err := typ.Decode(pa)
		if canonical, cerr := typ.Canonical(a); err != nil || cerr != nil || text != canonical {
			t.Fatalf("%s: Encode(%q) = %q, Decode = %q, %v, Canonical = %q, %v", typ, a, pa, text, err, canonical, cerr)
		}
		pb, err := typ.Encode(b)
		if err != nil {
			return
		}
		c, err := typ.Compare(a, b)
		if err != nil || typ.Ordered() && (c < 0) != (pa < pb) || (c == 0) != (pa == pb) {
			t.Fatalf("%s: Compare(%q, %q) = %d, %v; parts %q, %q", typ, a, b, c, err, pa, pb)
		}
	})
}
