package disk_test

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

func put(t testing.TB, s store.Store, sort, value string) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		return w.Put(1, []byte("p"), []byte(sort), []byte(value))
	}))
}

func get(t testing.TB, s store.Store, sort string) (value string) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		v, ok, err := r.Get(1, []byte("p"), []byte(sort))
		if value = string(v); !ok {
			value = "-"
		}
		return err
	}))
	return value
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "inside")
	s := open(t, dir, disk.Options{})
	put(t, s, "k", "v")
	require.NoError(t, s.Close())
	s = open(t, dir, disk.Options{})
	require.Equal(t, "v", get(t, s, "k"))
	require.NoError(t, s.Close())
}

func TestFormat(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, open(t, dir, disk.Options{}).Close())
	meta := filepath.Join(dir, "SORTKEY")
	text, err := os.ReadFile(meta)
	require.NoError(t, err)
	require.Equal(t, "sortkey store\nformat 3\nstate ready\n", string(text))

	for _, tt := range []struct{ name, text, want string }{
		{"newer", "sortkey store\nformat 7\nand so on\n", "has format 7, but this version of Sortkey reads formats up to 3: use a newer version of Sortkey, or export the data with it and import them here"},
		{"older", "sortkey store\nformat 1\nstate ready\n", "has format 1, but this version of Sortkey reads format 3: export the data with the version that wrote it"},
		{"foreign", "hello\n", "is not a Sortkey file"},
		{"no format", "sortkey store\nformat x\n", "is not a Sortkey file"},
		{"zero", "sortkey store\nformat 0\nstate ready\n", "is not a Sortkey file"},
		{"cut off", "sortkey store\nformat 3\nst", "is damaged"},
		{"empty", "", "is not a Sortkey file"},
	} {
		require.NoError(t, os.WriteFile(meta, []byte(tt.text), 0o600))
		_, err := disk.Open(dir, disk.Options{})
		require.ErrorContains(t, err, tt.want, tt.name)
	}
	require.NoError(t, os.Remove(meta))
	_, err = disk.Open(dir, disk.Options{})
	require.ErrorContains(t, err, "but not SORTKEY: it is not a Sortkey store")

	require.NoError(t, os.WriteFile(meta, text, 0o600))
	require.NoError(t, open(t, dir, disk.Options{}).Close(), "a refused folder does not change")

	lost := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(lost, "SORTKEY"), text, 0o600))
	_, err = disk.Open(lost, disk.Options{})
	require.ErrorIs(t, err, pebble.ErrDBDoesNotExist, "a store without its files is not an empty store")
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, disk.Options{})
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	for _, name := range []string{dir, dir + "/", dir + "/../" + filepath.Base(dir), link} {
		_, err := disk.Open(name, disk.Options{})
		require.ErrorIs(t, err, disk.ErrLocked)
		require.ErrorContains(t, err, dir+" is open in this process or another")
	}
	_, err := disk.Open(dir, disk.Options{ReadOnly: true})
	require.ErrorIs(t, err, disk.ErrLocked)

	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self) // a second process: the writer of TestKill
	cmd.Env = append(os.Environ(), writerEnv+"="+dir)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "the folder is in use: "+dir+" is open in this process or another")

	put(t, s, "k", "v")
	require.NoError(t, s.Close())
	require.NoError(t, open(t, dir, disk.Options{}).Close(), "Close releases the folder")
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	_, err := disk.Open(dir, disk.Options{ReadOnly: true})
	require.ErrorContains(t, err, "does not contain a store")
	_, err = disk.Open(filepath.Join(dir, "none"), disk.Options{ReadOnly: true})
	require.ErrorIs(t, err, os.ErrNotExist)

	s := open(t, dir, disk.Options{})
	put(t, s, "k", "v")
	require.NoError(t, s.Close())
	before := listing(t, dir)
	s = open(t, dir, disk.Options{ReadOnly: true})
	require.Equal(t, "v", get(t, s, "k"))
	require.ErrorIs(t, s.Update(t.Context(), func(store.Writer) error { return nil }), disk.ErrReadOnly)
	require.ErrorIs(t, s.Snapshot(t.Context(), filepath.Join(t.TempDir(), "copy")), disk.ErrReadOnly)
	require.NoError(t, s.Close())
	require.Equal(t, before, listing(t, dir))
}

func listing(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCheckpoint(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts disk.Options
		root string
	}{
		{"memory", disk.Options{}.On(vfs.NewMem()), ""},
		{"folder", disk.Options{}, t.TempDir()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, copied := filepath.Join(tt.root, "db"), filepath.Join(tt.root, "copy")
			s := open(t, dir, tt.opts)
			fill(t, s, 5, 500)
			put(t, s, "k", "before")
			require.NoError(t, s.Snapshot(t.Context(), copied))
			put(t, s, "k", "after")
			require.Error(t, s.Snapshot(t.Context(), copied), "the folder is there")
			require.ErrorContains(t, s.Snapshot(t.Context(), filepath.Join(dir, "inside")), "is inside the store's own folder")

			f := open(t, copied, tt.opts)
			require.Equal(t, "before", get(t, f, "k"))
			put(t, f, "k", "fork")
			require.Equal(t, "after", get(t, s, "k"))
			require.Equal(t, "fork", get(t, f, "k"))
			require.NoError(t, s.Close())
			require.NoError(t, f.Close())
			require.ErrorIs(t, s.Snapshot(t.Context(), filepath.Join(tt.root, "late")), store.ErrClosed)
		})
	}
}

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := open(t, "db", disk.Options{Logger: log}.On(vfs.NewMem()))
	put(t, s, "k", "v")
	require.Positive(t, s.Stats().DiskBytes)
	require.NoError(t, s.Close())
	require.Zero(t, s.Stats())
	require.NotContains(t, out.String(), "level=ERROR")
}

// TestLogOfOpen checks that Open returns its error without logging it, and that only the debug level logs the stack
// that the engine's errors contain.
func TestLogOfOpen(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, open(t, dir, disk.Options{}).Close())
	names, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(names[0], 20))
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		var out bytes.Buffer
		_, err = disk.Open(dir, disk.Options{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))})
		require.ErrorContains(t, err, "malformed manifest")
		require.NotContains(t, err.Error(), "stack trace")
		require.NotContains(t, out.String(), "level=ERROR")
		require.Equal(t, level == slog.LevelDebug, strings.Contains(out.String(), "stack trace"), out.String())
	}
}

func TestLittleSpace(t *testing.T) {
	for _, tt := range []struct {
		free uint64
		want bool
	}{{99 << 20, true}, {100 << 20, false}} {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		fs := &usedFS{FS: vfs.NewMem()}
		fs.free.Store(tt.free)
		s := open(t, "db", disk.Options{Logger: log}.On(fs))
		require.NoError(t, s.Close())
		require.Equal(t, tt.want, strings.Contains(out.String(), "little free disk space"), out.String())
	}
}

func TestTooLarge(t *testing.T) {
	s := open(t, "db", disk.Options{}.On(vfs.NewMem()))
	long := []byte(strings.Repeat("x", 1<<20))
	require.ErrorIs(t, s.Update(t.Context(), func(w store.Writer) error { return w.Put(1, long, nil, nil) }), disk.ErrTooLarge)
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error { return w.Delete(1, long, nil) }))
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error { // larger than a memtable
		for i := range 20 {
			if err := w.Put(1, []byte("p"), []byte{byte(i)}, long); err != nil {
				return err
			}
		}
		return nil
	}))
	require.Equal(t, string(long), get(t, s, "\x13"))
	require.NoError(t, s.Close())
}

// farFS is a file system that cannot rename folders, as if source and target were on different file systems.
type farFS struct{ vfs.FS }

func (f farFS) Rename(from, to string) error {
	if info, err := f.Stat(from); err == nil && info.IsDir() {
		return &fs.PathError{Op: "rename", Path: from, Err: syscall.EXDEV}
	}
	return f.FS.Rename(from, to)
}

// TestCheckpointElsewhere copies to another file system.
func TestCheckpointElsewhere(t *testing.T) {
	opts := disk.Options{}.On(farFS{vfs.NewMem()})
	s := open(t, "db", opts)
	fill(t, s, 5, 500)
	put(t, s, "k", "before")
	require.NoError(t, s.Snapshot(t.Context(), "backups/today/copy"))
	put(t, s, "k", "after")
	_, err := opts.Files().Stat("db/forks")
	require.ErrorIs(t, err, fs.ErrNotExist)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Snapshot(ctx, "backups/today/ended"), context.Canceled)
	_, err = disk.Open("backups/today/ended", opts)
	require.Error(t, err, "it is not whole")

	f := open(t, "backups/today/copy", opts)
	require.Equal(t, "before", get(t, f, "k"))
	require.NoError(t, f.Close())
	require.NoError(t, s.Close())
}

// TestCheckpointsAtOnce makes several copies to one folder at the same time. One must succeed, and none may write
// into another.
func TestCheckpointsAtOnce(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "copy")
	s := open(t, filepath.Join(root, "db"), disk.Options{})
	put(t, s, "k", "v")
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = s.Snapshot(t.Context(), dir) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		require.ErrorIs(t, err, fs.ErrExist)
	}
	require.Equal(t, 1, made)
	f := open(t, dir, disk.Options{})
	require.Equal(t, "v", get(t, f, "k"))
	require.NoError(t, f.Close())
	require.NoError(t, s.Close())
}

// TestRefusedFolder checks that a folder that is not a store is left as it was.
func TestRefusedFolder(t *testing.T) {
	for name, opts := range map[string]disk.Options{"of the machine": {}, "in memory": disk.Options{}.On(vfs.NewMem())} {
		t.Run(name, func(t *testing.T) {
			fsys := opts.Files()
			if fsys == nil {
				fsys = vfs.Default
			}
			dir := filepath.Join(t.TempDir(), "photos")
			require.NoError(t, fsys.MkdirAll(dir, 0o700))
			f, err := fsys.Create(fsys.PathJoin(dir, "cat.jpg"), vfs.WriteCategoryUnspecified)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			for _, readOnly := range []bool{false, true} {
				opts.ReadOnly = readOnly
				_, err := disk.Open(dir, opts)
				require.ErrorContains(t, err, "not a Sortkey store")
			}
			names, err := fsys.List(dir)
			require.NoError(t, err)
			require.Equal(t, []string{"cat.jpg"}, names)
		})
	}
}
