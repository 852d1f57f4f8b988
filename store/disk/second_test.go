package disk_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store/disk"
)

// TestSecondStart starts the program of docs/embedded.md on a folder, again, and then in a version
// that wants one index more.
func TestSecondStart(t *testing.T) {
	t.Parallel()
	type song struct {
		Artist string `dynamodbav:"artist"`
		Title  string `dynamodbav:"title"`
		Year   int    `dynamodbav:"year"`
		Plays  int    `dynamodbav:"plays"`
	}
	ctx, folder := t.Context(), filepath.Join(t.TempDir(), "music.db")
	version1 := []sortkey.TableOption{
		sortkey.Global("ByYear", "year:N / title"), sortkey.Local("ByPlays", "plays:N"), sortkey.Stream(),
	}
	version2 := append(version1, sortkey.Global("ByPlaysOfYear", "year:N / plays:N").Only())

	start := func(run func(db *sortkey.DB, music *sortkey.TableOf[song]), version ...sortkey.TableOption) {
		st, err := disk.Open(folder, disk.Options{})
		require.NoError(t, err)
		db, err := sortkey.Open(sortkey.Options{Store: st})
		require.NoError(t, err)
		require.NoError(t, db.EnsureTable(ctx, "Music", "artist / title", version...))
		run(db, sortkey.Table[song](db, "Music"))
		require.NoError(t, db.Close())
	}
	start(func(_ *sortkey.DB, music *sortkey.TableOf[song]) {
		require.NoError(t, music.Put(ctx, song{"Nina", "Sinnerman", 1965, 9}))
	}, version1...)
	start(func(_ *sortkey.DB, music *sortkey.TableOf[song]) {
		got, err := music.Get(ctx, "Nina", "Sinnerman")
		require.NoError(t, err)
		require.Equal(t, 9, got.Plays)
		require.NoError(t, music.Put(ctx, song{"Nina", "Strange Fruit", 1965, 4}))
	}, version1...)
	for range 2 {
		start(func(db *sortkey.DB, music *sortkey.TableOf[song]) {
			songs, err := sortkey.Collect(music.Index("ByPlaysOfYear").Query(ctx, 1965, sortkey.Compare(">", 3)))
			require.NoError(t, err)
			require.Equal(t, []song{{"Nina", "Strange Fruit", 1965, 4}, {"Nina", "Sinnerman", 1965, 9}}, songs)
			info, err := db.Describe(ctx, "Music")
			require.NoError(t, err)
			require.Len(t, info.Indexes, 3)
			require.True(t, info.Stream)
		}, version2...)
	}
	start(func(db *sortkey.DB, _ *sortkey.TableOf[song]) { // the first version again, after all
		info, err := db.Describe(ctx, "Music")
		require.NoError(t, err)
		require.Len(t, info.Indexes, 3, "what the program does not name stays")
	}, version1...)
}

// TestInterruptedStart holds that a program that is stopped while an index is built finds it built
// when it starts again.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "db")
	open := func() *sortkey.DB {
		st, err := disk.Open(folder, disk.Options{SyncEvery: time.Second})
		require.NoError(t, err)
		db, err := sortkey.Open(sortkey.Options{Store: st})
		require.NoError(t, err)
		return db
	}
	db := open()
	require.NoError(t, db.EnsureTable(t.Context(), "Items", "id:N"))
	items := sortkey.Table[map[string]int](db, "Items")
	const n = 3000
	for from := 0; from < n; from += 1000 {
		require.NoError(t, db.Update(t.Context(), func(ctx context.Context) error {
			for i := from; i < from+1000; i++ {
				if err := items.Put(ctx, map[string]int{"id": i, "a": i % 3}); err != nil {
					return err
				}
			}
			return nil
		}))
	}

	index := sortkey.Global("ByA", "a:N")
	for i := 0; ; i++ { // each attempt ends at another place, until one gets through
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- db.EnsureTable(ctx, "Items", "id:N", index) }()
		for range i {
			_, err := db.Describe(t.Context(), "Items")
			require.NoError(t, err)
		}
		cancel()
		if err := <-done; err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NoError(t, db.Close())
		db = open()
		require.NoError(t, db.EnsureTable(t.Context(), "Items", "id:N", index))
		count, err := sortkey.Table[map[string]int](db, "Items").Index("ByA").Count(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, n/3, count)
		if i == 20 {
			break
		}
		require.NoError(t, db.DeleteIndex(t.Context(), "Items", "ByA"))
	}
	require.NoError(t, db.Close())
}
