package operation

import (
	"context"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// Instead adds to the error of a query that cannot be made the request that works if its sort condition is a range in
// other words, and otherwise the rule that the condition breaks. The options say how requests are written.
func (op *Operation) Instead(
	ctx context.Context, target explain.Target, o explain.TextOptions, v *Values, t *keyschema.Table, err error,
) error {
	if op != Query && op != Explain {
		return err
	}
	in, ok := v.Meant(t)
	if !ok {
		return err
	}
	if _, _, ok := Of(in, t); ok {
		return withText(err, "instead    "+o.Command(in))
	}
	return Remedy(ctx, target, o, in, err)
}

// Remedy adds to the error of a query that the service refuses the rule that it breaks, and requests that work.
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
