package table_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store/memory"
)

// lagging returns a database with a table t of numbered items. The test sets its clock by now.
func lagging(t *testing.T, s table.Staleness) (db *life.DB, now *atomic.Int64, put func(int)) {
	t.Helper()
	db, err := life.Open(context.Background(), memory.Open())
	require.NoError(t, err)
	now = new(atomic.Int64)
	db.Clock = func() time.Time { return time.Unix(0, now.Load()) }
	require.NoError(t, db.SetStaleness(s))
	f := &tabletest.Fixture{TB: t, DB: db}
	f.Create("t", "PK:S", "G g:S - ALL")
	return db, now, func(n int) { f.Put("t", fmt.Sprintf(`{'PK':{'S':'%d'},'g':{'S':'x'}}`, n)) }
}

// seen returns the number of items that an eventually consistent scan of the index finds.
func seen(t testing.TB, db *life.DB) int {
	t.Helper()
	n := 0
	err := db.View(context.Background(), func(v *table.View) error {
		tb, err := v.Table("t")
		if err != nil {
			return err
		}
		ix, err := v.Index(tb, "G")
		if err != nil {
			return err
		}
		_, err = v.Scan(&table.Scan{Read: table.Read{Table: tb, Index: ix}}, func(attr.Item) error { n++; return nil })
		return err
	})
	require.NoError(t, err)
	return n
}

func TestVersionsAreBounded(t *testing.T) {
	for _, step := range []time.Duration{0, time.Microsecond, time.Millisecond} {
		t.Run(step.String(), func(t *testing.T) {
			db, now, put := lagging(t, table.Staleness{Window: time.Second, Oldest: true})
			for n := range 3000 {
				put(n)
				now.Add(int64(step))
			}
			require.LessOrEqual(t, db.Versions(), 512)
			at, oldest := now.Load(), seen(t, db)
			if first := 3000 - int(time.Second/max(step, time.Nanosecond)); step == time.Millisecond {
				// One version is kept per 1/256 of the window, so there are at most four changes between two
				// versions.
				require.GreaterOrEqual(t, oldest, first)
				require.LessOrEqual(t, oldest, first+8)
			} else {
				require.Zero(t, oldest)
			}
			now.Store(at + int64(time.Second))
			require.Equal(t, 3000, seen(t, db))
			require.Zero(t, db.Versions())
		})
	}
}

// TestStaleReadsWhileWriting checks that each read sees one version: the number of items that was current at some
// time in the window.
func TestStaleReadsWhileWriting(t *testing.T) {
	db, now, put := lagging(t, table.Staleness{Window: 50, Seed: 1})
	const writes = 500
	var written atomic.Int64
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for written.Load() < writes {
				// Reads see a change at the latest after 50 more changes. One more change may be in progress.
				least := written.Load() - 50 - 1
				if n := seen(t, db); int64(n) < least || n > writes {
					t.Errorf("a read sees %d items, want at least %d", n, least)
					return
				}
			}
		})
	}
	for n := range writes {
		put(n)
		now.Add(1)
		written.Add(1)
	}
	wait.Wait()
}
