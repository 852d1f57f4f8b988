package cli

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// The bounds of what a completion of keys and attributes reads and offers.
const (
	mostKeys    = 50 // keys offered
	sampledRows = 20 // rows read for their attributes
)

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
		switch p.Complete {
		case operation.Tables:
			return tableArgument(env, f)(cmd, args, prefix)
		case operation.Statements:
			return completeStatement(cmd, env, prefix)
		}
		if len(args) == 0 {
			return nil, nothing
		}
		c := completionOf(cmd, env, args[0], v.Index)
		if c == nil {
			return nil, nothing
		}

		p = op.At(v, len(args), len(c.schema.Sort()))
		switch {
		case p == nil:
		case p.Complete == operation.Partitions:
			return c.partitions(prefix), nothing
		case p.Complete == operation.Attributes:
			return c.attributes(prefix)
		case len(c.schema.Sort()) != 1:
		case p.Complete == operation.SortKeys:
			return c.sortKeys(args[1], prefix), nothing
		case p.Complete == operation.Conditions:
			return c.conditions(args[1], prefix), nothing
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

var (
	tableBefore = regexp.MustCompile(`(?i)\b(?:from|into|update)\s+"?\w*$`)
	tableNamed  = regexp.MustCompile(`(?i)\b(?:from|into|update)\s+"?([\w.-]+)`)
)

// completeStatement completes the tables and attributes in a statement.
func completeStatement(cmd *cobra.Command, env *app.Env, prefix string) ([]string, cobra.ShellCompDirective) {
	if env.Source == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if tableBefore.MatchString(prefix) {
		return completeName(prefix, tableNames(cmd.Context(), env, app.SourceFlags{}))
	}
	if m := tableNamed.FindStringSubmatch(prefix); m != nil {
		if c := completionOf(cmd, env, m[1], ""); c != nil {
			return c.attributes(prefix)
		}
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
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

// partitions completes a partition key.
func (c *completer) partitions(prefix string) []string {
	if len(c.schema.Partition()) != 1 {
		return nil
	}
	found := map[string]bool{}
	whole := c.keys.Partitions(c.ctx, func(row attr.Item) bool {
		if key, ok := typed(row.Get(c.schema.Partition()[0].Name)); ok && strings.HasPrefix(key, prefix) {
			found[key] = true
		}
		return true
	})
	keys := slices.Sorted(maps.Keys(found))
	switch {
	case !whole:
		return abridged(keys, prefix, "")
	case len(keys) > mostKeys:
		return abridged(keys, prefix, keys[len(keys)-1])
	}
	return keys
}

// abridged returns the first of some keys with a prefix that are in order, and what all keys
// have in common, so that no more than that is typed for the user. Last is the last key of
// all, or "" if it is not known.
func abridged(keys []string, prefix, last string) []string {
	keys = keys[:min(len(keys), mostKeys)]
	switch {
	case len(keys) == 0:
		return nil
	case last == "":
		return append(keys, prefix+"…")
	}
	return append(keys, common(keys[0], last)+"…", last)
}

// sortKeys completes a sort key in a partition.
func (c *completer) sortKeys(partition, prefix string) []string {
	key := c.schema.Sort()[0]
	first, more := c.rows(partition, prefix, false)
	var keys []string
	for _, it := range first {
		if key, ok := typed(it.Get(key.Name)); ok && strings.HasPrefix(key, prefix) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if !more {
		return keys
	}
	at, _ := c.rows(partition, prefix, true)
	for _, it := range at {
		if last, ok := typed(it.Get(key.Name)); ok && strings.HasPrefix(last, prefix) {
			return abridged(keys, prefix, last) // in order, the ends have in common what all have
		}
	}
	return abridged(keys, prefix, "")
}

// rows returns the first rows of a partition whose sort keys have a prefix, or the last one,
// and whether there are more.
func (c *completer) rows(partition, prefix string, last bool) (rows []attr.Item, more bool) {
	q := ask.Query{Partition: []string{partition}, Limit: mostKeys, Backwards: last}
	if last {
		q.Limit = 1
	}
	if prefix != "" && c.schema.Sort()[0].Kind == attr.String {
		q.Sort = []string{strconv.Quote(prefix) + "*"}
	}
	return c.keys.Rows(c.ctx, q)
}

// common returns what two texts begin with.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.ToValidUTF8(a[:n], "")
}

var operatorBefore = regexp.MustCompile(
	`(?i)^\s*(?:<=|>=|==|<|>|=|(?:begins|starts)[_-]with\s|between\s(?:.*\sand\s)?)\s*`)

// conditions completes the key at the end of a condition on the sort key of a partition.
func (c *completer) conditions(partition, condition string) (all []string) {
	operator := operatorBefore.FindString(condition)
	for _, key := range c.sortKeys(partition, strings.TrimPrefix(condition, operator)) {
		if operator == "" {
			read, err := ask.ParseCondition(c.schema.Sort()[0].Name, key)
			if err != nil || read.Op != ast.Equal || read.Operands[0] != key {
				continue // the key would be taken for another condition
			}
		}
		all = append(all, operator+key)
	}
	return all
}

// typed returns the value of a key as a person types it, and whether it can be typed so.
func typed(v attr.Value) (string, bool) {
	switch v.Kind() {
	case attr.String:
		s := string(v.Raw())
		plain := s != "" && s == strings.TrimSpace(s) && s[0] != '"' && s[0] != '\'' && strconv.Quote(s) == `"`+s+`"`
		return s, plain
	case attr.Number, attr.Binary:
		return text.Literal(v), true
	}
	return "", false
}
