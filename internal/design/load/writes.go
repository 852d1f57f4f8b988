package load

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/wire"
)

// mostItems is the most items that a write is tried with, evenly over those of its entity.
const mostItems = 200

// A Cost is what a write pattern costs.
type Cost struct {
	// Request is that of the first item that the write was tried with.
	Request wire.Request
	// Items is the number of items that were written, and Unmet that of others that the condition
	// refuses.
	Items, Unmet int
	// First are the write units with the first item; P50 and P95 are those that half and 95 % of the
	// items do not exceed, and Worst the most.
	First, P50, P95, Worst float64
	// Spaces are the tables and indexes that the write concerns, in the order of the file.
	Spaces []Space
	// Move has more about a move, whose Items are the values that can be moved, or is nil.
	Move *Move
	// Refused is an error with which the service refuses the request, if it accepts it for no item.
	Refused *wire.Error
}

// A Space is what a write costs in a table, or in an index.
type Space struct {
	Table *model.Table
	Index *model.Index // nil for the table itself
	// Mean is the average of the write units over the items, and Worst the most.
	Mean, Worst float64
}

// Mean returns the average of the write units in all tables and indexes.
func (c *Cost) Mean() float64 {
	sum := 0.0
	for _, s := range c.Spaces {
		sum += s.Mean
	}
	return sum
}

// ErrNoItem says that the world has no item for a write.
var ErrNoItem = errors.New("no item of the model has the values in where")

// Write tries the write of a pattern. The error is an [*compile.Error] if the pattern makes no request, or
// [ErrNoItem].
func Write(ctx context.Context, w *world.World, p *model.Pattern) (*Cost, error) {
	if p.Moves() {
		return moveOf(ctx, w, p)
	}
	if err := w.Fill(ctx); err != nil {
		return nil, err
	}
	fork, err := w.DB.Fork()
	if err != nil {
		return nil, err
	}
	defer fork.Close()
	t := &trial{w: w, p: p, service: inside.Service(fork), byKey: map[*model.Entity]map[string]*world.Item{}}
	for i := range p.Writes {
		t.candidates = append(t.candidates, t.matching(&p.Writes[i]))
		if len(t.candidates[i]) == 0 {
			return nil, ErrNoItem
		}
	}

	first := t.candidates[0]
	n := min(len(first), mostItems)
	for i := range n {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if err := t.try(ctx, i*len(first)/n); err != nil {
			return nil, err
		}
	}
	if t.cost.Items > 0 {
		t.cost.Refused = nil
	}
	t.sum()
	return &t.cost, nil
}

// A trial tries the write of one pattern.
type trial struct {
	w          *world.World
	p          *model.Pattern
	service    *api.Service
	candidates [][]*world.Item // of each write
	byKey      map[*model.Entity]map[string]*world.Item
	cost       Cost
	totals     []float64 // of each item
	used       map[spaceID][]float64
}

type spaceID struct{ table, index string }

// matching returns the items that a write can concern, those of the file first. An update prefers items
// that it changes.
func (t *trial) matching(w *model.Write) []*world.Item {
	var all, changed []*world.Item
	for i := range t.w.Items {
		it := &t.w.Items[i]
		if it.Entity != w.Entity || !has(it, w.Where) {
			continue
		}
		all = append(all, it)
		if len(w.Set) > 0 && !has(it, w.Set) {
			changed = append(changed, it)
		}
	}
	if len(changed) > 0 {
		return changed
	}
	return all
}

// has reports whether an item has the values of all conditions.
func has(it *world.Item, list []model.Condition) bool {
	return !slices.ContainsFunc(list, func(c model.Condition) bool { return it.Values.Get(c.Field) != c.Args[0] })
}

// try writes one item of the first write, and those of the others that belong to it.
func (t *trial) try(ctx context.Context, at int) error {
	main := t.candidates[0][at]
	chosen := []*world.Item{main}
	items := []compile.Item{itemOf(main)}
	for i := 1; i < len(t.p.Writes); i++ {
		it := t.related(i, at, main, chosen)
		chosen, items = append(chosen, it), append(items, itemOf(it))
	}
	for i := range t.p.Writes {
		if w := &t.p.Writes[i]; w.Operation == model.Put { // a new item
			if err := t.remove(ctx, w.Entity, items[i]); err != nil {
				return err
			}
		}
	}
	in, err := compile.Write(t.p, items)
	if err != nil {
		return err
	}
	if t.cost.Request == nil {
		t.cost.Request = in
	}

	used, err := t.send(ctx, in)
	e, ok := errors.AsType[*wire.Error](err)
	switch {
	case ok && (e.Code == "ConditionalCheckFailedException" || e.Code == "TransactionCanceledException"):
		t.cost.Unmet++
		return nil
	case ok:
		t.cost.Refused = e
		return nil
	case err != nil:
		return err
	}
	if t.cost.Items == 0 {
		t.cost.Request = in
	}
	t.cost.Items++
	t.add(used)
	return nil
}

func itemOf(it *world.Item) compile.Item {
	values := map[string]string{}
	for _, f := range it.Entity.Fields {
		if v, ok := it.Values.Lookup(f.Name); ok {
			values[f.Name] = v
		}
	}
	return compile.Item{Values: values, Attributes: it.Attributes}
}

// related returns the item of another write of a transaction: the one whose key has the values of the
// first item, if there is one, or any. It is none of those chosen already, if there are others, as a
// transaction writes an item only once.
func (t *trial) related(i, at int, main *world.Item, chosen []*world.Item) *world.Item {
	w := &t.p.Writes[i]
	values := itemOf(main).Values
	for _, c := range w.Where {
		values[c.Field] = c.Args[0]
	}
	if made, err := w.Entity.Item(values); err == nil {
		if it := t.keyed(w.Entity)[keyOf(w.Entity, made)]; it != nil && !slices.Contains(chosen, it) {
			return it
		}
	}
	all := t.candidates[i]
	for k := range min(len(all), len(chosen)+1) {
		if it := all[(at+k)%len(all)]; !slices.Contains(chosen, it) {
			return it
		}
	}
	return all[at%len(all)]
}

// keyed returns the items of an entity by their keys.
func (t *trial) keyed(e *model.Entity) map[string]*world.Item {
	if all := t.byKey[e]; all != nil {
		return all
	}
	all := map[string]*world.Item{}
	for i := range t.w.Items {
		if it := &t.w.Items[i]; it.Entity == e {
			all[keyOf(e, it.Attributes)] = it
		}
	}
	t.byKey[e] = all
	return all
}

// sum computes the figures of all items.
func (t *trial) sum() {
	c := &t.cost
	if len(t.totals) == 0 {
		return
	}
	c.First = t.totals[0]
	slices.Sort(t.totals)
	rank := func(share float64) float64 {
		return t.totals[max(0, int(math.Ceil(share*float64(len(t.totals))))-1)]
	}
	c.P50, c.P95, c.Worst = rank(0.5), rank(0.95), t.totals[len(t.totals)-1]

	for _, table := range t.w.Model.Tables {
		t.space(table, nil)
		for _, x := range table.Indexes {
			t.space(table, x)
		}
	}
}

// space adds the figures of a table or an index, if the write concerns it.
func (t *trial) space(table *model.Table, x *model.Index) {
	id := spaceID{table: table.Name}
	if x != nil {
		id.index = x.Name
	}
	s := Space{Table: table, Index: x}
	for _, units := range t.used[id] {
		s.Mean += units / float64(len(t.totals))
		s.Worst = max(s.Worst, units)
	}
	if s.Worst > 0 {
		t.cost.Spaces = append(t.cost.Spaces, s)
	}
}
