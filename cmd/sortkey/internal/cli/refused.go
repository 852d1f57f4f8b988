package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/wire"
)

// refused returns the error of a request that failed, in the words of the user.
func (c *itemCommand) refused(ctx context.Context, src *app.Source, in wire.Input, err error) error {
	if is, ok := operation.Unmet(err); ok {
		return &advice.Error{Msg: "nothing is written: the condition of --if is false", Advice: is, Err: err}
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}

	message := ask.TextsOf(in).Message(api.ErrorMessage())
	h := app.ExplainAPI(err, &smithy.GenericAPIError{Code: api.ErrorCode(), Message: message})
	statement := c.values.Statement
	if e, ok := errors.AsType[*partiql.Error](c.values.Wrong()); ok && e.Pos >= 0 && e.Pos <= len(statement) {
		h.Msg += "\n" + terminal.Caret(statement, e.Pos)
	}
	err = &advice.Error{Msg: h.Msg, Advice: h.Advice, Err: err}
	if query, ok := in.(*wire.QueryInput); ok && api.ErrorCode() == "ValidationException" {
		return operation.Remedy(ctx, src.Target, remedies(ctx, c.env, src, &c.source), query, err)
	}
	return err
}

// remedies are the options of texts about requests that work.
func remedies(ctx context.Context, env *app.Env, src *app.Source, f *app.SourceFlags) explain.TextOptions {
	return explain.TextOptions{Prose: env.Prose(), Command: commandOf(ctx, env, src, f)}
}

// commandOf returns the function that writes a request as a command on a source, or as a line
// of the AWS CLI if no command sends it.
func commandOf(ctx context.Context, env *app.Env, src *app.Source, f *app.SourceFlags) func(wire.Request) string {
	return func(in wire.Request) string {
		for ref := range in.Refs {
			t, err := describe(ctx, src, ref.Table)
			if err != nil {
				continue
			}
			op, v, ok := operation.Of(in, t)
			if !ok {
				break
			}
			words := op.Line(v)
			if env.Source == nil {
				words = slices.Concat([]string{"sortkey"}, words, f.Words())
			}
			for i, word := range words {
				words[i] = awscli.Quote(word)
			}
			return strings.Join(words, " ")
		}
		return awscli.Format(in)
	}
}
