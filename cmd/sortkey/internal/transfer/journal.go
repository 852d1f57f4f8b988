package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A journal records the progress of an import: the endpoint has acknowledged all
// records before its position, or they are in the report.
type journal struct {
	Version int             `json:"version"`
	Target  string          `json:"target"`
	Options string          `json:"options"`
	Sources []journalSource `json:"sources"`
	At      position        `json:"at"`
	Tables  []TableResult   `json:"tables"`
	Broken  []Reject        `json:"broken,omitempty"`
	Report  string          `json:"report,omitempty"` // file of rejected records
	Bytes   int64           `json:"reportBytes"`
	// Unreported is the number of rejected records that the report leaves out.
	Unreported int64 `json:"unreported,omitempty"`
}

const journalVersion = 1

type journalSource struct {
	Table string        `json:"table"`
	Files []identity    `json:"files"`
	Made  tableIdentity `json:"made,omitzero"` // of the table
}

// A position is a place in the input.
type position struct {
	Source  int   `json:"source"`
	File    int   `json:"file"`
	Records int64 `json:"records"` // done in that file
	Line    int64 `json:"line"`    // of the last of them
}

// An identity detects whether a file has changed.
type identity struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Head     string    `json:"sha256OfHead"`
}

const headBytes = 64 << 10

// identify returns the identity of a file, and whether it is a regular file.
// Other files have none.
func identify(path string) (id identity, regular bool, err error) {
	if path == stdin {
		return identity{Path: path}, false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return id, false, err
	}
	if id.Path, err = filepath.Abs(path); err != nil {
		return id, false, err
	}
	if !info.Mode().IsRegular() {
		return id, false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return id, false, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, headBytes)); err != nil {
		return id, false, err
	}
	id.Size, id.Modified, id.Head = info.Size(), info.ModTime().UTC(), hex.EncodeToString(h.Sum(nil))
	return id, true, nil
}

// readJournal returns the journal in a file, or nil if there is none. With
// restart it returns nil for a journal, even an unreadable one. A file that is
// not a journal is always an error, as the journal would overwrite it.
func readJournal(path string, restart bool) (*journal, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fail(ErrJournal, "", "%s is not a regular file; the journal would replace it", path)
	}
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(data) > 0 && data[0] != '{' {
		return nil, fail(ErrJournal, "", "%s is not an import journal; the journal would overwrite it", path)
	}

	var j journal
	err = json.Unmarshal(data, &j)
	switch {
	case restart:
		return nil, nil
	case err != nil || j.Version != journalVersion || !j.sound():
		return nil, fail(ErrRestart, "", "%s is not an import journal that this version can read", path)
	}
	return &j, nil
}

// sound reports whether the position exists in the sources.
func (j *journal) sound() bool {
	at := j.At
	return at.Source >= 0 && at.Source < len(j.Sources) && at.File >= 0 && at.File < len(j.Sources[at.Source].Files) &&
		at.Records >= 0 && j.Bytes >= 0
}

// write replaces the journal in a file atomically. The file returned is locked
// until it is closed, and nil where files cannot be locked.
func (j *journal) write(path string) (*os.File, error) {
	data, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return nil, err
	}
	return replace(path, append(data, '\n'), locksMove)
}

// lockJournal locks an existing journal, so that only one import uses it.
func lockJournal(path string) (*os.File, error) {
	for {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || !locksMove {
			return nil, nil // readJournal reports what is wrong with it
		}

		f, err := openOwn(path, os.O_RDWR)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil // an import has just ended
		}
		if err != nil {
			return nil, err
		}
		if err = lockFile(f); err == nil {
			err = checkPath(f, path)
		}
		if err == nil {
			return f, nil
		}

		_ = unlock(f)
		switch {
		case errors.Is(err, errBusy):
			return nil, fail(ErrBusy, "wait for it", "another import is using the journal %s", path)
		case !errors.Is(err, errMoved): // the owner has replaced it
			return nil, err
		}
	}
}

// writeAtomic writes a file under another name, syncs it and renames it. The
// other name is always the same: the next write removes what a killed process
// left behind.
func writeAtomic(path string, data []byte) error {
	_, err := replace(path, data, false)
	return err
}

// replace is writeAtomic. With lock it returns the file, locked.
func replace(path string, data []byte, lock bool) (_ *os.File, err error) {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}

	f, err := openOwn(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = unlock(f)
			_ = os.Remove(temp)
		}
	}()

	if _, err := f.Write(data); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}

	if lock {
		err = lockFile(f)
	} else {
		err = f.Close()
	}
	if err != nil {
		return nil, err
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, err
	}
	if err := SyncFolder(filepath.Dir(path)); err != nil || !lock {
		return nil, err
	}
	return f, nil
}

// SyncFolder makes the names in a folder durable where the system supports it.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, os.ErrInvalid) {
		return err
	}
	return nil
}

// A Reject is a rejected record.
type Reject struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Reason string `json:"reason"`

	order int64 // number in the file
}

// A report is the file of rejected records, one JSON object on each line.
type report struct {
	path   string
	f      *os.File
	size   int64
	stream bool // path is not a regular file: append to it

	limit      int64 // of size, in bytes; lines are only counted after it
	unreported int64 // lines counted
}

// openReport opens the report: with size bytes of the import that is resumed, or
// empty. The first reject creates the file. With follow, an existing device, pipe
// or link stays and receives the lines.
func openReport(path string, size int64, follow bool) (*report, error) {
	r := &report{path: path, size: size}
	if path == "" {
		return r, nil
	}

	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fail(ErrRejects, "", "cannot write the reject report: %s is a folder", path)
	case err == nil && !info.Mode().IsRegular() && (size > 0 || !follow):
		return nil, fail(ErrRejects, "", "cannot write the reject report: %w", errNotRegular(path))
	case err == nil && !info.Mode().IsRegular():
		r.stream, r.size = true, 0
		return r, nil
	case err != nil:
		if above, err := os.Stat(filepath.Dir(path)); err != nil || !above.IsDir() {
			return nil, fail(
				ErrRejects, "", "cannot write the reject report: folder %s does not exist", filepath.Dir(path),
			)
		}
	}

	if size == 0 { // check now that the file can be created later
		f, err := openOwn(path, os.O_CREATE|os.O_WRONLY)
		if err == nil {
			err = errors.Join(f.Close(), os.Remove(path))
		}
		if err != nil {
			return nil, fail(errors.Join(ErrRejects, ErrJournal), "", "cannot write the reject report: %w", err)
		}
		return r, nil
	}

	f, err := openOwn(path, os.O_RDWR)
	if err != nil {
		return nil, fail(ErrRestart, "", "cannot append to the reject report: %w", err)
	}
	r.f = f
	if info, err := f.Stat(); err != nil || info.Size() < size {
		return nil, errors.Join(
			fail(ErrRestart, "", "%s is shorter than when the import was interrupted", path), err, f.Close(),
		)
	}

	// The name comes from the journal: do not truncate a file that is not a report.
	head, end := make([]byte, len(reportHead)), make([]byte, 1)
	_, err = f.ReadAt(head, 0)
	if err == nil {
		_, err = f.ReadAt(end, size-1)
	}
	if err != nil || string(head) != reportHead || end[0] != '\n' {
		return nil, errors.Join(
			fail(ErrRestart, "", "%s is not the reject report of the interrupted import", path), f.Close(),
		)
	}
	return r, errors.Join(f.Truncate(size), seekEnd(f))
}

// reportHead begins each line of a report.
const reportHead = `{"file":"`

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, io.SeekEnd)
	return err
}

// add writes rejects and makes them durable.
func (r *report) add(rejects []Reject) (err error) {
	if len(rejects) == 0 || r.path == "" {
		return nil
	}
	if r.f == nil {
		if r.stream {
			r.f, err = os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		} else {
			r.f, err = openOwn(r.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
		}
		if err != nil {
			return err
		}
	}

	var out []byte
	for i, x := range rejects {
		line, err := json.Marshal(x)
		if err != nil {
			return err
		}
		if !r.stream && (r.unreported > 0 || r.size+int64(len(out)+len(line)) >= r.limit) {
			r.unreported += int64(len(rejects) - i)
			break
		}
		out = append(append(out, line...), '\n')
	}
	if len(out) == 0 {
		return nil
	}

	n, err := r.f.Write(out)
	if err != nil || r.stream {
		return err
	}
	r.size += int64(n)
	return r.f.Sync()
}

func (r *report) close() error {
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}
