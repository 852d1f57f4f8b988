package disk_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

const damagedRows = 400

// folders returns two folders with damagedRows rows: one after Close, and one after a kill.
func folders(t testing.TB) (closed, killed string) {
	t.Helper()
	fs := newCrashFS()
	s := open(t, "db", disk.Options{MemTableBytes: 1}.On(fs)) // small, so that there are files of rows and logs
	for i := range damagedRows {
		put(t, s, fmt.Sprintf("key %04d", i), strings.Repeat("v", 300))
		if i == damagedRows-5 {
			require.NoError(t, s.Close())
			s = open(t, "db", disk.Options{}.On(fs))
		}
	}
	killed = snapshot(t, fs, "db")
	require.NoError(t, s.Close())
	return snapshot(t, fs, "db"), killed
}

// snapshot writes the folder path of fs to a folder of the machine, in the state that killing its process would
// leave. Copying the files of an open folder one by one would not do: the engine removes and creates files meanwhile.
func snapshot(t testing.TB, fs *crashFS, path string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	whole := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}
	found, err := vfs.Clone(fs.CrashClone(whole), vfs.Default, path, dir)
	require.NoError(t, err)
	require.True(t, found)
	return dir
}

// readAll opens a folder and returns the number of rows that put has written.
func readAll(t *testing.T, dir string, opts disk.Options) (n int, err error) {
	t.Helper()
	s, err := disk.Open(dir, opts)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	err = s.View(t.Context(), func(r store.Reader) error {
		for row, err := range r.Query(1, []byte("p"), store.Range{}, false) {
			if err != nil {
				return err
			}
			n++
			if want := strings.Repeat("v", 300); string(row.Value) != want {
				t.Errorf("row %q has the value %q, want %q", row.Sort, row.Value, want)
			}
		}
		return nil
	})
	return n, err
}

// FuzzDamage damages one file of a folder at any place. Opening and reading the folder must return an error or every
// row, unless the damage to the newest log looks like a crash: the log ends early, or its last record is incomplete.
func FuzzDamage(f *testing.F) {
	type file struct {
		name string
		data []byte
	}
	closed, killed := folders(f)
	var all [][]file
	for _, from := range []string{closed, killed} {
		entries, err := os.ReadDir(from)
		require.NoError(f, err)
		var files []file
		for _, entry := range entries {
			if entry.Type().IsRegular() {
				data, err := os.ReadFile(filepath.Join(from, entry.Name()))
				require.NoError(f, err)
				files = append(files, file{entry.Name(), data})
			}
		}
		all = append(all, files)
	}
	const lastRecord = 370 // bytes that hold the last row of a log
	const flip, set, zero, cut, insert, empty, remove, kinds = 0, 1, 2, 3, 4, 5, 6, 7
	for folder, files := range all {
		for i, file := range files {
			for kind := range kinds {
				f.Add(folder == 1, uint8(i), uint8(kind), uint16(len(file.data)/2), uint8(3))
			}
			f.Add(folder == 1, uint8(i), uint8(flip), uint16(max(0, len(file.data)-1)), uint8(0))
			// SORTKEY without the name of its log
			f.Add(folder == 1, uint8(i), uint8(cut), uint16(max(0, len(file.data)-len("000004.log\n"))), uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, kill bool, which, kind uint8, offset uint16, with uint8) {
		files := all[0]
		if kill {
			files = all[1]
		}
		damaged := files[int(which)%len(files)]
		at := int(offset) % max(1, len(damaged.data))
		for kind%kinds == insert && at < len(damaged.data) && damaged.data[at] == with {
			at++ // the same file
		}
		end := at + 1
		if kind%kinds == zero {
			end = at + int(with) // may reach into two records
		}
		newest := ""
		fs := vfs.NewMem()
		require.NoError(t, fs.MkdirAll("db", 0o700))
		for _, file := range files {
			if strings.HasSuffix(file.name, ".log") {
				newest = max(newest, file.name)
			}
			data := bytes.Clone(file.data)
			if file.name == damaged.name {
				switch rest := data[at:]; kind % kinds {
				case flip:
					if len(rest) > 0 {
						rest[0] ^= 1 << (with % 8)
					}
				case set:
					if len(rest) > 0 {
						rest[0] = with
					}
				case zero:
					clear(rest[:min(len(rest), end-at)])
				case cut:
					data = data[:at]
				case insert:
					data = slices.Insert(data, at, with)
				case empty:
					data = nil
				case remove:
					continue
				}
			}
			w, err := fs.Create("db/"+file.name, vfs.WriteCategoryUnspecified)
			require.NoError(t, err)
			_, err = w.Write(data)
			require.NoError(t, err)
			require.NoError(t, w.Close())
		}
		n, err := readAll(t, "db", disk.Options{}.On(fs))
		switch {
		case err != nil:
			require.Regexp(t, "damaged|cut off|incomplete copy|cannot be read|has format|not the name of a log|(comparer|merger) name from file", err)
		case n == damagedRows:
		case n < damagedRows && damaged.name == newest && kind%kinds == cut:
		case n >= damagedRows-2 && damaged.name == newest && end > len(damaged.data)-lastRecord:
		default:
			t.Errorf("%s, damage %d at %d of %d with %d, killed %t: %d of %d rows", damaged.name, kind%kinds, at, len(damaged.data), with, kill, n, damagedRows)
		}
	})
}
