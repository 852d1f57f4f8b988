package expr_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// The model is DynamoDB JSON in Go values. A value is a map[string]any with one
// member; that of an "L" is []any, and that of an "M" is map[string]any.
type value = map[string]any

// modelValue draws a value with at most the given number of levels.
func modelValue(t *proptest.T, levels int) value {
	kind := proptest.Pick(t, "N", "S", "SS", "L", "M")
	switch {
	case kind == "N" || levels == 1 && kind != "S" && kind != "SS":
		return value{"N": strconv.Itoa(t.IntN(19) - 9)}
	case kind == "S":
		return value{"S": t.Text("xyz", 0, 2)}
	case kind == "SS":
		return value{"SS": proptest.Shuffle(t, []any{"p", "q", "r"})[:t.Between(1, 3)]}
	case kind == "L":
		elems := []any{}
		for range t.Between(0, 3) {
			elems = append(elems, modelValue(t, levels-1))
		}
		return value{"L": elems}
	}
	return value{"M": modelItem(t, levels-1)}
}

func modelItem(t *proptest.T, levels int) map[string]any {
	out := map[string]any{}
	for _, name := range proptest.Shuffle(t, []string{"a", "b", "c"})[:proptest.Pick(t, 0, 1, 2, 3, 3, 3)] {
		out[name] = modelValue(t, levels)
	}
	return out
}

// A pathStep is a step of a path: a string or an int.
type pathStep any

// modelPath draws a path, usually one that exists in the item.
func modelPath(t *proptest.T, it map[string]any) []pathStep {
	path := []pathStep{t.Text("abcd", 1, 1)}
	for range t.Between(0, 3) {
		v := look(it, path)
		switch {
		case v["L"] != nil:
			path = append(path, t.Between(0, 4))
		case v["M"] != nil:
			path = append(path, t.Text("abcd", 1, 1))
		case t.Often(10):
			path = append(path, t.Between(0, 1))
		}
	}
	return path
}

// clashes reports whether one path contains the other, or requires a map where
// the other requires a list.
func clashes(a, b []pathStep) bool {
	for i := range min(len(a), len(b)) {
		if _, x := a[i].(int); a[i] != b[i] {
			_, y := b[i].(int)
			return x != y
		}
	}
	return true
}

func pathText(path []pathStep) string {
	var b strings.Builder
	for i, p := range path {
		switch p := p.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p)
		}
	}
	return b.String()
}

// look returns the value at a path of an item, or nil.
func look(it map[string]any, path []pathStep) value {
	v := value{"M": it}
	for _, p := range path {
		var next any
		switch p := p.(type) {
		case string:
			m, _ := v["M"].(map[string]any)
			next = m[p]
		case int:
			if l, _ := v["L"].([]any); p < len(l) {
				next = l[p]
			}
		}
		v, _ = next.(value)
	}
	return v
}

// A modelAction is an action: its clause and path and, for SET, the operand.
type modelAction struct {
	clause  string
	path    []pathStep
	operand string     // "value", "path", "if_not_exists", "list_append", "+", "-"
	from    []pathStep // the path that the operand reads
	v       value
}

func (a modelAction) text(name string) string {
	switch a.clause {
	case "REMOVE":
		return pathText(a.path)
	case "ADD", "DELETE":
		return pathText(a.path) + " " + name
	}
	switch a.operand {
	case "value":
		return pathText(a.path) + " = " + name
	case "path":
		return pathText(a.path) + " = " + pathText(a.from)
	case "+", "-":
		return pathText(a.path) + " = " + pathText(a.from) + a.operand + name
	}
	return pathText(a.path) + " = " + a.operand + "(" + pathText(a.from) + ", " + name + ")"
}

func modelActions(t *proptest.T, it map[string]any) []modelAction {
	var out []modelAction
	for range t.Between(1, 5) {
		a := modelAction{path: modelPath(t, it), from: modelPath(t, it), v: modelValue(t, 2)}
		a.clause = proptest.Pick(t, "SET", "SET", "REMOVE", "ADD", "DELETE")
		a.operand = proptest.Pick(t, "value", "value", "path", "if_not_exists", "list_append", "+", "-")
		fits := []string{"N", "S", "SS", "L", "M"}
		switch {
		case a.clause == "DELETE":
			fits = []string{"SS"}
		case a.clause == "ADD":
			fits = []string{"N", "SS"}
		case a.clause == "SET" && (a.operand == "+" || a.operand == "-"):
			fits = []string{"N"}
		case a.clause == "SET" && a.operand == "list_append":
			fits = []string{"L"}
		}
		for kind := range a.v {
			if !slices.Contains(fits, kind) {
				a.v = map[string]value{
					"N": {"N": "5"}, "SS": {"SS": []any{"p", "z"}}, "L": {"L": []any{value{"S": "new"}}},
				}[fits[0]]
			}
		}
		if !slices.ContainsFunc(out, func(b modelAction) bool { return clashes(a.path, b.path) }) {
			out = append(out, a)
		}
	}
	order := proptest.Shuffle(t, []string{"SET", "REMOVE", "ADD", "DELETE"})
	slices.SortStableFunc(out, func(a, b modelAction) int {
		return slices.Index(order, a.clause) - slices.Index(order, b.clause)
	})
	return out
}

const (
	modelPathError    = "The document path provided in the update expression is invalid for update"
	modelMissingError = "The provided expression refers to an attribute that does not exist in the item"
	modelOperandError = "An operand in the update expression has an incorrect data type"
)

// eval evaluates the right-hand side of a SET.
func (a modelAction) eval(it map[string]any) (value, string) {
	from := look(it, a.from)
	switch {
	case a.operand == "value", a.operand == "if_not_exists" && from == nil:
		return a.v, ""
	case from == nil:
		return nil, modelMissingError
	case a.operand == "+" || a.operand == "-":
		if from["N"] == nil {
			return nil, modelOperandError
		}
		return modelSum(from, a.v, a.operand), ""
	case a.operand == "list_append":
		if from["L"] == nil {
			return nil, modelOperandError
		}
		return value{"L": slices.Concat(from["L"].([]any), a.v["L"].([]any))}, ""
	}
	return from, ""
}

func modelSum(a, b value, op string) value {
	x, _ := strconv.Atoi(a["N"].(string))
	y, _ := strconv.Atoi(b["N"].(string))
	if op == "-" {
		y = -y
	}
	return value{"N": strconv.Itoa(x + y)}
}

// change returns the value after ADD or DELETE.
func (a modelAction) change(old value) (value, string) {
	if old == nil {
		if a.clause == "DELETE" {
			return nil, ""
		}
		return a.v, ""
	}
	for kind := range a.v {
		if old[kind] == nil {
			return nil, modelOperandError
		}
	}
	if a.v["N"] != nil {
		return modelSum(old, a.v, "+"), ""
	}
	members := slices.DeleteFunc(slices.Clone(old["SS"].([]any)), func(m any) bool {
		return slices.Contains(a.v["SS"].([]any), m)
	})
	if a.clause == "ADD" {
		members = append(members, a.v["SS"].([]any)...)
	}
	if len(members) == 0 {
		return nil, ""
	}
	return value{"SS": members}, ""
}

// modelUpdate applies a whole update to an item that exists. It changes the
// item in place; removed elements are nil until the end.
func modelUpdate(t *proptest.T, it map[string]any, actions []modelAction) string {
	results := make([]value, len(actions))
	old := clone(value{"M": it})["M"].(map[string]any)
	for i, a := range actions {
		if a.clause == "SET" {
			v, msg := a.eval(old)
			if msg != "" {
				return msg
			}
			results[i] = v
		}
	}
	for i, a := range actions {
		last := len(a.path) - 1
		parent := look(old, a.path[:last])
		if _, index := a.path[last].(int); parent == nil || index && parent["L"] == nil ||
			!index && parent["M"] == nil {
			return modelPathError
		}
		if a.clause == "ADD" || a.clause == "DELETE" {
			v, msg := a.change(look(old, a.path))
			if msg != "" {
				return msg
			}
			results[i] = v
		}
	}
	// Appended elements are sorted by their indexes.
	order := make([]int, len(actions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		x, _ := actions[i].path[len(actions[i].path)-1].(int)
		y, _ := actions[j].path[len(actions[j].path)-1].(int)
		return x - y
	})
	for _, i := range order {
		modelStore(it, actions[i].path, results[i])
	}
	compact(value{"M": it})
	return ""
}

func modelStore(it map[string]any, path []pathStep, v value) {
	last := len(path) - 1
	parent := look(it, path[:last])
	v = clone(v)
	switch p := path[last].(type) {
	case string:
		m := it
		if last > 0 {
			m = parent["M"].(map[string]any)
		}
		if v == nil {
			delete(m, p)
		} else {
			m[p] = v
		}
	case int:
		l := parent["L"].([]any)
		switch {
		case p < len(l) && v == nil:
			l[p] = nil
		case p < len(l):
			l[p] = v
		case v != nil:
			parent["L"] = append(l, v)
		}
	}
}

// compact removes the nils from lists.
func compact(v value) {
	if l, ok := v["L"].([]any); ok {
		l = slices.DeleteFunc(l, func(e any) bool { return e == nil })
		v["L"] = l
		for _, e := range l {
			compact(e.(value))
		}
	}
	if m, ok := v["M"].(map[string]any); ok {
		for e := range maps.Values(m) {
			compact(e.(value))
		}
	}
}

func clone(v value) value {
	if v == nil {
		return nil
	}
	out := value{}
	for kind, x := range v {
		switch x := x.(type) {
		case []any:
			l := []any{}
			for _, e := range x {
				if m, ok := e.(value); ok {
					e = clone(m)
				}
				l = append(l, e)
			}
			out[kind] = l
		case map[string]any:
			m := map[string]any{}
			for name, e := range x {
				m[name] = clone(e.(value))
			}
			out[kind] = m
		default:
			out[kind] = x
		}
	}
	return out
}

func modelBytes(t *proptest.T, it map[string]any) attr.Item {
	text, err := json.Marshal(it)
	require.NoError(t, err)
	out, err := attr.ParseItem(text)
	require.NoError(t, err, string(text))
	return out
}

// TestUpdateAgainstModel checks that Apply agrees with the model, and that
// Project returns the parts at the changed paths.
func TestUpdateAgainstModel(t *testing.T) {
	applied, failed := 0, 0
	proptest.Check(t, 200, func(t *proptest.T) {
		it := modelItem(t, 4)
		it["pk"] = value{"S": "k"}
		actions := modelActions(t, it)
		values := map[string]any{}
		src, clause := "", ""
		for i, a := range actions {
			name := ":v" + strconv.Itoa(i)
			if strings.Contains(a.text(name), name) {
				values[name] = a.v
			}
			if a.clause == clause {
				src += ", "
			} else {
				src, clause = src+" "+a.clause+" ", a.clause
			}
			src += a.text(name)
		}
		var valueItem attr.Item
		if len(values) > 0 {
			valueItem = modelBytes(t, values)
		}
		e, err := expr.NewEnv(expr.Params{Values: valueItem})
		require.NoError(t, err)
		u, err := e.Update(src)
		require.NoError(t, err, src)
		require.NoError(t, e.Unused())
		old := modelBytes(t, it)
		got, err := u.Apply(old, nil)
		if msg := modelUpdate(t, it, actions); msg != "" {
			require.EqualError(t, err, msg, src)
			failed++
			return
		}
		applied++
		require.NoError(t, err, src)
		want := modelBytes(t, it)
		if !got.Equal(want) {
			t.Fatalf("%s of %s = %s, want %s", src, old.AppendJSON(nil), got.AppendJSON(nil), want.AppendJSON(nil))
		}
		for _, a := range u.Actions() {
			if p := a.Path.Path; len(p) == 1 {
				require.True(t, attr.Equal(u.Project(got).Get(p[0].Name), got.Get(p[0].Name)))
			}
		}
	})
	t.Logf("%d updates applied, %d refused", applied, failed)
}
