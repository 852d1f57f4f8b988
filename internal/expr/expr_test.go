package expr_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/expr/ast"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/item"
)

// env returns an Env with names, and with values given as JSON or "".
func env(t testing.TB, names map[string]string, values string) *expr.Env {
	t.Helper()
	e, err := expr.NewEnv(expr.Params{Names: names, Values: parsed(t, values)})
	require.NoError(t, err)
	return e
}

func parsed(t testing.TB, json string) attr.Item {
	t.Helper()
	if json == "" {
		return nil
	}
	it, err := attr.ParseItem([]byte(json))
	require.NoError(t, err)
	return it
}

func condition(t testing.TB, e *expr.Env, src string) *expr.Condition {
	t.Helper()
	c, err := e.Condition(expr.ConditionExpression, src)
	require.NoError(t, err)
	return c
}

// TestMessages has one row for every message, with its source.
func TestMessages(t *testing.T) {
	const values = `{":n": {"N": "1"}, ":s": {"S": "a"}, ":t": {"S": "b"}, ":b": {"BOOL": true}}`
	for _, tt := range []struct{ source, src, want string }{
		{"dynalite test/scan.js", "", "The expression can not be empty;"},
		{
			"alternator test_limits.py", strings.Repeat("(", 4097),
			"Expression size has exceeded the maximum allowed size; expression size: 4097",
		},
		{"floci issue 1512", "a-b", `Syntax error; token: "-", near: "a-b"`},
		{"dynalite test/scan.js", "((a = b))", "The expression has redundant parentheses;"},
		{
			"alternator test_limits.py", strings.Repeat("not ", 301) + "a < b",
			"The expression contains too many operators; operator count: 301",
		},
		{"dynalite test/scan.js", "whatever(a)", "Invalid function name; function: whatever"},
		{
			"DynamoDB Local's list of messages", "list_append(a, b) = c",
			"The function is not allowed in a condition expression; function: list_append",
		},
		{
			"dynalite test/scan.js", "size(a)",
			"The function is not allowed to be used this way in an expression; function: size",
		},
		{"dynalite test/scan.js", "abOrT = :n", "Attribute name is a reserved keyword; reserved keyword: abOrT"},
		{
			"DynamoDB Local's list of messages", "a[2147483648] = :n",
			"List index is not within the allowable range; index: [2147483648]",
		},
		{
			"dynalite test/scan.js", "#P = :n",
			"An expression attribute name used in the document path is not defined; attribute name: #P",
		},
		{
			"dynalite test/scan.js", "a = :x",
			"An expression attribute value used in expression is not defined; attribute value: :x",
		},
		{
			"alternator test_projection_expression.py", "a" + strings.Repeat(".b", 32) + " = :n",
			"The document path has too many nesting levels; nesting levels: 33",
		},
		{
			"dynalite test/scan.js",
			"contains(a)", "Incorrect number of operands for operator or function; operator or function: " +
				"contains, number of operands: 1",
		},
		{
			"DynamoDB Local's list of messages", "a IN (:n" + strings.Repeat(",:n", 100) + ")",
			"The IN operator is provided with too many operands; number of operands: 101",
		},
		{
			"dynalite test/scan.js",
			"a = a", "The first operand must be distinct from the remaining operands for this operator or function; " +
				"operator: =, first operand: [a]",
		},
		{
			"dynalite test/scan.js", "attribute_exists(:n)",
			"Operator or function requires a document path; operator or function: attribute_exists",
		},
		{
			"dynalite test/scan.js", "begins_with(a, :n)",
			"Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
		},
		{
			"alternator test_condition_expression.py", "a < :b",
			"Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
		},
		{
			"dynalite test/scan.js", "attribute_type(a, :s)",
			"Invalid attribute type name found; type: a, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
		},
		{
			"dynalite test/query.js",
			"a BETWEEN :n AND :s", "The BETWEEN operator requires same data type for lower and upper bounds; " +
				"lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}",
		},
		{
			"dynalite test/query.js",
			"a BETWEEN :t AND :s", "The BETWEEN operator requires upper bound to be greater than or equal to lower " +
				"bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}",
		},
	} {
		for _, p := range []expr.Param{expr.ConditionExpression, expr.FilterExpression, expr.KeyConditionExpression} {
			_, err := env(t, nil, values).Condition(p, tt.src)
			if want := fmt.Sprintf("Invalid %s: %s", p, tt.want); err == nil || err.Error() != want {
				t.Errorf("Condition(%s, %.40q) = %v, want %q (%s)", p, tt.src, err, want, tt.source)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	or := func(n int) string { return "a<b " + strings.Repeat("or (a<b ", n) + strings.Repeat(")", n) }
	in := func(n int) string { return "a IN (b0" + strings.Repeat(",b", n-1) + ")" }
	for _, tt := range []struct {
		name, src string
		want      string // in the error; "" for success
	}{
		{"4096 bytes", "a" + strings.Repeat(" ", 4091) + " = b", ""},
		{"4097 bytes", "a" + strings.Repeat(" ", 4092) + " = b", "expression size: 4097"},
		{"299 operators", or(149), ""},
		{"300 operators", "not " + or(149), ""},
		{"301 operators", or(150), "operator count: 301"},
		{"909 operators", or(454), "operator count: 301"},
		{"100 operands of IN", in(100), ""},
		{"101 operands of IN", in(101), "number of operands: 101"},
		{"32 steps", "a" + strings.Repeat("[0]", 31) + " = b", ""},
		{"33 steps", "a" + strings.Repeat("[0]", 32) + " = b", "nesting levels: 33"},
		{"largest index", "a[2147483647] = b", ""},
		{"only open", strings.Repeat("(", 4096), "Syntax error"},
		{"redundant", strings.Repeat("(", 2046) + "a<b" + strings.Repeat(")", 2046), "redundant parentheses"},
		{"NOT", strings.Repeat("not ", 1000) + "a<b", "operator count: 301"},
		{
			"functions", "a < " + strings.Repeat("f(", 1355) + "b" + strings.Repeat(")", 1355),
			"Invalid function name; function: f",
		},
		{
			"sizes", "a < " + strings.Repeat("size(", 680) + "b" + strings.Repeat(")", 680),
			"operator or function: size, operand type: N",
		},
		{"long name", strings.Repeat("x", 4092) + " = b", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := env(t, nil, "").Condition(expr.ConditionExpression, tt.src)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			c.Match(nil)
		})
	}
}

func TestTokenLimits(t *testing.T) {
	long := func(sigil string, n int) string { return sigil + strings.Repeat("x", n-1) }
	_, err := expr.NewEnv(expr.Params{
		Names: map[string]string{long("#", 255): "a"}, Values: parsed(t, `{"`+long(":", 255)+`": {"N": "1"}}`),
	})
	require.NoError(t, err)
	_, err = expr.NewEnv(expr.Params{Names: map[string]string{long("#", 256): "a"}})
	require.EqualError(t,
		err, "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too "+
			"long; size of key: 256")
	_, err = expr.NewEnv(expr.Params{Values: parsed(t, `{"`+long(":", 256)+`": {"N": "1"}}`)})
	require.EqualError(t,
		err, "ExpressionAttributeValues contains invalid key: "+
			"The expression attribute map contains a key that is too long;")

	half := strings.Repeat("x", expr.MaxSubstitutionBytes/2-len(":a")-len("#n"))
	values := parsed(t, `{":a": {"S": "`+half+`"}, ":b": {"S": "`+half+`"}}`)
	_, err = expr.NewEnv(expr.Params{Names: map[string]string{"#n": "ab"}, Values: values})
	require.NoError(t, err)
	_, err = expr.NewEnv(expr.Params{Names: map[string]string{"#n": "abc"}, Values: values})
	require.ErrorContains(t, err, "has exceeded the maximum allowed size; size: 2097153")
}

func TestErrorHasPlace(t *testing.T) {
	_, err := env(t, nil, "").Condition(expr.FilterExpression, "a = b AND = c")
	e, ok := errors.AsType[*expr.Error](err)
	require.True(t, ok)
	require.Equal(t, expr.Error{
		Param:   expr.FilterExpression,
		Message: `Syntax error; token: "=", near: "AND = c"`,
		Offset:  10,
		Near:    "AND = c",
	}, *e)
}

func TestSharedEnv(t *testing.T) {
	e := env(t, map[string]string{"#a": "a", "#b": "b", "#c": "c"}, `{":x": {"N": "1"}, ":y": {"N": "2"}}`)
	_, err := e.Condition(expr.KeyConditionExpression, "#a = :x")
	require.NoError(t, err)
	require.EqualError(t, e.Unused(),
		"Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #c}")
	_, err = e.Projection("#a, #b[0].#c")
	require.NoError(t, err)
	require.EqualError(t, e.Unused(), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}")
	_, err = e.Condition(expr.FilterExpression, "#c > :y")
	require.NoError(t, err)
	require.NoError(t, e.Unused())
}

func TestPaths(t *testing.T) {
	e := env(t, map[string]string{"#n": "name"}, `{":x": {"N": "1"}}`)
	c := condition(t, e, "a = b.c AND NOT (size(d[1]) > :x OR e BETWEEN f AND #n) AND g IN (:x, h) AND contains(i, a)")
	require.Equal(t, []string{"a", "b", "d", "e", "f", "name", "g", "h", "i", "a"}, slices.Collect(expr.TopLevel(c)))
	var paths []string
	for p := range expr.Paths(c) {
		paths = append(paths, p.String())
		if len(paths) == 3 {
			break
		}
	}
	require.Equal(t, []string{"a", "b.c", "d[1]"}, paths)
	for range expr.TopLevel(c) {
		break
	}
	require.Empty(t, slices.Collect(expr.TopLevel((*expr.Condition)(nil))))

	p, err := e.Projection("z, b.c, a[1], b.d")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "z"}, slices.Collect(expr.TopLevel(p)))
	require.Empty(t, slices.Collect(expr.TopLevel((*expr.Projection)(nil))))
}

func TestNil(t *testing.T) {
	it := parsed(t, `{"a": {"N": "1"}}`)
	require.True(t, (*expr.Condition)(nil).Match(it))
	require.Empty(t, (*expr.Condition)(nil).String())
	require.Equal(t, []byte(it), (*expr.Projection)(nil).Append(nil, it))
	none, err := item.Check((*expr.Projection)(nil).Append(nil, nil))
	require.NoError(t, err)
	require.Zero(t, none.Len())
	require.True(t, ast.Path(nil).Get(it).IsZero())
}

func TestReserved(t *testing.T) {
	for _, w := range []string{
		"status", "NAME", "Size", "void", "and", "FLATTERN", "loged", "ttl", "subpartition", "localtimestamp",
	} {
		if !expr.IsReserved(w) {
			t.Errorf("IsReserved(%q) = false, want true", w)
		}
	}
	for _, w := range []string{
		"", "age", "tags", "score", "locked", "extra", "existing", "val", "vals", "status1", "localtimestamps",
		"naïve", "na me",
	} {
		if expr.IsReserved(w) {
			t.Errorf("IsReserved(%q) = true, want false", w)
		}
	}
}

// TestMatchDoesNotAllocate checks that no kind of filter allocates memory.
func TestMatchDoesNotAllocate(t *testing.T) {
	it := parsed(t, `{"pk": {"S": "customer#1"}, "status": {"S": "open"}, "price": {"N": "42"}, "tags": {"SS": ["red",
		"re", "blue"]},
		"notes": {"S": "some notes"}, "kind": {"S": "re"}, "q": {"NULL": true},
		"meta": {"M": {"way": {"L": [{"S": "returns"}, {"S": "x"}, {"N": "3"}]}, "holder": {"S": "me"}}}}`)
	e := env(t, map[string]string{"#s": "status"}, `{":s": {"S": "open"}, ":lo": {"N": "10"}, ":hi": {"N": "99.5"},
		":t": {"S": "re"}, ":kind": {"S": "NULL"}}`)
	for _, src := range []string{
		"#s = :s AND (price BETWEEN :lo AND :hi OR NOT contains(tags, :t)) AND size(notes) < :hi AND " +
			"begins_with(meta.way[0], :t) AND kind IN (:s, :t)",
		"#s = :s", "#s <> kind", "price < :hi", "price >= :lo", "absent = :s", "absent <> elsewhere",
		"price BETWEEN :lo AND :hi", "size(notes) BETWEEN :lo AND :hi", "price IN (:lo, :hi, size(notes))",
		"attribute_exists(meta.way[1])", "attribute_not_exists(meta.way[7])", "attribute_type(q, :kind)",
		"begins_with(kind, :t)", "contains(tags, :t)", "contains(notes, :t)", "contains(meta.way, :t)",
		"contains(meta.way, size(notes))", "size(tags) = size(meta.way)", "NOT size(:s) = :lo",
	} {
		c := condition(t, e, src)
		if n := testing.AllocsPerRun(100, func() { c.Match(it) }); n != 0 {
			t.Errorf("Match of %s allocates %v times, want 0", src, n)
		}
	}
}
