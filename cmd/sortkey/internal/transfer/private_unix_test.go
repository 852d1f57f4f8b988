//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package transfer_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/sortkeytest"
)

// private checks that only the owner can enter the folders and read the files of a
// tree, even without a umask.
func private(t *testing.T, root string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s has mode %s", path, info.Mode())
		return nil
	}))
}

func noUmask(t *testing.T) {
	t.Helper()
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
}

// interrupted leaves the journal and the report of an interrupted import. It returns the options and the input of the
// import.
func interrupted(t *testing.T, db *sortkeytest.DB, dir string) (o transfer.ImportOptions, path string) {
	t.Helper()
	path = filepath.Join(dir, "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{}\n"+manyLines(100)), 0o600))
	o = options(t, path)
	o.Every = 10
	ctx, cancel := context.WithCancel(t.Context())
	_, err := importFiles(t, ctx, hooked(db, func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
		cancel()
		return nil, nil
	}), o, path)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, exists(o.Journal) && exists(o.Rejects))
	o.Resume = true
	return o, path
}

func TestPrivate(t *testing.T) {
	noUmask(t)
	db := someRows(t, 10)
	root := t.TempDir()
	at := filepath.Join(root, "export")
	_, err := transfer.Export(t.Context(), db.Direct, []string{"Rows"}, filepath.Join(at, "new", "out"), false, transfer.ExportOptions{})
	require.NoError(t, err)
	private(t, at)
	at = filepath.Join(root, "import")
	require.NoError(t, os.Mkdir(at, 0o700))
	interrupted(t, sortkeytest.New(t), at)
	private(t, at)
}

// TestLinks: imports and exports do not write through links that others have put
// where their files belong.
func TestLinks(t *testing.T) {
	db := someRows(t, 3)
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes")
	require.NoError(t, os.WriteFile(notes, []byte("notes that are long enough\n"), 0o600))
	link := func(to, at string) {
		require.NoError(t, os.RemoveAll(at))
		require.NoError(t, os.Symlink(to, at))
	}
	o, path := interrupted(t, db, dir)
	resume := func() error {
		_, err := importFiles(t, t.Context(), db.Direct, o, path)
		return err
	}
	require.NoError(t, os.Rename(o.Rejects, filepath.Join(dir, "rejects")))
	link(filepath.Join(dir, "rejects"), o.Rejects)
	require.ErrorContains(t, resume(), "rejected.jsonl is not a regular file")

	require.NoError(t, os.Rename(o.Journal, filepath.Join(dir, "journal")))
	link(filepath.Join(dir, "journal"), o.Journal)
	require.ErrorContains(t, resume(), "is not a regular file")
	require.NoError(t, os.Remove(o.Journal))
	require.NoError(t, syscall.Mkfifo(o.Journal, 0o600))
	require.ErrorContains(t, resume(), "is not a regular file")
	data, err := os.ReadFile(notes)
	require.NoError(t, err)
	require.Equal(t, "notes that are long enough\n", string(data))
}
