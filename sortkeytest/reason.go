package sortkeytest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
)

// reason returns the text of an error of the test's own operations: the operation, the code and the message, without
// the rest of the SDK's text. If the database has been closed, the text says that instead.
func (db *DB) reason(err error) string {
	if over := db.life.over(); over != "" && isClosed(err) {
		return over
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Error()
	}
	operation := ""
	if e, ok := errors.AsType[*smithy.OperationError](err); ok {
		operation = e.Operation() + ": "
	}
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return operation + e.ErrorCode() + ": " + e.ErrorMessage()
	}
	return strings.TrimPrefix(err.Error(), "sortkey: ")
}

// must fails the test if err is not nil. The message begins with the formatted text.
func (db *DB) must(err error, format string, args ...any) {
	db.t.Helper()
	if err != nil {
		db.t.Fatalf("sortkeytest: %s%s", fmt.Sprintf(format, args...), db.reason(err))
	}
}

// isClosed reports whether an operation failed because its database is closed.
func isClosed(err error) bool {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode() == wire.CodeUnavailable
	}
	return errors.Is(err, store.ErrClosed)
}
