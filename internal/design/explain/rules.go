package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/text"

	"github.com/sortkey/sortkey/attr"
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
)

// A rule is what a request breaks and where it is stated.
type rule struct {
	text, source string
	// kind is what advice depends on.
	kind ruleKind
	// fix says what the request without the fault asks; "" is the same.
	fix string
}

// and returns the rule that r and other are broken both; either may be nil.
func (r *rule) and(other *rule) *rule {
	switch {
	case r == nil:
		return other
	case other == nil:
		return r
	}
	both := *r
	both.text += "; besides, " + other.text
	if other.fix != "" {
		both.fix = other.fix
	}
	return &both
}

type ruleKind uint8

const (
	plainRule ruleKind = iota + 1
	partitionRule
	searchRule
)

func ruleOf(kind ruleKind, source, format string, args ...any) *rule {
	return &rule{text: fmt.Sprintf(format, args...), source: source, kind: kind}
}

// broken returns the rule about key conditions that a query of s breaks first,
// nil when there is none.
func (e *explainer) broken(s *keycond.Schema) *rule {
	if e.q.key == nil {
		return ruleOf(partitionRule, pageQuery, "a Query reads one partition, so it needs a key condition with %s", equalities(s.Hash))
	}
	parts := conjuncts(e.q.key.Root)
	for _, n := range parts {
		if r := brokenForm(n, s); r != nil {
			return r
		}
	}
	always := func(string) bool { return true }
	on := map[string][]atom{}
	for _, n := range parts {
		if a, ok := atomOf(n, always); ok {
			on[a.Attribute.Name] = append(on[a.Attribute.Name], a)
		}
	}
	if r := e.brokenPlace(s, parts, on); r != nil {
		return r
	}
	for _, a := range slices.Concat(s.Hash, s.Range) {
		for _, c := range on[a.Name] {
			if r := brokenValue(s, a, c); r != nil {
				return r
			}
		}
	}
	if e.q.filter != nil {
		for name := range e.q.filter.TopLevel() {
			if s.Has(name) {
				return ruleOf(plainRule, pageFilter, "the filter of a Query may not name a key attribute of what is queried, and %s is one: conditions on it belong to the key condition", text.Name(name))
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

// brokenForm returns the rule that one condition breaks by its form alone.
func brokenForm(n ast.Node, s *keycond.Schema) *rule {
	switch n := n.(type) {
	case *ast.Or:
		return ruleOf(plainRule, pageKeys, "a key condition is one range of one partition, so its parts are joined by AND: OR asks for several ranges")
	case *ast.Not:
		return ruleOf(plainRule, pageKeys, "a key condition cannot be negated: what lies outside one range is up to two ranges")
	case *ast.In:
		return ruleOf(plainRule, pageKeys, "a key condition has one value after =: IN asks for several ranges")
	case *ast.Compare:
		if n.Op == ast.NotEqual {
			return ruleOf(plainRule, pageKeys, "a key condition cannot be <>: everything but one key is two ranges")
		}
		return brokenOperands(n.L, n.R)
	case *ast.Between:
		return brokenOperands(n.X, n.Lo, n.Hi)
	case *ast.Call:
		switch n.Func {
		case ast.BeginsWith:
			if len(n.Args) == 2 {
				if _, ok := n.Args[0].(*ast.ValueOperand); ok {
					return ruleOf(plainRule, pageKeys, "begins_with has the key attribute first and the prefix second")
				}
			}
			return brokenOperands(n.Args...)
		case ast.AttributeExists:
			if always(n, s) {
				return ruleOf(plainRule, pageKeys, "attribute_exists is no range of a key: every row has its key attributes, so it says nothing")
			}
		}
		return ruleOf(searchRule, pageKeys, "%s is no key condition: the keys for which it holds do not lie beside each other in the order", n.Func)
	}
	return nil
}

func brokenOperands(list ...ast.Operand) *rule {
	paths := 0
	for _, o := range list {
		switch o := o.(type) {
		case *ast.PathOperand:
			if paths++; len(o.Path) > 1 {
				return ruleOf(searchRule, pageKeys, "a key is a whole attribute: %s lies inside one and cannot be a key", spelled.Path(o.Path))
			}
		case *ast.ValueOperand:
		default:
			return ruleOf(searchRule, pageKeys, "a key condition compares a key attribute as it is: a function of it has another order")
		}
	}
	switch {
	case paths == 0:
		return ruleOf(plainRule, pageKeys, "a key condition names a key attribute")
	case paths > 1:
		return ruleOf(searchRule, pageKeys, "a key condition compares a key attribute to a value of the request, not to another attribute")
	}
	return nil
}

// brokenPlace returns the rule that conditions break together.
func (e *explainer) brokenPlace(s *keycond.Schema, parts []ast.Node, on map[string][]atom) *rule {
	for _, n := range parts {
		a, ok := atomOf(n, func(string) bool { return true })
		if !ok {
			continue
		}
		switch {
		case len(on[a.Attribute.Name]) > 1:
			return ruleOf(plainRule, pageKeys, "there is at most one condition on each key attribute, and %s has %d", text.Name(a.Attribute.Name), len(on[a.Attribute.Name]))
		case s.Has(a.Attribute.Name):
		case e.info.kindOf(a.Attribute.Name) != 0:
			return ruleOf(plainRule, pageKeys, "%s is no key attribute of %s but of %s: a key condition can use the attributes of one key", text.Name(a.Attribute.Name), placeName(s), e.keysWith(a.Attribute.Name))
		default:
			return ruleOf(plainRule, pageKeys, "%s is no key attribute of %s: it can only be filtered, after the rows were read and paid for", text.Name(a.Attribute.Name), placeName(s))
		}
	}
	for _, h := range s.Hash {
		c := on[h.Name]
		switch {
		case len(c) == 0:
			return ruleOf(partitionRule, pageKeys, "a Query reads one partition, so every attribute of its partition key needs =, and %s has no condition", text.Name(h.Name))
		case c[0].Op == ast.OpBeginsWith:
			return ruleOf(partitionRule, pageKeys, "a partition key takes = only: it is hashed, so partitions whose keys have a common prefix do not lie beside each other, and %s has begins_with", text.Name(h.Name))
		case c[0].Op != ast.Equal:
			return ruleOf(partitionRule, pageKeys, "a partition key takes = only: it is hashed, so partitions do not lie in the order of their keys, and %s has %s", text.Name(h.Name), c[0].Op)
		}
	}
	for i, a := range s.Range {
		c := on[a.Name]
		if len(c) > 0 && c[0].Op == ast.Equal {
			continue
		}
		for _, later := range s.Range[i+1:] {
			switch {
			case len(on[later.Name]) == 0:
			case len(c) == 0:
				return ruleOf(plainRule, pageMulti, "sort key attributes are used from the left without gaps, and %s has a condition while %s has none", text.Name(later.Name), text.Name(a.Name))
			default:
				return ruleOf(plainRule, pageMulti, "only the last condition on a sort key may be other than =: after %s on %s rows are in its order, and those with one %s do not lie together", c[0].Op, text.Name(a.Name), text.Name(later.Name))
			}
		}
	}
	return nil
}

func placeName(s *keycond.Schema) string {
	if s.Index == "" {
		return "the table"
	}
	return "index " + s.Index
}

// keysWith names the keys that an attribute is part of.
func (e *explainer) keysWith(name string) string {
	var out []string
	if e.info.key.Has(name) {
		out = append(out, "the table")
	}
	for _, ix := range e.info.indexes {
		if ix.key.Has(name) {
			out = append(out, "index "+ix.key.Index)
		}
	}
	return strings.Join(out, " and ")
}

// brokenValue returns the rule that the values of a condition break.
func brokenValue(s *keycond.Schema, a keycond.Attribute, c atom) *rule {
	if c.Op == ast.OpBeginsWith && a.Kind == attr.Number {
		return ruleOf(plainRule, pageKeys, "begins_with is for strings and binary values: numbers are in the order of their value, in which those that begin with the same digits do not lie together, and %s is a number", text.Name(a.Name))
	}
	for _, v := range c.Values {
		switch {
		case v.Kind() != a.Kind:
			return ruleOf(plainRule, pageComponents, "%s is %s in the key schema, and %s is %s: values of different types are never equal", text.Name(a.Name), kindWord(a.Kind), text.Literal(v), kindWord(v.Kind()))
		case a.Kind == attr.Number:
		case len(v.Raw()) == 0:
			return ruleOf(plainRule, pageLimits, "a key cannot be empty, so no row has the %s that is asked for", text.Name(a.Name))
		case slices.Contains(s.Hash, a) && len(v.Raw()) > keycond.MaxPartitionKeyBytes:
			return ruleOf(plainRule, pageLimits, "a partition key has at most %d bytes, so no row has the %s that is asked for", keycond.MaxPartitionKeyBytes, text.Name(a.Name))
		case !slices.Contains(s.Hash, a) && len(v.Raw()) > keycond.MaxSortKeyBytes:
			return ruleOf(plainRule, pageLimits, "a sort key has at most %d bytes, so no row has the %s that is asked for", keycond.MaxSortKeyBytes, text.Name(a.Name))
		}
	}
	if c.Op == ast.OpBetween {
		if n, _ := attr.Compare(c.Values[0], c.Values[1]); n > 0 {
			return ruleOf(plainRule, pageKeys, "the first bound of BETWEEN is the lower one, and %s is above %s", text.Literal(c.Values[0]), text.Literal(c.Values[1]))
		}
	}
	return nil
}
