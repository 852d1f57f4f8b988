package ask

import (
	"errors"

	"github.com/sortkey/sortkey/internal/advice"
)

// ErrUsage marks errors in what the user typed.
var ErrUsage = errors.New("wrong usage")

func usageError(help, format string, args ...any) error {
	e := advice.New(help, format, args...)
	e.Err = ErrUsage
	return e
}

// usage marks an error of an expression with [ErrUsage].
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError(advice.Of(err), "%v", err)
}
