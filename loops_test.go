package sortkey_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
)

// A meter is an observer that adds up the rows that queries and scans examine.
type meter struct {
	mu       sync.Mutex
	examined int
}

func (m *meter) Begin(context.Context, *sortkey.Event) {}

func (m *meter) End(_ context.Context, e *sortkey.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.examined += e.Examined
}

// of returns how many rows fn examines.
func (m *meter) of(fn func()) int {
	m.examined = 0
	fn()
	return m.examined
}

// TestLimitExamines tests that a loop with a Limit reads no row after its last item, and continues after pages whose
// rows a filter drops.
func TestLimitExamines(t *testing.T) {
	var m meter
	db, ctx := open(t, sortkey.Options{Observer: &m}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p / s:N"))
	items := sortkey.Table[object](db, "Items")
	const rows = 2000
	for i := range rows {
		item := object{
			"p": "P", "s": i, "tenth": i%10 == 9, "final": i == rows-1, "fat": strings.Repeat("x", 1000),
		}
		require.NoError(t, items.Put(ctx, item))
	}

	tenth, final := sortkey.Where("tenth = :t", true), sortkey.Where("final = :f", true)
	for _, tt := range []struct {
		limit, want, examined int
		filter                sortkey.Option
	}{
		{limit: 1, want: 1, examined: 1}, {limit: 255, want: 255, examined: 255},
		{limit: 256, want: 256, examined: 256}, {limit: 257, want: 257, examined: 257},
		{limit: 1500, want: 1500, examined: 1500}, {limit: 5000, want: rows, examined: rows},
		{limit: 1, want: 1, examined: 10, filter: tenth}, {limit: 25, want: 25, examined: 250, filter: tenth},
		{limit: 26, want: 26, examined: 260, filter: tenth}, {limit: 199, want: 199, examined: 1990, filter: tenth},
		{limit: 201, want: 200, examined: rows, filter: tenth},
		{want: rows, examined: rows}, {want: 200, examined: rows, filter: tenth},
		{want: 1, examined: rows, filter: final}, {limit: 1, want: 1, examined: rows, filter: final},
	} {
		queryOpts, opts := []sortkey.QueryOption{}, []sortkey.Option{}
		if tt.limit > 0 {
			queryOpts, opts = append(queryOpts, sortkey.Limit(tt.limit)), append(opts, sortkey.Limit(tt.limit))
		}
		if tt.filter != nil {
			queryOpts, opts = append(queryOpts, tt.filter), append(opts, tt.filter)
		}
		for name, loop := range map[string]iter.Seq2[object, error]{
			"Query": items.Query(ctx, "P", queryOpts...), "Scan": items.Scan(ctx, opts...),
		} {
			got := 0
			examined := m.of(func() { got = len(collect(t, loop)) })
			require.Equal(t, []int{tt.want, tt.examined}, []int{got, examined}, "%s %+v", name, tt)
		}
	}
}

// A strictRow is a struct for the items of TestMisfits. Only those whose n is a number fit.
type strictRow struct {
	P string `dynamodbav:"p"`
	S int    `dynamodbav:"s"`
	N int    `dynamodbav:"n"`
}

// seen returns what a loop yields as text: the sort keys of items, and the keys of those that do not fit.
func seen(loop iter.Seq2[strictRow, error]) (list []string) {
	for row, err := range loop {
		if err != nil {
			list = append(list, misfitKey(err))
			continue
		}
		list = append(list, fmt.Sprint(row.S))
	}
	return list
}

func misfitKey(err error) string {
	if e, ok := err.(*sortkey.DecodeError); ok && errors.As(err, new(*attr.ConvertError)) {
		return string(e.Key.AppendJSON(nil))
	}
	return fmt.Sprint(err)
}

// TestMisfits tests that an item that does not fit its struct causes an error with the key of the item, that loops
// also yield the items before and after it, and that no reader gets stuck.
func TestMisfits(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p / s:N", sortkey.Global("ByG", "g / s:N"), sortkey.Stream()))
	items, rows := sortkey.Table[object](db, "Items"), sortkey.Table[strictRow](db, "Items")
	const n = 300 // more than the first page
	var want []string
	for i := range n {
		item := object{"p": "P", "s": i, "g": "G", "n": i}
		text := fmt.Sprint(i)
		if i == 0 || i == 3 || i == 4 || i == 280 || i == n-1 {
			item["n"] = "text"
			text = fmt.Sprintf(`{"p":{"S":"P"},"s":{"N":"%d"}}`, i)
		}
		want = append(want, text)
		require.NoError(t, items.Put(ctx, item))
	}
	misfit := func(i int) string { return fmt.Sprintf(`{"p":{"S":"P"},"s":{"N":"%d"}}`, i) }

	t.Run("loops", func(t *testing.T) {
		require.Equal(t, want, seen(rows.Query(ctx, "P")))
		require.Equal(t, want, seen(rows.Index("ByG").Query(ctx, "G")))
		require.ElementsMatch(t, want, seen(rows.Scan(ctx)))
		require.Equal(t, want[:4], seen(rows.Query(ctx, "P", sortkey.Limit(4))))
		require.Equal(t, want[:5], seen(rows.Query(ctx, "P", sortkey.Limit(5))))

		var projected []string
		for _, err := range rows.Query(ctx, "P", sortkey.Only("n")) {
			if err != nil {
				projected = append(projected, misfitKey(err))
			}
		}
		keys := []string{want[0], want[3], want[4], want[280], want[n-1]}
		require.Equal(t, keys, projected, "their keys are not among the attributes that were read")
	})

	t.Run("pages", func(t *testing.T) {
		for name, page := range map[string]func(cursor string) (*sortkey.Page[strictRow], error){
			"Query": func(cursor string) (*sortkey.Page[strictRow], error) {
				return rows.QueryPage(ctx, "P", sortkey.After(cursor), sortkey.Limit(100))
			},
			"index": func(cursor string) (*sortkey.Page[strictRow], error) {
				return rows.Index("ByG").QueryPage(ctx, "G", sortkey.After(cursor), sortkey.Only("n", "s"))
			},
			"Scan": func(cursor string) (*sortkey.Page[strictRow], error) {
				return rows.ScanPage(ctx, sortkey.After(cursor))
			},
		} {
			var got []string
			for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
				require.Less(t, pages, 20, "%s is stuck", name)
				p, err := page(cursor)
				require.NotNil(t, p)
				for _, row := range p.Items {
					got = append(got, fmt.Sprint(row.S))
				}
				if err != nil {
					got = append(got, misfitKey(err))
					require.NotEmpty(t, p.Cursor)
				}
				cursor = p.Cursor
			}
			require.ElementsMatch(t, want, got, name)
		}
	})

	t.Run("one item", func(t *testing.T) {
		_, err := rows.Get(ctx, "P", 3)
		require.Equal(t, misfit(3), misfitKey(err))
		require.EqualError(t, err, `sortkey: item `+misfit(3)+` of table Items: n: cannot decode S into int; `+
			`change the type of the field, or the attribute`)
		_, err = rows.Update(ctx, sortkey.Key{"P", 3}, "SET m = :m", 1)
		require.Equal(t, misfit(3), misfitKey(err))
		var old strictRow
		require.Equal(t, misfit(3), misfitKey(rows.Put(ctx, strictRow{"P", 3, 3}, sortkey.Old(&old))))
		require.Equal(t, misfit(4), misfitKey(rows.Delete(ctx, "P", 4, sortkey.Old(&old))))

		require.NoError(t, db.CreateTable(ctx, "Short", "p"))
		require.NoError(t, sortkey.Table[object](db, "Short").Put(ctx, object{"p": "P", "n": "text"}))
		short := sortkey.Table[strictRow](db, "Short")
		require.Equal(t, []string{`{"p":{"S":"P"}}`}, seen(short.Query(ctx, "P")), "its partition has one item")
		page, err := short.QueryPage(ctx, "P")
		require.Equal(t, `{"p":{"S":"P"}}`, misfitKey(err))
		require.Empty(t, page.Cursor)
	})

	t.Run("changes", func(t *testing.T) {
		text := func(change sortkey.Change[strictRow], err error) string {
			if err == nil {
				return string(change.Key.Get("s").AppendNumber(nil))
			}
			require.Equal(t, misfitKey(err), string(change.Key.AppendJSON(nil)))
			require.False(t, change.At.IsZero())
			return misfitKey(err)
		}
		var got, cursors []string
		for change, err := range rows.Changes(ctx, "", sortkey.UntilNow) {
			cursors = append(cursors, change.Cursor)
			got = append(got, text(change, err))
		}
		require.Equal(t, want, got[:n])
		require.Len(t, got, n+3, "an update, a put and a deletion")
		for i, cursor := range cursors {
			for change, err := range rows.Changes(ctx, cursor, sortkey.UntilNow) {
				require.Equal(t, got[i+1], text(change, err))
				break
			}
		}
	})
}
