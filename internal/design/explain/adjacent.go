package explain

import (
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// adjacentRows reads the rows just outside the range of a query.
func (e *explainer) adjacentRows() error {
	if e.opts.Brief {
		return nil
	}
	r := e.report
	for _, side := range []struct {
		below     bool
		key, item *attr.Item
		entity    *string
	}{{true, &r.Before, &r.BeforeItem, &r.BeforeEntity}, {false, &r.After, &r.AfterItem, &r.AfterEntity}} {
		item, err := e.adjacentRow(side.below)
		if err != nil {
			return err
		}
		*side.key, *side.item, *side.entity = keyOf(r.Schema, item), item, e.classify(item)
	}
	return nil
}

// adjacentRow returns the last row below the range of a query, or the first row above the range, in the same
// partition. It returns nil if there is no such row. It first looks for a row that differs from the range only in the
// attribute of the last condition. If it finds none, it drops the last condition and looks beyond the edge of the
// condition before it, and so on.
func (e *explainer) adjacentRow(below bool) (attr.Item, error) {
	hash := len(e.report.Schema.Partition())
	clauses := e.slice.Clauses
	for n := len(clauses) - 1; n >= hash; n-- {
		low, high := edges(clauses[n])
		c := keycond.Clause{Attribute: clauses[n].Attribute, Op: ast.Greater}
		at := high
		if below {
			c.Op, at = ast.Less, low
		}
		if at.open {
			continue
		}
		if !at.inclusive { // a row at the edge is outside
			c.Op += "=" // < to <=, > to >=
		}
		c.Values = []attr.Value{at.value}
		item, err := e.edgeRow(append(clauses[:n:n], c), below)
		if item != nil || err != nil {
			return item, err
		}
	}
	return nil, nil
}

// edgeRow queries a single row: the first row in the range of the clauses, or the last row if reverse is true.
func (e *explainer) edgeRow(clauses []keycond.Clause, reverse bool) (attr.Item, error) {
	b := &literal.Placeholders{Readable: true}
	q := request{op: wire.OpQuery}
	q.TableName = &e.report.Table
	if e.report.Index != "" {
		q.IndexName = &e.report.Index
	}
	if e.report.Consistent {
		q.ConsistentRead = new(true)
	}

	q.KeyConditionExpression = new(b.KeyCondition(clauses))
	q.ScanIndexForward, q.Limit = new(!reverse), new(int64(1))
	q.ExpressionAttributeNames, q.ExpressionAttributeValues = b.Names(), b.Values()
	p, err := e.ask(q)
	if refused, ok := refusalOf(err); ok {
		// The service refuses the query if the value from afterPrefix is too long for a key.
		e.note("cannot query the row outside the range: " + refused.Message)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the row outside the range: %w", err)
	}
	if len(p.items) == 0 {
		return nil, nil
	}
	return p.items[0], nil
}

// next reads the first row after the last page.
func (e *explainer) next(asked request) error {
	if e.report.Last == nil || e.opts.Brief {
		return nil
	}
	r := asked.whole()
	r.ExclusiveStartKey, r.Limit = e.report.Last, new(int64(1))
	p, err := e.ask(r)
	if err != nil {
		return err
	}
	if len(p.items) > 0 {
		e.report.Next = keyOf(e.report.Schema, p.items[0])
	}
	return nil
}
