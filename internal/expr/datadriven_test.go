package expr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/item"
)

// script is the state of one file under testdata. Its commands are:
//
//	env        {"names": {...}, "values": {...}} for the commands below
//	item       the item for eval and project
//	parse      the parsed form of each line, fully parenthesised
//	errors     the message for each line, and the place of the fault
//	eval       whether each line is true for the item
//	project    the projection of the item by each line
//	unused     the error if the lines are all expressions of the request
//	update     each line as an update, printed
//	apply      the attributes that each line changes, and those it removes;
//	           without an item, it creates one with the key "key"
//	returns    UPDATED_OLD and UPDATED_NEW of each line, "-" for nothing
//
// Lines are separate expressions, each with its own Env except for unused.
type script struct {
	names  map[string]string
	values attr.Item
	item   attr.Item
}

func TestDatadriven(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, s.run)
	})
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "env":
		return s.setEnv(t, d.Input)
	case "item":
		s.item = nil
		if d.Input != "" {
			s.item = parsed(t, d.Input)
		}
		return ""
	case "parse":
		return s.lines(t, d.Input, func(e *expr.Env, line string) string {
			c, err := e.Condition(expr.ConditionExpression, line)
			if err != nil {
				return "error: " + message(t, err)
			}
			return c.String()
		})
	case "errors":
		return s.lines(t, d.Input, func(e *expr.Env, line string) string {
			var err error
			switch {
			case d.HasArg("projection"):
				_, err = e.Projection(line)
			case d.HasArg("update"):
				_, err = e.Update(line)
			default:
				_, err = e.Condition(expr.FilterExpression, line)
			}
			require.Error(t, err, line)
			pe, ok := errors.AsType[*expr.Error](err)
			require.True(t, ok)
			return fmt.Sprintf("%d %q %s", pe.Offset, pe.Near, pe.Message)
		})
	case "eval":
		return s.lines(t, d.Input, func(e *expr.Env, line string) string {
			c, err := e.Condition(expr.ConditionExpression, line)
			if err != nil {
				return "error: " + message(t, err)
			}
			return fmt.Sprintf("%-5t  %s", c.Match(s.item), line)
		})
	case "project":
		return s.lines(t, d.Input, func(e *expr.Env, line string) string {
			p, err := e.Projection(line)
			if err != nil {
				return "error: " + message(t, err)
			}
			return s.project(t, p)
		})
	case "attributes":
		return s.project(t, expr.Attributes(strings.Fields(d.Input)))
	case "unused":
		e, err := expr.NewEnv(expr.Params{Names: s.names, Values: s.values})
		require.NoError(t, err)
		for line := range strings.Lines(d.Input) {
			_, err := e.Condition(expr.ConditionExpression, line)
			require.NoError(t, err)
		}
		if err := e.Unused(); err != nil {
			return err.Error() + "\n"
		}
		return ""
	case "update", "apply", "returns":
		return s.lines(t, d.Input, func(e *expr.Env, line string) string {
			u, err := e.Update(line)
			if err != nil {
				return "error: " + message(t, err)
			}
			switch d.Cmd {
			case "apply":
				return s.apply(t, u)
			case "returns":
				after, err := u.Apply(s.item, nil)
				require.NoError(t, err)
				return show(u.Project(s.item)) + "  " + show(u.Project(after))
			}
			return u.String()
		})
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

// show returns an item as JSON, or "-" if it does not exist.
func show(it attr.Item) string {
	if it == nil {
		return "-"
	}
	return string(it.AppendJSON(nil))
}

// apply returns the attributes that u changes, as JSON, and the names of those
// that it removes. It also checks that the new item is canonical and the old
// one unchanged.
func (s *script) apply(t *testing.T, u *expr.Update) string {
	before := string(s.item)
	after, err := u.Apply(s.item, parsed(t, `{"pk": {"S": "key"}}`))
	require.Equal(t, before, string(s.item))
	if err != nil {
		return "error: " + message(t, err)
	}
	_, err = item.Check(after)
	require.NoError(t, err)
	if after == nil {
		return "-"
	}
	var changed attr.Builder
	for name, v := range after.All() {
		if !attr.Equal(v, s.item.Get(string(name))) {
			changed.AddBytes(name, v)
		}
	}
	text := show(changed.Item())
	for name := range s.item.All() {
		if after.Get(string(name)).IsZero() {
			text += " without " + string(name)
		}
	}
	return text
}

// message returns the text of an error of this package.
func message(t *testing.T, err error) string {
	e, ok := errors.AsType[*expr.Error](err)
	require.True(t, ok, "%T", err)
	return e.Message
}

func (s *script) lines(t *testing.T, input string, f func(e *expr.Env, line string) string) string {
	var out strings.Builder
	for line := range strings.Lines(input) {
		e, err := expr.NewEnv(expr.Params{Names: s.names, Values: s.values})
		require.NoError(t, err)
		out.WriteString(f(e, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return out.String()
}

func (s *script) setEnv(t *testing.T, input string) string {
	var in struct {
		Names  map[string]string `json:"names"`
		Values json.RawMessage   `json:"values"`
	}
	require.NoError(t, json.Unmarshal([]byte(input), &in))
	*s = script{names: in.Names, item: s.item}
	if in.Values != nil {
		values, err := attr.ParseItem(in.Values)
		require.NoError(t, err)
		s.values = values
	}
	if _, err := expr.NewEnv(expr.Params{Names: s.names, Values: s.values}); err != nil {
		return "error: " + err.Error() + "\n"
	}
	return ""
}

// project returns the projected item as JSON. It also checks that the item is
// canonical.
func (s *script) project(t *testing.T, p *expr.Projection) string {
	got := p.Append([]byte("before"), s.item)
	require.Equal(t, "before", string(got[:6]))
	item, err := item.Check(got[6:])
	require.NoError(t, err)
	return string(item.AppendJSON(nil))
}
