package world

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/model"
)

var Power = power

// MaxZipf is the largest number of values of a zipf distribution.
const MaxZipf = maxZipf

// Factor returns how many times as many rows the partitions of a table have at the declared scale, of the items
// of an entity and on average.
func (w *World) Factor(ctx context.Context, e *model.Entity) (float64, error) {
	space, err := w.Space(ctx, e.Table, nil)
	if err != nil {
		return 0, err
	}
	g := w.Growth(space)
	of := w.scaling(e, g.fields(e))
	return of.then.rows / of.now.rows, nil
}

// Order returns keys, each a partition key and a position in it, in the order of a space.
func Order(list [][2]string) (ordered [][2]string) {
	var a arena
	var rows []keyedRow
	for _, k := range list {
		key := a.next()
		at := len(key)
		a[len(a)-1] = append(append(key, k[0]...), k[1]...)
		rows = append(rows, keyedRow{
			at: (len(a)-1)*chunk + at, mid: uint16(len(k[0])), len: uint16(len(k[0]) + len(k[1])),
		})
	}
	a.order(rows, false)
	for i := range rows {
		ordered = append(ordered, [2]string{string(a.partition(&rows[i])), string(a.sort(&rows[i]))})
	}
	return ordered
}
