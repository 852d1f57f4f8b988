package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// commandOf returns the function that writes a request as a command on a source, or as a line
// of the AWS CLI if no command sends it.
func commandOf(ctx context.Context, env *app.Env, src *app.Source, f *app.SourceFlags) func(wire.Request) string {
	return func(in wire.Request) string {
		for ref := range in.Refs {
			if t, err := describe(ctx, src, ref.Table); err == nil {
				return commandLine(env, f, in, t)
			}
		}
		return awscli.Format(in)
	}
}

// commandLine returns a request on a table as a command.
func commandLine(env *app.Env, f *app.SourceFlags, in wire.Request, t *keyschema.Table) string {
	words, ok := ask.Line(in, t)
	if !ok {
		return awscli.Format(in)
	}
	if env.Source == nil {
		words = slices.Concat([]string{"sortkey"}, words, f.Words())
	}
	for i, word := range words {
		words[i] = awscli.Quote(word)
	}
	return strings.Join(words, " ")
}

// explainMeant adds to the error of a sort condition that is none the request that works if
// the condition is a range in other words, and otherwise the rule that it breaks.
func (f *queryFlags) explainMeant(
	ctx context.Context, env *app.Env, src *app.Source, t *keyschema.Table, err error,
) error {
	in, ok := f.Meant(t)
	if !ok {
		return err
	}
	if _, ok := ask.Line(in, t); ok {
		return withText(err, "instead    "+commandLine(env, &f.SourceFlags, in, t))
	}
	return f.explainRefusal(ctx, env, src, in, err)
}

// explainRefusal adds to the error of a query the rule that its condition breaks, and the
// requests that work.
func (f *queryFlags) explainRefusal(
	ctx context.Context, env *app.Env, src *app.Source, in *wire.QueryInput, err error,
) error {
	report, failed := explain.Run(ctx, src.Target, explain.Question{Input: in}, explain.Options{Items: -1})
	if failed != nil || report.Refused == nil || report.Refused.Rule == "" {
		return err
	}
	text := report.Remedy(explain.TextOptions{
		Prose: env.Prose(), Command: commandOf(ctx, env, src, &f.SourceFlags),
	})
	return withText(err, text)
}

// withText adds lines to the message of an error.
func withText(err error, text string) error {
	return &advice.Error{Msg: err.Error() + "\n" + strings.TrimSuffix(text, "\n"), Advice: advice.Of(err), Err: err}
}
