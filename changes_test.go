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

// A reader of changes keeps its cursor.
type changeReader struct {
	items  *sortkey.TableOf[object]
	cursor string
}

// read returns the partition keys of the changes so far.
func (r *changeReader) read(ctx context.Context) (list []string, err error) {
	for change, err := range r.items.Changes(ctx, r.cursor, sortkey.UntilNow) {
		if err != nil {
			return list, err
		}
		list, r.cursor = append(list, string(change.Key.Get("p").Raw())), change.Cursor
	}
	return list, nil
}

// TestOldCursors holds that a cursor stays good for as long as no change behind it is gone,
// and that Changes says so when one is: with one shard and with several, whether records that
// are too old have been removed or not.
func TestOldCursors(t *testing.T) {
	for _, shards := range []int{1, 4} {
		for _, sweeps := range []bool{false, true} {
			t.Run(fmt.Sprint(shards, sweeps), func(t *testing.T) {
				now, ctx := time.Unix(1_000_000, 0), t.Context()
				db := open(t, sortkey.Options{Clock: func() time.Time { return now }, StreamShards: shards})
				require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.Stream()))
				items := sortkey.Table[object](db, "Items")
				wait := func(d time.Duration) {
					now = now.Add(d)
					if sweeps {
						_, err := db.Sweep(ctx)
						require.NoError(t, err)
					}
				}
				n := 0
				put := func(key string) {
					n++
					require.NoError(t, items.Put(ctx, object{"p": key, "n": n}))
				}
				expect := func(r *changeReader, want ...string) {
					t.Helper()
					got, err := r.read(ctx)
					require.NoError(t, err)
					require.ElementsMatch(t, want, got)
				}
				trimmed := func(r changeReader) {
					t.Helper()
					_, err := r.read(ctx)
					require.ErrorIs(t, err, sortkey.ErrTrimmed)
					for _, part := range []string{"table Items", "sequence number", `cursor ""`, "24 hours"} {
						require.ErrorContains(t, err, part)
					}
				}

				// Quiet days, a reader that comes each hour, and one that has seen the first change only.
				keys := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
				for _, key := range keys {
					put(key)
				}
				early := changeReader{items: items}
				for change, err := range items.Changes(ctx, "") {
					require.NoError(t, err)
					early.cursor = change.Cursor
					break
				}
				r := &changeReader{items: items}
				expect(r, keys...)
				for _, quiet := range []time.Duration{time.Hour, 25 * time.Hour, 24 * 30 * time.Hour} {
					wait(quiet)
					expect(r)
					put("a")
					expect(r, "a")
				}
				trimmed(early)
				trimmed(early)
				for hour := range 60 {
					wait(time.Hour)
					key := keys[hour%2]
					put(key)
					expect(r, key)
				}
				expect(&changeReader{items: items}, want(24, keys[1], keys[0])...)

				// What nobody has read in time is lost, whatever the shard. A reader that begins anew
				// sees the rest and goes on.
				for i, key := range keys {
					kept := *r
					put(key)
					wait(12 * time.Hour)
					put("z")
					wait(13 * time.Hour)
					trimmed(kept)
					wait(time.Hour)
					*r = changeReader{items: items}
					expect(r, "z")
					wait(time.Duration(i) * 7 * time.Hour)
					expect(r)
				}
			})
		}
	}
}

// want returns the keys of changes that come each hour, in turn.
func want(n int, keys ...string) (list []string) {
	for i := range n + 1 {
		list = append(list, keys[i%len(keys)])
	}
	return list
}

// TestVerySlowChanges holds that a loop that works on one change for days goes on if nothing
// was lost, and otherwise says so.
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

// TestRandomCursors compares Changes with a model: whatever the times of changes, readers and
// sweeps, a cursor yields what was not read, or says that a change that was not read is older
// than a day.
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

		var made []time.Time // of the changes
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
				hours := proptest.Pick(t, 0, 1, 4, 23, 24, 40)
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
				if c.read == nil { // a reader that begins is owed nothing that is gone
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
