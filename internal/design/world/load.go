package world

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/internal/table"
)

// Rates divide the declared rates of entities among the partitions of a space.
//
// Rates are spread evenly over the items of an entity, so a partition's share is in
// proportion to its items. If a component of the partition key is a time, all requests
// are for the current period: a partition has the load of its own period, with the
// share that its other components have over all periods.
type Rates struct {
	w      *World
	s      *Space
	grow   *Growth
	of     map[*model.Entity]*entityRates
	locals []*Rates // of the local indexes of a table

	once  sync.Once
	loads []unitRates // of the partitions, once asked for
}

// unitRates are read units and write units per second.
type unitRates struct{ reads, writes float64 }

// entityRates are what the rows of an entity get.
type entityRates struct {
	items  float64 // at the declared scale
	writes float64 // rows of the space, per second
	// timed is true if the partition key has a time. Fields are its other
	// components, and sums the shares of their values.
	timed  bool
	fields []string
	sums   map[string]float64
}

// Rates returns the rates of a space. Later calls return the same.
func (w *World) Rates(ctx context.Context, s *Space) (*Rates, error) {
	w.mu.Lock()
	r := s.rates
	w.mu.Unlock()
	if r != nil {
		return r, nil
	}
	r, err := w.newRates(ctx, s)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.rates == nil {
		s.rates = r
	}
	return s.rates, nil
}

func (w *World) newRates(ctx context.Context, s *Space) (*Rates, error) {
	r := &Rates{w: w, s: s, grow: w.Growth(s), of: map[*model.Entity]*entityRates{}}
	timed := false
	for _, e := range w.Model.Entities {
		if e.Table != s.Table {
			continue
		}
		o := &entityRates{items: w.Declared(e), writes: w.Model.WriteRate(e, s.Index)}
		for name := range e.ComponentsOf(s.Hash) {
			if periodic(e, s.Hash, name) {
				o.timed, o.sums = true, map[string]float64{}
			} else {
				o.fields = append(o.fields, name)
			}
		}
		slices.Sort(o.fields)
		timed = timed || o.timed
		r.of[e] = o
	}

	if timed {
		for _, p := range s.Parts {
			rows := s.In(p)
			each := r.grow.In(rows)
			for i := range rows {
				if o := r.of[rows[i].Item.Entity]; o != nil && o.timed {
					o.sums[o.group(rows[i].Item)] += each(rows[i].Item) / o.items
				}
			}
		}
	}

	if s.Index != nil {
		return r, nil
	}
	for _, x := range s.Table.Indexes {
		if !x.Local {
			continue
		}
		local, err := w.Space(ctx, s.Table, x)
		if err != nil {
			return nil, err
		}
		rates, err := w.Rates(ctx, local)
		if err != nil {
			return nil, err
		}
		r.locals = append(r.locals, rates)
	}
	return r, nil
}

// periodic reports whether a component of the partition key is a time of a
// second or more: one value is then loaded for a whole period.
func periodic(e *model.Entity, hash []model.Attribute, name string) bool {
	is := false
	for _, a := range hash {
		t := e.Attribute(a.Name)
		if t == nil || t.Template == nil {
			continue
		}
		for _, p := range t.Template.Parts() {
			if p.Name == name {
				if !slices.Contains([]string{"year", "month", "date", "time", "epoch"}, p.Type.Name) {
					return false
				}
				is = true
			}
		}
	}
	return is
}

// group returns the values of the components that are not times.
func (o *entityRates) group(it *Item) string {
	key := ""
	for _, name := range o.fields {
		key += it.Values.Get(name) + "\x00"
	}
	return key
}

// Share returns the share of an entity's requests that falls to a partition: that
// of its items, or if none were generated, one of all possible partitions, whose
// number is then among.
func (r *Rates) Share(p Part, e *model.Entity) (share, among float64) {
	n, sum := 0, 0.0
	r.rows(p, func(row *Row, share float64) {
		if row.Item.Entity == e {
			n++
			sum += share
		}
	})
	if n == 0 || r.w.made[e] > 0 {
		return sum, 0
	}
	fields := finest(e, r.s.Hash)
	maps.DeleteFunc(fields, func(f *model.Field, _ float64) bool { return periodic(e, r.s.Hash, f.Name) })
	_, among = r.w.values(e, fields)
	among = max(among, 1)
	return 1 / among, among
}

// Periodic reports whether a time is in the partition key of an entity.
func (r *Rates) Periodic(e *model.Entity) bool { o := r.of[e]; return o != nil && o.timed }

// Group names the partitions of an entity that differ from a partition in their time alone: their requests are
// those of the current one.
func (r *Rates) Group(p Part, e *model.Entity) string {
	rows := r.s.In(p)
	i := slices.IndexFunc(rows, func(row Row) bool { return row.Item.Entity == e })
	if o := r.of[e]; o != nil && i >= 0 {
		return o.group(rows[i].Item)
	}
	return ""
}

// rows calls f for each row of a partition whose entity has rates, with its
// share of them.
func (r *Rates) rows(p Part, f func(row *Row, share float64)) {
	var timed map[*model.Entity]float64 // shares of a row
	rows := r.s.In(p)
	each := r.grow.In(rows)
	for i := range rows {
		e := rows[i].Item.Entity
		o := r.of[e]
		if o == nil {
			continue
		}
		if !o.timed {
			f(&rows[i], each(rows[i].Item)/o.items)
			continue
		}
		if timed == nil {
			timed = map[*model.Entity]float64{}
		}
		if timed[e] == 0 {
			n := 0
			for k := range rows {
				if rows[k].Item.Entity == e {
					n++
				}
			}
			timed[e] = o.sums[o.group(rows[i].Item)] / float64(n)
		}

		f(&rows[i], timed[e])
	}
}

// Of returns the units per second that fall to a partition. Reads are eventually
// consistent, and 0 in an index: its reads are not declared. Writes of a table's
// partition include those of its rows in local indexes, which are stored with it.
func (r *Rates) Of(p Part) (reads, writes float64) {
	r.once.Do(func() {
		r.loads = make([]unitRates, len(r.s.Parts))
		for i, p := range r.s.Parts {
			r.loads[i].reads, r.loads[i].writes = r.unitsOf(p)
		}
	})
	i, _ := slices.BinarySearchFunc(r.s.Parts, p.From, func(p Part, from int) int { return cmp.Compare(p.From, from) })
	return r.loads[i].reads, r.loads[i].writes
}

func (r *Rates) unitsOf(p Part) (reads, writes float64) {
	r.rows(p, func(row *Row, share float64) {
		e := row.Item.Entity
		if r.s.Index == nil {
			reads += e.Reads * share * table.ReadUnits(row.Size(), false)
		}
		writes += r.of[e].writes * share * table.WriteUnits(row.Size())
	})
	for _, local := range r.locals {
		if lp, ok := local.s.Partition(r.s.PartitionOf(nil, &r.s.Rows[p.From])); ok {
			_, more := local.Of(lp)
			writes += more
		}
	}
	return reads, writes
}

// Current calls f for each row, in key order, with the row's share of its entity's
// requests at one moment. A generated item has the shares of all the declared items that
// it represents, so the shares of an entity add up to 1 if all its items have rows.
//
// If a component of the partition key is a time, the partition of the last period has
// all requests, and those of earlier periods have none.
func (r *Rates) Current(f func(row *Row, share float64)) {
	type group struct {
		e    *model.Entity
		rest string // the other components
	}

	// partitions calls visit for each row with its partition and share.
	partitions := func(visit func(p int, row *Row, g group, timed bool, share float64)) {
		for p, part := range r.s.Parts {
			rows := r.s.In(part)
			for i := range rows {
				e := rows[i].Item.Entity
				o := r.of[e]
				if o == nil {
					visit(p, &rows[i], group{}, false, 0)
					continue
				}
				g := group{e: e}
				if o.timed {
					g.rest = o.group(rows[i].Item)
				}
				visit(p, &rows[i], g, o.timed, r.w.Represents(rows[i].Item)/o.items)
			}
		}
	}

	last, all, current := map[group]int{}, map[group]float64{}, map[group]float64{}
	partitions(func(p int, _ *Row, g group, timed bool, share float64) {
		if !timed {
			return
		}
		if last[g] != p {
			last[g], current[g] = p, 0
		}
		all[g] += share
		current[g] += share
	})

	partitions(func(p int, row *Row, g group, timed bool, share float64) {
		if timed {
			if last[g] == p {
				share *= all[g] / current[g]
			} else {
				share = 0
			}
		}
		f(row, share)
	})
}
