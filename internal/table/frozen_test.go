package table_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// TestFrozen freezes several states of an update while the update writes and nested updates are undone. Each frozen
// state must read what was there when it began.
func TestFrozen(t *testing.T) {
	for seed := range uint64(proptest.Cases(100)) {
		f := tabletest.Open(t)
		f.Create("T", "PK:S SK:S", "G g:S - ALL")
		rnd := rand.New(rand.NewPCG(seed, 0))
		change := func(ctx context.Context) {
			require.NoError(t, f.DB.Update(ctx, func(tx *table.Tx) error {
				tab, err := tx.Table("T")
				require.NoError(t, err)
				key := fmt.Sprintf("'PK':{'S':'p%d'},'SK':{'S':'%d'}", rnd.IntN(3), rnd.IntN(12))
				if rnd.IntN(3) == 0 {
					_, err = tx.Delete(tab, tabletest.Item(t, "{"+key+"}"), nil)
				} else {
					it := fmt.Sprintf("{%s,'g':{'S':'g%d'},'n':{'N':'%d'}}", key, rnd.IntN(3), rnd.IntN(1000))
					_, err = tx.Put(tab, tabletest.Item(t, it), nil)
				}
				return err
			}))
		}
		for range 20 {
			change(t.Context())
		}

		type state struct {
			ctx     context.Context
			release func()
			want    []string
		}
		var states []state
		check := func() {
			for _, s := range states {
				require.Equal(t, s.want, everything(t, f.DB, s.ctx), "seed %d", seed)
			}
		}
		require.NoError(t, f.DB.UpdateJoined(t.Context(), func(ctx context.Context) error {
			for range 40 {
				switch rnd.IntN(8) {
				case 0:
					frozen, release, err := f.DB.Freeze(ctx)
					require.NoError(t, err)
					states = append(states, state{frozen, release, everything(t, f.DB, ctx)})
				case 1:
					if len(states) > 0 {
						states[0].release()
						states = states[1:]
					}
				case 2:
					_ = f.DB.UpdateJoined(ctx, func(ctx context.Context) error {
						for range 5 {
							change(ctx)
						}
						check()
						if rnd.IntN(2) == 0 {
							return context.Canceled
						}
						return nil
					})
				default:
					change(ctx)
				}
				check()
			}
			return nil
		}))
	}
}

// everything returns the results of reading a table and its index over several ranges, in both directions.
func everything(t *testing.T, db interface {
	View(context.Context, func(*table.View) error) error
}, ctx context.Context) (rows []string) {
	visit := func(it attr.Item) error {
		rows = append(rows, string(it.AppendJSON(nil)))
		return nil
	}
	require.NoError(t, db.View(ctx, func(s *table.View) error {
		tab, err := s.Table("T")
		require.NoError(t, err)
		for _, ix := range []*table.Index{nil, tab.Indexes()[0]} {
			read := table.Read{Table: tab, Index: ix}
			_, err := s.Scan(&table.Scan{Read: read}, visit)
			require.NoError(t, err)
			for part := range 3 {
				schema, value := tab.Key(), fmt.Sprintf("p%d", part)
				if ix != nil {
					schema, value = ix.Key(), fmt.Sprintf("g%d", part)
				}
				slice, err := keycond.Of(schema, keycond.Clause{
					Attribute: schema.Partition()[0].Name, Op: ast.Equal, Values: []attr.Value{attr.NewString(value)},
				})
				require.NoError(t, err)
				for _, r := range []store.Range{
					{}, {Lo: []byte("1")}, {Hi: []byte("5")}, {Lo: []byte("10"), Hi: []byte("4")},
				} {
					for _, reverse := range []bool{false, true} {
						slice.Range = r
						q := &table.Query{Read: read, Reverse: reverse, Slice: slice}
						_, err := s.Query(q, visit)
						require.NoError(t, err)
						rows = append(rows, "--")
					}
				}
			}
		}
		it, err := s.Get(tab, tabletest.Item(t, "{'PK':{'S':'p1'},'SK':{'S':'3'}}"))
		require.NoError(t, err)
		return visit(slices.Clone(it))
	}))
	return rows
}
