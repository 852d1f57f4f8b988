package sortkey_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestVerySlowChanges tests that a loop whose body takes days for one change continues if no change was lost, and
// otherwise yields ErrTrimmed.
func TestVerySlowChanges(t *testing.T) {
	for _, lost := range []bool{false, true} {
		now, ctx := time.Unix(1_000_000, 0), t.Context()
		db := open(t, sortkey.Options{Clock: func() time.Time { return now }, StreamShards: 4})
		require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.Stream()))
		items := sortkey.Table[object](db, "Items")
		put := func(key string) { require.NoError(t, items.Put(ctx, object{"p": key, "at": now.Unix()})) }

		n := 0
		var err error
		put("a")
		for _, err = range items.Changes(ctx, "", sortkey.UntilNow) {
			if err != nil {
				break
			}
			if n++; n == 10 {
				break
			}
			if lost && n == 3 {
				put("lost")
			}
			now = now.Add(49 * time.Hour)
			put(fmt.Sprint("k", n))
		}
		if lost {
			require.ErrorIs(t, err, sortkey.ErrTrimmed)
		} else {
			require.NoError(t, err)
			require.Equal(t, 10, n)
		}
	}
}

// TestRandomCursors compares Changes with a model. Whatever the times of changes, readers and sweeps, a loop from a
// cursor must yield the changes that were not read, or report that one of them is older than a day.
func TestRandomCursors(t *testing.T) {
	proptest.Check(t, 60, func(t *proptest.T) {
		now, ctx := time.Unix(1_000_000, 0), context.Background()
		db, err := sortkey.Open(sortkey.Options{
			Clock: func() time.Time { return now }, StreamShards: proptest.Pick(t, 1, 2, 5),
		})
		require.NoError(t, err)
		defer db.Close()
		require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.Stream()))
		items := sortkey.Table[object](db, "Items")

		var made []time.Time // times of the changes
		type kept struct {
			cursor string
			read   map[int]bool
		}
		cursors := []kept{{}}
		for range 80 {
			switch t.IntN(8) {
			default:
				require.NoError(t, items.Put(ctx, object{"p": fmt.Sprint(t.IntN(9)), "n": len(made)}))
				made = append(made, now)
			case 0:
				_, err := db.Sweep(ctx)
				require.NoError(t, err)
			case 1, 2:
				hours := proptest.Pick(t, 0, 1, 4, 23, 24, 40, 24*30)
				now = now.Add(time.Duration(hours)*time.Hour + time.Duration(t.IntN(2))*time.Second)
			case 3, 4:
				c := cursors[t.IntN(len(cursors))]
				lost, due := false, map[int]bool{}
				for n, at := range made {
					switch old := now.Sub(at) > 24*time.Hour; {
					case c.read[n]:
					case !old:
						due[n] = true
					case c.read != nil:
						lost = true
					}
				}
				next := kept{c.cursor, maps.Clone(c.read)}
				if c.read == nil { // a new reader may miss what is already gone
					next.read = map[int]bool{}
					for n := range made {
						next.read[n] = !due[n]
					}
				}
				most := t.IntN(12)
				var last error
				for change, err := range items.Changes(ctx, c.cursor, sortkey.UntilNow) {
					if last = err; err != nil {
						break
					}
					n := int((*change.New)["n"].(float64))
					require.True(t, due[n], "change %d is not due, or comes twice", n)
					delete(due, n)
					next.cursor, next.read[n] = change.Cursor, true
					if most--; most == 0 {
						break
					}
				}
				if lost {
					require.ErrorIs(t, last, sortkey.ErrTrimmed)
					require.ErrorContains(t, last, "table Items")
					require.ErrorContains(t, last, "24 hours")
					continue
				}
				require.NoError(t, last)
				require.True(t, most == 0 || len(due) == 0, "%v are due", due)
				if next.cursor != "" {
					cursors = append(cursors, next)
				}
			}
		}
	})
}
