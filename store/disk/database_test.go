package disk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/tests/dbtest"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
)

var day = func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }

// onDisk opens a database in a folder.
func onDisk(t testing.TB, dir string, opts disk.Options) *sortkey.DB {
	t.Helper()
	st, err := disk.Open(dir, opts)
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	return db
}

func putSession(t testing.TB, db *sortkey.DB, id string) {
	t.Helper()
	item, err := attr.ParseItem(fmt.Appendf(nil, `{"id":{"S":"%s"},"user":{"S":"u"}}`, id))
	require.NoError(t, err)
	_, err = engine.Of(db).Service.PutItem(context.Background(), &wire.PutItemInput{TableName: new("Sessions"), Item: item})
	require.NoError(t, err)
}

// described returns the item count and the index status of DescribeTable.
func described(t testing.TB, db *sortkey.DB) (items int64, status string) {
	t.Helper()
	out, err := engine.Of(db).Service.DescribeTable(context.Background(), &wire.DescribeTableInput{TableName: new("Sessions")})
	require.NoError(t, err)
	return *out.Table.ItemCount, *out.Table.GlobalSecondaryIndexes[0].IndexStatus
}

// otherStore is a store that is neither in memory nor on disk.
type otherStore struct{ store.Store }

func TestDatabaseSnapshot(t *testing.T) {
	dir := t.TempDir()
	st, err := disk.Open(filepath.Join(dir, "db"), disk.Options{})
	require.NoError(t, err)
	db := dbtest.Expiring(t, sortkey.Options{Clock: day, Store: st}, 20)
	kept := filepath.Join(dir, "kept")
	require.NoError(t, db.Snapshot(t.Context(), kept))
	require.ErrorIs(t, db.Snapshot(t.Context(), kept), os.ErrExist)
	putSession(t, db, "later")
	require.NoError(t, db.Close())

	db = onDisk(t, kept, disk.Options{})
	require.Equal(t, int64(21), dbtest.Count(t, db, nil))
	require.Equal(t, int64(21), dbtest.Count(t, db, new("ByUser")))
	require.NoError(t, db.Close())

	db, err = sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	require.ErrorIs(t, db.Snapshot(t.Context(), filepath.Join(dir, "memory")), errors.ErrUnsupported)
	require.NoError(t, db.Close())

	db, err = sortkey.Open(sortkey.Options{Store: otherStore{memory.Open()}})
	require.NoError(t, err)
	_, err = db.Fork()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.NoError(t, db.Close())
}

// TestDatabaseShared checks databases that are open for reading only. Several of them can read a folder at the same
// time, even after a crash. They can be backed up and measured, and refuse to write.
func TestDatabaseShared(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.Join(t.TempDir(), "db")
	st, err := disk.Open(dir, disk.Options{})
	require.NoError(t, err)
	db := dbtest.Expiring(t, sortkey.Options{Clock: day, Store: st}, 20)
	crashed := filepath.Join(t.TempDir(), "crashed")
	require.NoError(t, os.CopyFS(crashed, os.DirFS(dir)))
	require.NoError(t, db.Close())

	for _, dir := range []string{dir, crashed} {
		before := listing(t, dir)
		all := []*sortkey.DB{onDisk(t, dir, disk.Options{ReadOnly: true}), onDisk(t, dir, disk.Options{ReadOnly: true})}
		for _, db := range all {
			require.Equal(t, int64(21), dbtest.Count(t, db, nil))
			require.Equal(t, int64(21), dbtest.Count(t, db, new("ByUser")))
			require.Eventually(t, func() bool {
				stats, err := db.Stats(t.Context())
				return err == nil && stats.Rows == 42 && stats.DiskBytes > 0 && stats.Versions == 0
			}, time.Minute, time.Millisecond)

			sessions := sortkey.Table[attr.Item](db, "Sessions")
			item, err := sessions.Get(t.Context(), "1")
			require.NoError(t, err)
			_, sweep := db.Sweep(t.Context())
			for _, err := range []error{
				sessions.Delete(t.Context(), "1"), sessions.PutMany(t.Context(), slices.Values([]attr.Item{item})), sweep,
				db.CreateTable(t.Context(), "New", "p"), db.Compact(t.Context()),
			} {
				require.ErrorIs(t, err, store.ErrReadOnly)
				require.Equal(t, 403, sortkey.StatusOf(err))
			}

			var backup bytes.Buffer
			require.NoError(t, db.Backup(t.Context(), &backup))
			restored := memory.Open()
			require.NoError(t, sortkey.Restore(t.Context(), restored, &backup))
			again, err := sortkey.Open(sortkey.Options{Store: restored})
			require.NoError(t, err)
			require.Equal(t, int64(21), dbtest.Count(t, again, new("ByUser")))
			putSession(t, again, "later")
			require.NoError(t, again.Close())
		}
		require.NoError(t, errors.Join(all[0].Close(), all[1].Close()))
		require.Equal(t, before, listing(t, dir))
	}
}

// TestDatabaseReopen checks that DescribeTable has the right counts immediately after a Close, and soon after a
// crash.
func TestDatabaseReopen(t *testing.T) {
	defer goleak.VerifyNone(t)
	fs := newCrashFS()
	st, err := disk.Open("db", disk.Options{}.On(fs))
	require.NoError(t, err)
	db := dbtest.Expiring(t, sortkey.Options{Clock: day, Store: st}, 20)
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(t, db.Close())

	db = onDisk(t, "db", disk.Options{}.On(fs))
	items, _ := described(t, db)
	require.Equal(t, int64(21), items)
	require.NoError(t, db.Close())
	db = onDisk(t, "db", disk.Options{ReadOnly: true}.On(fs))
	items, _ = described(t, db)
	require.Equal(t, int64(21), items)
	require.NoError(t, db.Close())

	db = onDisk(t, "db", disk.Options{}.On(crashed))
	require.Eventually(t, func() bool { items, _ := described(t, db); return items == 21 }, time.Minute, time.Millisecond)
	require.NoError(t, db.Close())
}

// TestDatabaseReopenBuilding checks that if a crash interrupts the building of an index, the index becomes ACTIVE
// after the next Open.
func TestDatabaseReopenBuilding(t *testing.T) {
	fs := newCrashFS()
	st, err := disk.Open("db", disk.Options{}.On(fs))
	require.NoError(t, err)
	cutting := &cuttingStore{Store: st, fs: fs}
	db := dbtest.Expiring(t, sortkey.Options{Clock: day, Store: cutting}, 1500)
	defer db.Close()
	_, err = engine.Of(db).Service.UpdateTable(t.Context(), &wire.UpdateTableInput{
		TableName:                   new("Sessions"),
		GlobalSecondaryIndexUpdates: []wire.GlobalSecondaryIndexUpdate{{Delete: &wire.DeleteGlobalSecondaryIndexAction{IndexName: new("ByUser")}}},
	})
	require.NoError(t, err)
	cutting.left.Store(3) // copy the store after the updates that write the definition and the first part
	_, err = engine.Of(db).Service.UpdateTable(t.Context(), &wire.UpdateTableInput{
		TableName:            new("Sessions"),
		AttributeDefinitions: []wire.AttributeDefinition{{AttributeName: new("user"), AttributeType: new("S")}},
		GlobalSecondaryIndexUpdates: []wire.GlobalSecondaryIndexUpdate{{Create: &wire.CreateGlobalSecondaryIndexAction{
			IndexName: new("ByUser"), KeySchema: []wire.KeySchemaElement{{AttributeName: new("user"), KeyType: new("HASH")}}, Projection: &wire.Projection{ProjectionType: new("ALL")},
		}}},
	})
	require.NoError(t, err)

	st, err = disk.Open("db", disk.Options{}.On(cutting.after))
	require.NoError(t, err)
	again, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	require.Eventually(t, func() bool { _, status := described(t, again); return status == "ACTIVE" }, time.Minute, time.Millisecond)
	require.Equal(t, int64(1501), dbtest.Count(t, again, new("ByUser")))
	require.NoError(t, again.Close())
}

// cuttingStore keeps a copy of the files that a crash before one of the updates would leave.
type cuttingStore struct {
	store.Store
	fs    *crashFS
	left  atomic.Int64
	after *crashFS
}

func (s *cuttingStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	if s.left.Add(-1) == 0 {
		s.after = s.fs.CrashClone(vfs.CrashCloneCfg{})
	}
	return s.Store.Update(ctx, fn)
}

// TestTableDelayRestart closes a database while a table is CREATING, and again while it is DELETING. The states must
// end when they would have ended without that.
func TestTableDelayRestart(t *testing.T) {
	dir, now, name := t.TempDir(), day(), "Later"
	open := func() (*sortkey.DB, func() error) {
		st, err := disk.Open(dir, disk.Options{})
		require.NoError(t, err)
		db, err := sortkey.Open(sortkey.Options{Store: st, Clock: func() time.Time { return now }, Simulate: sortkey.Simulation{TableDelay: 2 * time.Second}})
		require.NoError(t, err)
		return db, db.Close
	}
	status := func(db *sortkey.DB) string {
		out, err := engine.Of(db).Service.DescribeTable(t.Context(), &wire.DescribeTableInput{TableName: &name})
		if err != nil {
			return err.Error()
		}
		return *out.Table.TableStatus
	}
	db, closeDB := open()
	_, err := engine.Of(db).Service.CreateExpiring(t.Context(), &wire.CreateTableInput{
		TableName: &name, BillingMode: new("PAY_PER_REQUEST"),
		AttributeDefinitions: []wire.AttributeDefinition{{AttributeName: new("id"), AttributeType: new("S")}},
		KeySchema:            []wire.KeySchemaElement{{AttributeName: new("id"), KeyType: new("HASH")}},
	}, "")
	require.NoError(t, err)
	require.NoError(t, closeDB())

	db, closeDB = open()
	now = now.Add(time.Second)
	require.Equal(t, "CREATING", status(db))
	now = now.Add(time.Second)
	require.Equal(t, "ACTIVE", status(db))
	_, err = engine.Of(db).Service.DeleteTable(t.Context(), &wire.DeleteTableInput{TableName: &name})
	require.NoError(t, err)
	require.NoError(t, closeDB())

	db, closeDB = open()
	require.Equal(t, "DELETING", status(db))
	now = now.Add(2 * time.Second)
	require.Contains(t, status(db), "not found")
	_, err = db.Sweep(t.Context())
	require.NoError(t, err)
	now = now.Add(-2 * time.Second)
	require.Contains(t, status(db), "not found", "the sweep has removed it for good")
	require.NoError(t, closeDB())
}

// TestStaleReadsNeedMemory checks that a database on disk does not make a fork for each write, because forks on disk
// link files.
func TestStaleReadsNeedMemory(t *testing.T) {
	st, err := disk.Open(t.TempDir(), disk.Options{})
	require.NoError(t, err)
	_, err = sortkey.Open(sortkey.Options{Store: st, Simulate: sortkey.Simulation{StaleReads: sortkey.StaleReads{Window: time.Second}}})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	require.ErrorIs(t, engine.Of(db).Tables.HoldIndexes(t.Context()), table.ErrNoVersions)
	require.NoError(t, db.Close())
}
