package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/store/disk"
)

type kept struct {
	P     string `dynamodbav:"p"`
	Value string `dynamodbav:"value"`
}

// opened opens the database in a folder.
func opened(t testing.TB, dir string, opts disk.Options) (*sortkey.DB, *sortkey.TableOf[kept]) {
	t.Helper()
	st, err := disk.Open(dir, opts)
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	return db, sortkey.Table[kept](db, "Items")
}

// database writes an item into the database in a folder, which it creates if necessary.
func database(t testing.TB, dir, value string) {
	t.Helper()
	db, items := opened(t, dir, disk.Options{})
	require.NoError(t, db.EnsureTable(t.Context(), "Items", "p"))
	require.NoError(t, items.Put(t.Context(), kept{"p", value}))
	require.NoError(t, db.Close())
}

// value returns the value of the item.
func value(t testing.TB, dir string) string {
	t.Helper()
	db, items := opened(t, dir, disk.Options{ReadOnly: true})
	it, err := items.Get(t.Context(), "p")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return it.Value
}

func TestSnapshotRoundTrip(t *testing.T) {
	for _, name := range []string{"folder", "a.backup", "a.backup.gz", "a.ZST"} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			data, kept := filepath.Join(root, "data"), filepath.Join(root, name)
			database(t, data, "old")
			_, err := snapshot.Make(t.Context(), data, kept)
			require.NoError(t, err)
			info, err := os.Stat(kept)
			require.NoError(t, err)
			require.Equal(t, name == "folder", info.IsDir())
			database(t, data, "new")

			_, err = snapshot.Restore(t.Context(), kept, data)
			require.ErrorContains(t, err, "is not empty")
			require.Equal(t, "new", value(t, data))
			link, empty := filepath.Join(root, "link"), filepath.Join(root, "empty")
			require.NoError(t, os.Mkdir(empty, 0o700))
			require.NoError(t, os.Symlink(empty, link))
			_, err = snapshot.Restore(t.Context(), kept, link)
			require.NoError(t, err)
			require.Equal(t, "old", value(t, empty))
			to, err := os.Readlink(link)
			require.NoError(t, err)
			require.Equal(t, empty, to)
			require.ElementsMatch(t, []string{"data", "empty", name, "link"}, names(t, root))
		})
	}
}

// TestSnapshotRestoreFails: after restoring an invalid snapshot, no database and no temporary files remain.
func TestSnapshotRestoreFails(t *testing.T) {
	root := t.TempDir()
	data, kept := filepath.Join(root, "data"), filepath.Join(root, "kept.backup")
	database(t, filepath.Join(root, "source"), "old")
	_, err := snapshot.Make(t.Context(), filepath.Join(root, "source"), kept)
	require.NoError(t, err)
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "source")))
	require.NoError(t, os.Remove(kept))
	database(t, data, "here")
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	spoilt := bytes.Clone(packed.Bytes())
	spoilt[len(spoilt)/2] ^= 0xff

	path := filepath.Join(t.TempDir(), "s")
	for _, tt := range []struct {
		name string
		text []byte
		want string
	}{
		{"cut off", text[:len(text)/2], "unexpected EOF"},
		{"compressed and cut off", packed.Bytes()[:packed.Len()-3], "cannot read the backup"},
		{"spoilt", spoilt, path},
		{"empty", nil, "not a Sortkey backup"},
		{"no gzip", []byte{0x1f, 0x8b, 0, 0}, "gzip data is damaged: unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, tt.text, 0o600))
			_, err := snapshot.Restore(t.Context(), path, filepath.Join(root, "absent"))
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, []string{"data"}, names(t, root))
		})
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, err = snapshot.Restore(ctx, path, filepath.Join(root, "absent"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = snapshot.Make(ctx, data, filepath.Join(root, "made"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"data"}, names(t, root))
}

// TestSnapshotFolderOfLinks: restoring a folder does not follow its links to other files.
func TestSnapshotFolderOfLinks(t *testing.T) {
	root := t.TempDir()
	data, kept := filepath.Join(root, "data"), filepath.Join(root, "kept")
	database(t, data, "old")
	_, err := snapshot.Make(t.Context(), data, kept)
	require.NoError(t, err)
	secret := filepath.Join(root, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(kept, "000999.sst")))
	_, err = snapshot.Restore(t.Context(), kept, filepath.Join(root, "to"))
	require.ErrorContains(t, err, "000999.sst is not a regular file")
	require.NoError(t, os.Remove(filepath.Join(kept, "000999.sst")))
	require.NoError(t, os.WriteFile(filepath.Join(kept, "notes.txt"), []byte("notes"), 0o600))
	_, err = snapshot.Restore(t.Context(), kept, filepath.Join(root, "to"))
	require.NoError(t, err)
	for _, name := range names(t, filepath.Join(root, "to")) {
		require.NotEqual(t, "notes.txt", name)
	}
}

// TestSnapshotInUse: an open database is not copied.
func TestSnapshotInUse(t *testing.T) {
	root := t.TempDir()
	data, kept := filepath.Join(root, "data"), filepath.Join(root, "kept")
	database(t, data, "old")
	_, err := snapshot.Make(t.Context(), data, kept)
	require.NoError(t, err)
	s, err := disk.Open(data, disk.Options{})
	require.NoError(t, err)
	defer s.Close()
	for what, do := range map[string]func() error{
		"snapshot": func() error { _, err := snapshot.Make(t.Context(), data, kept+"2"); return err },
		"copy":     func() error { _, err := snapshot.Restore(t.Context(), data, kept+"2"); return err },
	} {
		err := do()
		require.ErrorIs(t, err, disk.ErrLocked, what)
		h, ok := errors.AsType[*advice.Error](err)
		require.True(t, ok, what)
		require.True(t, strings.HasSuffix(h.Msg, "is in use"), what)
	}
}

// TestSnapshotLeft: a snapshot or restore removes the temporary folders of processes that
// were killed, and no others.
func TestSnapshotLeft(t *testing.T) {
	root := short(t)
	data := filepath.Join(root, "data")
	database(t, data, "old")
	for _, path := range []string{
		".a.gz.tmp-1/LOCK", ".a.gz.tmp-1/snapshot", ".b.tmp-22/snapshot/file", ".data.tmp-3/data/SORTKEY", // left behind
		".data.tmp-4/data.old/SORTKEY", ".a.tmp-6/notes", ".a.tmp-x7/snapshot", "a.tmp-8/snapshot", ".busy.tmp-9/snapshot",
	} {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	lock, err := disk.Lock(filepath.Join(root, ".busy.tmp-9"), disk.Options{})
	require.NoError(t, err)
	kept := []string{"data", ".data.tmp-4", ".a.tmp-6", ".a.tmp-x7", "a.tmp-8"}

	_, err = snapshot.Make(t.Context(), data, filepath.Join(root, "new"))
	require.NoError(t, err)
	require.ElementsMatch(t, append(kept, ".busy.tmp-9", "new"), names(t, root))
	require.NoError(t, lock.Close())
	_, err = snapshot.Restore(t.Context(), filepath.Join(root, "new"), filepath.Join(root, "again"))
	require.NoError(t, err)
	require.ElementsMatch(t, append(kept, "new", "again"), names(t, root))
}
