package explain

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/internal/text"
)

// repairs correct the faults of a request that have nothing to do with ranges.
// Each returns the broken rule, or nil, and the corrected request.
var repairs = []func(*explainer, members) (*rule, members){
	repairLiterals,
	repairUndefined,
	repairReserved,
	repairBetween,
	repairPrefix,
	repairUnused,
	repairIndex,
	repairConsistent,
	repairLimit,
	repairStart,
	repairProjection,
}

// conditions and expressions are the members of a request that are conditions,
// and all that are expressions.
var (
	conditions  = []string{"KeyConditionExpression", "FilterExpression"}
	expressions = append(conditions, "ProjectionExpression")
)

// rewrite returns m with tokens of some of its expressions replaced. replace
// returns the replacement of tokens[i] of src.
func (m members) rewrite(params []string, replace func(src string, tokens []ast.Token, i int) string) members {
	fixed := maps.Clone(m)
	for _, param := range params {
		if m.has(param) {
			src := m.text(param)
			tokens := ast.LexLiterals(src)
			fixed.set(param, ast.Rewrite(src, tokens, func(i int) string { return replace(src, tokens, i) }))
		}
	}
	return fixed
}

// repairReserved replaces reserved words in expressions by placeholders.
func repairReserved(_ *explainer, m members) (*rule, members) {
	names := m.names("ExpressionAttributeNames")
	if names == nil {
		names = map[string]string{}
	}
	var words []string
	fixed := m.rewrite(expressions, func(src string, tokens []ast.Token, i int) string {
		w := tokens[i].Text(src)
		inPath := i > 0 && tokens[i-1].Kind == ast.TokDot || i+1 < len(tokens) && tokens[i+1].Kind == ast.TokDot
		switch tokens[i].Kind {
		case ast.TokIdent:
			if !inPath && tokens[i+1].Kind == ast.TokLeftParen {
				return w // a function
			}
		case ast.TokSet, ast.TokRemove, ast.TokAdd, ast.TokDelete:
		case ast.TokAnd, ast.TokOr, ast.TokNot, ast.TokIn, ast.TokBetween:
			if !inPath {
				return w
			}
		default:
			return w
		}
		if !expr.IsReserved(w) {
			return w
		}
		p := "#" + w
		for n := 2; names[p] != "" && names[p] != w; n++ {
			p = "#" + w + strconv.Itoa(n)
		}
		names[p] = w
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
		return p
	})
	if words == nil {
		return nil, m
	}
	fixed.set("ExpressionAttributeNames", names)
	is := "is a reserved word"
	if len(words) > 1 {
		is = "are reserved words"
	}
	return ruleOf(plainRule, pageReserved, "%s %s: write #%s instead and define it in ExpressionAttributeNames", strings.Join(words, ", "), is, strings.Join(words, ", #")), fixed
}

// repairLiterals replaces values in expressions by placeholders.
func repairLiterals(_ *explainer, m members) (*rule, members) {
	var values members
	_ = json.Unmarshal(m["ExpressionAttributeValues"], &values)
	if values == nil {
		values = members{}
	}
	first := ""
	fixed := m.rewrite(conditions, func(src string, tokens []ast.Token, i int) string {
		word := tokens[i].Text(src)
		var value attr.Value
		switch kind := tokens[i].Kind; {
		case kind == ast.TokText:
			s, err := literal.Unquote(word)
			if err != nil {
				return word
			}
			value = attr.NewString(s)
		case kind == ast.TokNumber || kind == ast.TokInt && (i == 0 || tokens[i-1].Kind != ast.TokLeftBracket):
			n, err := attr.NewNumber(word)
			if err != nil {
				return word
			}
			value = n
		default:
			return word
		}
		if first == "" {
			first = word
		}
		p := ":v1"
		for n := 2; values.has(p); n++ {
			p = ":v" + strconv.Itoa(n)
		}
		values[p] = value.AppendJSON(nil)
		return p
	})
	if first == "" {
		return nil, m
	}
	fixed.set("ExpressionAttributeValues", values)
	return ruleOf(plainRule, pageValues, "an expression cannot contain values: write a placeholder such as :v1 instead of %s and put the value into ExpressionAttributeValues", first), fixed
}

// follow reports whether tokens begin with tokens of these kinds.
func follow(tokens []ast.Token, kinds ...ast.TokenKind) bool {
	return len(tokens) >= len(kinds) && slices.EqualFunc(tokens[:len(kinds)], kinds, func(t ast.Token, k ast.TokenKind) bool { return t.Kind == k })
}

// repairBetween swaps the bounds of a BETWEEN that has the higher one first.
func repairBetween(_ *explainer, m members) (*rule, members) {
	values := m.item("ExpressionAttributeValues")
	var r *rule
	// swapped returns the other bound if the BETWEEN at i has the higher one
	// first.
	swapped := func(src string, tokens []ast.Token, i int, other int) (string, bool) {
		if i < 0 || !follow(tokens[i:], ast.TokBetween, ast.TokValue, ast.TokAnd, ast.TokValue) {
			return "", false
		}
		low, high := values.Get(tokens[i+1].Text(src)), values.Get(tokens[i+3].Text(src))
		if n, ok := attr.Compare(low, high); !ok || n <= 0 {
			return "", false
		}
		if r == nil {
			r = ruleOf(plainRule, pageKeys, "BETWEEN needs the lower bound first, but %s is above %s", text.Literal(low), text.Literal(high))
		}
		return tokens[other].Text(src), true
	}
	fixed := m.rewrite(conditions, func(src string, tokens []ast.Token, i int) string {
		if word, ok := swapped(src, tokens, i-1, i+2); ok {
			return word
		}
		if word, ok := swapped(src, tokens, i-3, i-2); ok {
			return word
		}
		return tokens[i].Text(src)
	})
	return r, fixed
}

// repairPrefix turns a number in begins_with into a string.
func repairPrefix(_ *explainer, m members) (*rule, members) {
	values := m.item("ExpressionAttributeValues")
	var all members
	_ = json.Unmarshal(m["ExpressionAttributeValues"], &all)
	var r *rule
	for _, param := range conditions {
		src := m.text(param)
		tokens := ast.LexLiterals(src)
		for i, t := range tokens {
			if t.Kind != ast.TokIdent || ast.Func(t.Text(src)) != ast.BeginsWith || !follow(tokens[i+1:], ast.TokLeftParen) {
				continue
			}
			comma := slices.IndexFunc(tokens[i:], func(t ast.Token) bool { return t.Kind == ast.TokComma })
			if comma < 0 || !follow(tokens[i+comma:], ast.TokComma, ast.TokValue, ast.TokRightParen) {
				continue
			}
			name := tokens[i+comma+1].Text(src)
			if v := values.Get(name); v.Kind() == attr.Number {
				number := string(v.AppendNumber(nil))
				all.set(name, map[string]string{"S": number})
				r = ruleOf(plainRule, pageSyntax, "begins_with needs a prefix that is a string or binary, but %s is a number", number)
			}
		}
	}
	if r == nil {
		return nil, m
	}
	fixed := maps.Clone(m)
	fixed.set("ExpressionAttributeValues", all)
	return r, fixed
}

// repairUndefined finds undefined placeholders. If one is undefined and one
// unused, they are taken for the same.
func repairUndefined(_ *explainer, m members) (*rule, members) {
	fixed, used := maps.Clone(m), m.placeholders()
	var r *rule
	for _, kind := range []struct{ sign, param, page string }{
		{"#", "ExpressionAttributeNames", pageNames}, {":", "ExpressionAttributeValues", pageValues},
	} {
		var defined members
		_ = json.Unmarshal(m[kind.param], &defined)
		var missing, spare []string
		for _, p := range slices.Sorted(maps.Keys(used)) {
			if strings.HasPrefix(p, kind.sign) && !defined.has(p) {
				missing = append(missing, p)
			}
		}
		for _, p := range slices.Sorted(maps.Keys(defined)) {
			if !used[p] {
				spare = append(spare, p)
			}
		}
		if missing == nil {
			continue
		}
		if r == nil {
			r = ruleOf(plainRule, kind.page, "%s is used in an expression but not defined in %s", strings.Join(missing, ", "), kind.param)
		}
		if len(missing) == 1 && len(spare) == 1 {
			defined[missing[0]] = defined[spare[0]]
			delete(defined, spare[0])
			fixed.set(kind.param, defined)
		}
	}
	return r, fixed
}

// repairUnused removes placeholders that no expression uses.
func repairUnused(_ *explainer, m members) (*rule, members) {
	fixed := maps.Clone(m)
	fixed.prune()
	unused := func(param string) []string {
		var before, after members
		_ = json.Unmarshal(m[param], &before)
		_ = json.Unmarshal(fixed[param], &after)
		var out []string
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if !after.has(name) {
				out = append(out, name)
			}
		}
		return out
	}
	if names := unused("ExpressionAttributeNames"); names != nil {
		return ruleOf(plainRule, pageNames, "every name in ExpressionAttributeNames must be used, but no expression uses %s", strings.Join(names, ", ")), fixed
	}
	if values := unused("ExpressionAttributeValues"); values != nil {
		return ruleOf(plainRule, pageValues, "every value in ExpressionAttributeValues must be used, but no expression uses %s", strings.Join(values, ", ")), fixed
	}
	return nil, m
}

// repairIndex replaces an unknown index by the one with the most similar name.
func repairIndex(e *explainer, m members) (*rule, members) {
	name := m.text("IndexName")
	if name == "" || e.info.index(name) != nil {
		return nil, m
	}
	var names []string
	for _, ix := range e.info.indexes {
		names = append(names, ix.key.Index)
	}
	fixed := m.without("IndexName")
	if len(names) == 0 {
		return ruleOf(plainRule, pageIndexes, "table %s has no indexes", e.info.name), fixed
	}
	if near, ok := text.Nearest(name, names); ok {
		fixed.set("IndexName", near)
	}
	return ruleOf(plainRule, pageIndexes, "table %s has no index %s; its indexes are %s", e.info.name, name, strings.Join(names, ", ")), fixed
}

// repairConsistent drops ConsistentRead from a read of a global index.
func repairConsistent(e *explainer, m members) (*rule, members) {
	ix := e.info.index(m.text("IndexName"))
	if ix == nil || ix.local || !m.flag("ConsistentRead", false) {
		return nil, m
	}
	return ruleOf(plainRule, pageConsistent, "a global index is updated after the table, so it does not support strongly consistent reads"), m.without("ConsistentRead")
}

func repairLimit(_ *explainer, m members) (*rule, members) {
	if !m.has("Limit") || m.number("Limit") > 0 {
		return nil, m
	}
	return ruleOf(plainRule, pageQuery, "Limit must be at least 1; without it, a page ends after 1 MB"), m.without("Limit")
}

// repairStart drops a start key that is not a key of the table or index.
// Whether the key is in the range is checked when everything else is correct.
func repairStart(e *explainer, m members) (*rule, members) {
	s := e.info.schema(m.text("IndexName"))
	if !m.has("ExclusiveStartKey") || s == nil {
		return nil, m
	}
	start, attrs := m.item("ExclusiveStartKey"), s.Attributes()
	wrong := start.Len() != len(attrs)
	names := make([]string, len(attrs))
	for i, a := range attrs {
		wrong = wrong || start.Get(a.Name).Kind() != a.Kind
		names[i] = text.Name(a.Name)
	}
	if !wrong {
		return nil, m
	}
	return ruleOf(plainRule, pagePaging, "an ExclusiveStartKey is the LastEvaluatedKey of the previous page: it has %s and nothing else", strings.Join(names, ", ")), m.without("ExclusiveStartKey")
}

// repairProjection drops attributes that an index does not hold.
func repairProjection(e *explainer, m members) (*rule, members) {
	ix := e.info.index(m.text("IndexName"))
	if ix == nil {
		return nil, m
	}
	q, err := m.expressions()
	if err != nil {
		return nil, m
	}
	if isQuery := m.has("KeyConditionExpression") || m.has("KeyConditions"); isQuery && q.filter != nil && touches(q.filter.Root, ix.lacks) {
		r := ruleOf(plainRule, pageIndexes, "a filter of a query on an index can use only projected attributes, and index %s does not project those of the filter", ix.key.Index)
		r.fix = "query without the filter, then get the whole items from the table and filter them in the program"
		return r, pruned(m.without("FilterExpression", "QueryFilter"))
	}
	if ix.local {
		return nil, m
	}
	if m.text("Select") == "ALL_ATTRIBUTES" && ix.projection != "ALL" {
		return ruleOf(plainRule, pageIndexes, "a query on a global index returns only projected attributes, and index %s does not project all", ix.key.Index), m.without("Select")
	}
	missing := ix.lacking(q.projection)
	if missing == nil {
		return nil, m
	}
	fixed := pruned(m.without("ProjectionExpression", "AttributesToGet"))
	if fixed.text("Select") == "SPECIFIC_ATTRIBUTES" {
		delete(fixed, "Select")
	}
	r := ruleOf(plainRule, pageIndexes, "a query on a global index returns only projected attributes, and index %s does not project %s", ix.key.Index, strings.Join(missing, ", "))
	r.fix = "query only projected attributes, then get the rest of each item from the table"
	return r, fixed
}

func pruned(m members) members {
	m.prune()
	return m
}
