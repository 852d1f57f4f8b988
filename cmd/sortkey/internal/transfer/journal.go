package transfer

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A journal records how far an import has come, which is its position. For each record before the position, either the
// endpoint has acknowledged the write, or the record is in the report of rejected records. The file has a line of JSON
// for the import, another one each time that the import is resumed, and a line for each checkpoint. An import locks
// the file while it runs.
type journal struct {
	Version int             `json:"version"`
	Target  string          `json:"target"`
	Options string          `json:"options"`
	Sources []journalSource `json:"sources"`
	Tables  []TableResult   `json:"tables"`
	checkpoint
}

const journalVersion = 2

// journalHead is the beginning of every journal file.
const journalHead = `{"version":`

type journalSource struct {
	Table string        `json:"table"`
	Files []identity    `json:"files"`
	Made  tableIdentity `json:"made,omitzero"` // of the table
}

// A checkpoint is the state of an import at a position.
type checkpoint struct {
	At position `json:"at"`
	// Table is the result so far for the source at the position.
	Table  TableResult `json:"table"`
	Broken []Reject    `json:"broken,omitempty"`
	// Unreported is the number of rejected records that did not fit into the report.
	Unreported int64 `json:"unreported,omitempty"`
	// Report is the size of the report at the position, in bytes. Lines of the report beyond this size are about
	// records after the position, which a resumed import reads again.
	Report int64 `json:"report,omitempty"`
}

// A position is a place in the sources of an import.
type position struct {
	Source  int   `json:"source"`
	File    int   `json:"file"`
	Records int64 `json:"records"` // done in that file
	Line    int64 `json:"line"`    // of the last of them
}

// An identity is what the journal stores about a file, to detect that the file has changed.
type identity struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"` // zero for a pipe
}

// identify returns the identity of a file, and whether it is a regular file. The identity of any other file has only
// the path.
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
	id.Size, id.Modified = info.Size(), info.ModTime().UTC()
	return id, true, nil
}

// openJournal opens or creates the file of a journal, and locks it against other imports.
func openJournal(path string) (*os.File, error) {
	for {
		f, err := openOwn(path, os.O_CREATE|os.O_RDWR)
		if err != nil {
			return nil, fail(ErrJournal, "", "cannot write the journal: %w", err)
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
		case !errors.Is(err, errMoved): // an import that has just ended removed the file: open it again
			return nil, err
		}
	}
}

// readJournal reads the file of a journal, and truncates it after the last complete checkpoint. It returns nil if the
// file is empty or has only a part of journalHead. If restart is set, it empties the file and returns nil, even if it
// could not decode the journal. If the file is not a journal, it always returns an error, because the import would
// overwrite the file.
func readJournal(f *os.File, restart bool) (*journal, error) {
	head := make([]byte, len(journalHead))
	n, err := io.ReadFull(f, head)
	switch {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, err
	case !strings.HasPrefix(journalHead, string(head[:n])):
		return nil, fail(ErrJournal, "", "%s is not an import journal; the journal would overwrite it", f.Name())
	case restart || n < len(head):
		return nil, rewind(f, 0)
	}

	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	var j journal
	dec := json.NewDecoder(f)
	if err := dec.Decode(&j); err != nil || j.Version != journalVersion || !j.sound() {
		return nil, fail(ErrRestart, "", "%s is not an import journal that this version can read", f.Name())
	}
	end := dec.InputOffset()
	for {
		var next journal // a killed import may have left an incomplete line
		if dec.Decode(&next) != nil {
			break
		}
		end = dec.InputOffset()
		if next.Version == 0 {
			j.checkpoint = next.checkpoint
		} else {
			j = next // the import was resumed
		}
		if !j.sound() {
			return nil, fail(ErrRestart, "", "%s is not an import journal that this version can read", f.Name())
		}
		if next.Version == 0 {
			j.Tables[j.At.Source] = j.Table
		}
	}
	return &j, rewind(f, end)
}

// rewind truncates a file at an offset, and sets the position for the next write to the offset.
func rewind(f *os.File, end int64) error {
	if err := f.Truncate(end); err != nil {
		return err
	}
	_, err := f.Seek(end, io.SeekStart)
	return err
}

// sound reports whether the journal's position is in one of its sources. A damaged journal may have another position.
func (j *journal) sound() bool {
	at := j.At
	return at.Source >= 0 && at.Source < min(len(j.Sources), len(j.Tables)) && at.File >= 0 &&
		at.File < len(j.Sources[at.Source].Files) && at.Records >= 0
}

// record appends a line to the journal.
func (im *importer) record(line any) error {
	if im.file == nil {
		return nil
	}
	data, err := json.Marshal(line)
	if err == nil {
		_, err = im.file.Write(append(data, '\n'))
	}
	if err == nil {
		err = im.file.Sync()
	}
	return err
}

// SyncFolder syncs a folder, so that new and renamed files in it survive a crash, if the system supports that.
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

	order int64 // number of the record in the file
}

// reportHead is the beginning of every report file.
const reportHead = `{"file":`

// A report is the file of rejected records, one JSON object on each line.
type report struct {
	path       string
	f          *os.File
	size       int64
	limit      int64 // maximum of size, in bytes; add only counts rejects beyond it
	unreported int64 // lines only counted
}

// openReport opens the report of an earlier import, or creates a new one. If another kind of file is at path,
// openReport returns an error, because the import would overwrite that file.
func openReport(path string) (*report, error) {
	r := &report{path: path}
	if path == "" {
		return r, nil
	}
	var err error
	if r.f, err = openOwn(path, os.O_CREATE|os.O_RDWR|os.O_APPEND); err != nil {
		return nil, fail(ErrRejects, "", "cannot write the reject report: %w", err)
	}
	var first Reject
	dec := json.NewDecoder(r.f)
	dec.DisallowUnknownFields()
	head := make([]byte, len(reportHead))
	n, _ := r.f.ReadAt(head, 0)
	err = dec.Decode(&first)
	cut := errors.Is(err, io.ErrUnexpectedEOF) && strings.HasPrefix(reportHead, string(head[:n])) // by a kill
	if !errors.Is(err, io.EOF) && !cut && (err != nil || first.Reason == "") {
		err = fail(ErrRejects, "", "%s is not a report of rejected records; the report would overwrite it", path)
		return nil, errors.Join(err, r.f.Close())
	}
	r.size, err = r.f.Seek(0, io.SeekEnd)
	return r, err
}

// cut truncates the report to a size in bytes.
func (r *report) cut(bytes int64) error {
	if r.size <= bytes {
		return nil
	}
	r.size = bytes
	return r.f.Truncate(bytes)
}

// add appends rejects to the report and makes them durable. Once the report has reached its limit, add only counts
// further rejects.
func (r *report) add(rejects []Reject) (err error) {
	if len(rejects) == 0 || r.path == "" {
		return nil
	}
	var out []byte
	for i, x := range rejects {
		line, err := json.Marshal(x)
		if err != nil {
			return err
		}
		if r.unreported > 0 || r.size+int64(len(out)+len(line)) >= r.limit {
			r.unreported += int64(len(rejects) - i)
			break
		}
		out = append(append(out, line...), '\n')
	}
	if len(out) == 0 {
		return nil
	}

	n, err := r.f.Write(out)
	if err != nil {
		return err
	}
	r.size += int64(n)
	return r.f.Sync()
}

// close closes the report. It removes an empty report.
func (r *report) close() (err error) {
	if r.f == nil {
		return nil
	}
	err = r.f.Close()
	if r.size == 0 {
		err = errors.Join(err, os.Remove(r.path))
	}
	return err
}
