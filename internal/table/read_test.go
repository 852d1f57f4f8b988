package table_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/keycond"
)

// ten puts ten items, numbered 0 to 9, into partition p of table t.
func ten(f *tabletest.Fixture) {
	f.Helper()
	f.Create("t", "PK:S SK:N", "GSI tag:S - ALL", "LSI PK:S tag:S KEYS_ONLY")
	for i := range 10 {
		f.Put("t", fmt.Sprintf(`{'PK':{'S':'p'},'SK':{'N':'%d'},'tag':{'S':'x'},'odd':{'BOOL':%v}}`, i, i%2 == 1))
	}
	f.Put("t", `{'PK':{'S':'other'},'SK':{'N':'5'}}`)
}

const valuesP = `{':p':{'S':'p'},':x':{'S':'x'},':t':{'BOOL':true},':n':{'N':'3'}}`

// TestPages reads pages of every size, forwards and backwards, and compares their concatenation with the whole: for
// the table, and for items with equal keys in both kinds of index.
func TestPages(t *testing.T) {
	f := tabletest.Open(t)
	ten(f)
	for _, index := range []string{"", "GSI", "LSI"} {
		for limit := 1; limit <= 11; limit++ {
			for _, reverse := range []bool{false, true} {
				q := query{table: "t", index: index, key: "PK = :p", values: valuesP, limit: limit, reverse: reverse}
				if index == "GSI" {
					q.key = "tag = :x"
				}
				var all []attr.Item
				for pages := 0; ; pages++ {
					require.Less(t, pages, 12, "pages do not end")
					items, page := mustAsk(f, q)
					all = append(all, items...)
					if q.start = page.Last; q.start == nil {
						break
					}
				}
				want := strings.Fields("0 1 2 3 4 5 6 7 8 9")
				if index != "" { // in the order of the hash of the table's key
					want = strings.Fields("3 6 0 9 5 7 4 2 1 8")
				}
				if reverse {
					slices.Reverse(want)
				}
				if got, want := tabletest.Show(all, "SK"), strings.Join(want, " "); got != want {
					t.Errorf("index %q, limit %d, reverse %v: %s, want %s", index, limit, reverse, got, want)
				}
			}
		}
	}
}

// TestStartRefused checks the messages for invalid start keys of queries, as captured in dynalite (test/query.js).
func TestStartRefused(t *testing.T) {
	f := tabletest.Open(t)
	ten(f)
	f.Create("h", "PK:S")
	for _, tt := range []struct{ name, table, index, key, start, want string }{
		{"missing", "t", "", "PK = :p", `{'PK':{'S':'p'}}`, "The provided starting key is invalid"},
		{
			"extra", "t", "", "PK = :p", `{'PK':{'S':'p'},'SK':{'N':'1'},'x':{'N':'1'}}`,
			"The provided starting key is invalid",
		},
		{
			"kind", "t", "", "PK = :p", `{'PK':{'S':'p'},'SK':{'S':'1'}}`,
			"The provided key element does not match the schema",
		},
		{
			"index kind", "t", "GSI", "tag = :x", `{'PK':{'S':'p'},'SK':{'N':'1'},'tag':{'N':'1'}}`,
			"The provided key element does not match the schema",
		},
		{
			"table kind", "t", "GSI", "tag = :x", `{'PK':{'S':'p'},'SK':{'S':'1'},'tag':{'S':'x'}}`,
			"The provided starting key is invalid: The provided key element does not match the schema",
		},
		{
			"partition, with a range", "t", "", "PK = :p AND SK < :n", `{'PK':{'S':'q'},'SK':{'N':'1'}}`,
			"The query can return at most one row and cannot be restarted",
		},
		{
			"partition", "t", "", "PK = :p", `{'PK':{'S':'q'},'SK':{'N':'1'}}`,
			"The provided starting key is outside query boundaries based on provided conditions",
		},
		{
			"range", "t", "", "PK = :p AND SK < :n", `{'PK':{'S':'p'},'SK':{'N':'7'}}`,
			"The provided starting key does not match the range key predicate",
		},
		{
			"index without table key", "t", "GSI", "tag = :x", `{'tag':{'S':'x'}}`,
			"The provided starting key is invalid",
		},
		{
			"one-row partition", "h", "", "PK = :p", `{'PK':{'S':'p'}}`,
			"The provided exclusive start key is invalid: ExclusiveStartKey: {PK=AttributeValue: {S:p}}",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ask(f, query{
				table: tt.table, index: tt.index, key: tt.key, values: valuesP, start: tabletest.Item(t, tt.start),
			})
			if err == nil || err.Error() != tt.want || tabletest.KindOf(err) != table.Validation {
				t.Errorf("query = %v, want %s", err, tt.want)
			}
		})
	}
}

// TestScanStartRefused checks the messages for invalid start keys of scans, as captured in dynalite (test/scan.js).
func TestScanStartRefused(t *testing.T) {
	f := tabletest.Open(t)
	ten(f)
	const schema = "The provided starting key is invalid: The provided key element does not match the schema"
	for _, tt := range []struct{ name, index, start, want string }{
		{"missing", "", `{'PK':{'S':'p'}}`, schema},
		{"extra", "", `{'PK':{'S':'p'},'SK':{'N':'1'},'x':{'N':'1'}}`, schema},
		{"kind", "", `{'PK':{'S':'p'},'SK':{'S':'1'}}`, schema},
		{"index, missing", "GSI", `{'PK':{'S':'p'},'SK':{'N':'1'}}`, "The provided starting key is invalid"},
		{
			"index, kind", "GSI", `{'PK':{'S':'p'},'SK':{'N':'1'},'tag':{'N':'1'}}`,
			"The provided key element does not match the schema",
		},
		{"index, table kind", "GSI", `{'PK':{'S':'p'},'SK':{'S':'1'},'tag':{'S':'x'}}`, schema},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := f.DB.View(context.Background(), func(s *table.View) error {
				tb, err := s.Table("t")
				require.NoError(t, err)
				read := table.Read{Table: tb, Start: tabletest.Item(t, tt.start)}
				if tt.index != "" {
					read.Index, err = tb.Index(tt.index)
					require.NoError(t, err)
				}
				_, err = s.Scan(&table.Scan{Read: read}, func(attr.Item) error { return nil })
				return err
			})
			if err == nil || err.Error() != tt.want || tabletest.KindOf(err) != table.Validation {
				t.Errorf("scan = %v, want %s", err, tt.want)
			}
		})
	}
}

// TestOneItem pages through a table without a sort key. A page must have no last key, as no item can follow.
func TestOneItem(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("h", "PK:S", "GSI tag:S - ALL")
	f.Put("h", `{'PK':{'S':'p'},'tag':{'S':'x'}}`)
	items, page := mustAsk(f, query{table: "h", key: "PK = :p", values: valuesP, limit: 1})
	if len(items) != 1 || page.Last != nil {
		t.Errorf("query of one item: %d items, last key %v", len(items), page.Last)
	}
	_, page = mustAsk(f, query{table: "h", index: "GSI", key: "tag = :x", values: valuesP, limit: 1})
	if page.Last == nil {
		t.Error("a page of an index has no last key, though others may follow")
	}
}

// TestTrace compares the trace of a query with its results.
func TestTrace(t *testing.T) {
	f := tabletest.Open(t)
	ten(f)
	var traces []table.Trace
	ctx := table.WithTrace(context.Background(), func(tr table.Trace) { traces = append(traces, tr) })
	require.NoError(t, f.DB.View(ctx, func(s *table.View) error {
		tb, _ := s.Table("t")
		_, err := s.Scan(&table.Scan{Read: table.Read{Table: tb, Limit: 4}}, func(attr.Item) error { return nil })
		return err
	}))
	require.Len(t, traces, 1)
	tr := traces[0]
	if tr.Operation != "Scan" || tr.Examined != 4 || tr.Stop != keycond.StopLimit || tr.Units != 0.5 || tr.Bytes == 0 {
		t.Errorf("trace = %+v", tr)
	}
}

func TestFetchThroughLocalIndex(t *testing.T) {
	f := tabletest.Open(t)
	ten(f)
	items, page := mustAsk(f, query{
		table: "t", index: "LSI", key: "PK = :p", values: valuesP, fetch: true, consistent: true,
	})
	if got := tabletest.Show(items[:2], "odd"); got != "OOL:true OOL:false" {
		t.Errorf("fetched %s", got)
	}
	// Ten items of 4 KB each are fetched from the table, and one page of entries is read from the index (DG/LSI.html,
	// read capacity units).
	if page.Capacity.Table != 10 || page.Capacity.Indexes[0].Units != 1 {
		t.Errorf("capacity = %+v, want 10 on the table and 1 on the index", page.Capacity)
	}
}
