package table_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/table"
)

// fill puts rows in partitions of ten, in batches.
func fill(b testing.TB, f *fixture, rows int) {
	for i := 0; i < rows; i += 1000 {
		err := f.db.Update(context.Background(), func(tx *table.Tx) error {
			tb, err := tx.Table("t")
			if err != nil {
				return err
			}
			for j := i; j < min(i+1000, rows); j++ {
				var bd attr.Builder
				n, err := attr.NewNumber(fmt.Sprint(j))
				if err != nil {
					return err
				}
				bd.Add("PK", attr.NewString(fmt.Sprintf("CUSTOMER#%07d", j/10)))
				bd.Add("SK", attr.NewString(fmt.Sprintf("ORDER#%d", j%10)))
				bd.Add("amount", n)
				bd.Add("note", attr.NewString(strings.Repeat("x", 60)))
				if _, err := tx.Put(tb, bd.Item(), nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func sliceOf(b testing.TB, tb *table.Table, src, values string) *keycond.Slice {
	s, err := keycond.Compile(tb.Key(), condition(b, expr.KeyConditionExpression, src, values))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkQuery10 reads the ten rows of one partition. The cost must not
// depend on the size of the table.
func BenchmarkQuery10(b *testing.B) {
	for _, rows := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			f := open(b)
			tb := f.create("t", "PK:S SK:S")
			fill(b, f, rows)
			slices := make([]*keycond.Slice, 64) // spread over the table
			for i := range slices {
				slices[i] = sliceOf(b, tb, "PK = :p AND begins_with(SK, :s)",
					fmt.Sprintf(`{':p':{'S':'CUSTOMER#%07d'},':s':{'S':'ORDER#'}}`, i*(rows/10/len(slices))))
			}
			b.ReportAllocs()
			b.ResetTimer()
			i := 0
			for b.Loop() {
				i++
				n := 0
				err := f.db.View(context.Background(), func(s *table.Snapshot) error {
					_, err := s.Query(&table.Query{Read: table.Read{Table: tb}, Slice: slices[i%len(slices)]}, func(attr.Item) error {
						n++
						return nil
					})
					return err
				})
				if err != nil || n != 10 {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// BenchmarkFilterAll scans 10,000 rows with a filter that keeps none.
func BenchmarkFilterAll(b *testing.B) {
	f := open(b)
	tb := f.create("t", "PK:S SK:S")
	const rows = 5_000 // below 1 MB
	fill(b, f, rows)
	filter := condition(b, expr.FilterExpression, "amount < :n", `{':n':{'N':'-1'}}`)
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		err := f.db.View(context.Background(), func(s *table.Snapshot) error {
			page, err := s.Scan(&table.Scan{Read: table.Read{Table: tb, Filter: filter}}, func(attr.Item) error { return nil })
			if page.Examined != rows {
				b.Fatal(page.Examined)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// BenchmarkPut writes items of four attributes to a table with one index.
func BenchmarkPut(b *testing.B) {
	f := open(b)
	f.create("t", "PK:S SK:S", "G g:S - KEYS_ONLY")
	items := make([]attr.Item, 1<<16)
	for i := range items {
		items[i] = item(b, fmt.Sprintf(`{'PK':{'S':'CUSTOMER#%07d'},'SK':{'S':'ORDER#%d'},'g':{'S':'%d'},'v':{'N':'%d'}}`, i/10, i%10, i%100, i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	i := 0
	for b.Loop() {
		err := f.db.Update(context.Background(), func(tx *table.Tx) error {
			tb, err := tx.Table("t")
			if err != nil {
				return err
			}
			_, err = tx.Put(tb, items[i%len(items)], nil)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// TestFilterAllocatesNothing: rows that a filter drops cost no allocation.
func TestFilterAllocatesNothing(t *testing.T) {
	f := open(t)
	tb := f.create("t", "PK:S SK:S")
	fill(t, f, 2000)
	filter := condition(t, expr.FilterExpression, "amount < :n", `{':n':{'N':'-1'}}`)
	allocs := func(limit int) float64 {
		return testing.AllocsPerRun(10, func() {
			if err := f.db.View(context.Background(), func(s *table.Snapshot) error {
				_, err := s.Scan(&table.Scan{Read: table.Read{Table: tb, Filter: filter, Limit: limit}}, func(attr.Item) error { return nil })
				return err
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(10), allocs(2000); many > few+10 { // the pools of a race build lose some
		t.Errorf("2,000 filtered rows allocate %v times, 10 rows %v", many, few)
	}
}
