package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// operationLine returns the name of an operation and the values of its arguments, in the order of a command line,
// joined by "|".
func operationLine(op *operation.Operation, v *operation.Values) string {
	words := []string{op.Name}
	for _, p := range op.Params {
		switch to := p.To(v).(type) {
		case *string:
			if *to != "" && p.Arg != "" {
				words = append(words, *to)
			}
		case *[]string:
			if p.Arg != "" {
				words = append(words, *to...)
			}
		}
	}
	return strings.Join(words, "|")
}

// TestPlace tests which param each argument of a command line sets.
func TestPlace(t *testing.T) {
	type values = operation.Values
	for _, tt := range []struct {
		op   *operation.Operation
		args string
		want string // resulting line, or an error
	}{
		{operation.Query, "T a", "query|T|a"},
		{operation.Query, "T a begins with b", "query|T|a|begins with b"},
		{operation.Query, "", "query needs a table and a partition"},
		{operation.Query, "T", "query needs a partition"},
		{operation.Get, "T a", "get|T|a"},
		{operation.Get, "T a b", "get|T|a|b"},
		{operation.Get, "", "get needs a table and the key of an item"},
		{operation.Get, "T a b c", "get|T|a|b|c"},
		{operation.Update, "T a u", "update|T|a|u"},
		{operation.Update, "T a b u", "update|T|a|b|u"},
		{operation.Update, "T a", "update needs an update in quotes, such as 'SET total = 1'"},
		{operation.Put, "T", "put needs an item in quotes"},
		{operation.Scan, "T x", "scan takes TABLE, not 2 arguments"},
		{operation.SQL, "s 1 2", "sql|s|1|2"},
	} {
		var v values
		got := ""
		if err := tt.op.Place(&v, strings.Fields(tt.args)); err != nil {
			got = err.Error()
		} else {
			got = operationLine(tt.op, &v)
		}
		require.Equal(t, tt.want, got, "%s %s", tt.op.Name, tt.args)
	}

	for _, op := range []*operation.Operation{operation.Get, operation.Delete} {
		var v values
		require.NoError(t, op.Place(&v, strings.Fields("T a b c")))
		_, err := op.Request(&v, table())
		require.EqualError(t, err, "the key of table T has 2 attributes, not 3")
		advised, _ := errors.AsType[*advice.Error](err)
		require.Equal(t, "give a value for each of PK, SK", advised.Advice)
	}
}

// TestForm tests that the fields of a form set the params of a query.
func TestForm(t *testing.T) {
	form := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	v, err := operation.Query.Form(form(
		"partition", "a", "sort", "x*", "filter", "n > 1", "limit", "3", "descending", "on",
	))
	require.NoError(t, err)
	var want operation.Values
	want.Partition, want.Sort, want.Filter = []string{"a"}, []string{"x*"}, "n > 1"
	want.Limit, want.Backwards = 3, true
	require.Equal(t, want, v)
	for _, limit := range []string{"-1", "0", "many"} {
		_, err = operation.Query.Form(form("partition", "a", "limit", limit))
		require.EqualError(t, err, fmt.Sprintf("the limit is a number from 1, not %q", limit))
	}
}

// TestTable tests that every operation has the texts that commands, tools and forms need.
func TestTable(t *testing.T) {
	for _, op := range operation.All {
		require.NotEmpty(t, op.Short, op.Name)
		require.Equal(t, op.Writes, op.Done != nil, op.Name)
		require.Equal(t, op.Writes, op.Returned != "", op.Name)
		for _, p := range op.Params {
			require.False(t, p.Arg != "" && p.Required && p.What == "", "%s of %s", p.Name, op.Name)
			require.NotNil(t, p.To(new(operation.Values)), "%s of %s", p.Name, op.Name)
			if p.Flag != "" || p.Name != "" {
				require.NotEmpty(t, p.Help, "%s of %s", p.Name, op.Name)
			}
		}
		for operationLine := range strings.Lines(op.CommandHelp()) {
			require.Less(t, len([]rune(operationLine)), 93, "%s: %s", op.Name, operationLine)
		}
		require.NotContains(t, op.ToolHelp(), "--", op.Name)
	}
}
