package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

func keyCommand(env *app.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Build composite keys, take them apart, and show their ranges",
		Long: `Key works on composite keys such as ORDER#2026-01-05#7, which a template describes:
ORDER#{placed:date}#{order:int(6)}. The types of components are those of model files:
string, int(w), date, time, ulid and others.`,
		Example: `  sortkey key format 'ORDER#{placed:date}#{order:int(6)}' placed=2026-01-05 order=7
  sortkey key parse 'ORDER#{placed:date}#{order:int(6)}' ORDER#2026-01-05#000007
  sortkey key range 'ORDER#{placed:date}#{order:int(6)}' placed=2026-01-01..2026-01-31`,
		Args: app.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(keyFormatCommand(env), keyParseCommand(env), keyRangeCommand(env))
	return cmd
}

// templateArg parses the first argument, a template. It returns an error if there are fewer than n arguments.
func templateArg(name string, args []string, n int) (*keys.Template, error) {
	if len(args) < n {
		return nil, app.Usage(name, "%s needs a template such as 'ORDER#{placed:date}#{order:int(6)}'%s", name,
			map[bool]string{true: " and a key"}[n > 1])
	}
	t, err := keys.Parse(args[0])
	return t, keyAdvice(err)
}

// keyAdvice converts an error of package keys to a usage error, and keeps its advice.
func keyAdvice(err error) error {
	e, ok := errors.AsType[*keys.Error](err)
	if !ok {
		return err
	}
	msg := e.Msg
	if e.Component != "" {
		msg = e.Component + ": " + msg
	}
	return app.UsageError(e.Advice, "%s", msg)
}

func keyFormatCommand(env *app.Env) *cobra.Command {
	return &cobra.Command{
		Use:               "format TEMPLATE NAME=VALUE...",
		Short:             "Build a key from the values of its components",
		Example:           `  sortkey key format 'ORDER#{placed:date}#{order:int(6)}' placed=2026-01-05 order=7`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := templateArg("key format", args, 1)
			if err != nil {
				return err
			}
			values := map[string]string{}
			for _, arg := range args[1:] {
				c, err := componentOf(t, "key format", arg)
				if err != nil {
					return err
				}
				if c.op != "=" {
					return app.Usage("key format", "%s: write NAME=VALUE; ranges are for key range", arg)
				}
				values[c.name] = c.value
			}
			key, err := t.Build(values)
			if err != nil {
				return keyAdvice(err)
			}
			_, err = fmt.Fprintln(env.Stdout, key)
			return err
		},
	}
}

func keyParseCommand(env *app.Env) *cobra.Command {
	return &cobra.Command{
		Use:               "parse TEMPLATE KEY",
		Short:             "Show the values of the components of a key",
		Example:           `  sortkey key parse 'ORDER#{placed:date}#{order:int(6)}' ORDER#2026-01-05#000007`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := templateArg("key parse", args, 2)
			if err != nil {
				return err
			}
			if len(args) > 2 {
				return app.Usage("key parse", "key parse takes one key, not %d: quote it if it has spaces", len(args)-1)
			}
			values, err := t.Values(args[1])
			if err != nil {
				return keyAdvice(err)
			}
			for i, name := range t.Components() {
				if _, err := fmt.Fprintf(env.Stdout, "%s=%s\n", name, values[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func keyRangeCommand(env *app.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "range TEMPLATE [NAME=VALUE...] [CONDITION]",
		Short: "Show the range of the keys with some components",
		Long: `Range shows the condition on a sort key that reads exactly the keys with the given
values of the first components, and one condition on the next: NAME=LOW..HIGH,
NAME>=VALUE, NAME>VALUE, NAME<=VALUE, NAME<VALUE, or NAME^=PREFIX.`,
		Example: `  sortkey key range 'ORDER#{placed:date}#{order:int(6)}' placed=2026-01-05
  sortkey key range 'ORDER#{placed:date}#{order:int(6)}' placed=2026-01-01..2026-01-31
  sortkey key range 'ORDER#{placed:date}#{order:int(6)}' placed=2026-01-05 'order>=100'`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := templateArg("key range", args, 1)
			if err != nil {
				return err
			}
			r, err := rangeOf(t, args[1:])
			if err != nil {
				return keyAdvice(err)
			}
			_, err = fmt.Fprintln(env.Stdout, r)
			return err
		},
	}
}

// A component is an argument that sets a component of a template to a value, or restricts the component by a
// condition.
type component struct{ name, op, value string }

var componentText = text.Pattern(`^([^=<>^]+)(=|<=|>=|<|>|\^=)(?s:(.*))$`)

func componentOf(t *keys.Template, command, arg string) (component, error) {
	m := componentText().FindStringSubmatch(arg)
	if m == nil {
		return component{}, app.Usage(command, "%q is not NAME=VALUE", arg)
	}
	if !slices.Contains(t.Components(), m[1]) {
		return component{}, app.UsageError(
			text.DidYouMean(m[1], t.Components()), "the template has no component %s", m[1],
		)
	}
	return component{m[1], m[2], m[3]}, nil
}

// rangeOf returns the range of the keys that meet the conditions in all arguments. It returns an error if these keys
// are not one contiguous range.
func rangeOf(t *keys.Template, args []string) (r keys.Range, err error) {
	given := map[string]component{}
	for _, arg := range args {
		c, err := componentOf(t, "key range", arg)
		if err != nil {
			return r, err
		}
		if _, twice := given[c.name]; twice {
			return r, app.Usage("key range", "%s has two conditions; write a range as %[1]s=LOW..HIGH", c.name)
		}
		given[c.name] = c
	}

	var outer []any
	for _, name := range t.Components() {
		c, ok := given[name]
		if !ok {
			break
		}
		delete(given, name)
		low, high, isRange := strings.Cut(c.value, "..")
		if c.op == "=" && !isRange {
			outer = append(outer, c.value)
			continue
		}
		for _, left := range t.Components() {
			if _, ok := given[left]; ok {
				return r, app.UsageError(
					"give a range only to the last component",
					"%s comes after %s, which has a range: such keys are not adjacent", left, name,
				)
			}
		}
		switch c.op {
		case "=":
			return t.Between(low, high, outer...)
		case ">=":
			return t.Between(c.value, nil, outer...)
		case ">":
			return t.Between(keys.Excluding(c.value), nil, outer...)
		case "<=":
			return t.Between(nil, c.value, outer...)
		case "<":
			return t.Between(nil, keys.Excluding(c.value), outer...)
		}
		return t.BeginsWith(c.value, outer...)
	}
	for _, left := range t.Components() {
		if _, ok := given[left]; ok {
			return r, app.UsageError(
				"give the components before it too",
				"%s comes after components without a value: such keys are not adjacent", left,
			)
		}
	}
	if len(outer) == len(t.Components()) {
		key, err := t.Format(outer...)
		return keys.Range{Low: key, High: key}, err
	}
	return t.Under(outer...)
}
