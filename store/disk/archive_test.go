package disk_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// archived returns the archive of a store with some rows. The store is changed
// afterwards.
func archived(t testing.TB, fs vfs.FS, dir string) []byte {
	t.Helper()
	s := open(t, dir, disk.Options{MemTableBytes: 1}.On(fs))
	fill(t, s, 5, 500)
	put(t, s, "k", "before")
	var out bytes.Buffer
	require.NoError(t, s.Archive(t.Context(), &out))
	put(t, s, "k", "after")
	_, err := fs.Stat(fs.PathJoin(dir, "forks"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, s.Close())
	return out.Bytes()
}

// rows returns all rows of the first spaces as text.
func rows(t testing.TB, s store.Store) (all []string) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for space := range store.Space(10) {
			for row, err := range r.Scan(space, store.Everything()) {
				if err != nil {
					return err
				}
				all = append(all, fmt.Sprintf("%d %q %q %q", space, row.Partition, row.Sort, row.Value))
			}
		}
		return nil
	}))
	return all
}

func TestArchive(t *testing.T) {
	for _, tt := range []struct {
		name string
		fs   vfs.FS
		root string
	}{
		{"memory", vfs.NewMem(), ""},
		{"folder", vfs.Default, t.TempDir()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := disk.Options{}.On(tt.fs)
			from := filepath.Join(tt.root, "db")
			text := archived(t, tt.fs, from)
			to := filepath.Join(tt.root, "deep", "copy")
			require.False(t, disk.Exists(to, opts))
			require.NoError(t, disk.Extract(t.Context(), bytes.NewReader(text), to, opts))
			require.True(t, disk.Exists(to, opts))
			s := open(t, to, opts)
			require.Equal(t, "before", get(t, s, "k"))
			want := rows(t, s)
			require.Greater(t, len(want), 500)

			kept := filepath.Join(tt.root, "kept")
			require.ErrorIs(t, disk.Copy(t.Context(), to, kept, opts), disk.ErrLocked)
			require.NoError(t, s.Close())
			require.NoError(t, disk.Copy(t.Context(), to, kept, opts))
			require.ErrorContains(t, disk.Copy(t.Context(), to, kept, opts), "is not empty")
			require.ErrorContains(t, disk.Extract(t.Context(), bytes.NewReader(text), kept, opts), "is not empty")
			s = open(t, kept, opts)
			require.Equal(t, want, rows(t, s))
			put(t, s, "k", "kept")
			require.NoError(t, s.Close())
			s = open(t, to, opts)
			require.Equal(t, "before", get(t, s, "k"))
			require.NoError(t, s.Close())
			require.ErrorContains(t, disk.Copy(t.Context(), filepath.Join(tt.root, "deep"), filepath.Join(tt.root, "x"), opts), "not a Sortkey store")
		})
	}
}

// An entry is an entry of a forged archive.
type entry struct {
	tar.Header
	body string
}

func entries(t testing.TB, text []byte) (list []entry) {
	t.Helper()
	tr := tar.NewReader(bytes.NewReader(text))
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		body, err := io.ReadAll(tr)
		require.NoError(t, err)
		list = append(list, entry{*h, string(body)})
	}
}

func forge(t testing.TB, list []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	tw := tar.NewWriter(&out)
	for _, e := range list {
		e.PAXRecords, e.Format = nil, tar.FormatUnknown
		if e.Typeflag == tar.TypeReg {
			e.Size = int64(len(e.body))
		}
		require.NoError(t, tw.WriteHeader(&e.Header))
		_, err := io.WriteString(tw, e.body)
		require.NoError(t, err)
	}
	require.NoError(t, tw.Close())
	return out.Bytes()
}

// TestExtractForged checks that every archive that differs from Sortkey's own
// is refused, and that nothing is written outside the folder.
func TestExtractForged(t *testing.T) {
	text := archived(t, vfs.NewMem(), "db")
	good := entries(t, text)
	first := good[1].Name
	base := strings.TrimPrefix(first, "sortkey/")
	named := func(name string) func([]entry) []entry {
		return func(list []entry) []entry {
			list[0].body = strings.Replace(list[0].body, base, name, 1)
			list[1].Name = "sortkey/" + name
			return list
		}
	}
	contents := func(from, to string) func([]entry) []entry {
		return func(list []entry) []entry {
			require.Contains(t, list[0].body, from)
			list[0].body = strings.Replace(list[0].body, from, to, 1)
			return list
		}
	}
	for _, tt := range []struct {
		name  string
		forge func([]entry) []entry
		want  string
	}{
		{"unchanged", func(list []entry) []entry { return list }, ""},
		{"a path upwards", named("../../evil.sst"), `unexpected file "../../evil.sst"`},
		{"a path from the root", named("/tmp/evil.sst"), `unexpected file "/tmp/evil.sst"`},
		{"a folder", named("sub/000001.sst"), `unexpected file "sub/000001.sst"`},
		{"a backslash", named(`..\\evil.sst`), "unexpected file"},
		{"a file name that stores do not have", named("notes.txt"), `unexpected file "notes.txt"`},
		{"the lock", named("LOCK"), `unexpected file "LOCK"`},
		{"a name not announced", func(list []entry) []entry { list[1].Name = "../evil.sst"; return list }, `archive contains "../evil.sst"`},
		{"a link", func(list []entry) []entry {
			list[1].Typeflag, list[1].Linkname, list[1].Size, list[1].body = tar.TypeSymlink, "/etc/passwd", 0, ""
			return list
		}, "archive contains"},
		{"a hard link", func(list []entry) []entry {
			list[1].Typeflag, list[1].Linkname, list[1].Size, list[1].body = tar.TypeLink, "/etc/passwd", 0, ""
			return list
		}, "archive contains"},
		{"longer than announced", func(list []entry) []entry { list[1].body += "x"; return list }, "archive contains"},
		{"one missing", func(list []entry) []entry { return slices.Delete(list, 1, 2) }, "archive contains"},
		{"one more", func(list []entry) []entry { return append(list, list[1]) }, "more files than announced"},
		{"cut off", func(list []entry) []entry { return list[:2] }, "unexpected EOF"},
		{"no contents", func(list []entry) []entry { return list[1:] }, "not a Sortkey archive"},
		{"contents that are a folder", func(list []entry) []entry {
			list[0].Typeflag, list[0].body, list[0].Size = tar.TypeDir, "", 0
			return list
		}, "not a Sortkey archive"},
		{"contents of another kind", func(list []entry) []entry { list[0].body = "hello"; return list }, "invalid character"},
		{"no format", contents(`"format":3`, `"format":0`), "it does not state its format"},
		{"a newer archive", contents(`"sortkeyArchive":1`, `"sortkeyArchive":2`), "use a newer version of Sortkey"},
		{"a newer store", contents(`"format":3`, `"format":9`), "has format 9"},
		{"a negative size", contents(`"bytes":`, `"bytes":-`), "bytes"},
		{"sizes that overflow", contents(`"bytes":`, `"bytes":9223372036854775000,"name":"000000.log"},{"name":"000001.sst","bytes":9223372036854775000,"x":`), "bytes"},
		{"the same file twice", contents(`"files":[`, fmt.Sprintf(`"files":[{"name":%q,"bytes":1},`, base)), "is out of order"},
		{"no SORTKEY", func(list []entry) []entry {
			list[0].body = strings.Replace(list[0].body, `"SORTKEY"`, `"999999.sst"`, 1)
			return list
		}, "its last file is not SORTKEY"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "a", "b", "db")
			list := entries(t, text)
			err := disk.Extract(t.Context(), bytes.NewReader(forge(t, tt.forge(list))), dir, disk.Options{})
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "\n")
			_, err = disk.Open(dir, disk.Options{ReadOnly: true})
			require.Error(t, err)
			require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
				if !d.IsDir() && filepath.Dir(path) != dir {
					t.Errorf("%s was written", path)
				}
				return err
			}))
		})
	}
}

// TestExtractAnything checks that no input panics, and that a truncated or
// changed archive yields either no store or the same one.
func TestExtractAnything(t *testing.T) {
	text := archived(t, vfs.NewMem(), "db")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		forged := slices.Clone(text)
		if i%2 == 0 {
			forged = forged[:rng.IntN(len(forged)-1024)]
		} else {
			forged[rng.IntN(4096)] ^= byte(1 + rng.IntN(255))
		}
		fs := vfs.NewMem()
		err := disk.Extract(t.Context(), bytes.NewReader(forged), "db", disk.Options{}.On(fs))
		if i%2 == 0 {
			require.Error(t, err)
			require.False(t, disk.Exists("db", disk.Options{}.On(fs)))
		}
	}
	require.ErrorContains(t, disk.Extract(t.Context(), strings.NewReader("hello"), "db", disk.Options{}.On(vfs.NewMem())), "not a Sortkey archive")
	long := append(slices.Clone(text), make([]byte, 2<<20)...)
	require.ErrorContains(t, disk.Extract(t.Context(), bytes.NewReader(long), "db", disk.Options{}.On(vfs.NewMem())), "data after its end")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, disk.Extract(ctx, bytes.NewReader(text), "db", disk.Options{}.On(vfs.NewMem())), context.Canceled)
}

// TestExtractFull checks that extracting to a full disk leaves no store.
func TestExtractFull(t *testing.T) {
	text := archived(t, vfs.NewMem(), "db")
	failed := 0
	for n := range int32(200) {
		mem := vfs.NewMem()
		fs := errorfs.Wrap(mem, errorfs.ErrInjected.If(errorfs.And(errorfs.Writes, errorfs.OnIndex(n))))
		err := disk.Extract(t.Context(), bytes.NewReader(text), "db", disk.Options{}.On(fs))
		if err == nil {
			break
		}
		failed++
		require.ErrorContains(t, err, "injected error")
		if disk.Exists("db", disk.Options{}.On(mem)) {
			s, err := disk.Open("db", disk.Options{}.On(mem)) // only the very last sync failed
			if err == nil {
				require.Equal(t, "before", get(t, s, "k"))
				require.NoError(t, s.Close())
			}
		}
	}
	require.Greater(t, failed, 10)
}

// TestArchiveErrors checks that nothing is left behind when the writer fails or
// the context ends.
func TestArchiveErrors(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "db", disk.Options{}.On(fs))
	fill(t, s, 5, 500)
	for n := range 3 {
		require.ErrorIs(t, s.Archive(t.Context(), &limited{n * 1000}), io.ErrShortWrite)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Archive(ctx, io.Discard), context.Canceled)
	_, err := fs.Stat("db/forks")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Archive(t.Context(), io.Discard), store.ErrClosed)
}

type limited struct{ left int }

func (w *limited) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return 0, io.ErrShortWrite
	}
	w.left -= len(p)
	return len(p), nil
}

// TestExtractSpoilt checks that an archive with one changed byte is refused, or
// leaves a folder that Open either refuses or opens.
func TestExtractSpoilt(t *testing.T) {
	s := open(t, "db", disk.Options{}.On(vfs.NewMem()))
	put(t, s, "k", "v")
	var text bytes.Buffer
	require.NoError(t, s.Archive(t.Context(), &text))
	require.NoError(t, s.Close())
	seed := uint64(proptest.Seed())
	rng := rand.New(rand.NewPCG(seed, 0))
	refused, opened := 0, 0
	for range 500 {
		spoilt := slices.Clone(text.Bytes())
		spoilt[rng.IntN(len(spoilt))] ^= byte(1 + rng.IntN(255))
		fs := vfs.NewMem()
		if err := disk.Extract(t.Context(), bytes.NewReader(spoilt), "db", disk.Options{}.On(fs)); err != nil {
			refused++
		}
		if s, err := disk.Open("db", disk.Options{ReadOnly: true}.On(fs)); err == nil {
			opened++
			require.NoError(t, s.Close(), "seed %d", seed)
		}
	}
	require.Positive(t, refused, "seed %d", seed)
	require.Positive(t, opened, "seed %d", seed)
}
