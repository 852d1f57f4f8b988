package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// sampledRows is the number of rows that are read for their attributes.
const sampledRows = 20

// A completer completes the arguments of one command of a shell.
type completer struct {
	ctx    context.Context
	src    *app.Source
	keys   ask.Keys
	schema *keycond.Schema // of the table or of the index of --index
}

// completionOf returns the completer for a table, or nil outside a shell: only there it is
// known that the database is open.
func completionOf(cmd *cobra.Command, env *app.Env, table, index string) *completer {
	if env.Source == nil {
		return nil
	}
	t, err := describe(cmd.Context(), env.Source, table)
	if err != nil || t.Schema(index) == nil {
		return nil
	}
	keys := ask.Keys{Target: env.Source.Target, InProcess: env.Source.DB != nil, Table: t, Index: index}
	return &completer{cmd.Context(), env.Source, keys, keys.Schema()}
}

// argumentsOf completes the arguments of an operation: the table, then, in a shell, what follows.
func argumentsOf(
	env *app.Env, op *operation.Operation, f *app.SourceFlags, v *operation.Values,
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		const nothing = cobra.ShellCompDirectiveNoFileComp
		p := op.At(v, len(args), 1)
		if p == nil {
			return nil, nothing
		}
		if p.Complete == operation.Tables {
			return tableArgument(env, f)(cmd, args, prefix)
		}
		if len(args) == 0 {
			return nil, nothing
		}
		c := completionOf(cmd, env, args[0], v.Index)
		if c == nil {
			return nil, nothing
		}

		p = op.At(v, len(args), len(c.schema.Sort()))
		if p != nil && p.Complete == operation.Attributes {
			return c.attributes(prefix)
		}
		return nil, nothing
	}
}

// flagCompletion returns what completes the flag of a param, or nil.
func flagCompletion(env *app.Env, p *operation.Param, f *app.SourceFlags) cobra.CompletionFunc {
	if len(p.Words) > 0 {
		return app.Words(p.Words...)
	}
	switch p.Complete {
	case operation.Indexes:
		return indexFlag(env, f)
	case operation.Attributes:
		return expressionFlag(env)
	case operation.Patterns:
		return app.Names(func(context.Context, []string) []string { return patternsOf(env, f.Model) })
	}
	return nil
}

// expressionFlag completes the attributes in an expression on the table that is the first
// argument.
func expressionFlag(env *app.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if c := completionOf(cmd, env, args[0], ""); c != nil {
			return c.attributes(prefix)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

var lastName = regexp.MustCompile("`?[A-Za-z_][A-Za-z0-9_]*$")

// completeName returns the ways to complete the name at the end of an expression.
func completeName(expression string, names []string) (all []string, directive cobra.ShellCompDirective) {
	name := lastName.FindString(expression)
	head := strings.TrimSuffix(expression, name)
	for _, n := range app.WithPrefix(names, name) {
		all = append(all, head+n)
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// attributes completes the attribute at the end of an expression: those of the keys, of the
// model and of the first rows.
func (c *completer) attributes(expression string) ([]string, cobra.ShellCompDirective) {
	found := map[string]bool{}
	for _, x := range append([]*keyschema.Index{{Key: c.keys.Table.Key}}, c.keys.Table.Indexes...) {
		for _, a := range x.Key.Attributes() {
			found[a.Name] = true
		}
	}
	if m := c.src.Model; m != nil {
		for _, e := range m.Entities {
			if e.Table.Name == c.keys.Table.Name {
				for _, a := range e.Attributes {
					found[a.Name] = true
				}
			}
		}
	}
	sample := &wire.ScanInput{TableName: &c.keys.Table.Name, Limit: new(int64(sampledRows))}
	if page, ok := c.keys.Scan(c.ctx, sample); ok {
		for _, it := range page.Items {
			for name := range it.All() {
				found[string(name)] = true
			}
		}
	}

	var names []string
	for name := range found {
		names = append(names, text.Name(name))
	}
	slices.Sort(names)
	return completeName(expression, names)
}
