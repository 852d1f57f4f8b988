package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// Pages of the developer guide that state the rules.
const (
	guide          = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
	pageKeys       = guide + "Query.KeyConditionExpressions.html"
	pageFilter     = guide + "Query.FilterExpression.html"
	pageQuery      = guide + "Query.html"
	pageMulti      = guide + "GSI.DesignPattern.MultiAttributeKeys.html"
	pageComponents = guide + "HowItWorks.CoreComponents.html"
	pageConsistent = guide + "HowItWorks.ReadConsistency.html"
	pageIndexes    = guide + "GSI.html"
	pageValues     = guide + "Expressions.ExpressionAttributeValues.html"
	pageReserved   = guide + "ReservedWords.html"
	pagePaging     = guide + "Query.Pagination.html"
	pageGet        = guide + "WorkingWithItems.html"
)

// A rule is a sentence about what the service requires. source is the page of the guide that states it.
type rule struct{ text, source string }

func ruleOf(source, format string, args ...any) *rule {
	return &rule{fmt.Sprintf(format, args...), source}
}

// brokenRule returns the first rule about key conditions that a query with the key schema s breaks, or nil. value is
// true if the form of the query is right and only a value is wrong.
func (e *explainer) brokenRule(s *keycond.Schema) (broken *rule, value bool) {
	if e.q.key == nil {
		return ruleOf(
			pageQuery, "a Query reads one partition, so it needs a key condition with %s", equalities(s.Partition()),
		), false
	}

	parts := conjuncts(expr.Node(e.q.key))
	on := map[string][]atom{}
	for _, n := range parts {
		a, ok := atomOf(n, anyName)
		if !ok {
			return brokenForm(n), false
		}
		on[a.Attribute] = append(on[a.Attribute], a)
	}
	if r := e.brokenPlace(s, parts, on); r != nil {
		return r, false
	}
	for _, a := range slices.Concat(s.Partition(), s.Sort()) {
		for _, c := range on[a.Name] {
			if r := brokenValue(a, c); r != nil {
				return r, true
			}
		}
	}

	if e.q.filter != nil {
		for name := range expr.TopLevel(e.q.filter) {
			if s.Has(name) {
				return ruleOf(
					pageFilter,
					"the filter of a Query must not use a key attribute of the queried table or index, "+
						"and %s is one: put conditions on it into the key condition",
					text.Name(name),
				), false
			}
		}
	}
	return nil, false
}

func equalities(attrs []keycond.Attribute) string {
	parts := make([]string, len(attrs))
	for i, a := range attrs {
		parts[i] = text.Name(a.Name) + " = …"
	}
	return strings.Join(parts, " AND ")
}

// brokenForm returns the rule for a condition that does not have the form of a key condition.
func brokenForm(n ast.Node) *rule {
	switch n := n.(type) {
	case *ast.Or:
		return ruleOf(
			pageKeys, "a key condition is one range of one partition, so AND joins its parts: OR asks for several "+
				"ranges",
		)
	case *ast.Not:
		return ruleOf(pageKeys, "a key condition cannot be negated: the keys outside a range are up to two ranges")
	case *ast.In:
		return ruleOf(pageKeys, "a key condition compares with = to one value: IN asks for several ranges")
	case *ast.Compare:
		if n.Op == ast.NotEqual {
			return ruleOf(pageKeys, "a key condition cannot use <>: all keys but one are two ranges")
		}
	case *ast.Call:
		if n.Func != ast.BeginsWith {
			return ruleOf(
				pageKeys, "%s is not a key condition: the keys that satisfy it are not adjacent; to find it by key, "+
					"store the value in its own attribute and make that a key of an index", n.Func,
			)
		}
	}
	return ruleOf(
		pageKeys, "a key condition compares a whole key attribute with values of the request; to find what is inside "+
			"an attribute or made from several, store it in its own attribute and make that a key of an index",
	)
}

// brokenPlace returns a rule that concerns all conditions together, such as that they must give the whole partition
// key, if the conditions break one. Otherwise, it returns nil.
func (e *explainer) brokenPlace(s *keycond.Schema, parts []ast.Node, on map[string][]atom) *rule {
	for _, n := range parts {
		a, ok := atomOf(n, anyName)
		if !ok {
			continue
		}
		switch {
		case len(on[a.Attribute]) > 1:
			return ruleOf(
				pageKeys, "each key attribute can have only one condition, and %s has %d",
				text.Name(a.Attribute), len(on[a.Attribute]),
			)
		case s.Has(a.Attribute):
		case e.info.IsKey(a.Attribute):
			return ruleOf(
				pageKeys,
				"%s is a key attribute of %[3]s, not of %[2]s: a key condition can use the attributes of only one key",
				text.Name(a.Attribute), placeName(s), e.keysWith(a.Attribute),
			)
		default:
			return ruleOf(
				pageKeys,
				"%s is not a key attribute of %s: "+
					"it can only be used in a filter, after the rows are read and paid for",
				text.Name(a.Attribute), placeName(s),
			)
		}
	}

	for _, h := range s.Partition() {
		c := on[h.Name]
		switch {
		case len(c) == 0:
			return ruleOf(
				pageKeys,
				"a Query reads one partition, so every attribute of the partition key needs =, but %s has no condition",
				text.Name(h.Name),
			)
		case c[0].Op != ast.Equal:
			why := "partitions are not in the order of their keys"
			if c[0].Op == ast.OpBeginsWith {
				why = "partitions with a common prefix are not adjacent"
			}
			return ruleOf(
				pageKeys, "a partition key allows only =, but %s has %s: partition keys are hashed, so %s",
				text.Name(h.Name), c[0].Op, why,
			)
		}
	}

	equal := true // all attributes so far have =
	for _, a := range s.Sort() {
		c := on[a.Name]
		if len(c) > 0 && !equal {
			return ruleOf(
				pageMulti,
				"conditions on sort key attributes follow their order without gaps, and only the last can be other "+
					"than =: the rows for this condition on %s are not adjacent",
				text.Name(a.Name),
			)
		}
		equal = len(c) > 0 && c[0].Op == ast.Equal
	}
	return nil
}

func placeName(s *keycond.Schema) string {
	if s.Name() == "" {
		return "the table"
	}
	return "index " + s.Name()
}

// keysWith names the table and the indexes whose key includes an attribute.
func (e *explainer) keysWith(name string) string {
	var out []string
	if e.info.Key.Has(name) {
		out = append(out, "the table")
	}
	for _, ix := range e.info.Indexes {
		if ix.Key.Has(name) {
			out = append(out, "index "+ix.Key.Name())
		}
	}
	return strings.Join(out, " and ")
}

// brokenValue returns the rule that the values of a condition break, or nil.
func brokenValue(a keycond.Attribute, c atom) *rule {
	if c.Op == ast.OpBeginsWith && a.Kind == attr.Number {
		return ruleOf(
			pageKeys,
			"begins_with needs a string or binary attribute, but %s is a number: "+
				"numbers are ordered by value, so numbers with the same first digits are not adjacent",
			text.Name(a.Name),
		)
	}
	for _, v := range c.Values {
		if v.Kind() != a.Kind {
			return ruleOf(
				pageComponents,
				"%s is %s in the key schema, but %s is %s: values of different types are never equal",
				text.Name(a.Name), kindWord(a.Kind), text.Literal(v), kindWord(v.Kind()),
			)
		}
	}
	return nil
}
