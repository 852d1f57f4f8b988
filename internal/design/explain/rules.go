package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
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
	pageNames      = guide + "Expressions.ExpressionAttributeNames.html"
	pageValues     = guide + "Expressions.ExpressionAttributeValues.html"
	pageReserved   = guide + "ReservedWords.html"
	pageSyntax     = guide + "Expressions.OperatorsAndFunctions.html"
	pageLimits     = guide + "Constraints.html"
	pagePaging     = guide + "Query.Pagination.html"
	pageGet        = guide + "WorkingWithItems.html"
	pageTypes      = guide + "Programming.LowLevelAPI.html"
)

// A rule describes what a request breaks, and where the guide states it.
type rule struct {
	text, source string
	// kind selects the hints.
	kind ruleKind
}

type ruleKind uint8

const (
	plainRule ruleKind = iota + 1
	partitionRule
	searchRule
	valueRule // with another value, the request would be right
)

func ruleOf(kind ruleKind, source, format string, args ...any) *rule {
	return &rule{text: fmt.Sprintf(format, args...), source: source, kind: kind}
}

// brokenRule returns the first rule about key conditions that a query of s
// breaks, or nil.
func (e *explainer) brokenRule(s *keycond.Schema) *rule {
	if e.q.key == nil {
		return ruleOf(
			partitionRule, pageQuery, "a Query reads one partition, so it needs a key condition with %s",
			equalities(s.Partition()),
		)
	}

	parts := conjuncts(e.q.key.Node())
	for _, n := range parts {
		if r := brokenForm(n, s); r != nil {
			return r
		}
	}

	on := map[string][]atom{}
	for _, n := range parts {
		if a, ok := atomOf(n, anyName); ok {
			on[a.Attribute] = append(on[a.Attribute], a)
		}
	}

	if r := e.brokenPlace(s, parts, on); r != nil {
		return r
	}
	for _, a := range slices.Concat(s.Partition(), s.Sort()) {
		for _, c := range on[a.Name] {
			if r := brokenValue(s, a, c); r != nil {
				return r
			}
		}
	}

	if e.q.filter != nil {
		for name := range e.q.filter.TopLevel() {
			if s.Has(name) {
				return ruleOf(
					plainRule, pageFilter,
					"the filter of a Query must not use a key attribute of the queried table or index, "+
						"and %s is one: put conditions on it into the key condition",
					text.Name(name),
				)
			}
		}
	}
	return nil
}

func equalities(attrs []keycond.Attribute) string {
	parts := make([]string, len(attrs))
	for i, a := range attrs {
		parts[i] = text.Name(a.Name) + " = …"
	}
	return strings.Join(parts, " AND ")
}

// brokenForm returns the rule that one condition breaks by its form.
func brokenForm(n ast.Node, s *keycond.Schema) *rule {
	switch n := n.(type) {
	case *ast.Or:
		return ruleOf(
			plainRule, pageKeys,
			"a key condition is one range of one partition, so AND joins its parts: OR asks for several ranges",
		)
	case *ast.Not:
		return ruleOf(
			plainRule, pageKeys, "a key condition cannot be negated: the keys outside a range are up to two ranges",
		)
	case *ast.In:
		return ruleOf(plainRule, pageKeys, "a key condition compares with = to one value: IN asks for several ranges")
	case *ast.Compare:
		if n.Op == ast.NotEqual {
			return ruleOf(plainRule, pageKeys, "a key condition cannot use <>: all keys but one are two ranges")
		}
		return brokenOperands(n.L, n.R)
	case *ast.Between:
		return brokenOperands(n.X, n.Lo, n.Hi)
	case *ast.Call:
		switch n.Func {
		case ast.BeginsWith:
			if len(n.Args) == 2 {
				if _, ok := n.Args[0].(*ast.ValueOperand); ok {
					return ruleOf(
						plainRule, pageKeys,
						"the first argument of begins_with is the key attribute, and the second the prefix",
					)
				}
			}
			return brokenOperands(n.Args...)
		case ast.AttributeExists:
			if always(n, s) {
				return ruleOf(
					plainRule, pageKeys,
					"attribute_exists is not a range of keys: "+
						"every row has its key attributes, so the condition is always true",
				)
			}
		}
		return ruleOf(
			searchRule, pageKeys, "%s is not a key condition: the keys that satisfy it are not adjacent", n.Func,
		)
	}
	return nil
}

func brokenOperands(list ...ast.Operand) *rule {
	paths := 0
	for _, o := range list {
		switch o := o.(type) {
		case *ast.PathOperand:
			if paths++; len(o.Path) > 1 {
				return ruleOf(
					searchRule, pageKeys, "a key is a whole attribute: %s is inside one, so it cannot be a key",
					spelled.Path(o.Path),
				)
			}
		case *ast.ValueOperand:
		default:
			return ruleOf(
				searchRule, pageKeys,
				"a key condition compares the key attribute itself: a function of it sorts differently",
			)
		}
	}

	switch {
	case paths == 0:
		return ruleOf(plainRule, pageKeys, "a key condition must name a key attribute")
	case paths > 1:
		return ruleOf(
			searchRule, pageKeys,
			"a key condition compares a key attribute with a value from the request, not with another attribute",
		)
	}
	return nil
}

// brokenPlace returns the rule that the conditions break together.
func (e *explainer) brokenPlace(s *keycond.Schema, parts []ast.Node, on map[string][]atom) *rule {
	for _, n := range parts {
		a, ok := atomOf(n, anyName)
		if !ok {
			continue
		}
		switch {
		case len(on[a.Attribute]) > 1:
			return ruleOf(
				plainRule, pageKeys, "each key attribute can have only one condition, and %s has %d",
				text.Name(a.Attribute), len(on[a.Attribute]),
			)
		case s.Has(a.Attribute):
		case e.info.IsKey(a.Attribute):
			return ruleOf(
				plainRule, pageKeys,
				"%s is a key attribute of %[3]s, not of %[2]s: a key condition can use the attributes of only one key",
				text.Name(a.Attribute), placeName(s), e.keysWith(a.Attribute),
			)
		default:
			return ruleOf(
				plainRule, pageKeys,
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
				partitionRule, pageKeys,
				"a Query reads one partition, so every attribute of the partition key needs =, but %s has no condition",
				text.Name(h.Name),
			)
		case c[0].Op == ast.OpBeginsWith:
			return ruleOf(
				partitionRule, pageKeys,
				"a partition key allows only =, but %s has begins_with: "+
					"partition keys are hashed, so partitions with a common prefix are not adjacent",
				text.Name(h.Name),
			)
		case c[0].Op != ast.Equal:
			return ruleOf(
				partitionRule, pageKeys,
				"a partition key allows only =, but %s has %s: "+
					"partition keys are hashed, so partitions are not in the order of their keys",
				text.Name(h.Name), c[0].Op,
			)
		}
	}

	for i, a := range s.Sort() {
		c := on[a.Name]
		if len(c) > 0 && c[0].Op == ast.Equal {
			continue
		}
		for _, later := range s.Sort()[i+1:] {
			switch {
			case len(on[later.Name]) == 0:
			case len(c) == 0:
				return ruleOf(
					plainRule, pageMulti,
					"conditions on sort key attributes must follow their order without gaps, "+
						"but %s has a condition and %s has none",
					text.Name(later.Name), text.Name(a.Name),
				)
			default:
				return ruleOf(
					plainRule, pageMulti,
					"only the last condition on a sort key can be other than =: "+
						"with %s on %s, rows that have the same %s are not adjacent",
					c[0].Op, text.Name(a.Name), text.Name(later.Name),
				)
			}
		}
	}
	return nil
}

func placeName(s *keycond.Schema) string {
	if s.Name() == "" {
		return "the table"
	}
	return "index " + s.Name()
}

// keysWith names the keys that include an attribute.
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

// brokenValue returns the rule that a condition breaks by its values.
func brokenValue(s *keycond.Schema, a keycond.Attribute, c atom) *rule {
	if c.Op == ast.OpBeginsWith && a.Kind == attr.Number {
		return ruleOf(
			valueRule, pageKeys,
			"begins_with needs a string or binary attribute, but %s is a number: "+
				"numbers are ordered by value, so numbers with the same first digits are not adjacent",
			text.Name(a.Name),
		)
	}

	for _, v := range c.Values {
		switch {
		case v.Kind() != a.Kind:
			return ruleOf(
				valueRule, pageComponents,
				"%s is %s in the key schema, but %s is %s: values of different types are never equal",
				text.Name(a.Name), kindWord(a.Kind), text.Literal(v), kindWord(v.Kind()),
			)
		case a.Kind == attr.Number:
		case len(v.Raw()) == 0:
			return ruleOf(valueRule, pageLimits, "a key cannot be empty, so no row has this %s", text.Name(a.Name))
		case slices.Contains(s.Partition(), a) && len(v.Raw()) > keycond.MaxPartitionKeyBytes:
			return ruleOf(
				valueRule, pageLimits, "a partition key has at most %d bytes, so no row has this %s",
				keycond.MaxPartitionKeyBytes, text.Name(a.Name),
			)
		case !slices.Contains(s.Partition(), a) && len(v.Raw()) > keycond.MaxSortKeyBytes:
			return ruleOf(
				valueRule, pageLimits, "a sort key has at most %d bytes, so no row has this %s",
				keycond.MaxSortKeyBytes, text.Name(a.Name),
			)
		}
	}

	if c.Op == ast.OpBetween {
		if n, _ := attr.Compare(c.Values[0], c.Values[1]); n > 0 {
			return ruleOf(
				valueRule, pageKeys, "BETWEEN needs the lower bound first, but %s is above %s",
				text.Literal(c.Values[0]), text.Literal(c.Values[1]),
			)
		}
	}
	return nil
}
