package load

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// rates divides the requests for the items of each entity among the partitions of a space.
//
// Every item of an entity gets equally many requests, so a partition's share of the requests equals its share of the
// items. It is different if the partition key contains a time: all requests then go to the partitions of the current
// period. For such a key, rates gives each partition the share that it has during its own period. This is the share
// of all items, of any period, that equal the partition's items in the other components of the key.
type rates struct {
	w    *dataset.Dataset
	s    *dataset.Space
	grow *dataset.Growth
	of   map[*model.Entity]*entityRates
}

// entityRates divides the requests for one entity's items among partitions.
type entityRates struct {
	items float64 // number at the declared scale
	// timed is true if the partition key contains a time. fields are the key's other components. sums has the share
	// of requests for each combination of their values.
	timed  bool
	fields []string
	sums   map[string]float64
}

func newRates(w *dataset.Dataset, s *dataset.Space) *rates {
	r := &rates{w: w, s: s, grow: w.Growth(s), of: map[*model.Entity]*entityRates{}}
	timed := false
	for _, e := range w.Model.Entities {
		if e.Table != s.Table {
			continue
		}
		o := &entityRates{items: w.Declared(e)}
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
	if !timed {
		return r
	}

	groups := map[*entityRates]map[string][]dataset.Row{}
	for _, row := range s.Rows {
		if o := r.of[row.Item.Entity]; o != nil && o.timed {
			if groups[o] == nil {
				groups[o] = map[string][]dataset.Row{}
			}
			groups[o][o.group(row.Item)] = append(groups[o][o.group(row.Item)], row)
		}
	}
	for o, all := range groups {
		grow := w.GrowthOf(o.fields, slices.Concat(s.Hash, s.Sort)...)
		for _, rows := range all {
			grow.Count(rows)
		}
		for group, rows := range all {
			n, _ := volumeOf(rows, grow.In(rows))
			o.sums[group] = n / o.items
		}
	}
	return r
}

// periodic reports whether the partition key contains the named component as a time with a precision of a second or
// coarser. All requests of a period then go to one value of the component.
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

// group returns the item's values of the components that are not times, as one string. It leaves out the components
// in without.
func (o *entityRates) group(it *dataset.Item, without ...string) string {
	key := ""
	for _, name := range o.fields {
		if !slices.Contains(without, name) {
			key += it.Values.Get(name) + "\x00"
		}
	}
	return key
}

// periodic reports whether the partition key of an entity contains a time.
func (r *rates) periodic(e *model.Entity) bool { o := r.of[e]; return o != nil && o.timed }

// group returns an ID for a group of partitions of e. The partitions of a group differ only in the time or in fixed
// fields. While the period of a partition is current, the partition gets the requests of its whole group.
func (r *rates) group(l partLoad, e *model.Entity, fixed []string) string {
	o := r.of[e]
	if o == nil || !o.timed {
		return ""
	}
	it := l.none
	for _, row := range r.s.In(l.part) {
		if it == nil && row.Item.Entity == e {
			it = row.Item
		}
	}
	if it == nil {
		return ""
	}
	return o.group(it, fixed...)
}

// rows calls f for each row of a partition whose entity has rates. The argument share is the row's share of all
// requests for the items of its entity.
func (r *rates) rows(p dataset.Part, f func(row *dataset.Row, share float64)) {
	var timed map[*model.Entity]float64 // share of one row
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
