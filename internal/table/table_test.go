package table_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/keycond"
)

// query describes a query; fields with the zero value are not used.
type query struct {
	table, index, key, values, filter string
	start                             attr.Item
	limit                             int
	reverse, consistent, fetch        bool
}

func ask(f *tabletest.Fixture, q query) ([]attr.Item, table.Page, error) {
	f.Helper()
	var items []attr.Item
	var page table.Page
	err := f.DB.View(context.Background(), func(s *table.View) error {
		tb, err := s.Table(q.table)
		if err != nil {
			return err
		}
		read := table.Read{
			Table: tb, Start: q.start, Limit: q.limit, Consistent: q.consistent, Fetch: q.fetch,
			Filter: tabletest.Condition(f, expr.FilterExpression, q.filter, q.values),
		}
		schema := tb.Key()
		if q.index != "" {
			if read.Index, err = tb.Index(q.index); err != nil {
				return err
			}
			schema = read.Index.Key()
		}
		slice, err := keycond.Compile(schema,
			tabletest.Condition(f, expr.KeyConditionExpression, q.key, q.values))
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

func mustAsk(f *tabletest.Fixture, q query) ([]attr.Item, table.Page) {
	f.Helper()
	items, page, err := ask(f, q)
	require.NoError(f, err)
	return items, page
}

// TestOrder checks the order of strings, numbers and binary values, which is by UTF-8 bytes, by value and by unsigned
// bytes: DG/HowItWorks.NamingRulesDataTypes.html.
func TestOrder(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("S", "PK:S SK:S")
	for _, s := range []string{"z", "¿", "a", "A", "b", "aa", "￿", "😀", "2", "10", "Ab"} {
		f.Put("S", fmt.Sprintf(`{'PK':{'S':'p'},'SK':{'S':'%s'}}`, s))
	}
	f.Create("N", "PK:S SK:N")
	for _, n := range []string{
		"10", "9", "-1", "0", "1E-130", "-1E-130", "9.99E125", "-9.99E125", "0.5", "-10",
		"12345678901234567890123456789012345678",
	} {
		f.Put("N", fmt.Sprintf(`{'PK':{'S':'p'},'SK':{'N':'%s'}}`, n))
	}
	f.Create("B", "PK:S SK:B")
	for _, b := range []string{"/w==", "AA==", "gA==", "fw==", "AAA=", "AP8="} {
		f.Put("B", fmt.Sprintf(`{'PK':{'S':'p'},'SK':{'B':'%s'}}`, b))
	}
	items, _ := mustAsk(f, query{table: "S", key: "PK = :p", values: `{':p':{'S':'p'}}`})
	if got, want := tabletest.Show(items, "SK"), "10 2 A Ab a aa b z ¿ ￿ 😀"; got != want {
		t.Errorf("strings in order = %s, want %s", got, want)
	}
	items, _ = mustAsk(f, query{table: "N", key: "PK = :p", values: `{':p':{'S':'p'}}`})
	if got := tabletest.Show(items, "SK"); !strings.HasPrefix(got, "-999") ||
		!strings.Contains(got, " -10 -1 -0.000") ||
		!strings.Contains(got, " 0.5 9 10 12345678901234567890123456789012345678 999") {
		t.Errorf("numbers in order = %s", got)
	}
	items, _ = mustAsk(f, query{table: "B", key: "PK = :p", values: `{':p':{'S':'p'}}`})
	if got, want := tabletest.Show(items, "SK"), "AA== AAA= AP8= fw== gA== /w=="; got != want {
		t.Errorf("binaries in order = %s, want %s", got, want)
	}
}
