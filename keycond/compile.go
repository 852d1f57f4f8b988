package keycond

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// Compile turns an expression, the key condition c, into the slice that a query on s reads; use [Of] for clauses. The
// error is an [*Error]. The slice keeps the values of c.
//
// Source: DG/Query.KeyConditionExpressions.html. The messages were captured in dynalite (test/query.js) and
// conformance (queryKeyConditionOperands.test.ts, multiAttributeGsiKey.test.ts); where these differ, Compile uses the
// newer one.
func Compile(s *Schema, c *expr.Condition) (*Slice, error) {
	m := new(sliceAlloc)
	values := m.values[:0]
	var few [len(m.clauses)]Clause
	clauses, err := collect(few[:0], &values, c)
	if err != nil {
		return nil, err
	}
	if most := s.Len(); most > 1 && len(clauses) > most {
		return nil, refuse(
			"The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)",
			len(clauses), most,
		)
	}
	return m.slicing(s, clauses, m.bytes[:0])
}

// Of returns the slice of all items that meet all of the clauses; use [Compile] for an expression. The clauses may be
// in any order, at most one for each attribute. Of copies their values. It returns the errors that [Compile] returns,
// except for more clauses than the key has attributes.
func Of(s *Schema, clauses ...Clause) (*Slice, error) {
	m := new(sliceAlloc)
	r := arena(m.bytes[:0])
	values := m.values[:0]
	var few [len(m.clauses)]Clause
	copied := few[:0]
	for i, c := range clauses {
		if err := c.check(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(clauses[:i], func(o Clause) bool { return o.Attribute == c.Attribute }) {
			return nil, refuse(msgTwice)
		}
		from := len(values)
		for _, v := range c.Values {
			values = append(values, attr.MakeValue(v.Kind(), r.take(append(r, v.Raw()...))))
		}
		c.Values = values[from:len(values):len(values)]
		copied = append(copied, c)
	}

	return m.slicing(s, copied, r)
}

// slicing returns the slice that the clauses describe. It stores the bytes of the slice in the arena r.
func (m *sliceAlloc) slicing(s *Schema, clauses []Clause, r arena) (*Slice, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	sort, err := s.arrange(m.clauses[:0], clauses)
	if err != nil {
		return nil, err
	}
	for i := range sort {
		if err := s.checkOperands(s.Attribute(i), &sort[i]); err != nil {
			return nil, err
		}
	}
	slice := &m.slice
	slice.Clauses, slice.schema = sort, s
	partition, last := []byte(r), len(s.partition)-1
	for i, c := range sort[:len(s.partition)] {
		partition = appendComponent(partition, c.Values[0], i == last)
	}
	slice.Partition = r.take(partition)
	slice.Range = s.bounds(&r, sort[len(s.partition):])
	return slice, nil
}

// Clauses returns the clauses of a key condition: what the condition demands of each key attribute. An item meets the
// condition if it meets all clauses. For an expression that is not a key condition under any schema, Clauses returns
// the [*Error] that [Compile] returns. Call Clauses before you look for the table, because the service reports such
// an expression even if the table does not exist (dynalite, validations/query.js).
func Clauses(c *expr.Condition) ([]Clause, error) {
	var values []attr.Value
	return collect(nil, &values, c)
}

// sliceAlloc holds a Slice and the arrays that most slices need, so that compiling allocates once.
type sliceAlloc struct {
	slice   Slice
	clauses [2]Clause
	values  [3]attr.Value
	bytes   [96]byte
}

// arrange appends clauses to ordered, in the order of the key attributes. It returns an error if the clauses together
// do not describe one slice.
func (s *Schema) arrange(ordered, clauses []Clause) ([]Clause, error) {
	find := func(name string) *Clause {
		for i := range clauses {
			if clauses[i].Attribute == name {
				return &clauses[i]
			}
		}
		return nil
	}

	if len(s.sort) == 0 && len(s.partition) == 1 && len(clauses) > 1 {
		return nil, refuse(msgUnsupported)
	}
	var missing []string
	for _, a := range s.partition {
		c := find(a.Name)
		switch {
		case c != nil && c.Op == ast.Equal:
			ordered = append(ordered, *c)
		case len(s.partition) > 1 || len(s.sort) > 1:
			missing = append(missing, a.Name)
		case c == nil:
			return nil, refuse(msgMissed, a.Name)
		default:
			return nil, refuse(msgUnsupported)
		}
	}

	if len(missing) > 0 {
		return nil, refuse(msgEquality, strings.Join(missing, ", "))
	}
	for i, a := range s.sort {
		c := find(a.Name)
		if c == nil {
			if len(ordered) == len(clauses) {
				return ordered, nil
			}
			return nil, s.refuseGap(clauses, i)
		}
		ordered = append(ordered, *c)
		if len(ordered) == len(clauses) {
			return ordered, nil
		}
		if c.Op != ast.Equal {
			return nil, s.refuseInner(clauses, i)
		}
	}

	if len(ordered) < len(clauses) {
		return nil, refuse(msgUnsupported)
	}
	return ordered, nil
}

// refuseGap returns the error for sort key attribute i, which has no condition. At least one of the clauses is on
// neither the partition key nor the sort key attributes before i, so it may be on a later one.
func (s *Schema) refuseGap(clauses []Clause, i int) error {
	for _, later := range s.sort[i:] {
		if slices.ContainsFunc(clauses, func(c Clause) bool { return c.Attribute == later.Name }) {
			return s.refuseMissing(s.sort[i:i+1], later)
		}
	}
	return refuse(msgMissed, s.sort[i].Name)
}

// refuseInner returns the error for sort key attribute i, which has a condition other than = although it is not the
// last condition: at least one of the clauses is on neither the partition key nor the sort key attributes up to i.
func (s *Schema) refuseInner(clauses []Clause, i int) error {
	for _, later := range s.sort[i+1:] {
		if slices.ContainsFunc(clauses, func(c Clause) bool { return c.Attribute == later.Name }) {
			return s.refuseMissing(s.sort[i:i+1], later)
		}
	}
	if i+1 < len(s.sort) {
		return refuse(msgMissed, s.sort[i+1].Name)
	}
	return refuse(msgUnsupported)
}

func (s *Schema) refuseMissing(missing []Attribute, later Attribute) error {
	names := make([]string, len(missing))
	for i, a := range missing {
		names[i] = a.Name
	}
	return refuse("RANGE key attributes %s must have equality conditions specified in the query because a condition "+
		"is present on key attribute %s",
		strings.Join(names, ", "), later.Name)
}

// checkOperands refuses operands that the key attribute a cannot have as values.
func (s *Schema) checkOperands(a Attribute, c *Clause) error {
	for _, v := range c.Values {
		if v.Kind() != a.Kind {
			return refuse(
				"One or more parameter values were invalid: Condition parameter type does not match schema type",
			)
		}
		if err := s.CheckValue(a, v); err != nil {
			return err
		}
	}

	if c.Op == ast.OpBeginsWith && a.Kind == attr.Number {
		return refuse("Invalid KeyConditionExpression: Incorrect operand type for operator or function; " +
			"operator or function: begins_with, operand type: N")
	}
	if c.Op == ast.OpBetween {
		if n, _ := attr.Compare(c.Values[0], c.Values[1]); n > 0 {
			return refuse(
				"Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or "+
					"equal to lower bound; lower bound operand: AttributeValue: %v, "+
					"upper bound operand: AttributeValue: %v",
				c.Values[0], c.Values[1],
			)
		}
	}

	return nil
}
