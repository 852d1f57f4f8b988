package disk_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store/disk"
)

// header returns the header of a tar entry of a type that package tar reads but
// does not write.
func header(t testing.TB, h tar.Header, typeflag byte) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, tar.NewWriter(&out).WriteHeader(&h))
	block := out.Bytes()[:512]
	block[156] = typeflag
	copy(block[148:156], "        ")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return block
}

// sparseFile returns a tar entry of a few bytes that reads as size zeros.
func sparseFile(t testing.TB, name string, size int64) []byte {
	t.Helper()
	records := ""
	for _, kv := range [][2]string{
		{"GNU.sparse.map", fmt.Sprintf("%d,0", size)}, {"GNU.sparse.name", name},
		{"GNU.sparse.numblocks", "1"}, {"GNU.sparse.size", fmt.Sprint(size)},
	} {
		text := " " + kv[0] + "=" + kv[1] + "\n"
		n := len(text) + 2
		require.Less(t, n, 100)
		records += fmt.Sprintf("%d%s", n, text)
	}
	var out bytes.Buffer
	out.Write(header(t, tar.Header{Name: "x", Size: int64(len(records))}, 'x'))
	out.WriteString(records + strings.Repeat("\x00", 512-len(records)))
	out.Write(header(t, tar.Header{Name: name}, tar.TypeReg))
	return out.Bytes()
}

// TestExtractSparse checks that an archive cannot announce more bytes than it has.
func TestExtractSparse(t *testing.T) {
	const size = 64 << 20
	head := fmt.Sprintf(`{"sortkeyArchive":1,"format":3,"files":[{"name":"000001.sst","bytes":%d},{"name":"SORTKEY","bytes":1}]}`, size)
	list := []entry{{tar.Header{Typeflag: tar.TypeReg, Name: "sortkey/ARCHIVE"}, head}}
	text := forge(t, list)
	text = append(text[:len(text)-1024], sparseFile(t, "sortkey/000001.sst", size)...)
	tr := tar.NewReader(bytes.NewReader(text))
	_, err := tr.Next()
	require.NoError(t, err)
	h, err := tr.Next()
	require.NoError(t, err)
	require.Equal(t, int64(size), h.Size)
	n, err := io.Copy(io.Discard, tr)
	require.NoError(t, err)
	require.Equal(t, int64(size), n, "not a sparse file")

	fs := vfs.NewMem()
	err = disk.Extract(t.Context(), bytes.NewReader(text), "db", disk.Options{}.On(fs))
	require.ErrorContains(t, err, `archive contains the sparse file "sortkey/000001.sst"`)
	names, err := fs.List("db")
	require.NoError(t, err)
	require.Empty(t, names)

	text = sparseFile(t, "sortkey/ARCHIVE", size/4)
	require.ErrorContains(t, disk.Extract(t.Context(), bytes.NewReader(text), "db", disk.Options{}.On(fs)), "not a Sortkey archive")
}

// TestExtractLists checks that the list of an archive is bounded.
func TestExtractLists(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, files, want string }{
		{"files", "[" + strings.Repeat("{},", 1<<18) + "{}]", "more than 262144 files"},
		{"bytes", "[" + strings.Repeat(" ", 32<<20) + "]", "list of files has 335"},
		{"no list", "7", "files is not a list"},
		{"null", "null", "files is not a list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head := `{"sortkeyArchive":1,"format":3,"files":` + tt.files + `}`
			text := forge(t, []entry{{tar.Header{Typeflag: tar.TypeReg, Name: "sortkey/ARCHIVE"}, head}})
			fs := vfs.NewMem()
			require.ErrorContains(t, disk.Extract(t.Context(), bytes.NewReader(text), "db", disk.Options{}.On(fs)), tt.want)
			_, err := fs.Stat("db")
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

// A smallFS has little space.
type smallFS struct {
	vfs.FS
	free uint64
}

func (s smallFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: s.free}, nil
}

// TestExtractSpace checks that also the space that small files take is there.
func TestExtractSpace(t *testing.T) {
	text := archived(t, vfs.NewMem(), "db")
	list := entries(t, text)[1:]
	need := uint64(len(list)) * 4096
	for _, e := range list {
		need += uint64(e.Size)
	}
	err := disk.Extract(t.Context(), bytes.NewReader(text), "db", disk.Options{}.On(smallFS{vfs.NewMem(), need - 1}))
	require.ErrorContains(t, err, fmt.Sprintf("not enough space for db: need %d bytes, have %d", need, need-1))
	require.NoError(t, disk.Extract(t.Context(), bytes.NewReader(text), "db", disk.Options{}.On(smallFS{vfs.NewMem(), need})))
}

// extracted extracts an archive to memory and opens the result. It checks that
// nothing is written outside of the folder and no file is larger than the archive.
func extracted(t *testing.T, text []byte) {
	t.Helper()
	fs := vfs.NewMem()
	err := disk.Extract(t.Context(), bytes.NewReader(text), "db", disk.Options{}.On(fs))
	names, _ := fs.List("")
	for _, name := range names {
		require.Equal(t, "db", name)
	}
	names, _ = fs.List("db")
	for _, name := range names {
		info, err := fs.Stat("db/" + name)
		require.NoError(t, err)
		require.False(t, info.IsDir(), name)
		require.LessOrEqual(t, info.Size(), int64(len(text)), name)
	}
	if err != nil {
		return
	}
	if s, err := disk.Open("db", disk.Options{ReadOnly: true}.On(fs)); err == nil {
		require.NoError(t, s.Close())
	}
}

// FuzzExtract extracts anything.
func FuzzExtract(f *testing.F) {
	s := open(f, "db", disk.Options{}.On(vfs.NewMem()))
	put(f, s, "k", "v")
	var text bytes.Buffer
	require.NoError(f, s.Archive(f.Context(), &text))
	require.NoError(f, s.Close())
	f.Add(text.Bytes())
	f.Add(text.Bytes()[:1024])
	f.Add(sparseFile(f, "sortkey/ARCHIVE", 1<<20))
	f.Add([]byte("hello"))
	f.Fuzz(extracted)
}

// FuzzExtractContents extracts archives that are tar files with any list of
// contents, and files of that list.
func FuzzExtractContents(f *testing.F) {
	s := open(f, "db", disk.Options{}.On(vfs.NewMem()))
	put(f, s, "k", "v")
	var text bytes.Buffer
	require.NoError(f, s.Archive(f.Context(), &text))
	require.NoError(f, s.Close())
	list := entries(f, text.Bytes())
	f.Add(list[0].body, list[1].Name, list[1].body, list[len(list)-1].body)
	f.Add(`{"sortkeyArchive":1,"format":3,"files":[{"name":"000001.log","bytes":1},{"name":"SORTKEY","bytes":3}]}`, "sortkey/000001.log", "x", "abc")
	f.Add(`{"sortkeyArchive":1,"format":3,"files":[{"name":"../x.sst","bytes":1},{"name":"SORTKEY","bytes":3}]}`, "sortkey/../x.sst", "x", "abc")
	f.Fuzz(func(t *testing.T, head, name, body, meta string) {
		var out bytes.Buffer
		tw := tar.NewWriter(&out)
		forged := append([]entry{{tar.Header{Name: "sortkey/ARCHIVE"}, head}, {tar.Header{Name: name}, body}}, list[2:len(list)-1]...)
		for _, e := range append(forged, entry{tar.Header{Name: "sortkey/SORTKEY"}, meta}) {
			if tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.Name, Size: int64(len(e.body))}) != nil {
				t.Skip("a name that package tar does not write")
			}
			_, err := io.WriteString(tw, e.body)
			require.NoError(t, err)
		}
		require.NoError(t, tw.Close())
		extracted(t, out.Bytes())
	})
}

// An endlessFS has checkpoints with row files that never end.
type endlessFS struct {
	vfs.FS
	begun func()
}

func (f endlessFS) copied(name string) bool {
	return strings.HasSuffix(name, ".sst") && strings.Contains(name, "/forks/")
}

func (f endlessFS) Stat(name string) (vfs.FileInfo, error) {
	info, err := f.FS.Stat(name)
	if err == nil && f.copied(name) {
		info = endlessInfo{info}
	}
	return info, err
}

type endlessInfo struct{ vfs.FileInfo }

func (endlessInfo) Size() int64 { return 1 << 40 }

func (f endlessFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.Open(name, opts...)
	if err == nil && f.copied(name) {
		file = endlessFile{file, f.begun}
	}
	return file, err
}

type endlessFile struct {
	vfs.File
	begun func()
}

func (f endlessFile) Read([]byte) (int, error) {
	f.begun()
	time.Sleep(time.Millisecond)
	return 1, nil
}

// TestArchiveCanceled cancels an archive in the middle of a file.
func TestArchiveCanceled(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := open(t, "/db", disk.Options{}.On(fs))
	put(t, s, "row", "value")
	require.NoError(t, s.Close()) // writes the rows to a file

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s = open(t, "/db", disk.Options{}.On(endlessFS{fs, cancel}))
	require.ErrorIs(t, s.Archive(ctx, io.Discard), context.Canceled)
}
