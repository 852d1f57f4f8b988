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

// ErrNotEmpty means that the folder for a restored database is not empty.
var ErrNotEmpty = errors.New("folder is not empty")

// Restore restores a snapshot to the folder data, which must be new or empty. It copies the snapshot to a folder
// beside data, opens the copy to verify it, and renames the copy to data. After an error or a crash, data is
// therefore unchanged. A crash may leave a folder .NAME.tmp-… beside data, which the next Restore or [Make] there
// removes.
func Restore(ctx context.Context, snapshot, data string) (*Info, error) {
	if err := inside(snapshot, data, "the snapshot"); err != nil {
		return nil, err
	}
	if err := inside(data, snapshot, "the database"); err != nil {
		return nil, err
	}

	entries, err := os.ReadDir(data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, &advice.Error{Msg: data + " is not empty", Err: ErrNotEmpty}
	}

	data, err = realPath(data) // the target of a link
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

	if err = os.Remove(data); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(restored, data)
	}
	if err != nil {
		return nil, advice.New(
			"a mount point cannot be replaced: name a folder inside it", "cannot move the database to its folder: %v",
			err,
		)
	}
	return info, transfer.SyncFolder(parent)
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

// maxWindow bounds the memory for decompressing a zstd file, in bytes.
const maxWindow = 128 << 20

// verify opens a database without changing it, and describes it.
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
