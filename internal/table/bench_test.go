package table_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/btree"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/keycond"
)

// fill puts rows in partitions of ten items, in batches.
func fill(b testing.TB, f *tabletest.Fixture, rows int) {
	for i := 0; i < rows; i += 1000 {
		err := f.DB.Update(context.Background(), func(tx *table.Tx) error {
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
	s, err := keycond.Compile(tb.Key(),
		tabletest.Condition(b, expr.KeyConditionExpression, src, values))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// sizes are table sizes, in items, on which the time of a query must not depend.
var sizes = []int{1_000, 1_000_000}

// spread returns the values of key conditions for 64 partitions spread over a table.
func spread(rows int) (values []string) {
	for i := range 64 {
		values = append(values, fmt.Sprintf(`{':p':{'S':'CUSTOMER#%07d'},':s':{'S':'ORDER#'}}`, i*(rows/10/64)))
	}
	return values
}

const tenRows = "PK = :p AND begins_with(SK, :s)"

// BenchmarkQuery10 runs a query of ten rows: it parses and compiles the expression, reads the rows and writes them as
// JSON. The time must not depend on the size of the table.
func BenchmarkQuery10(b *testing.B) {
	for _, rows := range sizes {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			f := tabletest.Open(b)
			tb := f.Create("t", "PK:S SK:S")
			fill(b, f, rows)
			var values []attr.Item
			for _, v := range spread(rows) {
				values = append(values, tabletest.Item(b, v))
			}
			var out []byte
			b.ReportAllocs()
			b.ResetTimer()
			i := 0
			for b.Loop() {
				i++
				env, err := expr.NewEnv(expr.Params{Values: values[i%len(values)]})
				if err != nil {
					b.Fatal(err)
				}
				cond, err := env.Condition(expr.KeyConditionExpression, tenRows)
				if err != nil {
					b.Fatal(err)
				}
				slice, err := keycond.Compile(tb.Key(), cond)
				if err != nil {
					b.Fatal(err)
				}
				n := walk(b, f, tb, slice, func(it attr.Item) { out = it.AppendJSON(out) })
				if n != 10 {
					b.Fatal(n)
				}
				out = out[:0]
			}
		})
	}
}

func walk(b *testing.B, f *tabletest.Fixture, tb *table.Table, slice *keycond.Slice, visit func(attr.Item)) (n int) {
	err := f.DB.View(context.Background(), func(s *table.View) error {
		_, err := s.Query(&table.Query{Read: table.Read{Table: tb}, Slice: slice}, func(it attr.Item) error {
			n++
			visit(it)
			return nil
		})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkPut writes items of four attributes to a table with one index and, for comparison, the same number of rows
// to a bare B-tree.
func BenchmarkPut(b *testing.B) {
	items, keys := make([]attr.Item, 1<<16), make([][]byte, 1<<16)
	again := make([]attr.Item, len(items)) // the same keys
	for i := range items {
		for round, list := range [][]attr.Item{items, again} {
			list[i] = tabletest.Item(b,
				fmt.Sprintf(`{'PK':{'S':'CUSTOMER#%07d'},'SK':{'S':'ORDER#%d'},'g':{'S':'%d'},'v':{'N':'%d'}}`, i/10,
					i%10, i%100, i+round))
		}
		keys[i] = address.Append(nil, 1, fmt.Appendf(nil, "CUSTOMER#%07d", i/10),
			fmt.Appendf(nil, "ORDER#%d", i%10))
	}
	for _, view := range []string{"", "KEYS_ONLY", "NEW_AND_OLD_IMAGES"} {
		name := "table"
		if view != "" {
			name = "stream " + view
		}
		b.Run(name, func(b *testing.B) {
			f := tabletest.Open(b)
			f.Create("t", "PK:S SK:S", "G g:S - KEYS_ONLY")
			if view != "" {
				_, err := f.DB.Alter(context.Background(), "t", func(d *table.Definition) error {
					d.Stream = &table.Stream{View: view, Created: time.Now(), Shards: 1}
					return nil
				})
				require.NoError(b, err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				err := f.DB.Update(context.Background(), func(tx *table.Tx) error {
					tb, err := tx.Table("t")
					if err != nil {
						return err
					}
					it := items[i%len(items)]
					if i/len(items)%2 == 1 {
						it = again[i%len(items)]
					}
					_, err = tx.Put(tb, it, nil)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		tree := btree.NewG(32, func(x, y bareRow) bool { return bytes.Compare(x.key, y.key) < 0 })
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			for j := range 2 {
				k := (i + j*7919) % len(keys)
				tree.ReplaceOrInsert(bareRow{bytes.Clone(keys[k]), items[k]})
			}
			i++
		}
	})
}

// bareRow is a row of the bare B-tree with which pages are compared.
type bareRow struct{ key, value []byte }

// BenchmarkPage reads pages of 1 MB without copying, and for comparison a bare B-tree with the same rows, of which it
// reads every byte of the values. Only the ratio of the two times matters. In "read", the visitor of the page reads
// every byte too.
func BenchmarkPage(b *testing.B) {
	for _, size := range []int{100, 1000} {
		f := tabletest.Open(b)
		tb := f.Create("t", "PK:S SK:S")
		tree := btree.NewG(32, func(x, y bareRow) bool { return bytes.Compare(x.key, y.key) < 0 })
		rows := 3 * keycond.PageBytes / size
		for i := 0; i < rows; i += 1000 {
			require.NoError(b, f.DB.Update(context.Background(), func(tx *table.Tx) error {
				for j := i; j < min(i+1000, rows); j++ {
					it := tabletest.Item(b,
						fmt.Sprintf(`{'PK':{'S':'customer'},'SK':{'S':'order#%08d'},'n':{'N':'%d'},'note':{'S':'%s'}}`,
							j, j, strings.Repeat("x", size-36)))
					if _, err := tx.Put(tb, it, nil); err != nil {
						return err
					}
					key := address.Append(nil, 1, []byte("customer"), fmt.Appendf(nil, "order#%08d", j))
					tree.ReplaceOrInsert(bareRow{key, bytes.Clone(it)})
				}
				return nil
			}))
		}
		slice := sliceOf(b, tb, "PK = :p", `{':p':{'S':'customer'}}`)
		page := func(b *testing.B, visit func(attr.Item)) (examined int) {
			err := f.DB.View(context.Background(), func(s *table.View) error {
				page, err := s.Query(&table.Query{Read: table.Read{Table: tb}, Slice: slice}, func(it attr.Item) error {
					visit(it)
					return nil
				})
				examined = page.Examined
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			return examined
		}
		var sum uint64
		n := page(b, func(attr.Item) {})
		perRow := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		}
		b.Run(fmt.Sprintf("item=%d/visit", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page(b, func(it attr.Item) { sum += uint64(len(it)) })
			}
			perRow(b)
		})
		b.Run(fmt.Sprintf("item=%d/read", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page(b, func(it attr.Item) { sum += readBytes(it) })
			}
			perRow(b)
		})
		b.Run(fmt.Sprintf("item=%d/bare", size), func(b *testing.B) {
			from := bareRow{key: address.AppendPartition(nil, 1, []byte("customer"))}
			b.ReportAllocs()
			for b.Loop() {
				bytes := 0
				tree.AscendGreaterOrEqual(from, func(r bareRow) bool {
					sum += readBytes(r.value)
					bytes += attr.Item(r.value).Size()
					return bytes < keycond.PageBytes
				})
			}
			perRow(b)
		})
		if sum == 0 {
			b.Fatal("nothing read")
		}
	}
}

// readBytes touches every byte of p, eight at a time.
func readBytes(p []byte) (sum uint64) {
	for ; len(p) >= 8; p = p[8:] {
		sum += binary.LittleEndian.Uint64(p)
	}
	for _, c := range p {
		sum += uint64(c)
	}
	return sum
}
