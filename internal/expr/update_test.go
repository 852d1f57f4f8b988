package expr_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
)

const updateValues = `{":n": {"N": "1"}, ":s": {"S": "v"}, ":l": {"L": [{"S": "yyyyyyyyyy"}]}, ":ss": {"SS": ["cat"]},
 ":m": {"M": {"a": {"S": "x"}}},
 ":e": {"S": "e"}, ":pad": {"S": ""}, ":ten": {"S": "yyyyyyyyyy"}, ":le": {"L": [{"S": "e"}]},
 ":rm": {"SS": ["qqqqqqqqqqqqqqqqqqqq"]},
 ":M": {"M": {"a": {"S": "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy` +
	`yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"}}}}`

func update(t testing.TB, src string) *expr.Update {
	t.Helper()
	u, err := env(t, map[string]string{"#n": "name", "#long": "b"}, updateValues).Update(src)
	require.NoError(t, err, src)
	return u
}

func TestUpdateNames(t *testing.T) {
	u := update(t, "SET z.a = if_not_exists(b.c, d), #n = e[1] + z.b REMOVE y DELETE z.q :ss ADD x :n")
	require.Equal(t, []string{"name", "x", "y", "z"}, slices.Collect(expr.TopLevel(u)))
	var touched, all []string
	for _, a := range expr.Actions(u) {
		touched = append(touched, a.Path.Path.String())
	}
	for p := range expr.Paths(u) {
		all = append(all, p.String())
	}
	require.Equal(t, []string{"z.a", "name", "y", "z.q", "x"}, touched)
	require.Equal(t, []string{"z.a", "b.c", "d", "name", "e[1]", "z.b", "y", "z.q", "x"}, all)
	for range expr.Paths(u) {
		break
	}
}

// TestActionKind checks the kinds by which the service checks updates of index keys, according to dynalite's
// test/updateItem.js.
func TestActionKind(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want attr.Kind
	}{
		{"SET c = :s", attr.String},
		{"SET c = a", 0},
		{"SET c = a + :n", attr.Number},
		{"SET c = list_append(a, b)", attr.List},
		{"SET c = if_not_exists(a, :m)", attr.Map},
		{"SET c = if_not_exists(a, b)", 0},
		{"ADD c :n", attr.Number},
		{"ADD c :ss", attr.StringSet},
		{"DELETE c :ss", 0},
		{"REMOVE c", 0},
	} {
		if got := expr.Actions(update(t, tt.src))[0].Kind(); got != tt.want {
			t.Errorf("Kind of %s = %s, want %s", tt.src, got, tt.want)
		}
	}
}

func TestUpdateCreates(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want bool
	}{
		{"SET a = :s", true},
		{"ADD a :n", true},
		{"REMOVE a", false},
		{"REMOVE a DELETE b :ss", false},
		{"REMOVE a ADD b :ss", true},
	} {
		if got := expr.Creates(update(t, tt.src)); got != tt.want {
			t.Errorf("Creates of %s = %v, want %v", tt.src, got, tt.want)
		}
	}
}

func TestNilUpdate(t *testing.T) {
	var u *expr.Update
	key := parsed(t, `{"pk": {"S": "k"}}`)
	got, err := u.Apply(nil, key)
	require.NoError(t, err)
	require.True(t, got.Equal(key))
	old := parsed(t, `{"pk": {"S": "k"}, "a": {"N": "1"}}`)
	got, err = u.Apply(old, key)
	require.NoError(t, err)
	require.True(t, got.Equal(old))
	require.True(t, expr.Creates(u))
	require.Nil(t, u.Project(old))
	require.Empty(t, u.String())
	require.Empty(t, expr.Actions(u))
	require.Empty(t, slices.Collect(expr.TopLevel(u)))
	for range expr.Paths(u) {
		t.Error("a nil Update has a path")
	}
}

// TestUpdateNesting checks the limit of 32 levels, of which the last must be
// empty: dynamodb-conformance, tests/tier3/limits/nestingDepth.test.ts.
func TestUpdateNesting(t *testing.T) {
	wrap := func(n int, leaf attr.Value) attr.Value {
		for range n {
			leaf = attr.NewList(leaf)
		}
		return leaf
	}
	values := func(v attr.Value) attr.Item {
		var b attr.Builder
		b.Add(":v", v)
		return b.Item()
	}
	x := attr.NewString("leaf")
	for _, tt := range []struct {
		name, src string
		v         attr.Value
		want      bool
	}{
		{"31 and a leaf", "SET b = :v", wrap(31, x), true},
		{"31 and a long leaf", "SET b = :v", wrap(31, attr.NewString(strings.Repeat("x", 999))), true},
		{"32 and a leaf", "SET b = :v", wrap(32, x), false},
		{"32 empty", "SET b = :v", wrap(31, attr.NewList()), true},
		{"33 empty", "SET b = :v", wrap(32, attr.NewList()), false},
		{"below a map", "SET m.b = :v", wrap(30, x), true},
		{"too far below a map", "SET m.b = :v", wrap(31, x), false},
		{"below lists", "SET l[0][0][7] = :v", wrap(28, x), true},
		{"too far below lists", "SET l[0][0][7] = :v", wrap(29, x), false},
		{"appended", "SET m.b = list_append(m.el, :v)", wrap(30, x), true},
		{"too deep appended", "SET m.b = list_append(m.el, :v)", wrap(31, x), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := expr.NewEnv(expr.Params{Values: values(tt.v)})
			require.NoError(t, err)
			u, err := e.Update(tt.src)
			require.NoError(t, err)
			_, err = u.Apply(parsed(t,
				`{"pk": {"S": "k"}, "m": {"M": {"el": {"L": []}}}, "l": {"L": [{"L": [{"L": []}]}]}}`), nil)
			if tt.want {
				require.NoError(t, err)
				return
			}
			require.EqualError(t,
				err, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "+
					"beyond supported limit")
			_, ok := errors.AsType[*expr.Error](err)
			require.True(t, ok)
		})
	}
}

func TestUpdateLimits(t *testing.T) {
	sums := func(n int) string {
		var b strings.Builder
		b.WriteString("SET")
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(" z" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + "=b-c")
		}
		return b.String()
	}
	for _, tt := range []struct {
		name, src string
		want      string // in the error; "" for success
	}{
		{"empty", "", "The expression can not be empty;"},
		{"4096 bytes", "REMOVE a" + strings.Repeat(" ", 4088), ""},
		{"4097 bytes", "REMOVE a" + strings.Repeat(" ", 4089), "expression size: 4097"},
		{"300 operators", sums(300), ""},
		{"301 operators", sums(301), "operator count: 301"},
		{"32 steps", "REMOVE a" + strings.Repeat("[0]", 31), ""},
		{"33 steps", "REMOVE a" + strings.Repeat("[0]", 32), "nesting levels: 33"},
		{"index", "REMOVE a[2147483648]", "index: [2147483648]"},
		{
			"functions in functions",
			"SET a = " + strings.Repeat("if_not_exists(b,", 240) + "c" + strings.Repeat(")", 240), "",
		},
		{"only open", "SET a = " + strings.Repeat("(", 4088), "Syntax error"},
		{
			"redundant", "SET a = " + strings.Repeat("(", 2000) + "b" + strings.Repeat(")", 2000),
			"redundant parentheses",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := env(t, nil, "").Update(tt.src)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				require.ErrorContains(t, err, "Invalid UpdateExpression: ")
				return
			}
			require.NoError(t, err)
			_, err = u.Apply(parsed(t, `{"pk": {"S": "k"}, "b": {"N": "3"}, "c": {"N": "2"}}`), nil)
			if !strings.HasPrefix(tt.name, "32 steps") {
				require.NoError(t, err)
			}
		})
	}
}

// Names and values that only an update uses count as used.
func TestUpdateSharesEnv(t *testing.T) {
	e := env(t, map[string]string{"#a": "a", "#b": "b"}, `{":x": {"N": "1"}, ":y": {"N": "2"}}`)
	_, err := e.Update("SET #a = if_not_exists(#b, :x)")
	require.NoError(t, err)
	require.EqualError(t, e.Unused(), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}")
	condition(t, e, "c > :y")
	require.NoError(t, e.Unused())
}
