package cli

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/wire"
)

// refused returns an error that tells the user why a request failed.
func (c *itemCommand) refused(ctx context.Context, src *app.Source, in wire.Request, err error) error {
	if is, ok := operation.Unmet(err); ok {
		return &advice.Error{Msg: "nothing is written: the condition of --if is false", Advice: is, Err: err}
	}
	api, ok := errors.AsType[explain.APIError](err)
	if !ok {
		return err
	}

	h := app.ExplainAPI(err, api)
	statement := c.values.Statement
	if e, ok := errors.AsType[*partiql.Error](c.values.Wrong()); ok && e.Pos >= 0 && e.Pos <= len(statement) {
		h.Msg += "\n" + terminal.Caret(statement, e.Pos)
	}
	err = &advice.Error{Msg: h.Msg, Advice: h.Advice, Err: err}
	if query, ok := in.(*wire.QueryInput); ok && api.ErrorCode() == "ValidationException" {
		return operation.Remedy(ctx, src.Target, explain.TextOptions{Prose: c.env.Prose()}, query, err)
	}
	return err
}
