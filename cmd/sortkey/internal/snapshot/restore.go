package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/staging"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store/disk"
)

// ErrNotEmpty means that a folder has a database, and replace is not set.
var ErrNotEmpty = errors.New("folder is not empty")

// Restore restores a snapshot to the folder data, which must be new or empty. With
// replace, it may have a database, which Restore replaces. Restore copies the
// snapshot to a folder beside data, opens the copy to verify it, and renames it:
// after an error or a crash, data is unchanged. A crash may leave a folder
// .Name().tmp-… beside data, which the next Restore or [Make] there removes. Where the
// system cannot exchange two folders, that folder may have the database to be
// replaced, as data.old; then it stays.
func Restore(ctx context.Context, snapshot, data string, replace bool) (*Info, error) {
	if err := inside(snapshot, data, "the snapshot"); err != nil {
		return nil, err
	}
	if err := inside(data, snapshot, "the database"); err != nil {
		return nil, err
	}

	exists, err := occupied(data)
	if err != nil {
		return nil, err
	}
	if exists {
		if !replace {
			return nil, &advice.Error{Msg: data + " is not empty", Err: ErrNotEmpty}
		}
		if !disk.Exists(data, disk.Options{}) {
			return nil, advice.New(
				"only databases are replaced; remove it yourself if you mean it", "%s is not a database", data,
			)
		}
		lock, err := disk.Lock(data, disk.Options{})
		if err != nil {
			return nil, openError(data, err)
		}
		defer lock.Close()
	}

	data, err = realPath(data) // replace the target of a link
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(data)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}

	temp, err := staging.New(data)
	if err != nil {
		return nil, err
	}
	defer temp.Remove()
	restored := filepath.Join(temp.Path, "data")
	if err := unpack(ctx, snapshot, restored); err != nil {
		return nil, err
	}

	info, err := verify(ctx, restored)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", snapshot, err)
	}
	info.Path = data
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	if err := place(restored, data, exists); err != nil {
		return nil, advice.New(
			"a mount point cannot be replaced: name a folder inside it", "cannot move the database to its folder: %v",
			err,
		)
	}
	return info, transfer.SyncFolder(parent)
}

// occupied reports whether path exists and is not an empty folder.
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

// place moves the folder restored to data. It moves an existing database in data
// to the folder of restored.
func place(restored, data string, exists bool) error {
	if exists {
		if err := staging.Exchange(restored, data); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		old := filepath.Join(filepath.Dir(restored), staging.Old)
		if err := os.Rename(data, old); err != nil {
			return err
		}
		err := os.Rename(restored, data)
		if err != nil {
			err = errors.Join(err, os.Rename(old, data))
		}
		return err
	}
	if err := os.Remove(data); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(restored, data)
}

// unpack copies a snapshot in any format to a folder.
func unpack(ctx context.Context, snapshot, dir string) error {
	info, err := os.Stat(snapshot)
	if errors.Is(err, fs.ErrNotExist) {
		return advice.New("name a snapshot from sortkey snapshot", "%s does not exist", snapshot)
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if !disk.Exists(snapshot, disk.Options{}) {
			return advice.New("name a snapshot from sortkey snapshot", "no database in %s", snapshot)
		}
		err := disk.Copy(ctx, snapshot, dir, disk.Options{})
		if errors.Is(err, disk.ErrLocked) {
			return openError(snapshot, err)
		}
		return err
	}

	f, err := files.Open(snapshot, math.MaxInt64)
	if err != nil {
		return err
	}
	defer f.Close()
	r, done, err := transfer.Unpack(f, maxWindow)
	if err != nil {
		return fmt.Errorf("%s: %w", snapshot, err)
	}
	defer func() { _ = done() }()
	st, err := disk.Open(dir, disk.Options{})
	if err != nil {
		return err
	}
	if err := errors.Join(table.Restore(ctx, st, r), st.Close()); err != nil {
		return fmt.Errorf("%s: %w", snapshot, err)
	}
	return nil
}

// maxWindow bounds the memory for decompressing a file.
const maxWindow = 128 << 20

// verify checks that a database can be opened, without changing it.
func verify(ctx context.Context, dir string) (*Info, error) {
	st, err := disk.Open(dir, disk.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	db, err := life.Open(ctx, st)
	if err := errors.Join(err, st.Close()); err != nil {
		return nil, err
	}
	names, err := db.Names(ctx)
	if err != nil {
		return nil, err
	}
	info := &Info{Tables: names}
	info.Bytes, err = size(dir)
	return info, err
}
