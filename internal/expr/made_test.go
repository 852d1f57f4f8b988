package expr_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// TestMadeConditions uses trees that no expression can have. They must not cause a panic.
func TestMadeConditions(t *testing.T) {
	require.Nil(t, expr.NewCondition(nil))
	require.Nil(t, expr.Node((*expr.Condition)(nil)))
	require.True(t, expr.NewCondition(nil).Match(nil))

	value := &ast.ValueOperand{Value: attr.NewString("x")}
	for _, tree := range []ast.Node{
		&ast.And{}, &ast.Or{}, &ast.Compare{}, &ast.Compare{Op: ast.Less, L: value}, &ast.Compare{L: value, R: value},
		&ast.Between{X: value}, &ast.In{}, &ast.In{X: value, List: []ast.Operand{nil}}, &ast.Call{},
		&ast.Call{Func: ast.BeginsWith}, &ast.Call{Func: ast.BeginsWith, Args: []ast.Operand{value}},
		&ast.Call{Func: ast.AttributeType, Args: []ast.Operand{value}},
		&ast.Call{Func: ast.Contains, Args: []ast.Operand{value}},
		&ast.Call{Func: "f", Args: []ast.Operand{value, value}}, &ast.Call{Func: ast.AttributeExists},
		&ast.Compare{Op: ast.Equal, L: &ast.PathOperand{}, R: value},
		&ast.Compare{Op: ast.Equal, L: &ast.SizeOperand{}, R: value},
		&ast.Compare{Op: ast.Equal, L: &ast.ValueOperand{}, R: &ast.ValueOperand{}},
	} {
		c := expr.NewCondition(tree)
		require.False(t, c.Match(parsed(t, `{"a": {"S": "x"}}`)), "%#v", tree)
		require.NotPanics(t, func() { _ = c.String() })
		for range expr.TopLevel(c) {
			t.Error("it names an attribute")
		}
	}
	require.True(t, expr.NewCondition(&ast.Not{}).Match(nil), "what makes no sense is false")
}

// TestNilPointers uses trees with nil pointers. No item matches them, and they can be walked and formatted.
func TestNilPointers(t *testing.T) {
	path := &ast.PathOperand{Path: ast.Path{{Name: "a"}}}
	value := &ast.ValueOperand{Value: attr.NewString("x")}
	equal := &ast.Compare{Op: ast.Equal, L: path, R: value}
	it := parsed(t, `{"a": {"S": "x"}}`)
	require.True(t, expr.NewCondition(equal).Match(it))
	for _, tree := range []ast.Node{
		(*ast.And)(nil), (*ast.Or)(nil), (*ast.Not)(nil), (*ast.Compare)(nil), (*ast.Between)(nil), (*ast.In)(nil),
		(*ast.Call)(nil), &ast.Or{L: equal, R: (*ast.And)(nil)}, &ast.Not{X: (*ast.Compare)(nil)},
		&ast.Compare{Op: ast.NotEqual, L: (*ast.PathOperand)(nil), R: value},
		&ast.Compare{Op: ast.NotEqual, L: path, R: (*ast.ValueOperand)(nil)},
		&ast.Compare{Op: ast.NotEqual, L: path, R: (*ast.SizeOperand)(nil)},
		&ast.Compare{Op: ast.NotEqual, L: path, R: &ast.SizeOperand{X: (*ast.PathOperand)(nil)}},
		&ast.In{X: value, List: []ast.Operand{value, (*ast.PathOperand)(nil)}},
		&ast.Call{Func: ast.AttributeExists, Args: []ast.Operand{path, (*ast.Call)(nil)}},
	} {
		c := expr.NewCondition(tree)
		require.False(t, c.Match(it), "%#v", tree)
		require.NotPanics(t, func() { _ = c.String() + ast.Format(tree) })
		require.NotEmpty(t, slices.Collect(ast.Nodes(tree)))
		_ = slices.Collect(ast.Operands(tree))
		require.Empty(t, slices.Collect(expr.TopLevel(c)))
	}
}

// TestResetAfterError checks that after a Reset with an error, an Env has no names and values.
func TestResetAfterError(t *testing.T) {
	env, err := expr.NewEnv(expr.Params{})
	require.NoError(t, err)
	require.Error(t, env.Reset(expr.Params{Values: parsed(t, `{":v": {"S": "x"}, "v": {"S": "x"}}`)}))
	_, err = env.Condition(expr.ConditionExpression, "a = :v")
	require.ErrorContains(t, err, "not defined")
	_, err = env.Condition("WHERE", strings.Repeat("(", 1<<20)+"a = b"+strings.Repeat(")", 1<<20))
	require.ErrorContains(t, err, "maximum allowed size")
}

// TestMadeUpdates uses lists of actions that no expression can have.
func TestMadeUpdates(t *testing.T) {
	at := func(path ...ast.Step) *ast.PathOperand { return &ast.PathOperand{Path: path} }
	a, b := ast.Step{Name: "a"}, ast.Step{Name: "b"}
	one, text := &ast.ValueOperand{Value: attr.NewBool(true)}, &ast.ValueOperand{Value: attr.NewString("x")}
	list := &ast.ValueOperand{Value: attr.NewList(attr.NewString("x"))}
	set := func(v ast.Operand) []ast.Action { return []ast.Action{{Clause: ast.SetClause, Path: at(a), Value: v}} }
	remove := func(path ...ast.Step) []ast.Action {
		return []ast.Action{{Clause: ast.RemoveClause, Path: at(path...)}}
	}
	for _, tt := range []struct {
		want    string
		actions []ast.Action
	}{
		{`"" is not a clause`, []ast.Action{{Path: at(a)}}},
		{`no path that an item can have`, []ast.Action{{Clause: ast.RemoveClause}}},
		{`no path that an item can have`, remove()},
		{`no path that an item can have`, remove(a, ast.Step{Index: -1})},
		{`no path that an item can have`, remove(ast.Step{Name: "\xff"})},
		{`no path that an item can have`, remove(ast.Step{Name: strings.Repeat("n", attr.MaxNameBytes+1)})},
		{`no path that an item can have`, remove(ast.Step{Name: "a", Index: 1})},
		{`no path that an item can have`, remove(ast.Step{Index: 1})},
		{`SET a cannot have this operand`, set(nil)},
		{`SET a cannot have this operand`, set((*ast.ValueOperand)(nil))},
		{`SET a cannot have this operand`, set(&ast.SizeOperand{X: text})},
		{`SET a cannot have this operand`, set(&ast.Call{Func: ast.IfNotExists})},
		{`SET a cannot have this operand`, set(&ast.Call{Func: ast.IfNotExists, Args: []ast.Operand{text, text}})},
		{`SET a cannot have this operand`, set(&ast.Arithmetic{L: one, R: one})},
		{`SET a cannot have this operand`, set(&ast.Arithmetic{
			Op: ast.Minus, L: at(b), R: &ast.Arithmetic{Op: ast.Minus, L: at(b), R: at(b)},
		})},
		{`REMOVE a cannot have this operand`, []ast.Action{{Clause: ast.RemoveClause, Path: at(a), Value: text}}},
		{`ADD a cannot have this operand`, []ast.Action{{Clause: ast.AddClause, Path: at(a), Value: text}}},
		{`ADD a cannot have this operand`, []ast.Action{{Clause: ast.AddClause, Path: at(a), Value: at(b)}}},
		{`DELETE a cannot have this operand`, []ast.Action{{Clause: ast.DeleteClause, Path: at(a), Value: list}}},
		{`Two document paths overlap with each other; must remove or rewrite one of these paths; ` +
			`path one: [a], path two: [a, b]`, append(set(text), remove(a, b)...)},
		{`conflict`, []ast.Action{
			{Clause: ast.SetClause, Path: at(a, b), Value: text},
			{Clause: ast.RemoveClause, Path: at(a, ast.Step{Index: 1})},
		}},
	} {
		_, err := expr.NewUpdate(tt.actions...)
		require.ErrorContains(t, err, tt.want)
	}

	u, err := expr.NewUpdate(ast.Action{Clause: ast.AddClause, Path: at(a), Value: list})
	require.NoError(t, err)
	after, err := u.Apply(parsed(t, `{"a": {"L": [{"S": "w"}]}}`), nil)
	require.NoError(t, err)
	require.Equal(t, `{"a":{"L":[{"S":"w"},{"S":"x"}]}}`, string(after.AppendJSON(nil)))

	none, err := expr.NewUpdate()
	require.NoError(t, err)
	for _, u := range []*expr.Update{nil, none, new(expr.Update)} {
		after, err = u.Apply(nil, parsed(t, `{"pk": {"S": "k"}}`))
		require.NoError(t, err)
		require.Equal(t, `{"pk":{"S":"k"}}`, string(after.AppendJSON(nil)))
		require.Nil(t, u.Project(after))
		require.Empty(t, u.String())
	}
}
