package modelfile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keycond"
	"github.com/stretchr/testify/require"
)

func TestPlaceholders(t *testing.T) {
	for _, tt := range []struct{ src, want, readable string }{
		{`a = 'it''s' AND total>-1e2`, "#n1 = :v1 AND #n2>:v2", "a = :v1 AND #total>:v2"},
		{`not size(a.total[ 3 ]) != 2`, "not size(#n1.#n2[ 3 ]) <> :v1", "not size(a.#total[ 3 ]) <> :v1"},
		{"`c-d` == \"x\" or status in (true, null, \"x\")", "#n1 = :v1 or #n2 in (:v2, :v3, :v1)", "#n1 = :v1 or #status in (:v2, :v3, :v1)"},
		{`a.true = true`, "#n1.#n2 = :v1", "a.#true = :v1"},
		{`_id = 1`, "#n1 = :v1", "#_id = :v1"},
		{`a BETWEEN .5 and +5.`, "#n1 BETWEEN :v1 and :v2", "a BETWEEN :v1 and :v2"},
		{``, ``, ``},
	} {
		var l literal.Placeholders
		got, err := l.Expression(tt.src)
		if err != nil || got != tt.want {
			t.Errorf("Expression(%s) = %s, %v, want %s", tt.src, got, err, tt.want)
		}
		l = literal.Placeholders{Readable: true}
		got, err = l.Expression(tt.src)
		if err != nil || got != tt.readable {
			t.Errorf("Expression(%s), readable = %s, %v, want %s", tt.src, got, err, tt.readable)
		}
		if _, err := expr.NewEnv(expr.Params{Names: l.Names(), Values: l.Values()}); err != nil {
			t.Errorf("%s: names %v and values %s: %v", tt.src, l.Names(), l.Values().AppendJSON(nil), err)
		}
	}
}

func TestPlaceholdersUpdates(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{`SET total = total + 1, a.b[0] = if_not_exists(c, 0) -2`, "SET #total = #total + :v1, a.b[0] = if_not_exists(c, :v2) - :v3"},
		{`set n=n-1 remove x, set add tags -5`, "set n=n- :v1 remove x, #set add tags :v2"},
		{`SET set = 'x', add = a - b ADD c +5`, "SET #set = :v1, #add = a - b ADD c :v2"},
		{"REMOVE `set`, a[1]", "REMOVE #set, a[1]"},
		{`SET a = true, b = null`, "SET a = :v1, b = :v2"},
	} {
		l := literal.Placeholders{Readable: true}
		got, err := l.Update(tt.src)
		if err != nil || got != tt.want {
			t.Errorf("Update(%s) = %s, %v, want %s", tt.src, got, err, tt.want)
		}
		env, err := expr.NewEnv(expr.Params{Names: l.Names(), Values: l.Values()})
		require.NoError(t, err)
		if _, err := env.Update(got); err != nil {
			t.Errorf("%s becomes %s: %v", tt.src, got, err)
		}
	}
	for _, src := range []string{"SET a = :v", "SET a = {", "SET a = b-1e999"} {
		if got, err := new(literal.Placeholders).Update(src); err == nil {
			t.Errorf("Update(%s) = %s, want an error", src, got)
		}
	}
}

func TestPlaceholdersErrors(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{`a = :v`, "placeholders such as :v"},
		{`#a = 1`, "placeholders such as #a"},
		{`a = 'x`, "not a whole quoted text"},
		{`a = "x`, "not a whole quoted text"},
		{"`a = 1", "no closing backquote"},
		{"`` = 1", "empty attribute name"},
		{`a-b = 1`, "unexpected \"-\"\na-b = 1\n ^"},
		{`a = §`, `unexpected "§"`},
		{`a = 1e999`, "1e999"},
	} {
		var l literal.Placeholders
		_, err := l.Expression(tt.src)
		if le, ok := errors.AsType[*advice.Error](err); !ok || !strings.Contains(le.Msg, tt.want) {
			t.Errorf("Expression(%s): %v, want %s", tt.src, err, tt.want)
		}
	}
}

// TestPlaceholdersComposite tests values in brackets and braces, with a stub that ends them at the first closing one.
func TestPlaceholdersComposite(t *testing.T) {
	composite := func(src string) (attr.Value, int, error) {
		end := strings.IndexAny(src, "]}")
		if end < 0 {
			return attr.Value{}, 0, errors.New("open")
		}
		return attr.NewString(src[1:end]), end + 1, nil
	}
	l := literal.Placeholders{Readable: true, Composite: composite}
	got, err := l.Update(`SET a[0] = [x, y], b = {#} REMOVE c[1], d ADD e [z]`)
	if want := `SET a[0] = :v1, b = :v2 REMOVE c[1], d ADD e [z]`; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	got, err = l.Expression(`[x] IN (a[1], {y}) AND contains(a.b, [x])`)
	if want := `:v3 IN (a[1], :v4) AND contains(a.b, :v3)`; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, err := l.Expression("a = [x"); err == nil {
		t.Errorf("an open list is taken: %s", got)
	}
}

func TestPlaceholdersResolve(t *testing.T) {
	l := literal.Placeholders{Readable: true, Resolve: func(name string) (string, error) {
		if name == "bad" {
			return "", fmt.Errorf("no %s", name)
		}
		return "at-" + name, nil
	}}
	got, err := l.Expression("a.b = c")
	if want := "#n1.b = #n2"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if want := map[string]string{"#n1": "at-a", "#n2": "at-c"}; fmt.Sprint(l.Names()) != fmt.Sprint(want) {
		t.Errorf("names %v, want %v", l.Names(), want)
	}
	if _, err := l.Expression("bad = 1"); err == nil {
		t.Error("a name that means nothing is taken")
	}
}

func TestPlaceholdersPlaces(t *testing.T) {
	var l literal.Placeholders
	one, x := attr.NewString("1"), attr.NewString("x")
	places := []string{l.ValueLike(one, "PK"), l.ValueLike(x, "PK"), l.ValueLike(one, "SK"), l.ValueLike(attr.NewString("y"), "a-b"), l.ValueLike(one, "PK")}
	if want := []string{":PK", ":PK2", ":SK", ":v4", ":PK"}; !slices.Equal(places, want) {
		t.Errorf("places %v, want %v", places, want)
	}
}

// TestPlaceholdersTrees writes parsed expressions with new placeholders.
func TestPlaceholdersTrees(t *testing.T) {
	values, err := attr.ParseItem([]byte(`{":1":{"S":"x"},":2":{"N":"1"},":3":{"N":"9"},":4":{"S":"y"}}`))
	require.NoError(t, err)
	env, err := expr.NewEnv(expr.Params{Names: map[string]string{"#s": "status", "#o": "a-b"}, Values: values})
	require.NoError(t, err)
	c, err := env.Condition(expr.FilterExpression, "(PK = :1 AND (size(#s.#o[2]) < :2 OR NOT (#s = :4))) AND #s BETWEEN :2 AND :3")
	require.NoError(t, err)
	p := literal.Placeholders{Readable: true}
	sk := keycond.Attribute{Name: "SK", Kind: attr.Number}
	require.Equal(t, "PK = :PK AND SK BETWEEN :SK_from AND :SK_to", p.KeyCondition([]keycond.Clause{
		{Attribute: "PK", Op: ast.Equal, Values: []attr.Value{values.Get(":4")}},
		{Attribute: sk.Name, Op: ast.OpBetween, Values: []attr.Value{values.Get(":2"), values.Get(":3")}},
	}))
	require.Equal(t, "PK = :PK2 AND (size(#status.#n2[2]) < :v5 OR NOT #status = :status) AND #status BETWEEN :status2 AND :status3", p.Condition(expr.Node(c)))
	require.Equal(t, "#n2.x[1], PK", p.Projection([]ast.Path{{{Name: "a-b"}, {Name: "x"}, {Index: 1}}, {{Name: "PK"}}}))
	require.Equal(t, map[string]string{"#status": "status", "#n2": "a-b"}, p.Names())
	require.Equal(t, `{":PK":{"S":"y"},":PK2":{"S":"x"},":SK_from":{"N":"1"},":SK_to":{"N":"9"},":status":{"S":"y"},":status2":{"N":"1"},":status3":{"N":"9"},":v5":{"N":"1"}}`, string(p.Values().AppendJSON(nil)))
}

func FuzzPlaceholders(f *testing.F) {
	for _, s := range []string{"a = 'b' AND c.d[0] > 1", "`x` in (true, null)", "\"\\x\"", "a\x00b", ":v", "1e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, readable := range []bool{false, true} {
			l := literal.Placeholders{Readable: readable}
			text, err := l.Expression(src)
			if err != nil {
				continue
			}
			env, err := expr.NewEnv(expr.Params{Names: l.Names(), Values: l.Values()})
			if err != nil {
				continue
			}
			if _, err := env.Condition(expr.FilterExpression, text); err == nil {
				if err := env.Unused(); err != nil {
					t.Errorf("%q becomes %q: %v", src, text, err)
				}
			}
		}
	})
}

func TestWriteLiteral(t *testing.T) {
	values, err := attr.ParseItem([]byte(`{":v":{"S":"x y"},":n":{"N":"1e2"}}`))
	require.NoError(t, err)
	names := map[string]string{"#s": "status", "#odd": "a-b"}
	require.Equal(t, "status = \"x y\" AND `a-b` > 100 AND #unknown < :unknown",
		literal.Write("#s = :v AND #odd > :n AND #unknown < :unknown", names, values))
}

func TestCutQuoted(t *testing.T) {
	for _, tt := range []struct{ in, value, rest string }{
		{`"a\u00e9" b`, "aé", " b"}, {`'it''s'`, "it's", ""}, {`'a"b',c`, `a"b`, ",c"},
	} {
		value, rest, err := literal.CutQuoted(tt.in)
		require.NoError(t, err)
		require.Equal(t, tt.value, value)
		require.Equal(t, tt.rest, rest)
	}
	for _, in := range []string{"", "a", ` "a"`, `"a`, `"\q"`, "'a"} {
		_, _, err := literal.CutQuoted(in)
		require.Error(t, err, in)
	}
	_, err := literal.Unquote(`"a" b`)
	require.EqualError(t, err, "there is more after the closing quote:  b")
}
