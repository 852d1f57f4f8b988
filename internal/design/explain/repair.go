package explain

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/internal/text"
)

// A repair corrects a fault of a request that has nothing to do with ranges. It returns
// the broken rule, or nil, and the corrected request.
type repair func(*explainer, request) (*rule, request)

var repairs = []repair{
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

// rewrite replaces tokens of some expressions. replace returns the replacement of
// tokens[i] of src.
func rewrite(expressions []**string, replace func(src string, tokens []lex.Token, i int) string) {
	for _, member := range expressions {
		if *member == nil {
			continue
		}
		src := **member
		tokens := lex.LexLiterals(nil, src)
		*member = new(lex.Rewrite(src, tokens, func(i int) string { return replace(src, tokens, i) }))
	}
}

// repairReserved replaces reserved words in expressions by placeholders.
func repairReserved(_ *explainer, r request) (*rule, request) {
	fixed, names := r, map[string]string{}
	maps.Copy(names, r.ExpressionAttributeNames)
	var words []string
	rewrite(fixed.expressions(), func(src string, tokens []lex.Token, i int) string {
		w := tokens[i].Text(src)
		inPath := i > 0 && tokens[i-1].Kind == lex.TokDot || i+1 < len(tokens) && tokens[i+1].Kind == lex.TokDot
		switch tokens[i].Kind {
		case lex.TokIdent:
			if !inPath && tokens[i+1].Kind == lex.TokLeftParen {
				return w // a function
			}
		case lex.TokSet, lex.TokRemove, lex.TokAdd, lex.TokDelete:
		case lex.TokAnd, lex.TokOr, lex.TokNot, lex.TokIn, lex.TokBetween:
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
		return nil, r
	}

	fixed.ExpressionAttributeNames = names
	is := "is a reserved word"
	if len(words) > 1 {
		is = "are reserved words"
	}

	return ruleOf(plainRule, pageReserved,
		"%s %s: write #%s instead and define it in ExpressionAttributeNames",
		strings.Join(words, ", "), is, strings.Join(words, ", #"),
	), fixed
}

// repairLiterals replaces values in expressions by placeholders.
func repairLiterals(_ *explainer, r request) (*rule, request) {
	fixed, values := r, valuesOf(r.ExpressionAttributeValues)
	first := ""
	rewrite(fixed.conditions(), func(src string, tokens []lex.Token, i int) string {
		word := tokens[i].Text(src)
		var value attr.Value
		kind := tokens[i].Kind
		switch {
		case kind == lex.TokText:
			s, err := literal.Unquote(word)
			if err != nil {
				return word
			}
			value = attr.NewString(s)
		case kind == lex.TokNumber || kind == lex.TokInt && (i == 0 || tokens[i-1].Kind != lex.TokLeftBracket):
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
		for n := 2; !values[p].IsZero(); n++ {
			p = ":v" + strconv.Itoa(n)
		}
		values[p] = value
		return p
	})
	if first == "" {
		return nil, r
	}

	fixed.ExpressionAttributeValues = itemOf(values)
	return ruleOf(plainRule, pageValues,
		"an expression cannot contain values: write a placeholder such as :v1 instead of %s and put the value "+
			"into ExpressionAttributeValues",
		first,
	), fixed
}

// follow reports whether tokens begin with tokens of these kinds.
func follow(tokens []lex.Token, kinds ...lex.TokenKind) bool {
	return len(tokens) >= len(kinds) &&
		slices.EqualFunc(tokens[:len(kinds)], kinds, func(t lex.Token, k lex.TokenKind) bool { return t.Kind == k })
}

// repairBetween swaps the bounds of a BETWEEN that has the higher one first.
func repairBetween(_ *explainer, r request) (*rule, request) {
	fixed, values := r, r.ExpressionAttributeValues
	var broken *rule
	// swapped returns the other bound if the BETWEEN at i has the higher one
	// first.
	swapped := func(src string, tokens []lex.Token, i int, other int) (string, bool) {
		if i < 0 || !follow(tokens[i:], lex.TokBetween, lex.TokValue, lex.TokAnd, lex.TokValue) {
			return "", false
		}
		low, high := values.Get(tokens[i+1].Text(src)), values.Get(tokens[i+3].Text(src))
		if n, ok := attr.Compare(low, high); !ok || n <= 0 {
			return "", false
		}
		if broken == nil {
			broken = ruleOf(plainRule, pageKeys,
				"BETWEEN needs the lower bound first, but %s is above %s",
				text.Literal(low), text.Literal(high),
			)
		}
		return tokens[other].Text(src), true
	}
	rewrite(fixed.conditions(), func(src string, tokens []lex.Token, i int) string {
		if word, ok := swapped(src, tokens, i-1, i+2); ok {
			return word
		}
		if word, ok := swapped(src, tokens, i-3, i-2); ok {
			return word
		}
		return tokens[i].Text(src)
	})
	return broken, fixed
}

// repairPrefix turns a number in begins_with into a string.
func repairPrefix(_ *explainer, r request) (*rule, request) {
	values := valuesOf(r.ExpressionAttributeValues)
	var broken *rule
	for _, member := range r.conditions() {
		src := value(*member)
		tokens := lex.LexLiterals(nil, src)
		for i, t := range tokens {
			if t.Kind != lex.TokIdent || ast.Func(t.Text(src)) != ast.BeginsWith ||
				!follow(tokens[i+1:], lex.TokLeftParen) {
				continue
			}
			comma := slices.IndexFunc(tokens[i:], func(t lex.Token) bool { return t.Kind == lex.TokComma })
			if comma < 0 || !follow(tokens[i+comma:], lex.TokComma, lex.TokValue, lex.TokRightParen) {
				continue
			}
			name := tokens[i+comma+1].Text(src)
			if v := values[name]; v.Kind() == attr.Number {
				number := string(v.AppendNumber(nil))
				values[name] = attr.NewString(number)
				broken = ruleOf(plainRule, pageSyntax,
					"begins_with needs a prefix that is a string or binary, but %s is a number",
					number,
				)
			}
		}
	}
	if broken != nil {
		r.ExpressionAttributeValues = itemOf(values)
	}
	return broken, r
}

// repairUndefined finds undefined placeholders. If one is undefined and one
// unused, they are taken for the same.
func repairUndefined(_ *explainer, r request) (*rule, request) {
	used := r.placeholders()
	values := valuesOf(r.ExpressionAttributeValues)
	missing, spare := undefined(used, "#", r.ExpressionAttributeNames)
	missingValues, spareValues := undefined(used, ":", values)

	var broken *rule
	switch {
	case missing != nil:
		broken = undefinedRule(pageNames, missing, "ExpressionAttributeNames")
	case missingValues != nil:
		broken = undefinedRule(pageValues, missingValues, "ExpressionAttributeValues")
	}
	if len(missing) == 1 && len(spare) == 1 {
		names := maps.Clone(r.ExpressionAttributeNames)
		rename(names, spare[0], missing[0])
		r.ExpressionAttributeNames = names
	}
	if len(missingValues) == 1 && len(spareValues) == 1 {
		rename(values, spareValues[0], missingValues[0])
		r.ExpressionAttributeValues = itemOf(values)
	}
	return broken, r
}

// undefined returns the used placeholders with a sign that are not defined, and the
// defined ones that are not used.
func undefined[T any](used map[string]bool, sign string, defined map[string]T) (missing, spare []string) {
	for _, p := range slices.Sorted(maps.Keys(used)) {
		if _, ok := defined[p]; !ok && strings.HasPrefix(p, sign) {
			missing = append(missing, p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(defined)) {
		if !used[p] {
			spare = append(spare, p)
		}
	}
	return missing, spare
}

func undefinedRule(page string, missing []string, param string) *rule {
	return ruleOf(plainRule, page,
		"%s is used in an expression but not defined in %s",
		strings.Join(missing, ", "), param,
	)
}

func rename[T any](defined map[string]T, from, to string) {
	defined[to] = defined[from]
	delete(defined, from)
}

// repairUnused removes placeholders that no expression uses.
func repairUnused(_ *explainer, r request) (*rule, request) {
	used := r.placeholders()
	if _, unused := undefined(used, "#", r.ExpressionAttributeNames); unused != nil {
		return ruleOf(plainRule, pageNames,
			"every name in ExpressionAttributeNames must be used, but no expression uses %s",
			strings.Join(unused, ", "),
		), r.pruned()
	}
	if _, unused := undefined(used, ":", valuesOf(r.ExpressionAttributeValues)); unused != nil {
		return ruleOf(plainRule, pageValues,
			"every value in ExpressionAttributeValues must be used, but no expression uses %s",
			strings.Join(unused, ", "),
		), r.pruned()
	}
	return nil, r
}

// repairIndex replaces an unknown index by the one with the most similar name.
func repairIndex(e *explainer, r request) (*rule, request) {
	name := value(r.IndexName)
	if name == "" || e.info.Index(name) != nil {
		return nil, r
	}
	var names []string
	for _, ix := range e.info.Indexes {
		names = append(names, ix.Key.Name())
	}
	r.IndexName = nil
	if len(names) == 0 {
		return ruleOf(plainRule, pageIndexes, "table %s has no indexes", e.info.Name), r
	}
	if near, ok := text.Nearest(name, names); ok {
		r.IndexName = &near
	}
	return ruleOf(plainRule, pageIndexes,
		"table %s has no index %s; its indexes are %s",
		e.info.Name, name, strings.Join(names, ", "),
	), r
}

// repairConsistent drops ConsistentRead from a read of a global index.
func repairConsistent(e *explainer, r request) (*rule, request) {
	ix := e.info.Index(value(r.IndexName))
	if ix == nil || ix.Local || !value(r.ConsistentRead) {
		return nil, r
	}
	r.ConsistentRead = nil
	return ruleOf(plainRule, pageConsistent,
		"a global index is updated after the table, so it does not support strongly consistent reads",
	), r
}

func repairLimit(_ *explainer, r request) (*rule, request) {
	if r.Limit == nil || *r.Limit > 0 {
		return nil, r
	}
	r.Limit = nil
	return ruleOf(plainRule, pageQuery, "Limit must be at least 1; without it, a page ends after 1 MB"), r
}

// repairStart drops a start key that is not a key of the table or index.
// Whether the key is in the range is checked when everything else is correct.
func repairStart(e *explainer, r request) (*rule, request) {
	s := e.info.Schema(value(r.IndexName))
	if r.ExclusiveStartKey == nil || s == nil {
		return nil, r
	}
	start, attrs := r.ExclusiveStartKey, s.Attributes()
	wrong := start.Len() != len(attrs)
	names := make([]string, len(attrs))
	for i, a := range attrs {
		wrong = wrong || start.Get(a.Name).Kind() != a.Kind
		names[i] = text.Name(a.Name)
	}
	if !wrong {
		return nil, r
	}
	r.ExclusiveStartKey = nil
	return ruleOf(plainRule, pagePaging,
		"an ExclusiveStartKey is the LastEvaluatedKey of the previous page: it has %s and nothing else",
		strings.Join(names, ", "),
	), r
}

// repairProjection drops attributes that an index does not hold.
func repairProjection(e *explainer, r request) (*rule, request) {
	ix := e.info.Index(value(r.IndexName))
	if ix == nil {
		return nil, r
	}
	q, err := r.parse()
	if err != nil {
		return nil, r
	}
	isQuery := r.KeyConditionExpression != nil || r.KeyConditions != nil
	if isQuery && q.filter != nil && touches(q.filter.Node(), ix.Lacks) {
		broken := ruleOf(plainRule, pageIndexes,
			"a filter of a query on an index can use only projected attributes, and index %s does not project "+
				"those of the filter",
			ix.Key.Name(),
		)
		broken.fix = "query without the filter, then get the whole items from the table and filter them in the program"
		r.FilterExpression, r.QueryFilter = nil, nil
		return broken, r.pruned()
	}
	if ix.Local {
		return nil, r
	}

	if value(r.Select) == "ALL_ATTRIBUTES" && ix.Projection != "ALL" {
		r.Select = nil
		return ruleOf(plainRule, pageIndexes,
			"a query on a global index returns only projected attributes, and index %s does not project all",
			ix.Key.Name(),
		), r
	}
	missing := lacking(ix, q.projection)
	if missing == nil {
		return nil, r
	}
	r.ProjectionExpression, r.AttributesToGet = nil, nil
	if value(r.Select) == "SPECIFIC_ATTRIBUTES" {
		r.Select = nil
	}
	broken := ruleOf(plainRule, pageIndexes,
		"a query on a global index returns only projected attributes, and index %s does not project %s",
		ix.Key.Name(), strings.Join(missing, ", "),
	)
	broken.fix = "query only projected attributes, then get the rest of each item from the table"
	return broken, r.pruned()
}
