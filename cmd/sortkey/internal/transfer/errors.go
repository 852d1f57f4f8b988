package transfer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

// The kinds of errors that callers can resolve with an option. Errors about a
// whole file or import are [*advice.Error] values; errors.Is finds the kind.
var (
	// ErrInterrupted: the journal belongs to an interrupted import, and neither Resume
	// nor Restart is set.
	ErrInterrupted = errors.New("interrupted import")
	// ErrRestart: the interrupted import cannot be resumed. Restart starts over.
	ErrRestart = errors.New("import cannot be resumed")
	// ErrJournal: the file cannot be the Journal.
	ErrJournal = errors.New("unusable journal file")
	// ErrRejects: the file cannot be the report of Rejects.
	ErrRejects = errors.New("unusable report file")
	// ErrBusy: another import uses the Journal.
	ErrBusy = errors.New("journal in use")
	// ErrNoData: a folder has neither data files nor exports.
	ErrNoData = errors.New("no data files")
	// ErrNoName: neither Table nor the source names the table.
	ErrNoName = errors.New("no table name")
	// ErrNoTable: the table does not exist, and there is no Schema to create it.
	ErrNoTable = errors.New("no table")
	// ErrOtherKey: the table has another key than the source.
	ErrOtherKey = errors.New("table has another key")
	// ErrType: Types declares a key attribute with another type, or what is not a column.
	ErrType = errors.New("wrong type of an attribute")
	// ErrColumns: the header of a CSV file does not name its Columns, or it has another Delimiter.
	ErrColumns = errors.New("unusable header")
	// ErrOverloaded: the endpoint keeps refusing requests. Fewer Workers may help.
	ErrOverloaded = errors.New("endpoint overloaded")
)

// fail returns an error of a kind with advice besides setting the option, which
// may be empty. A %w in the format is the cause.
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

// A recordError rejects one record. Reading continues with the next one.
type recordError struct{ msg string }

func (e *recordError) Error() string { return e.msg }

// Rejected tells a record that is left out from a file that cannot be read on.
func (e *recordError) Rejected() {}

func rejectf(format string, args ...any) error {
	return &recordError{msg: fmt.Sprintf(format, args...)}
}

func errTooLong(limit int) error { return rejectf("longer than %d bytes", limit) }
