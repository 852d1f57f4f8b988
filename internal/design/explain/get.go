package explain

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/table"
)

// stopKey is the reason for the end of a GetItem, in [Report.Stop].
const stopKey = "one key"

// get fills in the report on a GetItem. Its range is one key.
func (e *explainer) get(asked request, p *page) error {
	r := e.report
	key := e.asked.Key
	var equal []ast.Node
	for _, a := range r.Schema.Attributes() {
		equal = append(equal, equalTo(a.Name, key.Get(a.Name)).node)
	}

	slice, err := compile(r.Schema, expr.NewCondition(conjunction(equal)))
	if err != nil {
		return fmt.Errorf("the endpoint accepted a key that does not match the table: %w", err)
	}
	e.slice = slice
	r.bounds(slice)
	r.Pages, r.Stop = 1, stopKey
	whole := p.item
	if asked.ProjectionExpression != nil || asked.AttributesToGet != nil {
		w, err := e.ask(asked.whole())
		if err != nil {
			return err
		}
		whole = w.item
	}

	size := 0
	if whole != nil {
		size = whole.Size()
		r.Examined, r.Returned, r.Bytes = 1, 1, size
		if e.opts.Items > 0 {
			r.Items = append(r.Items, p.item)
		}
		e.row(whole, whole, size, true)
	}

	r.Strong = table.ReadUnits(size, true)
	e.compare(p, size, r.Strong)
	return e.adjacentRows()
}
