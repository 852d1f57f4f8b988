package explain

import (
	"maps"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/lex"
)

// faults maps error messages to the rule that the request breaks, and to a hint about what to send instead. message
// is a part of the service's error message. The list has no messages about ranges, which brokenRule explains, and
// none that explain themselves.
var faults = []struct{ message, rule, source, hint string }{
	{
		message: "reserved keyword", source: pageReserved,
		rule: "a reserved word needs a placeholder: write # before it, and define that in ExpressionAttributeNames",
	},
	{message: "BETWEEN operator requires", source: pageKeys, rule: "BETWEEN needs the lower bound first"},
	{
		message: "Consistent reads are not supported", source: pageConsistent,
		rule: "a global index is updated after the table, so it does not support strongly consistent reads",
		hint: "leave ConsistentRead out, or read the table or a local index",
	},
	{
		message: "'Limit' failed", source: pagePaging, rule: "a Limit is the most rows that a page reads, at least 1",
		hint: "leave Limit out to read pages of up to 1 MB",
	},
	{
		message: "filter attributes", source: pageIndexes,
		rule: "a filter on an index can use only attributes that the index projects",
		hint: "project the attribute, or query without the filter and get each item from the table",
	},
	{
		message: "project", source: pageIndexes, rule: "a query on a global index returns only projected attributes",
		hint: "ask for those, then get the rest of each item from the table",
	},
	{
		message: "starting key", source: pagePaging,
		rule: "an ExclusiveStartKey is the LastEvaluatedKey of the previous page: the key attributes of the table " +
			"and of the index, and nothing else",
	},
}

// fault returns the rule that a request with this error message breaks. It returns nil if the rule is about ranges or
// the message is unknown.
func (e *explainer) fault(message string) *rule {
	if name := value(e.asked.IndexName); name != "" && e.index == nil {
		if len(e.info.Indexes) == 0 {
			return ruleOf(pageIndexes, "table %s has no indexes", e.info.Name)
		}
		var names []string
		for _, ix := range e.info.Indexes {
			names = append(names, ix.Key.Name())
		}
		return ruleOf(pageIndexes,
			"table %s has no index %s; its indexes are %s", e.info.Name, name, strings.Join(names, ", "),
		)
	}
	if word := e.asked.literal(); word != "" {
		return ruleOf(pageValues,
			"an expression cannot contain values: write a placeholder such as :v1 instead of %s and put the value "+
				"into ExpressionAttributeValues",
			word,
		)
	}
	for _, f := range faults {
		if strings.Contains(message, f.message) {
			if f.hint != "" {
				e.hint("%s", f.hint)
			}
			return ruleOf(f.source, "%s", f.rule)
		}
	}
	return nil
}

// expressions returns the expressions of a request, the conditions before the others.
func (r *request) expressions() (all []string) {
	for _, src := range []*string{r.KeyConditionExpression, r.FilterExpression, r.ProjectionExpression} {
		if src != nil {
			all = append(all, *src)
		}
	}
	return all
}

// literal returns the first literal value in the expressions of a request, or "". DynamoDB allows only placeholders
// there.
func (r *request) literal() string {
	for _, src := range r.expressions() {
		var last lex.TokenKind
		for _, t := range lex.LexLiterals(nil, src) {
			isIndex := last == lex.TokLeftBracket
			if t.Kind == lex.TokText || t.Kind == lex.TokNumber || t.Kind == lex.TokInt && !isIndex {
				return t.Text(src)
			}
			last = t.Kind
		}
	}
	return ""
}

// pruned returns r without the placeholders that no expression uses, because the service refuses a request with
// unused ones.
func (r request) pruned() request {
	used := map[string]bool{}
	for _, src := range r.expressions() {
		for _, t := range lex.LexLiterals(nil, src) {
			used[t.Text(src)] = true
		}
	}

	names := maps.Clone(r.ExpressionAttributeNames)
	maps.DeleteFunc(names, func(place, _ string) bool { return !used[place] })
	if r.ExpressionAttributeNames = names; len(names) == 0 {
		r.ExpressionAttributeNames = nil
	}
	var values attr.Builder
	for place, v := range r.ExpressionAttributeValues.All() {
		if used[string(place)] {
			values.Add(string(place), v)
		}
	}
	if r.ExpressionAttributeValues = values.Item(); r.ExpressionAttributeValues.Len() == 0 {
		r.ExpressionAttributeValues = nil
	}
	return r
}
