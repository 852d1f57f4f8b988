package keys_test

import (
	"maps"
	"testing"

	"github.com/sortkey/sortkey/keys"
)

func TestEncode(t *testing.T) {
	for _, tt := range []struct{ typ, text, part, canonical string }{
		{"string", "Ann", "Ann", "Ann"},
		{"path", "a/b", "a/b", "a/b"},
		{"int(5)", "42", "00042", "42"},
		{"int(5)", "0007", "00007", "7"},
		{"int(5):desc", "42", "99957", "42"},
		{"signed(3)", "-5", "0994", "-5"},
		{"signed(3)", "5", "1005", "5"},
		{"signed(3)", "-0", "1000", "0"},
		{"signed(3):desc", "-5", "9005", "-5"},
		{"decimal(4,2)", "12.5", "10012.50", "12.5"},
		{"decimal(4,2)", "-12.50", "09987.49", "-12.5"},
		{"decimal(4,0)", "12", "10012", "12"},
		{"number", "-3.50", "-3.5", "-3.5"},
		{"number", "1E3", "1000", "1000"},
		{"year", "2026-01-05T10:00:00Z", "2026", "2026"},
		{"month", "2026-01-05", "2026-01", "2026-01"},
		{"month", "2026-01", "2026-01", "2026-01"},
		{"date", "2026-01-05", "2026-01-05", "2026-01-05"},
		{"date", "2026-01-05T00:30:00+01:00", "2026-01-04", "2026-01-04"},
		{"date:desc", "2026-01-05", "7973-98-94", "2026-01-05"},
		{"time", "2026-01-05T11:00:00.75+01:00", "2026-01-05T10:00:00Z", "2026-01-05T10:00:00Z"},
		{"millis", "2026-01-05T10:00:00Z", "2026-01-05T10:00:00.000Z", "2026-01-05T10:00:00.000Z"},
		{"epoch", "2026-01-05T10:00:00Z", "1767607200", "2026-01-05T10:00:00Z"},
		{"epoch", "1767607200", "1767607200", "2026-01-05T10:00:00Z"},
		{"epoch", "0", "0000000000", "1970-01-01T00:00:00Z"},
		{"epochms:desc", "1767607200123", "8232392799876", "2026-01-05T10:00:00.123Z"},
		{
			"uuid", "123E4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000",
			"123e4567-e89b-12d3-a456-426614174000",
		},
		{"ulid", "01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{"ksuid", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "0ujtsYcgvSTl8PAuAdqWYSMnLOv"},
		{"hex(4)", "BeeF", "beef", "beef"},
		{"string(3)", "JFK", "JFK", "JFK"},
		{"enum(NEW,PAID)", "NEW", "NEW", "NEW"},
	} {
		typ, err := keys.ParseType(tt.typ)
		if err != nil {
			t.Errorf("ParseType(%q): %v", tt.typ, err)
			continue
		}
		if typ.String() != tt.typ {
			t.Errorf("ParseType(%q).String() = %q", tt.typ, typ.String())
		}
		if got, err := typ.Encode(tt.text); got != tt.part || err != nil {
			t.Errorf("%s.Encode(%q) = %q, %v, want %q", tt.typ, tt.text, got, err, tt.part)
		}
		if got, err := typ.Decode(tt.part); got != tt.canonical || err != nil {
			t.Errorf("%s.Decode(%q) = %q, %v, want %q", tt.typ, tt.part, got, err, tt.canonical)
		}
		if got, err := typ.Canonical(tt.text); got != tt.canonical || err != nil {
			t.Errorf("%s.Canonical(%q) = %q, %v, want %q", tt.typ, tt.text, got, err, tt.canonical)
		}
	}
}

func TestBuildMatch(t *testing.T) {
	for _, tt := range []struct {
		src    string
		values map[string]string
		key    string
	}{
		{"ORDER#{placed:date}#{id}", map[string]string{"placed": "2026-01-05", "id": "a-7"}, "ORDER#2026-01-05#a-7"},
		{"{{{id}}}", map[string]string{"id": "x"}, "{x}"},
		{"{y:int(4)}{m:int(2)}", map[string]string{"y": "2026", "m": "3"}, "202603"},
		{"{a}::{b}", map[string]string{"a": "x:y", "b": "z"}, "x:y::z"},
		{"{root}/{rest:path}", map[string]string{"root": "r", "rest": "a/b"}, "r/a/b"},
		{"{rest:path}/", map[string]string{"rest": "a/b"}, "a/b/"},
		{"PROFILE", map[string]string{}, "PROFILE"},
		{"{n:number}", map[string]string{"n": "-3.5"}, "-3.5"},
		{"{at:time:desc}{id}", map[string]string{"at": "2026-01-05T10:00:00Z", "id": "x"}, "7973-98-94T89:99:99Zx"},
	} {
		tmpl, err := keys.Parse(tt.src)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.src, err)
			continue
		}
		if got, err := tmpl.Build(tt.values); got != tt.key || err != nil {
			t.Errorf("%q.Build = %q, %v, want %q", tt.src, got, err, tt.key)
		}
		if got, ok := tmpl.Match(tt.key); !ok || !maps.Equal(got, tt.values) {
			t.Errorf("%q.Match(%q) = %v, %v, want %v", tt.src, tt.key, got, ok, tt.values)
		}
	}
}

func TestExplicit(t *testing.T) {
	day := keys.Type{Name: "date"}
	tmpl, err := keys.ParseWith("{{{a}}}#{b:desc}{c:int(2)}#{d:path}", map[string]keys.Type{
		"b": day, "d": day, "x": day, "a": {},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "{{{a}}}#{b:date:desc}{c:int(2)}#{d:path}"
	if got := tmpl.Explicit(); got != want || keys.MustParse(got).Explicit() != want {
		t.Errorf("Explicit() = %q, want %q", got, want)
	}
}
