package disk

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An archive is a tar file of a folder archiveRoot. Its first entry lists the
// contents, so an archive in a newer format, or one too large for the disk, is
// refused before anything is written:
//
//	sortkey/ARCHIVE      contents as JSON
//	sortkey/000012.sst   the files, in the order of contents, SORTKEY last
//	…
const (
	archiveRoot    = "sortkey/"
	archiveName    = "ARCHIVE"
	archiveVersion = 1

	maxContents = 32 << 20 // size limit of the first entry, in bytes
	maxFiles    = 1 << 18  // limit of the number of files: enough for some 10 TB
	maxTrailer  = 1 << 20  // size limit of the data after the last entry, in bytes

	// A file takes up to fileSpace bytes of a disk besides its own.
	fileSpace = 4 << 10
)

type contents struct {
	Archive int         `json:"sortkeyArchive"` // version of the archive format
	Format  int         `json:"format"`         // format of the store in the archive
	Files   archiveList `json:"files"`
}

// An archiveList decodes at most maxFiles files: "{}," is three bytes of a list
// and 24 of memory.
type archiveList []archiveFile

var errManyFiles = fmt.Errorf("more than %d files", maxFiles)

// UnmarshalJSON implements [json.Unmarshaler].
func (l *archiveList) UnmarshalJSON(text []byte) error {
	*l = nil
	d := json.NewDecoder(bytes.NewReader(text))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(err, errors.New("files is not a list"))
	}
	for d.More() {
		if len(*l) == maxFiles {
			return errManyFiles
		}
		var f archiveFile
		if err := d.Decode(&f); err != nil {
			return err
		}
		*l = append(*l, f)
	}
	return nil
}

type archiveFile struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Archive writes a copy of the store, as it is now, to w as an uncompressed tar
// file. It first makes a checkpoint in a temporary folder inside the store's
// folder, so updates continue while it writes to w. Like [Store.Snapshot] it
// must not be called inside an Update. [Extract] reads the archive.
func (s *Store) Archive(ctx context.Context, w io.Writer) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	dir, err := s.link(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.forks.remove(dir) }()
	if err := writeArchive(ctx, s.opts.fs, dir, w); err != nil {
		return fmt.Errorf("disk: archive: %w", err)
	}
	return nil
}

func writeArchive(ctx context.Context, fsys vfs.FS, dir string, w io.Writer) error {
	files, err := storeFiles(fsys, dir)
	if err != nil {
		return err
	}
	if len(files) > maxFiles {
		return errManyFiles
	}

	head, err := json.Marshal(contents{Archive: archiveVersion, Format: Format, Files: files})
	if err != nil {
		return err
	}
	if len(head) > maxContents {
		return fmt.Errorf("the list of files has %d bytes, more than %d", len(head), maxContents)
	}

	tw := tar.NewWriter(w)
	if err := writeEntry(ctx, tw, archiveFile{archiveName, int64(len(head))}, bytes.NewReader(head)); err != nil {
		return err
	}
	for _, file := range files {
		f, err := fsys.Open(fsys.PathJoin(dir, file.Name), vfs.SequentialReadsOption)
		if err != nil {
			return err
		}
		if err := errors.Join(writeEntry(ctx, tw, file, f), f.Close()); err != nil {
			return err
		}
	}
	return tw.Close()
}

func writeEntry(ctx context.Context, tw *tar.Writer, file archiveFile, r io.Reader) error {
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: archiveRoot + file.Name, Size: file.Bytes,
		Mode: 0o600, ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
	}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	return copyExactly(ctx, tw, r, file)
}

// copyExactly copies the bytes of a file. A different number of bytes is an
// error.
func copyExactly(ctx context.Context, w io.Writer, r io.Reader, file archiveFile) error {
	r = &contextReader{ctx, r}
	n, err := io.CopyN(w, r, file.Bytes)
	if errors.Is(err, io.EOF) || err == nil && file.Bytes != n {
		return fmt.Errorf("%s ends after %d of %d bytes: %w", file.Name, n, file.Bytes, io.ErrUnexpectedEOF)
	}
	return err
}

// A contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // lives as long as one copy
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// storeFiles returns the files of a closed store, without locks and leftovers.
// SORTKEY comes last, so an incomplete copy cannot be opened as a store.
func storeFiles(fsys vfs.FS, dir string) ([]archiveFile, error) {
	names, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []archiveFile
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return !plainName(name) }) {
		size, err := regularSize(fsys, fsys.PathJoin(dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, archiveFile{name, size})
	}
	size, err := regularSize(fsys, fsys.PathJoin(dir, metaName))
	if err != nil {
		return nil, err
	}
	return append(files, archiveFile{metaName, size}), nil
}

// regularSize returns the size of a regular file; links are an error.
func regularSize(fsys vfs.FS, path string) (int64, error) {
	var info fs.FileInfo
	var err error
	if vfs.Root(fsys) == vfs.Default {
		info, err = os.Lstat(path)
	} else {
		info, err = fsys.Stat(path)
	}
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a regular file", path)
	}
	return info.Size(), nil
}

// plainName reports whether a store can have a file of this name, other than
// SORTKEY.
func plainName(name string) bool {
	for _, c := range []byte(name) {
		if c != '-' && c != '.' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return len(name) < 100 && matches(name, engineFiles)
}

// check refuses contents that [Store.Archive] cannot have written.
func (c *contents) check(what string) (total int64, err error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("disk: %s has invalid contents: %s", what, fmt.Sprintf(format, args...))
	}
	switch {
	case c.Archive < 1 || c.Format < 1:
		return 0, bad("it does not state its format")
	case c.Archive > archiveVersion:
		return 0, fmt.Errorf(
			"disk: %s has version %d, but this version of Sortkey reads archives up to version %d: "+
				"use a newer version of Sortkey",
			what, c.Archive, archiveVersion,
		)
	case c.Format != Format:
		return 0, otherFormat(what, c.Format)
	case len(c.Files) == 0 || c.Files[len(c.Files)-1].Name != metaName:
		return 0, bad("its last file is not %s", metaName)
	}

	for i, f := range c.Files {
		switch {
		case i < len(c.Files)-1 && !plainName(f.Name):
			return 0, bad("unexpected file %q", f.Name)
		case i > 0 && i < len(c.Files)-1 && f.Name <= c.Files[i-1].Name:
			return 0, bad("file %q is out of order", f.Name)
		case f.Name == metaName && f.Bytes > maxMeta:
			return 0, bad("file %s has %d bytes", metaName, f.Bytes)
		case f.Bytes < 0 || f.Bytes > math.MaxInt64-total:
			return 0, bad("file %q has %d bytes", f.Name, f.Bytes)
		}
		total += f.Bytes
	}
	return total, nil
}

// Extract creates a store from an archive of [Store.Archive], in a folder that
// does not exist or is empty. Archives may come from untrusted sources: Extract
// writes nothing but the files of a store inside dir, no more files and bytes
// than the archive announces at its beginning and really contains (sparse files
// are refused), and only if the disk has enough room.
// After an error the folder may be incomplete; [Open] refuses it, and it can be
// removed.
// Extract ignores opts.
func Extract(ctx context.Context, r io.Reader, dir string, opts Options) error {
	opts = opts.withDefaults()
	tr := tar.NewReader(&contextReader{ctx, r})
	c, total, err := readContents(tr)
	if err != nil {
		return err
	}

	w, err := newFolderWriter(opts.fs, dir, total, len(c.Files))
	if err != nil {
		return err
	}
	for _, file := range c.Files {
		h, err := tr.Next()
		if err != nil {
			return badArchive(err)
		}
		if sparse(h) {
			return fmt.Errorf("disk: archive contains the sparse file %q; Sortkey writes none", h.Name)
		}
		if h.Typeflag != tar.TypeReg || h.Name != archiveRoot+file.Name || h.Size != file.Bytes {
			return fmt.Errorf(
				"disk: archive contains %q with %d bytes, want %q with %d bytes", h.Name, h.Size, archiveRoot+file.Name,
				file.Bytes,
			)
		}
		if err := w.add(ctx, file, tr); err != nil {
			return badArchive(err)
		}
	}

	if _, err := tr.Next(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("more files than announced")
		}
		return badArchive(err)
	}

	// The rest is padding. In a compressed archive, the checksum follows it.
	if n, err := io.Copy(io.Discard, io.LimitReader(r, maxTrailer+1)); err != nil || n > maxTrailer {
		return badArchive(errors.Join(err, errTrailer(n)))
	}
	return w.finish()
}

// sparse reports whether a file has parts that the archive does not contain and
// that read as zeros: a kilobyte could fill the disk.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

var errNotArchive = errors.New("disk: not a Sortkey archive")

func errTrailer(n int64) error {
	if n > maxTrailer {
		return errors.New("data after its end")
	}
	return nil
}

func badArchive(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("disk: cannot read the archive: %w", err)
}

func readContents(tr *tar.Reader) (*contents, int64, error) {
	h, err := tr.Next()
	switch {
	case errors.Is(err, tar.ErrHeader), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, 0, errNotArchive
	case err != nil:
		return nil, 0, badArchive(err)
	case h.Typeflag != tar.TypeReg || h.Name != archiveRoot+archiveName || sparse(h):
		return nil, 0, errNotArchive
	case h.Size > maxContents:
		return nil, 0, fmt.Errorf("disk: the archive's list of files has %d bytes, more than %d", h.Size, maxContents)
	}
	data, err := io.ReadAll(tr) // at most maxContents
	if err != nil {
		return nil, 0, badArchive(err)
	}
	c := new(contents)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, 0, badArchive(err)
	}
	total, err := c.check("the archive")
	return c, total, err
}

// Copy copies a store that is closed, or open for reading only, to a folder that does not exist or is
// empty, without changing the original. It returns the errors of [Open] for from, and those of
// [Extract]. Copy ignores opts. See [Store.Snapshot] for an open store.
func Copy(ctx context.Context, from, dir string, opts Options) error {
	opts = opts.withDefaults()
	fsys := opts.fs
	if _, err := fsys.Stat(fsys.PathJoin(from, lockName)); err == nil {
		from, err := resolve(fsys, from)
		if err != nil {
			return err
		}
		lock, err := lockDir(fsys, from, true)
		if err != nil {
			return err
		}
		defer lock.Close()
	}

	state, _, err := readMeta(fsys, from)
	if err == nil && state != stateReady {
		err = fmt.Errorf("disk: %s does not contain a store", from)
	}
	if err != nil {
		return err
	}

	files, err := storeFiles(fsys, from)
	if err != nil {
		return fmt.Errorf("disk: cannot copy %s: %w", from, err)
	}
	total, err := (&contents{Archive: archiveVersion, Format: Format, Files: files}).check(from)
	if err != nil {
		return err
	}

	w, err := newFolderWriter(fsys, dir, total, len(files))
	if err != nil {
		return err
	}
	for _, file := range files {
		f, err := fsys.Open(fsys.PathJoin(from, file.Name), vfs.SequentialReadsOption)
		if err == nil {
			err = errors.Join(w.add(ctx, file, f), f.Close())
		}
		if err != nil {
			return fmt.Errorf("disk: cannot copy %s: %w", from, err)
		}
	}
	return w.finish()
}

// A folderWriter creates the folder of a store from its files. It writes the
// file SORTKEY after all others.
type folderWriter struct {
	fs   vfs.FS
	dir  string
	meta strings.Builder
}

func newFolderWriter(fsys vfs.FS, dir string, total int64, files int) (*folderWriter, error) {
	if names, err := fsys.List(dir); err == nil && len(names) > 0 {
		return nil, fmt.Errorf("disk: %s is not empty", dir)
	}
	if err := makeDir(fsys, dir); err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	need := uint64(total) + uint64(files)*fileSpace
	if usage, err := fsys.GetDiskUsage(dir); err == nil && need > usage.AvailBytes {
		return nil, fmt.Errorf("disk: not enough space for %s: need %d bytes, have %d", dir, need, usage.AvailBytes)
	}
	return &folderWriter{fs: fsys, dir: dir}, nil
}

func (w *folderWriter) add(ctx context.Context, file archiveFile, r io.Reader) error {
	if file.Name == metaName {
		return copyExactly(ctx, &w.meta, r, file)
	}
	f, err := w.fs.Create(w.fs.PathJoin(w.dir, file.Name), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = copyExactly(ctx, f, r, file)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (w *folderWriter) finish() error {
	err := syncDir(w.fs, w.dir)
	if err == nil {
		err = replaceMeta(w.fs, w.dir, w.meta.String())
	}
	if err == nil {
		_, _, err = readMeta(w.fs, w.dir)
	}
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	return nil
}
