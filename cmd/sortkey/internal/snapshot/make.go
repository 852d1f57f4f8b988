package snapshot

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/staging"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// Info describes a snapshot.
type Info struct {
	Path   string   // path of the snapshot, or of the restored database
	Tables []string // names
	Bytes  int64    // on disk
}

// suffixOf returns the suffix of a path if a snapshot there is a file: .backup, .gz or .zst. The suffix determines
// the compression. If a snapshot there is a folder, suffixOf returns "".
func suffixOf(path string) string {
	suffix := strings.ToLower(filepath.Ext(path))
	if slices.Contains([]string{".backup", ".gz", ".zst"}, suffix) {
		return suffix
	}
	return ""
}

// ErrNoDatabase means that a folder does not contain a database.
var ErrNoDatabase = errors.New("no database")

// Make copies the database in the folder data to target, which must not exist. If the name of target ends in .backup,
// .gz or .zst, Make writes a file in the format of [sortkey.DB.Backup], compressed for .gz and .zst. Otherwise it
// writes a folder. The target appears only when it is complete.
//
// If a server has the database open, the server takes the snapshot while it continues to serve requests. A crash may
// leave a folder .NAME.tmp-… beside target; the next snapshot there removes it.
func Make(ctx context.Context, data, target string) (*Info, error) {
	if !disk.Exists(data, disk.Options{}) {
		return nil, noDatabase(data)
	}
	if err := checkTarget(data, target); err != nil {
		return nil, err
	}

	st, err := disk.Open(data, disk.Options{})
	if errors.Is(err, disk.ErrLocked) {
		info, askErr := ask(ctx, data, target)
		if errors.Is(askErr, errNoControl) {
			return nil, openError(data, err)
		}
		if askErr != nil {
			return nil, askErr
		}
		info.Path = target
		return info, nil
	}
	if err != nil {
		return nil, openError(data, err)
	}

	info, err := makeOf(ctx, st, target)
	if closeErr := st.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// makeNew checks the target and then calls makeOf.
func makeNew(ctx context.Context, st store.Snapshotter, data, target string) (*Info, error) {
	if err := checkTarget(data, target); err != nil {
		return nil, err
	}
	return makeOf(ctx, st, target)
}

// checkTarget returns an error if target is empty, exists, is inside the folder data, or has no parent folder.
func checkTarget(data, target string) error {
	if target == "" {
		return advice.New("name a new folder or file", "the snapshot has no name")
	}
	if err := inside(target, data, "the snapshot"); err != nil {
		return err
	}
	if above := filepath.Dir(filepath.Clean(target)); !isFolder(above) {
		return advice.New("create it first", "folder %s does not exist", above)
	}
	_, err := os.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return errExists(target)
}

func makeOf(ctx context.Context, st store.Snapshotter, target string) (*Info, error) {
	db, err := life.Open(ctx, st)
	if err != nil {
		return nil, err
	}

	names, err := db.Names(ctx)
	if err != nil {
		return nil, err
	}
	info := &Info{Path: target, Tables: names}
	temp, err := staging.New(target)
	if err != nil {
		return nil, err
	}
	defer temp.Remove()
	unfinished := filepath.Join(temp.Path, "snapshot")
	if suffix := suffixOf(target); suffix == "" {
		err = st.Snapshot(ctx, unfinished)
	} else {
		err = writeFile(unfinished, suffix, func(w io.Writer) error {
			return db.View(ctx, func(view *table.View) error { return view.Backup(w) })
		})
	}

	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	if info.Bytes, err = size(unfinished); err != nil {
		return nil, err
	}

	err = staging.RenameNew(unfinished, filepath.Clean(target))
	if errors.Is(err, errors.ErrUnsupported) {
		err = os.Rename(unfinished, target)
	}
	if errors.Is(err, fs.ErrExist) { // created meanwhile
		return nil, errExists(target)
	}
	if err != nil {
		return nil, err
	}
	return info, transfer.SyncFolder(filepath.Dir(filepath.Clean(target)))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func errExists(target string) error {
	return advice.New("give another name, or remove it first", "%s already exists", target)
}

// writeFile writes a file and makes it durable. The suffix determines the compression.
func writeFile(path, suffix string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // named by the user
	if err != nil {
		return err
	}
	defer f.Close()
	buffer := bufio.NewWriterSize(f, 1<<20)
	var w io.WriteCloser
	switch suffix {
	case ".gz":
		w = gzip.NewWriter(buffer)
	case ".zst":
		if w, err = zstd.NewWriter(buffer); err != nil {
			return err
		}
	default:
		w = nopCloser{buffer}
	}

	if err := write(w); err != nil {
		_ = w.Close() // stops its goroutines
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// size returns the size of a file, or of all files in a folder, in bytes.
func size(path string) (total int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// inside returns an error if path is dir or inside it. The error message calls path what.
func inside(path, dir, what string) error {
	path, err := realPath(path)
	if err != nil {
		return err
	}
	dir, err = realPath(dir)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(dir, path)
	if err == nil && filepath.IsLocal(rel) {
		return advice.New("name a path outside of it", "%s cannot be inside %s", what, dir)
	}
	return nil
}

// realPath makes a path absolute and resolves the links in that part of the path that exists.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		}
		if at == filepath.Dir(at) {
			return path, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func noDatabase(dir string) error {
	return &advice.Error{Msg: "no database in " + dir, Err: ErrNoDatabase}
}

// openError returns the error for a database that cannot be opened.
func openError(dir string, err error) error {
	if errors.Is(err, disk.ErrLocked) {
		return &advice.Error{
			Msg: dir + " is in use", Advice: "stop the server that has it open: only one process can open a folder",
			Err: err,
		}
	}
	return fmt.Errorf("%s: %w", dir, err)
}
