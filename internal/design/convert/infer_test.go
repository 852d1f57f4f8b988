package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/keys"
)

// template infers a template with the names a, b, c … for its components.
func template(t *testing.T, values []string, sort bool) string {
	t.Helper()
	pieces := inferPieces(values, sort)
	var names []string
	for _, p := range pieces {
		if p.parts != nil {
			names = append(names, string(rune('a'+len(names))))
		}
	}
	src := source(pieces, names)
	tmpl, err := keys.Parse(src)
	if err != nil {
		t.Fatalf("infer(%q) = %q: %v", values, src, err)
	}
	if !roundTrips(tmpl, values) {
		t.Errorf("infer(%q) = %q, which does not make them", values, src)
	}
	return src
}

func TestInfer(t *testing.T) {
	for _, tt := range []struct {
		sort bool
		keys string // separated by spaces
		want string
	}{
		{false, "C#1", "C#{a}"},
		{false, "C#1 C#2", "C#{a}"},
		{false, "CUSTOMER#ann CUSTOMER#bob", "CUSTOMER#{a}"},
		{false, "CUSTOMER#ann", "CUSTOMER#{a}"},
		{false, "CUSTOMER#ANN", "CUSTOMER#{a}"},
		{false, "ann@example.com bob@example.com", "{a}"},
		{false, "PRODUCTS PRODUCTS", "PRODUCTS"},
		{false, "alice", "{a}"},
		{true, "PROFILE", "PROFILE"},
		{true, "profile profile", "profile"},
		{true, "#METADATA#1 #METADATA#2", "#METADATA#{a}"},
		{true, "O#0001 O#0002", "O#{a:int(4)}"},
		{true, "O#0001", "O#{a:int(4)}"},
		{true, "O#12 O#7", "O#{a:number}"},
		{false, "O#12 O#7", "O#{a}"},
		{true, "O#-1 O#12", "O#{a:number}"},
		{true, "ORDER#2026-01-05#77 ORDER#2026-02-05#78", "ORDER#{a:date}#{b:int(2)}"},
		{true, "2026-01-05T10:00:00Z", "{a:time}"},
		{true, "E#2026-01-05T10:00:00.120Z", "E#{a:millis}"},
		{true, "2026-01 2026-02", "{a:month}"},
		{true, "Y#2026 Y#1999", "Y#{a:year}"},
		{true, "1767607200 1767607300", "{a:epoch}"},
		{true, "1767607200000", "{a:epochms}"},
		{true, "2026-01-05_0001 2026-01-05_0002", "{a}"},
		{true, "user_1 user_22", "user_{a:number}"},
		{true, "order-2026-01-01 order-2026-01-02", "order-{a:date}"},
		{true, "New-York Los-Angeles", "{a}"},
		{false, "123e4567-e89b-12d3-a456-426614174000", "{a:uuid}"},
		{false, "123E4567-e89b-12d3-a456-426614174000", "{a}"},
		{true, "E#01ARZ3NDEKTSV4RRFFQ69G5FAV", "E#{a:ulid}"},
		{false, "ORG#acme#USER#1 ORG#acme#USER#2", "ORG#{a}#USER#{b}"},
		{false, "tenant#1#user#2", "tenant#{a}#user#{b}"},
		{true, "USER#1#PROFILE USER#2#PROFILE", "USER#{a}#PROFILE"},
		{true, "root/a root/b/c root/d/e/f", "root/{a:path}"},
		{true, "a/b c/d/e", "{a}/{b:path}"},
		{true, "a/b c/d", "{a}/{b}"},
		{true, "{1}#2 {1}#3", "{a}#{b}"},
		{true, "A{B#1 A{B#2", "{a}#{b}"},
		{true, "a#b", "a#{a}"},
		{true, "a##b a##c", "a##{a}"},
		{true, "x# y#", "{a}#"},
		{true, "1 2 3", "{a}"},
		{false, "HOTEL#H-100 HOTEL#H-200", "HOTEL#{a}"},
		{false, "H-100 H-200", "H-{a:int(3)}"},
		{true, "us-east-1#i us-east-1#j", "{a}#{b}"},
	} {
		if got := template(t, strings.Fields(tt.keys), tt.sort); got != tt.want {
			t.Errorf("infer(%s) = %s, want %s", tt.keys, got, tt.want)
		}
	}
}

// FuzzInfer checks that an inferred template reproduces its keys or is rejected.
func FuzzInfer(f *testing.F) {
	for _, s := range []string{"C#1\nC#2", "a/b\na/b/c", "2026-01-01_1\n2026-01-02_2", "#\n##", "{}\n}{", "a#\n#a"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, sort bool) {
		values := strings.Split(text, "\n")
		pieces := inferPieces(values, sort)
		var names []string
		for _, p := range pieces {
			if p.parts == nil {
				continue
			}
			if len(p.parts) != len(values) {
				t.Fatalf("a component of %q has %d parts", values, len(p.parts))
			}
			names = append(names, fmt.Sprint("c", len(names)))
		}
		tmpl, err := keys.Parse(source(pieces, names))
		if err != nil || !roundTrips(tmpl, values) {
			return
		}
		for i, v := range values {
			found, _ := tmpl.Values(v)
			k := 0
			for _, p := range pieces {
				if p.parts == nil {
					continue
				}
				if part, err := p.typ.Encode(found[k]); err != nil || part != p.parts[i] {
					t.Errorf("%q: component %d is %q, inferred %q", v, k, part, p.parts[i])
				}
				k++
			}
		}
	})
}

func TestGeneric(t *testing.T) {
	for _, name := range []string{"PK", "SK", "pk", "sk", "GSI1PK", "GSI1SK", "gsi2_pk", "GSI_1_SK", "gs1pk", "GS1SK", "LSI1SK", "LSI1", "key", "id", "hash", "range_key", "partition_key", "sortKey"} {
		if !generic().MatchString(name) {
			t.Errorf("%s is the name of something", name)
		}
	}
	for _, name := range []string{"hotel", "owner", "status", "createdAt", "email", "employeeId", "sku", "size", "level"} {
		if generic().MatchString(name) {
			t.Errorf("%s is no name of anything", name)
		}
	}
}
