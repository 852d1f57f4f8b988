package explain

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"regexp"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
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

var wordOrPlaceholder = regexp.MustCompile(`[#:]?[A-Za-z_][A-Za-z0-9_]*`)

var grammar = []string{
	"AND", "OR", "NOT", "IN", "BETWEEN",
	"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size",
}

// repairReserved replaces reserved words in expressions by names.
func repairReserved(_ *explainer, m members) (*rule, members) {
	fixed := maps.Clone(m)
	names := m.names("ExpressionAttributeNames")
	if names == nil {
		names = map[string]string{}
	}
	var words []string
	for _, param := range []string{"KeyConditionExpression", "FilterExpression", "ProjectionExpression"} {
		if !m.has(param) {
			continue
		}
		rewritten := wordOrPlaceholder.ReplaceAllStringFunc(m.text(param), func(w string) string {
			if w[0] == '#' || w[0] == ':' || isGrammar(w) || !expr.IsReserved(w) {
				return w
			}
			p := "#" + w
			for n := 2; names[p] != "" && names[p] != w; n++ {
				p = "#" + numbered(w, n)
			}
			names[p] = w
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
			return p
		})
		fixed.set(param, rewritten)
	}
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

func isGrammar(word string) bool {
	return slices.ContainsFunc(grammar, func(g string) bool { return g == word || strings.ToUpper(g) == g && strings.EqualFold(g, word) })
}

// literals are the texts in quotes and the numbers that stand where a value
// may; what comes before them is the first group.
var literals = regexp.MustCompile(`([=<>(,]\s*|(?i:\bBETWEEN|\bAND)\s+)("(?:[^"\\]|\\.)*"|'(?:[^']|\'\')*'|[+-]?\d+(?:\.\d+)?\b)`)

// repairLiterals replaces values in expressions by placeholders.
func repairLiterals(_ *explainer, m members) (*rule, members) {
	fixed := maps.Clone(m)
	var values members
	_ = json.Unmarshal(m["ExpressionAttributeValues"], &values)
	if values == nil {
		values = members{}
	}
	first := ""
	for _, param := range []string{"KeyConditionExpression", "FilterExpression"} {
		if !m.has(param) {
			continue
		}
		fixed.set(param, literals.ReplaceAllStringFunc(m.text(param), func(match string) string {
			parts := literals.FindStringSubmatch(match)
			found := parts[2]
			if first == "" {
				first = found
			}
			value := map[string]string{"N": found}
			switch found[0] {
			case '"':
				s, err := strconv.Unquote(found)
				if err != nil {
					s = strings.Trim(found, "\"")
				}
				value = map[string]string{"S": s}
			case '\'':
				value = map[string]string{"S": strings.ReplaceAll(found[1:len(found)-1], "''", "'")}
			}
			p := ":v1"
			for n := 2; values.has(p); n++ {
				p = ":v" + strconv.Itoa(n)
			}
			values.set(p, value)
			return parts[1] + p
		}))
	}
	if first == "" {
		return nil, m
	}
	fixed.set("ExpressionAttributeValues", values)
	return ruleOf(plainRule, pageValues, "an expression has no values in it: write a placeholder such as :v1 in place of %s and put the value into ExpressionAttributeValues", first), fixed
}

var (
	betweens = regexp.MustCompile(`(?i:\bBETWEEN)\s+(:\w+)\s+(?i:AND)\s+(:\w+)`)
	prefixes = regexp.MustCompile(`\bbegins_with\s*\(\s*([\w#]+)\s*,\s*(:\w+)\s*\)`)
)

// repairBetween puts the bounds of a BETWEEN the right way round.
func repairBetween(_ *explainer, m members) (*rule, members) {
	values, fixed := m.item("ExpressionAttributeValues"), maps.Clone(m)
	var r *rule
	for _, param := range []string{"KeyConditionExpression", "FilterExpression"} {
		if !m.has(param) {
			continue
		}
		fixed.set(param, betweens.ReplaceAllStringFunc(m.text(param), func(found string) string {
			parts := betweens.FindStringSubmatch(found)
			low, high := values.Get(parts[1]), values.Get(parts[2])
			if n, ok := attr.Compare(low, high); !ok || n <= 0 {
				return found
			}
			if r == nil {
				r = ruleOf(plainRule, pageKeys, "the first bound of BETWEEN is the lower one, and %s is above %s", text.Literal(low), text.Literal(high))
			}
			return "BETWEEN " + parts[2] + " AND " + parts[1]
		}))
	}
	return r, fixed
}

// repairPrefix makes a string of a number that begins_with has.
func repairPrefix(_ *explainer, m members) (*rule, members) {
	values := m.item("ExpressionAttributeValues")
	var all members
	_ = json.Unmarshal(m["ExpressionAttributeValues"], &all)
	var r *rule
	for _, param := range []string{"KeyConditionExpression", "FilterExpression"} {
		for _, parts := range prefixes.FindAllStringSubmatch(m.text(param), -1) {
			v := values.Get(parts[2])
			if v.Kind() != attr.Number {
				continue
			}
			number := string(v.AppendNumber(nil))
			all.set(parts[2], map[string]string{"S": number})
			r = ruleOf(plainRule, pageSyntax, "begins_with takes the beginning of a string or of binary data, and %s is a number", number)
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
	fixed := maps.Clone(m)
	var r *rule
	for _, kind := range []struct{ sign, param, page string }{
		{"#", "ExpressionAttributeNames", pageNames}, {":", "ExpressionAttributeValues", pageValues},
	} {
		var defined members
		_ = json.Unmarshal(m[kind.param], &defined)
		used := map[string]bool{}
		for _, param := range []string{"KeyConditionExpression", "FilterExpression", "ProjectionExpression"} {
			for _, p := range placeholder.FindAllString(m.text(param), -1) {
				if strings.HasPrefix(p, kind.sign) {
					used[p] = true
				}
			}
		}
		var missing, spare []string
		for _, p := range slices.Sorted(maps.Keys(used)) {
			if !defined.has(p) {
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
