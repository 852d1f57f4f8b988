package expr_test

import (
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
)

// sixTerms is a filter with many kinds of terms.
const sixTerms = "#s = :s AND (price BETWEEN :lo AND :hi OR NOT contains(tags, :t)) AND size(notes) < :hi AND " +
	"begins_with(meta.way[0], :t) AND kind IN (:s, :t)"

const benchValues = `{":s": {"S": "open"}, ":lo": {"N": "10"}, ":hi": {"N": "99.5"}, ":t": {"S": ` +
	`"re"}, ":kind": {"S": "NULL"}}`

const benchItem = `{"pk": {"S": "customer#1"}, "status": {"S": "open"}, "price": {"N": "42"}, "tags": {"SS": ["red",
 "re", "blue"]},
 "notes": {"S": "some notes"}, "kind": {"S": "re"}, "q": {"NULL": true},
 "meta": {"M": {"way": {"L": [{"S": "returns"}, {"S": "x"}, {"N": "3"}]}, "holder": {"S": "me"}}}}`

func benchEnv(tb testing.TB) *expr.Env {
	return env(tb, map[string]string{"#s": "status"}, benchValues)
}

func TestEvalDoesNotAllocate(t *testing.T) {
	it := parsed(t, benchItem)
	e := benchEnv(t)
	for _, src := range []string{
		sixTerms,
		"#s = :s", "#s <> kind", "price < :hi", "price >= :lo", "absent = :s", "absent <> elsewhere",
		"price BETWEEN :lo AND :hi", "size(notes) BETWEEN :lo AND :hi", "price IN (:lo, :hi, size(notes))",
		"attribute_exists(meta.way[1])", "attribute_not_exists(meta.way[7])", "attribute_type(q, :kind)",
		"begins_with(kind, :t)", "contains(tags, :t)", "contains(notes, :t)", "contains(meta.way, :t)",
		"contains(meta.way, size(notes))", "size(tags) = size(meta.way)", "NOT size(:s) = :lo",
	} {
		c := condition(t, e, src)
		if n := testing.AllocsPerRun(100, func() { c.Match(it) }); n != 0 {
			t.Errorf("Eval of %s allocates %v times, want 0", src, n)
		}
	}
}

// raceEnabled is true in builds with the race detector, in which pools drop
// objects on purpose.
var raceEnabled bool

func TestProjectionDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector, pools drop objects")
	}
	it := parsed(t, benchItem)
	buf := make([]byte, 0, 4096)
	for _, src := range []string{
		"pk, price, #s", "meta.way[2], meta.way[0], meta.holder, tags", "absent, meta.absent",
	} {
		p, err := benchEnv(t).Projection(src)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { buf = p.Append(buf[:0], it) }); n != 0 {
			t.Errorf("AppendItem of %s allocates %v times, want 0", src, n)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct{ name, src string }{
		{"one", "#s = :s"},
		{"key", "pk = :s AND price BETWEEN :lo AND :hi"},
		{"six", sixTerms},
	} {
		b.Run(bb.name, func(b *testing.B) {
			e := benchEnv(b)
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.src)))
			for b.Loop() {
				if _, err := e.Condition(expr.FilterExpression, bb.src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewEnv(b *testing.B) {
	names := map[string]string{"#s": "status"}
	values := parsed(b, benchValues)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expr.NewEnv(expr.Params{Names: names, Values: values}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	it := parsed(b, benchItem)
	for _, bb := range []struct{ name, src string }{
		{"equal", "#s = :s"},
		{"range", "price BETWEEN :lo AND :hi"},
		{"nested", "begins_with(meta.way[0], :t)"},
		{"size", "size(notes) < :hi"},
		{"six", sixTerms},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := condition(b, benchEnv(b), bb.src)
			if !c.Match(it) {
				b.Fatal("false, want true")
			}
			b.ReportAllocs()
			for b.Loop() {
				c.Match(it)
			}
		})
	}
}

func BenchmarkProjection(b *testing.B) {
	it := parsed(b, benchItem)
	for _, bb := range []struct{ name, src string }{
		{"flat", "pk, price, #s"},
		{"nested", "pk, meta.way[2], meta.way[0], meta.holder"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			p, err := benchEnv(b).Projection(bb.src)
			if err != nil {
				b.Fatal(err)
			}
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf = p.Append(buf[:0], it)
			}
			if attr.Item(buf).Len() == 0 {
				b.Fatal("nothing projected")
			}
		})
	}
}

// fourClauses is an update with many kinds of actions.
const fourClauses = "SET #s = :s, price = price + :lo, meta.holder = if_not_exists(meta.keeper, :t), meta.way = " +
	"list_append(meta.way, :l) REMOVE q ADD tags :ss DELETE gone :ss"

func updateEnv(tb testing.TB) *expr.Env {
	return env(tb,
		map[string]string{
			"#s": "status",
		}, `{":s": {"S": "shut"}, ":lo": {"N": "10"}, ":t": {"S": "re"}, ":l": {"L": [{"S": "new"}]}, ":ss": {"SS": `+
			`["re", "green"]}}`)
}

func BenchmarkUpdate(b *testing.B) {
	for _, bb := range []struct{ name, src string }{
		{"one", "SET #s = :s"},
		{"four", fourClauses},
	} {
		b.Run(bb.name, func(b *testing.B) {
			e := updateEnv(b)
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.src)))
			for b.Loop() {
				if _, err := e.Update(bb.src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	var wide attr.Builder
	for i := range 200 {
		wide.Add("attribute"+string(rune('a'+i/26))+string(rune('a'+i%26)),
			attr.NewString("some value of no great length"))
	}
	wide.Add("price", parsed(b, benchItem).Get("price"))
	for _, bb := range []struct {
		name, src string
		it        attr.Item
	}{
		{"set", "SET #s = :s", parsed(b, benchItem)},
		{"sum", "SET price = price + :lo", parsed(b, benchItem)},
		{"nested", "SET meta.way[1] = :t", parsed(b, benchItem)},
		{"four", fourClauses, parsed(b, benchItem)},
		{"wide", "SET #s = :s, price = price - :lo REMOVE attributefa", wide.Item()},
	} {
		b.Run(bb.name, func(b *testing.B) {
			u, err := updateEnv(b).Update(bb.src)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.it)))
			for b.Loop() {
				if _, err := u.Apply(bb.it, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// An update allocates only the new item.
func TestApplyAllocatesTheItem(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector, pools drop objects")
	}
	it := parsed(t, benchItem)
	for _, src := range []string{"SET #s = :s", "SET meta.way[1] = :t REMOVE meta.way[0]", fourClauses} {
		u, err := updateEnv(t).Update(src)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = u.Apply(it, nil) }); n != 1 {
			t.Errorf("Apply of %s allocates %v times, want 1", src, n)
		}
	}
}
