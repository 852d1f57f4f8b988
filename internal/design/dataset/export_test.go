package dataset

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/model"
)

var Power = power

// Factor returns how many times as many rows the partitions of a table have at the declared scale, of the items
// of an entity and on average.
func (w *Dataset) Factor(ctx context.Context, e *model.Entity) (float64, error) {
	space, err := w.Space(ctx, e.Table, nil)
	if err != nil {
		return 0, err
	}
	g := w.Growth(space)
	of := w.scaling(e, g.fields(e))
	return of.then.rows / of.now.rows, nil
}

// Order returns keys, each a partition key, a position in it and what orders equal ones, in the order of an index.
func Order(list [][3]string) (ordered [][3]string) {
	var a arena
	var rows []keyedRow
	for _, k := range list {
		key := a.next()
		at := len(key)
		a[len(a)-1] = append(append(key, k[0]...), k[1]...)
		rows = append(rows, keyedRow{
			item: &Item{Values: ValuesOf(map[string]string{"tie": k[2]})},
			at:   (len(a)-1)*chunk + at, mid: uint16(len(k[0])), len: uint16(len(k[0]) + len(k[1])),
		})
	}
	tie := func(dst []byte, it *Item) []byte { return append(dst, it.Values.Get("tie")...) }
	(&sorter{a, tie}).order(rows, false)
	for i := range rows {
		r := &rows[i]
		ordered = append(ordered, [3]string{string(a.partition(r)), string(a.sort(r)), r.item.Values.Get("tie")})
	}
	return ordered
}
