package explain

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
)

// stopKey is why a GetItem ends.
const stopKey = "one key"

// get tells of a GetItem, whose range is one position.
func (e *explainer) get(asked members, p *page) error {
	r := e.report
	key := e.m.item("Key")
	s := r.Schema
	e.slice = &keycond.Slice{}
	for _, a := range s.Attributes() {
		e.slice.Clauses = append(e.slice.Clauses, keycond.Clause{Attribute: a, Op: ast.Equal, Values: []attr.Value{key.Get(a.Name)}})
	}
	e.slice.Partition, _ = s.AppendPartition(nil, key)
	if len(s.Range) > 0 {
		e.slice.Range.Lo, _ = s.AppendSort(nil, key)
		e.slice.Range.Hi = append(slices.Clip(e.slice.Range.Lo), 0)
	}
	r.bounds(s, e.slice)
	r.Pages, r.Stop = 1, stopKey
	whole := p.item
	if asked.has("ProjectionExpression") || asked.has("AttributesToGet") {
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
	return e.neighbours()
}
