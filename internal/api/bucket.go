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

// A failure is the reason why a job has failed, as the description of the job reports it.
type failure struct{ code, message string }

func (f *failure) Error() string { return f.code + ": " + f.message }

// Codes of failures. Sources for buckets and items: quirks, DDB-IMPORT and DDB-EXPORT. How the service reports the
// other failures is not documented.
const (
	failedBucket   = "S3NoSuchBucket"
	failedAccess   = "S3AccessDenied" // of a file in a bucket
	failedItems    = "ItemValidationError"
	failedTable    = "ResourceNotFoundException"
	failedInternal = "InternalServerError"
)

// inBucket wraps an error of reading or writing a bucket as a [*failure]. It returns nil for nil.
func inBucket(err error) error {
	if err == nil {
		return nil
	}
	return &failure{failedAccess, err.Error()}
}

// bucket opens the directory of a bucket as an [os.Root], so that no path can lead out of the directory.
func (s *Service) bucket(name string) (*os.Root, error) {
	const text = "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket)"
	missing := &failure{failedBucket, text}
	if s.opts.S3Root == "" || strings.ContainsAny(name, `/\`) {
		return nil, missing
	}
	root, err := os.OpenRoot(s.opts.S3Root)
	if err != nil {
		return nil, missing
	}
	defer root.Close()
	b, err := root.OpenRoot(name)
	if err != nil {
		return nil, missing
	}
	return b, nil
}

// checkBucket returns a failure if the bucket does not exist, or nil.
func (s *Service) checkBucket(name string) *failure {
	root, err := s.bucket(name)
	if err == nil {
		err = root.Close()
	}
	failed, _ := errors.AsType[*failure](err)
	return failed
}

// A source is the files in a bucket whose names begin with a prefix. It is read in the order of the names.
type source struct {
	root   *os.Root
	prefix string
	gzip   bool
	csv    *csvForm // of files of CSV, or nil
}

// errLeave makes [source.each] skip the rest of the current file. The callback of each returns it.
var errLeave = errors.New("leave out the rest of the file")

// A lineReader reads the lines of a file, like [lines.Reader].
type lineReader interface {
	Next() ([]byte, error)
	Read() int64
}

// A place is a position in a source. All input before the place has been read.
type place struct {
	// Key is the name of the current file. Offset is how many uncompressed bytes of the file have been read. Done is
	// true at the end of the file, or if its rest is to be skipped.
	Key    string `json:",omitempty"`
	Offset int64
	Done   bool `json:",omitempty"`
	// Total is how many uncompressed bytes of all files have been read.
	Total int64
}

const (
	// maxLine is the maximum length of a line in bytes. It is enough for a 400 KB item of numbers such as 1E125,
	// written with all their digits, which take 19 MB.
	maxLine = 24 << 20
	// lineBuffer is the size in bytes of the read buffer for a file.
	lineBuffer = 64 << 10
)

// each calls fn with each line after the place at. It also passes the place after that line. A line may be empty, and
// is valid until fn returns. At the end of a file, each calls fn with a nil line and a place that is Done. If each
// cannot read a line or the rest of a file, it calls fn with the error.
//
// If fn returns [errLeave], each continues with the next file. If fn returns another error, each returns it. If each
// cannot read the bucket, it returns a [*failure].
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
		unread, err := src.file(ctx, &at, fn)
		if errors.Is(unread, io.EOF) {
			unread = nil
		}
		if err == nil {
			at.Done = true
			err = fn(nil, at, unread)
		}
		if errors.Is(err, errLeave) {
			at.Done, err = true, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A line is an item to put into a table, decoded from a line of input.
type line struct {
	item  attr.Item
	cond  *expr.Condition // condition of the put, or nil
	bytes int             // memory that the item takes until it is written
}

// A progress says how far a job has come that puts the lines of a source into a table. It has the place in the
// source, the number of lines processed, the number and total bytes of the items written, and the number of lines
// refused.
type progress struct {
	At                                 place
	Processed, Written, Bytes, Refused int64
}

// A loading reads the lines of a source and puts their items into a table. Imports and bulk puts use it.
type loading struct {
	source
	table  func(*table.Tx) (*table.Table, error)
	read   func(text []byte) (line, error) // an error refuses the line
	leaves bool                            // after a refused line, skip the rest of its file
	record func(progress) any              // returns the record of the job
}

// run puts the items of the lines after the place done.At into the table, and advances done. Each update writes a
// batch of items, and the record of the job with the new progress.
func (l *loading) run(ctx context.Context, r *run, done *progress) error {
	var size table.Batch
	var batch []line
	read := *done // read counts the lines that were read; done counts those that are stored
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

// putLines puts a batch into a table. It counts the items that the table accepts in p.Written and p.Bytes, and the
// others in p.Refused.
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

// keys returns the names of the files that are in the bucket now, sorted.
func (src *source) keys() (keys []string, err error) {
	prefix := strings.TrimLeft(src.prefix, "/")
	err = fs.WalkDir(src.root.FS(), ".", func(key string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		return err
	})
	slices.Sort(keys) // sort, as WalkDir visits a/x before a.b although a.b is less
	return keys, err
}

// file calls fn with the lines of the file at.Key after the place at, and advances at. unread says why it cannot read
// the rest of the file; it is [io.EOF] at the end of the file.
func (src *source) file(
	ctx context.Context, at *place, fn func([]byte, place, error) error,
) (unread, err error) {
	f, err := src.root.Open(at.Key)
	switch {
	// the file was removed after keys listed it: ack-api-quirks, DDB-IMPORT-007
	case errors.Is(err, fs.ErrNotExist):
		return err, nil
	case err != nil:
		return nil, inBucket(err)
	}
	defer f.Close()
	var from io.Reader = f
	if src.gzip {
		if from, err = gzip.NewReader(f); err != nil {
			return err, nil
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
		return err, nil
	}

	if r == nil {
		r = lines.New(bufio.NewReaderSize(from, lineBuffer), maxLine)
	}
	begun := *at
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		line, err := r.Next()
		at.Offset, at.Total = begun.Offset+r.Read(), begun.Total+r.Read()
		if err != nil && !errors.Is(err, lines.ErrTooLong) {
			return err, nil
		}
		if err := fn(line, *at, err); err != nil {
			return nil, err
		}
	}
}
