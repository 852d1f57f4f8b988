package gen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// A component is a component of a sort key, with its values in order.
type component struct {
	typ    string
	values []string
}

var componentKinds = []component{
	{"string", []string{"a", "ab", "b", "b1", "zz"}},
	{"int(3)", []string{"0", "1", "9", "10", "999"}},
	{"int(3):desc", []string{"0", "1", "9", "10", "999"}},
	{"signed(2)", []string{"-10", "-9", "0", "9", "10"}},
	{"date", []string{"2025-12-31", "2026-01-01", "2026-01-09", "2026-01-10", "2027-01-01"}},
	{"time:desc", []string{"2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-02T00:00:00Z", "2027-01-01T00:00:00Z"}},
	{"enum(m,p,x)", []string{"m", "p", "x"}},
}

// TestCompileIsExact checks that the compiled request of a pattern reads exactly the entity's items that meet the
// conditions, whatever else is in the partition.
func TestCompileIsExact(t *testing.T) {
	proptest.Check(t, 100, func(t *proptest.T) {
		n := t.Between(1, 3)
		parts := make([]component, n)
		prefix := proptest.Pick(t, "", "E#", "V")
		template := prefix
		for i := range parts {
			parts[i] = proptest.Pick(t, componentKinds...)
			if i > 0 {
				template += "#"
			}
			template += fmt.Sprintf("{c%d:%s}", i, parts[i].typ)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "name: m\ntables: {Tab: {partition: PK, sort: SK}}\nentities:\n  E:\n    attributes: {PK: \"{p}\", SK: %q}\n    samples:\n", template)
		combos := [][]string{nil}
		for _, c := range parts {
			var next [][]string
			for _, have := range combos {
				for _, v := range c.values {
					next = append(next, append(append([]string(nil), have...), v))
				}
			}
			combos = next
		}
		for _, combo := range combos {
			b.WriteString("      - {p: x")
			for i, v := range combo {
				fmt.Fprintf(&b, ", c%d: %q", i, v)
			}
			b.WriteString("}\n")
		}
		if prefix != "" {
			// Rows of other entities just outside the range.
			b.WriteString("items: {Tab: [{PK: x, SK: D}, {PK: x, SK: \"E!\"}, {PK: x, SK: U~}, {PK: x, SK: W}]}\n")
		}
		known := t.Between(0, n)
		where := []string{"p: x"}
		conditions := make([]func(string) bool, n)
		for i := range known {
			v := proptest.Pick(t, parts[i].values...)
			where = append(where, fmt.Sprintf("c%d: %q", i, v))
			conditions[i] = func(got string) bool { return got == v }
		}
		if known < n && t.Bool() {
			list := parts[known].values
			i := t.IntN(len(list))
			op := proptest.Pick(t, "<", "<=", ">", ">=", "between")
			j := t.Between(i, len(list)-1)
			at := func(v string) int {
				for k, have := range list {
					if have == v {
						return k
					}
				}
				return -1
			}
			operand := fmt.Sprintf("%q", list[i])
			if op == "between" {
				operand = fmt.Sprintf("[%q, %q]", list[i], list[j])
			}
			where = append(where, fmt.Sprintf("c%d: {%q: %s}", known, op, operand))
			conditions[known] = func(got string) bool {
				switch k := at(got); op {
				case "<":
					return k < i
				case "<=":
					return k <= i
				case ">":
					return k > i
				case ">=":
					return k >= i
				default:
					return k >= i && k <= j
				}
			}
		}
		fmt.Fprintf(&b, "patterns:\n  - {name: p, query: {entity: E, where: {%s}}}\n", strings.Join(where, ", "))
		m, err := modelfile.Parse("m", []byte(b.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		request, err := compile.PatternJSON(m.Patterns[0])
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		w, err := dataset.Build(context.Background(), m, dataset.Options{})
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer w.Close()
		want := map[string]bool{}
		for _, it := range w.Items {
			ok := it.Entity != nil
			for i, c := range conditions {
				ok = ok && (c == nil || c(it.Values.Get(fmt.Sprintf("c%d", i))))
			}
			if ok {
				want[string(it.Attributes.Get("SK").Raw())] = true
			}
		}
		out, status := engine.Of(w.DB).Service.Serve(context.Background(), "DynamoDB_20120810.Query", request, nil)
		if status != 200 {
			t.Fatalf("%s: %s", request, out)
		}
		got := itemsIn(t, out)
		for _, it := range got {
			key := string(it.Get("SK").Raw())
			if !want[key] {
				t.Errorf("%s of %s reads %s too", request, template, key)
			}
			delete(want, key)
		}
		for key := range want {
			t.Errorf("%s of %s does not read %s", request, template, key)
		}
	})
}

func itemsIn(t *proptest.T, response []byte) (all []attr.Item) {
	var out struct{ Items []json.RawMessage }
	if err := json.Unmarshal(response, &out); err != nil {
		t.Fatalf("%v", err)
	}
	for _, text := range out.Items {
		it, err := attr.ParseItem(text)
		if err != nil {
			t.Fatalf("%v", err)
		}
		all = append(all, it)
	}
	return all
}
