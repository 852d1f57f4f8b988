package transfer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

// The kinds of errors that a caller can avoid with another option. An error that ends an import is an [*advice.Error]
// that wraps its kind.
var (
	// ErrInterrupted: the journal belongs to an interrupted import, and neither Resume
	// nor Restart is set.
	ErrInterrupted = errors.New("interrupted import")
	// ErrRestart: the interrupted import cannot be resumed, but Restart starts it over.
	ErrRestart = errors.New("import cannot be resumed")
	// ErrJournal: the file named by Journal cannot be a journal.
	ErrJournal = errors.New("unusable journal file")
	// ErrRejects: the file named by Rejects cannot be a report.
	ErrRejects = errors.New("unusable report file")
	// ErrBusy: another import has locked the file named by Journal.
	ErrBusy = errors.New("journal in use")
	// ErrNoData: a folder has neither data files nor exports.
	ErrNoData = errors.New("no data files")
	// ErrNoName: neither Table nor the source names the table.
	ErrNoName = errors.New("no table name")
	// ErrNoTable: the table does not exist, and there is no Schema to create it.
	ErrNoTable = errors.New("no table")
	// ErrOtherKey: the table has another key than the source.
	ErrOtherKey = errors.New("table has another key")
	// ErrType: Types declares another type for a key attribute, or names an attribute that is not a column.
	ErrType = errors.New("wrong type of an attribute")
	// ErrColumns: the header of a CSV file lacks names, or Delimiter is not the delimiter of the file.
	ErrColumns = errors.New("unusable header")
	// ErrOverloaded: the endpoint keeps refusing requests. Fewer Workers may help.
	ErrOverloaded = errors.New("endpoint overloaded")
)

// fail returns an error of a kind. Its advice is besides, which may be "". To this advice, the command adds the flag
// that avoids errors of this kind. A %w in the format is the cause of the error.
func fail(kind error, besides, format string, args ...any) error {
	e := advice.New(besides, format, args...)
	e.Err = errors.Join(kind, e.Err)
	return e
}

// maxReason bounds the reason for a rejected record, in bytes.
const maxReason = 500

// reason returns the text of an error for the report of rejected records.
func reason(err error) string {
	return text.Clip(strings.TrimPrefix(err.Error(), "jsontext: "), maxReason)
}

// A recordError means that the reader rejects one record. It can continue with the next record.
type recordError struct{ msg string }

func (e *recordError) Error() string { return e.msg }

// Rejected marks the error as one about a single record. After an error without this method, the reader cannot read
// the rest of the file.
func (e *recordError) Rejected() {}

func rejectf(format string, args ...any) error {
	return &recordError{msg: fmt.Sprintf(format, args...)}
}

func errTooLong(limit int) error { return rejectf("longer than %d bytes", limit) }
