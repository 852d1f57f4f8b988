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

// repairs are the faults of a request that are no matter of ranges. Each
// returns the rule and the request without the fault, or nil.
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

// conditions are the members that are conditions, expressions all that are
// expressions.
var (
	conditions  = []string{"KeyConditionExpression", "FilterExpression"}
	expressions = append(conditions, "ProjectionExpression")
)

// rewrite returns m with the words and signs of some of its expressions
// replaced. replace returns what to write for tokens[i] of src.
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

// repairReserved replaces reserved words in expressions by names.
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
	return ruleOf(plainRule, pageReserved, "%s %s: write #%s and say in ExpressionAttributeNames what it stands for", strings.Join(words, ", "), is, strings.Join(words, ", #")), fixed
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
	return ruleOf(plainRule, pageValues, "an expression contains no values: write a placeholder such as :v1 in place of %s and put the value into ExpressionAttributeValues", first), fixed
}

// follow reports whether the kinds are those of the first tokens.
func follow(tokens []ast.Token, kinds ...ast.TokenKind) bool {
	return len(tokens) >= len(kinds) && slices.EqualFunc(tokens[:len(kinds)], kinds, func(t ast.Token, k ast.TokenKind) bool { return t.Kind == k })
}

// repairBetween puts the bounds of a BETWEEN the right way round.
func repairBetween(_ *explainer, m members) (*rule, members) {
	values := m.item("ExpressionAttributeValues")
	var r *rule
	// swapped returns the other bound if the BETWEEN at i is the wrong way round.
	swapped := func(src string, tokens []ast.Token, i int, other int) (string, bool) {
		if i < 0 || !follow(tokens[i:], ast.TokBetween, ast.TokValue, ast.TokAnd, ast.TokValue) {
			return "", false
		}
		low, high := values.Get(tokens[i+1].Text(src)), values.Get(tokens[i+3].Text(src))
		if n, ok := attr.Compare(low, high); !ok || n <= 0 {
			return "", false
		}
		if r == nil {
			r = ruleOf(plainRule, pageKeys, "the first bound of BETWEEN is the lower one, and %s is above %s", text.Literal(low), text.Literal(high))
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

// repairPrefix makes a string of a number that begins_with has.
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
				r = ruleOf(plainRule, pageSyntax, "begins_with takes the beginning of a string or of binary data, and %s is a number", number)
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

// repairUndefined finds the placeholders that stand for nothing. If one is
// left over, it is the one that was meant.
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
			r = ruleOf(plainRule, kind.page, "%s stands in an expression and not in %s", strings.Join(missing, ", "), kind.param)
		}
		if len(missing) == 1 && len(spare) == 1 {
			defined[missing[0]] = defined[spare[0]]
			delete(defined, spare[0])
			fixed.set(kind.param, defined)
		}
	}
	return r, fixed
}

// repairUnused removes placeholders that no expression has.
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
		return ruleOf(plainRule, pageNames, "every name in ExpressionAttributeNames has to be used, and no expression has %s", strings.Join(names, ", ")), fixed
	}
	if values := unused("ExpressionAttributeValues"); values != nil {
		return ruleOf(plainRule, pageValues, "every value in ExpressionAttributeValues has to be used, and no expression has %s", strings.Join(values, ", ")), fixed
	}
	return nil, m
}

// repairIndex takes the nearest index that there is.
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
	return ruleOf(plainRule, pageIndexes, "table %s has no index %s; it has %s", e.info.name, name, strings.Join(names, ", ")), fixed
}

// repairConsistent reads a global index as it can be read.
func repairConsistent(e *explainer, m members) (*rule, members) {
	ix := e.info.index(m.text("IndexName"))
	if ix == nil || ix.local || !m.bool("ConsistentRead", false) {
		return nil, m
	}
	return ruleOf(plainRule, pageConsistent, "a global index is brought up to date after the table, so it cannot be read consistently"), m.without("ConsistentRead")
}

func repairLimit(_ *explainer, m members) (*rule, members) {
	if !m.has("Limit") || m.number("Limit") > 0 {
		return nil, m
	}
	return ruleOf(plainRule, pageQuery, "Limit is at least 1; without it a page ends after 1 MB"), m.without("Limit")
}

// repairStart leaves out a start key that is none of what is read. Whether it
// lies in the range is seen only when everything else is right.
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
	return ruleOf(plainRule, pagePaging, "an ExclusiveStartKey is the LastEvaluatedKey of the page before: it has %s and nothing else", strings.Join(names, ", ")), m.without("ExclusiveStartKey")
}

// repairProjection asks an index only for what it holds.
func repairProjection(e *explainer, m members) (*rule, members) {
	ix := e.info.index(m.text("IndexName"))
	if ix == nil || ix.local {
		return nil, m
	}
	if m.text("Select") == "ALL_ATTRIBUTES" && ix.projection != "ALL" {
		return ruleOf(plainRule, pageIndexes, "a global index returns what it holds, and index %s does not hold all attributes", ix.key.Index), m.without("Select")
	}
	q, err := m.question()
	if err != nil {
		return nil, m
	}
	if touchesCondition(q.filter, ix) {
		r := ruleOf(plainRule, pageIndexes, "a global index filters by what it holds, and index %s does not hold what the filter names", ix.key.Index)
		r.fix = "ask without the filter, then get the whole items from the table and choose in the program"
		return r, pruned(m.without("FilterExpression", "QueryFilter", "ScanFilter"))
	}
	if q.projection == nil {
		return nil, m
	}
	var missing []string
	for _, p := range q.projection.Paths {
		if !ix.holds(p[0].Name) {
			missing = append(missing, p[0].Name)
		}
	}
	if missing == nil {
		return nil, m
	}
	fixed := pruned(m.without("ProjectionExpression", "AttributesToGet"))
	if fixed.text("Select") == "SPECIFIC_ATTRIBUTES" {
		delete(fixed, "Select")
	}
	r := ruleOf(plainRule, pageIndexes, "a global index returns what it holds, and index %s does not hold %s", ix.key.Index, strings.Join(missing, ", "))
	r.fix = "ask for what the index holds, then get the rest of each item from the table"
	return r, fixed
}

func touchesCondition(c *expr.Condition, ix *indexInfo) bool {
	return c != nil && touches(c.Root, func(name string) bool { return !ix.holds(name) })
}

func pruned(m members) members {
	m.prune()
	return m
}
