package snapshot

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store/disk"
)

// Restore makes a database of a snapshot in the folder data, which must be
// empty or not exist, or else hold a database that replace allows to be thrown
// away. The copy is made beside it and opened to see that it is whole, and takes
// its place by being renamed: an error, or an end of the process at any moment,
// leaves data as it was. After the latter a folder .NAME.tmp-… beside it can be
// removed.
func Restore(ctx context.Context, snapshot, data string, replace bool) (*Info, error) {
	if err := inside(snapshot, data, "the snapshot"); err != nil {
		return nil, err
	}
	if err := inside(data, snapshot, "the database"); err != nil {
		return nil, err
	}
	there, err := occupied(data)
	if err != nil {
		return nil, err
	}
	if there {
		if !replace {
			return nil, advice.New("name an empty folder, or throw away what is there with --force", "%s is not empty", data)
		}
		if !disk.Exists(data, disk.Options{}) {
			return nil, advice.New("remove it yourself if that is meant", "%s is no database, and not replaced", data)
		}
		lock, err := disk.Lock(data, disk.Options{})
		if err != nil {
			return nil, openError(data, err)
		}
		defer lock.Close()
	}
	data, err = realPath(data) // a link stays, and what it names is replaced
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(data)
	if err := os.MkdirAll(parent, 0o755); err != nil { //nolint:gosec // as the folder in it
		return nil, err
	}
	temp, err := os.MkdirTemp(parent, "."+filepath.Base(data)+".tmp-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, "data")
	if err := unpack(ctx, snapshot, made); err != nil {
		return nil, err
	}
	info, err := verify(ctx, made)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", snapshot, err)
	}
	info.Path = data
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := place(made, data, there); err != nil {
		return nil, advice.New("a folder that other disks are mounted on cannot be replaced: name one inside it", "cannot put the database in its place: %v", err)
	}
	return info, syncFolder(parent)
}

// occupied reports whether there is anything at path but an empty folder.
func occupied(path string) (bool, error) {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return len(entries) > 0, nil
}

// place puts the folder made in the place of data. What was there, if anything
// was, is then where made was.
func place(made, data string, there bool) error {
	if there {
		if err := exchange(made, data); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		old := made + ".old"
		if err := os.Rename(data, old); err != nil {
			return err
		}
		err := os.Rename(made, data)
		if err != nil {
			err = errors.Join(err, os.Rename(old, data))
		}
		return err
	}
	if err := os.Remove(data); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(made, data)
}

// unpack copies a snapshot of any kind to a folder.
func unpack(ctx context.Context, snapshot, dir string) error {
	info, err := os.Stat(snapshot)
	if errors.Is(err, fs.ErrNotExist) {
		return advice.New("give what sortkey snapshot has made", "there is no %s", snapshot)
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if !disk.Exists(snapshot, disk.Options{}) {
			return advice.New("give what sortkey snapshot has made", "there is no database in %s", snapshot)
		}
		err := disk.Copy(ctx, snapshot, dir, disk.Options{})
		if errors.Is(err, disk.ErrLocked) {
			return openError(snapshot, err)
		}
		return err
	}
	f, err := os.Open(snapshot) //nolint:gosec // named by the user
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := decompress(f)
	if err != nil {
		return fmt.Errorf("%s: %w", snapshot, err)
	}
	defer r.Close()
	if err := disk.Extract(ctx, r, dir, disk.Options{}); err != nil {
		return fmt.Errorf("%s: %w", snapshot, err)
	}
	return nil
}

// maxWindow bounds the memory that a compressed file may ask for.
const maxWindow = 128 << 20

// decompress reads a file by what it begins with, whatever its name.
func decompress(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 1<<20)
	head, _ := b.Peek(4) // an error shows again when it is read
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzip.NewReader(b)
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(b), nil
}

// verify opens a database, changing nothing, to see that it can be.
func verify(ctx context.Context, dir string) (*Info, error) {
	st, err := disk.Open(dir, disk.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	db, err := table.Open(ctx, st)
	if err := errors.Join(err, st.Close()); err != nil {
		return nil, err
	}
	info := &Info{Tables: db.Names()}
	info.Bytes, err = size(dir)
	return info, err
}
