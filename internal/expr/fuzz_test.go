package expr_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/item"
)

// FuzzParse parses any text as a condition and as a projection. Nothing may
// panic, errors must have the package's type and a place within the expression,
// and a printed condition must parse to the same tree with the same result.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	require.NoError(f, err)
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		for line := range strings.Lines(string(data)) {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	}
	names := map[string]string{"#a": "a", "#and": "and", "#n1": "a", "#n2": "b", "#s": "status", "#0": "x.y"}
	values := parsed(f,
		`{":0": {"N": "0"}, ":1": {"N": "1"}, ":2": {"N": "2"}, ":x": {"N": "1"}, ":y": {"N": "2"}, ":s": {"S": "S"},
		":b": {"BOOL": true}, ":l": {"L": []}, ":ss": {"SS": ["a"]}, ":B": {"B": "aGk="}, ":hello": {"S": "hello"}}`)
	it := parsed(f,
		`{"a": {"M": {"b": {"L": [{"N": "1"}, {"M": {"c": {"S": "x"}}}]}}}, "b": {"N": "2"}, "n": {"N": "2"},
		"s": {"S": "hello"},
		"ss": {"SS": ["a", "b"]}, "x.y": {"B": "aGk="}, "status": {"NULL": true}, "l": {"L": [{"S": "a"}]}}`)
	placed := ast.Style{
		Name: func(name string) string {
			for place, n := range names {
				if n == name && place != "#n1" {
					return place
				}
			}
			return name
		},
		Value: func(v attr.Value) string {
			for i := range values.Len() {
				if place, have := values.At(i); attr.Equal(have, v) {
					return string(place)
				}
			}
			return ""
		},
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, err := expr.NewEnv(expr.Params{Names: names, Values: values})
		require.NoError(t, err)
		if p, err := e.Projection(src); err == nil {
			out, err := item.Check(p.Append(nil, it))
			require.NoError(t, err)
			require.LessOrEqual(t, out.Size(), it.Size())
		} else {
			checkError(t, src, err)
		}
		c, err := e.Condition(expr.ConditionExpression, src)
		if err != nil {
			checkError(t, src, err)
			return
		}
		printed := ast.Format(expr.Node(c))
		if len(printed) > expr.MaxExpressionBytes {
			return
		}
		again, err := e.Condition(expr.ConditionExpression, printed)
		require.NoError(t, err, printed)
		require.Equal(t, printed, ast.Format(expr.Node(again)))
		for n := range ast.Nodes(expr.Node(c)) { // the text at the place of a node must itself parse
			part, err := e.Condition(expr.ConditionExpression, n.Where().Text(src))
			require.NoError(t, err, "%q at %v of %q", n.Where().Text(src), n.Where(), src)
			require.Equal(t, ast.Format(n), ast.Format(expr.Node(part)))
		}
		for o := range ast.Operands(expr.Node(c)) {
			if v, ok := o.(*ast.ValueOperand); ok {
				require.Equal(t, v.Name, strings.Trim(v.Where().Text(src), "() \t\r\n"))
			}
		}
		require.Equal(t, c.Match(it), again.Match(it))
		// Without the unnecessary parentheses, the condition means the same.
		bare := placed.Condition(expr.Node(c))
		if len(bare) > expr.MaxExpressionBytes {
			return
		}
		again, err = e.Condition(expr.ConditionExpression, bare)
		require.NoError(t, err, bare)
		require.Equal(t, bare, placed.Condition(expr.Node(again)))
		require.Equal(t, c.Match(it), again.Match(it), "%q and %q", src, bare)
	})
}

func checkError(t *testing.T, src string, err error) {
	e, ok := errors.AsType[*expr.Error](err)
	require.True(t, ok, "%T", err)
	require.NotEmpty(t, e.Message)
	require.GreaterOrEqual(t, e.Offset, 0)
	require.LessOrEqual(t, e.Offset, len(src))
	if e.Near != "<EOF>" {
		require.Contains(t, src, e.Near)
	}
}
