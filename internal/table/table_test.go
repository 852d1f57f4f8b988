package table_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store/memory"
)

// fixture is a database in memory with helpers that stop the test on errors.
type fixture struct {
	testing.TB
	db *table.DB
}

func open(t testing.TB) *fixture {
	t.Helper()
	db, err := table.Open(context.Background(), memory.Open())
	require.NoError(t, err)
	return &fixture{t, db}
}

// define reads a definition such as "PK:S SK:S" for the table, then
// "GSI1 tag:S at:S ALL", "GSI2 a:S,b:S - KEYS_ONLY", "LSI1 PK:S n:N INCLUDE x"
// for its indexes: a name, partition and sort attributes, the projection. The
// name of a local index starts with L.
func define(t testing.TB, name, key string, indexes ...string) *table.Definition {
	t.Helper()
	def := &table.Definition{Name: name}
	elements := func(text string, hash bool) (out []table.KeyElement) {
		for part := range strings.SplitSeq(text, ",") {
			if part == "-" {
				continue
			}
			n, k, _ := strings.Cut(part, ":")
			kind, ok := attr.ParseKind(k)
			require.True(t, ok, "%q is no kind", k)
			a := keycond.Attribute{Name: n, Kind: kind}
			known := false
			for _, d := range def.Attributes {
				known = known || d == a
			}
			if !known {
				def.Attributes = append(def.Attributes, a)
			}
			out = append(out, table.KeyElement{Name: n, Hash: hash})
		}
		return out
	}
	schema := func(fields []string) []table.KeyElement {
		out := elements(fields[0], true)
		if len(fields) > 1 {
			out = append(out, elements(fields[1], false)...)
		}
		return out
	}
	def.Key = schema(strings.Fields(key))
	for _, text := range indexes {
		f := strings.Fields(text)
		ix := table.IndexDefinition{Name: f[0], Key: schema(f[1:3]), Projection: table.Projection{Type: f[3]}}
		if len(f) > 4 {
			ix.Projection.Include = strings.Split(f[4], ",")
		}
		if f[0][0] == 'L' {
			def.Local = append(def.Local, ix)
		} else {
			def.Global = append(def.Global, ix)
		}
	}
	return def
}

func (f *fixture) create(name, key string, indexes ...string) *table.Table {
	f.Helper()
	tb, err := f.db.Create(context.Background(), define(f, name, key, indexes...))
	require.NoError(f, err)
	return tb
}

// item parses DynamoDB JSON with single quotes.
func item(t testing.TB, text string) attr.Item {
	t.Helper()
	it, err := attr.ParseItem([]byte(strings.ReplaceAll(text, "'", `"`)))
	require.NoError(t, err)
	return it
}

func condition(t testing.TB, param expr.Param, src, values string) *expr.Condition {
	t.Helper()
	if src == "" {
		return nil
	}
	var bound attr.Item
	if values != "" {
		bound = item(t, values)
	}
	env, err := expr.NewEnv(nil, bound)
	require.NoError(t, err)
	c, err := env.Condition(param, src)
	require.NoError(t, err)
	return c
}

func (f *fixture) put(name, text string) table.Change {
	f.Helper()
	change, err := f.tryPut(name, text, nil)
	require.NoError(f, err)
	return change
}

func (f *fixture) tryPut(name, text string, cond *expr.Condition) (change table.Change, err error) {
	it := item(f, text)
	err = f.db.Update(context.Background(), func(tx *table.Tx) error {
		tb, err := tx.Table(name)
		if err != nil {
			return err
		}
		change, err = tx.Put(tb, it, cond)
		return err
	})
	return change, err
}

func (f *fixture) delete(name, key string) table.Change {
	f.Helper()
	k := item(f, key)
	var change table.Change
	require.NoError(f, f.db.Update(context.Background(), func(tx *table.Tx) error {
		tb, err := tx.Table(name)
		if err != nil {
			return err
		}
		change, err = tx.Delete(tb, k, nil)
		return err
	}))
	return change
}

// query says what to read; the zero value of a field leaves it out.
type query struct {
	table, index, key, values, filter string
	start                             attr.Item
	limit                             int
	reverse, consistent, fetch        bool
}

func (f *fixture) query(q query) ([]attr.Item, table.Page, error) {
	f.Helper()
	var items []attr.Item
	var page table.Page
	err := f.db.View(context.Background(), func(s *table.View) error {
		tb, err := s.Table(q.table)
		if err != nil {
			return err
		}
		read := table.Read{
			Table: tb, Start: q.start, Limit: q.limit, Consistent: q.consistent, Fetch: q.fetch,
			Filter: condition(f, expr.FilterExpression, q.filter, q.values),
		}
		schema := tb.Key()
		if q.index != "" {
			if read.Index, err = tb.Index(q.index); err != nil {
				return err
			}
			schema = read.Index.Key()
		}
		slice, err := keycond.Compile(schema, condition(f, expr.KeyConditionExpression, q.key, q.values))
		if err != nil {
			return err
		}
		page, err = s.Query(&table.Query{Read: read, Slice: slice, Reverse: q.reverse}, func(it attr.Item) error {
			items = append(items, it)
			return nil
		})
		return err
	})
	return items, page, err
}

// show renders items as "SK SK SK" of the named attribute.
func show(items []attr.Item, name string) string {
	var out []string
	for _, it := range items {
		out = append(out, strings.Trim(it.Get(name).String(), "{}SNB:"))
	}
	return strings.Join(out, " ")
}

func (f *fixture) mustQuery(q query) ([]attr.Item, table.Page) {
	f.Helper()
	items, page, err := f.query(q)
	require.NoError(f, err)
	return items, page
}

func kindOf(err error) table.Kind {
	if e, ok := errors.AsType[*table.Error](err); ok {
		return e.Kind
	}
	return 0
}

func TestWriteAndRead(t *testing.T) {
	f := open(t)
	f.create("t", "PK:S SK:S")
	change := f.put("t", `{'PK':{'S':'a'},'SK':{'S':'1'},'v':{'N':'1'}}`)
	if change.Old != nil {
		t.Errorf("first put: Old = %s, want none", change.Old.AppendJSON(nil))
	}
	change = f.put("t", `{'PK':{'S':'a'},'SK':{'S':'1'},'v':{'N':'2'}}`)
	if got := change.Old.Get("v").String(); got != "{N:1}" {
		t.Errorf("second put: Old.v = %s, want {N:1}", got)
	}
	change = f.delete("t", `{'PK':{'S':'a'},'SK':{'S':'1'}}`)
	if got := change.Old.Get("v").String(); got != "{N:2}" {
		t.Errorf("delete: Old.v = %s, want {N:2}", got)
	}
	if change = f.delete("t", `{'PK':{'S':'a'},'SK':{'S':'1'}}`); change.Old != nil || change.Capacity.Table != 1 {
		t.Errorf("delete of nothing = %+v, want no item and 1 unit", change)
	}
	tb, err := f.db.Describe(t.Context(), "t")
	require.NoError(t, err)
	if n, bytes := tb.Items(); n != 0 || bytes != 0 {
		t.Errorf("Items() = %d, %d after all were deleted, want 0, 0", n, bytes)
	}
}

func TestConditionFailed(t *testing.T) {
	f := open(t)
	f.create("t", "PK:S")
	f.put("t", `{'PK':{'S':'a'},'v':{'N':'1'}}`)
	change, err := f.tryPut("t", `{'PK':{'S':'a'},'v':{'N':'2'}}`, condition(t, expr.ConditionExpression, "attribute_not_exists(PK)", ""))
	e, ok := errors.AsType[*table.Error](err)
	if !ok || e.Kind != table.ConditionFailed || e.Item.Get("v").String() != "{N:1}" {
		t.Fatalf("put with a failed condition = %v, want ConditionFailed with the item there is", err)
	}
	if change.Capacity.Table != 1 {
		t.Errorf("a failed condition consumed %v units, want 1", change.Capacity.Table)
	}
}

// TestOrder holds the order of strings, numbers and binary against the rule of
// DG/HowItWorks.NamingRulesDataTypes.html: UTF-8 bytes, value, unsigned bytes.
func TestOrder(t *testing.T) {
	f := open(t)
	f.create("S", "PK:S SK:S")
	for _, s := range []string{"z", "¿", "a", "A", "b", "aa", "￿", "😀", "2", "10", "Ab"} {
		f.put("S", fmt.Sprintf(`{'PK':{'S':'p'},'SK':{'S':'%s'}}`, s))
	}
	f.create("N", "PK:S SK:N")
	for _, n := range []string{"10", "9", "-1", "0", "1E-130", "-1E-130", "9.99E125", "-9.99E125", "0.5", "-10", "12345678901234567890123456789012345678"} {
		f.put("N", fmt.Sprintf(`{'PK':{'S':'p'},'SK':{'N':'%s'}}`, n))
	}
	f.create("B", "PK:S SK:B")
	for _, b := range []string{"/w==", "AA==", "gA==", "fw==", "AAA=", "AP8="} {
		f.put("B", fmt.Sprintf(`{'PK':{'S':'p'},'SK':{'B':'%s'}}`, b))
	}
	items, _ := f.mustQuery(query{table: "S", key: "PK = :p", values: `{':p':{'S':'p'}}`})
	if got, want := show(items, "SK"), "10 2 A Ab a aa b z ¿ ￿ 😀"; got != want {
		t.Errorf("strings in order = %s, want %s", got, want)
	}
	items, _ = f.mustQuery(query{table: "N", key: "PK = :p", values: `{':p':{'S':'p'}}`})
	if got := show(items, "SK"); !strings.HasPrefix(got, "-999") || !strings.Contains(got, " -10 -1 -0.000") || !strings.Contains(got, " 0.5 9 10 12345678901234567890123456789012345678 999") {
		t.Errorf("numbers in order = %s", got)
	}
	items, _ = f.mustQuery(query{table: "B", key: "PK = :p", values: `{':p':{'S':'p'}}`})
	if got, want := show(items, "SK"), "AA== AAA= AP8= fw== gA== /w=="; got != want {
		t.Errorf("binaries in order = %s, want %s", got, want)
	}
}

func names(t *testing.T, db *table.DB) []string {
	list, err := db.Names(t.Context())
	require.NoError(t, err)
	return list
}
