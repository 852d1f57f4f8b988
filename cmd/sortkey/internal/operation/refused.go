package operation

import (
	"context"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/wire"
)

// Remedy adds two things to the error of a query that the service has rejected: the rule that the query breaks, and
// queries that work.
func Remedy(
	ctx context.Context, target explain.Target, o explain.TextOptions, in *wire.QueryInput, err error,
) error {
	if _, _, unreadable := ask.TextsOf(in).Fault(); unreadable {
		return err
	}
	report, failed := explain.Run(ctx, target, explain.Question{Input: in}, explain.Options{Items: -1})
	if failed != nil || report.Refused == nil || report.Refused.Rule == "" {
		return err
	}
	return withText(err, report.Remedy(o))
}

// withText adds lines to the message of an error.
func withText(err error, text string) error {
	return &advice.Error{Msg: err.Error() + "\n" + strings.TrimSuffix(text, "\n"), Advice: advice.Of(err), Err: err}
}
