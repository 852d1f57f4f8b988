package explain

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/expr"
)

// repairs are the faults of a request that are no matter of ranges. Each
// returns the rule and the request without the fault, or nil.
var repairs = []func(*explainer, members) (*rule, members){
	repairReserved,
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
		text := wordOrPlaceholder.ReplaceAllStringFunc(m.text(param), func(w string) string {
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
		fixed.set(param, text)
	}
	if words == nil {
		return nil, m
	}
	fixed.set("ExpressionAttributeNames", names)
	return ruleOf(plainRule, pageReserved, "%s is a reserved word: write #%[1]s and say in ExpressionAttributeNames what it stands for", strings.Join(words, ", ")), fixed
}

func isGrammar(word string) bool {
	return slices.ContainsFunc(grammar, func(g string) bool { return g == word || strings.ToUpper(g) == g && strings.EqualFold(g, word) })
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
	if near, ok := nearest(name, names); ok {
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
		names[i] = Name(a.Name)
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
		return ruleOf(plainRule, pageIndexes, "a global index filters by what it holds, and index %s does not hold what the filter names", ix.key.Index), pruned(m.without("FilterExpression", "QueryFilter", "ScanFilter"))
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
	return ruleOf(plainRule, pageIndexes, "a global index returns what it holds, and index %s does not hold %s", ix.key.Index, strings.Join(missing, ", ")), fixed
}

func touchesCondition(c *expr.Condition, ix *indexInfo) bool {
	return c != nil && touches(c.Root, func(name string) bool { return !ix.holds(name) })
}

func pruned(m members) members {
	m.prune()
	return m
}

// nearest returns the name that is most like text, if one is like it.
func nearest(text string, names []string) (string, bool) {
	best, at := "", -1
	for _, name := range names {
		if d := distance(strings.ToLower(text), strings.ToLower(name)); at < 0 || d < at {
			best, at = name, d
		}
	}
	return best, at >= 0 && at <= max(1, len(text)/2)
}

// distance is how many bytes have to change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
