package api

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/lines"
	"github.com/sortkey/sortkey/internal/table"
)

// A failure is the reason why a job failed, for its description.
type failure struct{ code, message string }

func (f *failure) Error() string { return f.code + ": " + f.message }

// The codes of failures. Sources: quirks, DDB-IMPORT and DDB-EXPORT, for buckets and
// items. The service does not say what it answers to the others.
const (
	failedBucket   = "S3NoSuchBucket"
	failedAccess   = "S3AccessDenied" // of a file in a bucket
	failedItems    = "ItemValidationError"
	failedTable    = "ResourceNotFoundException"
	failedInternal = "InternalServerError"
)

// inBucket returns the failure of a job whose bucket has an error.
func inBucket(err error) error {
	if err == nil {
		return nil
	}
	return &failure{failedAccess, err.Error()}
}

// bucket opens the folder of a bucket. No path of a root leaves its folder.
func (s *Service) bucket(name string) (*os.Root, error) {
	const text = "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket)"
	missing := &failure{failedBucket, text}
	if s.opts.S3Root == "" {
		return nil, missing
	}
	root, err := os.OpenRoot(s.opts.S3Root)
	if err != nil {
		return nil, missing
	}
	defer root.Close()
	if strings.ContainsAny(name, `/\`) {
		return nil, missing
	}
	b, err := root.OpenRoot(name)
	if err != nil {
		return nil, missing
	}
	return b, nil
}

// checkBucket returns the failure of a job whose bucket does not exist, or nil.
func (s *Service) checkBucket(name string) *failure {
	root, err := s.bucket(name)
	if err == nil {
		err = root.Close()
	}
	failed, _ := errors.AsType[*failure](err)
	return failed
}

// A source is the files of a bucket whose names begin with a prefix, in the order of
// their names.
type source struct {
	root   *os.Root
	prefix string
	gzip   bool
	csv    *csvForm // of files of CSV, or nil
}

// errLeave is returned by the function of [source.each] to leave out the rest of the file.
var errLeave = errors.New("leave out the rest of the file")

// A lineReader reads the lines of a file, as [lines.Reader] does.
type lineReader interface {
	Next() ([]byte, error)
	Read() int64
}

// A place says how far a source has been read.
type place struct {
	// Key is the name of the file, Offset how many of its bytes have been read, not
	// counting compression, and Done whether nothing more can be read of it.
	Key    string `json:",omitempty"`
	Offset int64
	Done   bool `json:",omitempty"`
	// Total are the bytes of all files.
	Total int64
}

const (
	// maxLine is the longest line: an item of 400 KB in JSON with every character
	// escaped has less.
	maxLine = 16 << 20
	// lineBuffer is how many bytes of a file are read at a time.
	lineBuffer = 64 << 10
)

// each calls fn with each line after a place, and the place after the line. The line may
// be empty, and is valid until fn returns. An error says that the line, or the rest of
// the file, cannot be read. Each ends with the error of fn but errLeave, or a [*failure].
func (src *source) each(ctx context.Context, at place, fn func(line []byte, at place, err error) error) error {
	keys, err := src.keys()
	if err != nil {
		return inBucket(err)
	}
	for _, key := range keys {
		if key < at.Key || key == at.Key && at.Done {
			continue
		}
		if key != at.Key {
			at = place{Key: key, Total: at.Total}
		}
		if at, err = src.file(ctx, at, fn); err != nil {
			return err
		}
	}
	return nil
}

// A line is what a line of an input puts into a table.
type line struct {
	item  attr.Item
	cond  *expr.Condition // under which it is put; nil for none
	bytes int             // of memory, until the item is written
}

// A progress says how far a job is that puts the lines of a source into a table: how many lines it has read, how many
// items it has written, with how many bytes, and how many it has not written.
type progress struct {
	At                                 place
	Processed, Written, Bytes, Refused int64
}

// A loading is the work of such a job.
type loading struct {
	source
	table  func(*table.Tx) (*table.Table, error)
	read   func(text []byte) (line, error) // an error refuses the line
	leaves bool                            // a line that cannot be read ends its file
	record func(progress) any              // of the job
}

// run reads the lines after a progress, which it moves on. It writes a batch in one update, with the record of the job
// after it.
func (l *loading) run(ctx context.Context, r *run, done *progress) error {
	var size table.Batch
	var batch []line
	read := *done // done has how far items are written
	first, flushed := true, read.At.Total
	flush := func() error {
		first, flushed = false, read.At.Total
		size.Reset()
		var written progress
		err := r.update(ctx, func(tx *table.Tx) (any, error) {
			written = read
			t, err := l.table(tx)
			if err == nil {
				err = putLines(tx, t, batch, &written)
			}
			return l.record(written), err
		})
		if err == nil {
			read, *done = written, written
		}
		clear(batch)
		batch = batch[:0]
		return err
	}

	err := l.each(ctx, read.At, func(text []byte, at place, err error) error {
		read.At = at
		full := false
		if len(text) > 0 || err != nil {
			if !first {
				r.begin()
			}
			read.Processed++
			var x line
			if err == nil {
				x, err = l.read(text)
			}
			if err != nil {
				read.Refused++
				read.At.Done = at.Done || l.leaves
			} else {
				batch = append(batch, x)
				full = size.Add(x.bytes)
			}
		}
		if full || at.Total-flushed >= jobBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		if read.At.Done {
			return errLeave
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return err
}

// putLines puts a batch into a table, and counts what it has written and what was refused.
func putLines(tx *table.Tx, t *table.Table, batch []line, p *progress) error {
	err := tx.Prefetch(func(yield func(*table.Table, attr.Item) bool) {
		for _, x := range batch {
			if key, err := t.KeyOf(x.item); err == nil && !yield(t, key) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	for _, x := range batch {
		_, err := tx.Put(t, x.item, x.cond)
		switch {
		case err == nil:
			p.Written++
			p.Bytes += int64(x.item.Size())
		case isKind(err, table.Validation) || isKind(err, table.ConditionFailed):
			p.Refused++
		default:
			return err
		}
	}
	return nil
}

// keys returns the names of the files that the bucket has now.
func (src *source) keys() (keys []string, err error) {
	prefix := strings.TrimLeft(src.prefix, "/")
	err = fs.WalkDir(src.root.FS(), ".", func(key string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		return err
	})
	slices.Sort(keys) // a folder's files are not beside those whose names it begins
	return keys, err
}

// file is each for one file. It returns the place where it stopped.
func (src *source) file(ctx context.Context, at place, fn func([]byte, place, error) error) (place, error) {
	leave := func(err error) (place, error) {
		if errors.Is(err, errLeave) {
			at.Done, err = true, nil
		}
		return at, err
	}
	finish := func(err error) (place, error) {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		at.Done = true
		return leave(fn(nil, at, err))
	}

	f, err := src.root.Open(at.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since the files were listed: ack-api-quirks, DDB-IMPORT-007
		return finish(err)
	case err != nil:
		return at, inBucket(err)
	}
	defer f.Close()
	var from io.Reader = f
	if src.gzip {
		if from, err = gzip.NewReader(f); err != nil {
			return finish(err)
		}
	}
	var r lineReader
	switch {
	case src.csv != nil:
		r, err = src.csv.reader(from, at.Offset)
	case src.gzip:
		_, err = io.CopyN(io.Discard, from, at.Offset)
	default:
		_, err = f.Seek(at.Offset, io.SeekStart)
	}
	if err != nil {
		return finish(err)
	}

	if r == nil {
		r = lines.New(bufio.NewReaderSize(from, lineBuffer), maxLine)
	}
	begun := at
	for {
		if ctx.Err() != nil {
			return at, context.Cause(ctx)
		}
		line, err := r.Next()
		at.Offset, at.Total = begun.Offset+r.Read(), begun.Total+r.Read()
		if err != nil && !errors.Is(err, lines.ErrTooLong) {
			return finish(err)
		}
		if err := fn(line, at, err); err != nil {
			return leave(err)
		}
	}
}
