package load

import (
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
)

// A batch has the items that the follow-up reads of a pattern fetch. For each item, it has the average number of
// reads that one request of the pattern causes at the declared scale.
type batch struct {
	items map[*dataset.Item]float64
	none  float64 // reads of keys without an item
	units float64 // read units of all follow-up reads
}

// followed returns the distinct keys of the items that the follow-up reads for the given rows fetch. The rows are
// those of one request.
func followed(e *model.Entity, rows []dataset.Row) (all []string) {
	seen := map[string]bool{}
	for _, row := range rows {
		if key, ok := keyFrom(e, row.Item.Values.Map()); ok && !seen[key] {
			seen[key] = true
			all = append(all, key)
		}
	}
	return all
}

// batched returns the read units of the follow-up reads for the given rows, up to the limit of the request. units is
// for the dataset. declared is for the declared scale, at which the request returns growth times as many rows.
func (s *spreader) batched(rows []dataset.Row, growth float64) (units, declared float64) {
	e := s.p.Then
	if e == nil {
		return 0, 0
	}
	rows = s.limited(rows)
	items, sizes, keys := keyedItems(s.w, e), e.Table.RowSizes(nil), followed(e, rows)
	for _, key := range keys {
		size := 0
		if it := items[key]; it != nil {
			size, _ = sizes.Of(it.Attributes)
		}
		units += table.ReadUnits(size, s.p.Consistent)
	}
	return units, units * s.leads(len(keys), len(rows), float64(len(rows))*growth)
}

// leads estimates how many different items the follow-up reads of a request fetch at the declared scale, and returns
// this number divided by seen. In the dataset, the request returns the given number of rows, and its follow-up reads
// fetch seen different items. At the declared scale, it returns the number of rows in declared.
func (s *spreader) leads(seen, rows int, declared float64) float64 {
	if s.w.Scale >= 1 || seen == 0 || s.p.Entity == nil {
		return declared / float64(max(rows, 1))
	}
	if s.further < 0 {
		var names []string
		for _, f := range s.p.Then.KeyFields() {
			names = append(names, f.Name)
		}
		s.further = s.grow.Further(s.p.Entity, names)
	}
	first, rest := float64(seen), declared-float64(rows)
	if rest < 0 { // one of several windows
		first, rest = 1, declared-1
	}
	return min(declared, first+s.further*rest) / float64(seen)
}

// follow adds the pattern's follow-up reads to r. They fetch the items whose keys are in the returned rows.
func (t *Table) follow(r *Reads, p *model.Pattern, spreaders []*spreader) {
	if p.Then == nil {
		return
	}
	r.batch = &batch{items: map[*dataset.Item]float64{}}
	keyed := keyedItems(t.w, p.Then)
	counted := 0.0
	for _, s := range spreaders {
		all := s.total()
		for i := range s.all {
			c := &s.all[i]
			if c.empty {
				continue
			}
			_, rows := c.cost()
			share := c.often * c.times / all
			counted += share * rows
			r.batch.add(s, c, share, keyed)
		}
	}
	if r.scan && r.space != nil {
		r.batch.count(followed(p.Then, r.space.Rows), r.MeanRows/float64(len(r.space.Rows)), keyed)
		counted = r.MeanRows
	}
	if counted == 0 {
		return
	}

	// Scale the follow-up reads to the rows that the pattern returns. This leaves out rows that a filter drops, which
	// cause no read, and includes values that the dataset lacks.
	factor, units := r.MeanRows/counted, 0.0
	sizes := p.Then.Table.RowSizes(nil)
	for it := range r.batch.items {
		r.batch.items[it] *= factor
		size, _ := sizes.Of(it.Attributes)
		units += r.batch.items[it] * table.ReadUnits(size, p.Consistent)
	}
	units += r.batch.none * factor * table.ReadUnits(0, p.Consistent)
	r.batch.units, r.MeanUnits = units, r.MeanUnits+units
	if r.Spread != nil {
		r.Spread.Mean = r.MeanUnits
	}
}

// add adds the follow-up reads of the requests for a candidate's value. The parameter share is the share of the
// pattern's requests that ask for this value.
func (b *batch) add(s *spreader, c *candidate, share float64, items map[string]*dataset.Item) {
	requests, n := s.requests(c), 0
	for _, rows := range requests {
		n += len(rows)
	}
	_, declared := c.cost()
	for _, rows := range requests {
		keys, times := followed(s.p.Then, rows), declared/float64(n)
		if s.w.Scale < 1 {
			each := declared // rows that one request returns
			if c.average != nil {
				each = c.average.each
			}
			times = declared / each * s.leads(len(keys), len(rows), each)
		}
		b.count(keys, share*times, items)
	}
}

// count adds follow-up reads of each key. The parameter times is their number for one key.
func (b *batch) count(keys []string, times float64, items map[string]*dataset.Item) {
	for _, key := range keys {
		if it := items[key]; it != nil {
			b.items[it] += times
		} else {
			b.none += times
		}
	}
}

// total returns the sum of the weights of all values.
func (s *spreader) total() (all float64) {
	if s.weights > 0 {
		return s.weights
	}
	for i := range s.all {
		all += s.all[i].often * s.all[i].times
	}
	return all
}

// requests returns the rows that each request for the value of a candidate reads. With windows, there is one request
// for each window that has rows. A sample has too few rows to divide among windows, so requests then returns all rows
// as one request.
func (s *spreader) requests(c *candidate) (all [][]dataset.Row) {
	switch {
	case s.win == nil:
		return [][]dataset.Row{s.limited(s.space.Rows[c.From:c.To])}
	case s.w.Scale < 1:
		return [][]dataset.Row{s.listing(s.space.Rows[c.low:c.high])}
	}
	windows := map[int][]dataset.Row{}
	for _, row := range s.listing(s.space.Rows[c.low:c.high]) {
		if at, ok := s.win.place(&row); ok {
			for _, k := range s.win.windowsAt(at) {
				windows[k] = append(windows[k], row)
			}
		}
	}
	for _, rows := range windows {
		all = append(all, s.limited(rows))
	}
	return all
}

// limited returns the rows that a request reads before it reaches its limit.
func (s *spreader) limited(rows []dataset.Row) []dataset.Row {
	limit := s.q.Report.Limit
	switch {
	case limit == 0 || len(rows) <= limit:
		return rows
	case s.q.Report.Reverse:
		return rows[len(rows)-limit:]
	}
	return rows[:limit]
}

// keyedItems returns the items of an entity by their keys.
func keyedItems(w *dataset.Dataset, e *model.Entity) map[string]*dataset.Item {
	all, _ := once(w, itemsID{e}, func() (map[string]*dataset.Item, error) {
		all := map[string]*dataset.Item{}
		for it := range w.ItemsOf(e) {
			all[string(keyOf(e, it.Attributes))] = it
		}
		return all, nil
	})
	return all
}

// keyFrom returns the key of the item of an entity with the given values. It reports false if the values do not
// suffice.
func keyFrom(e *model.Entity, values map[string]string) (string, bool) {
	var b model.ItemBuilder
	var templates []*model.Template
	for _, a := range e.Table.Keys() {
		if template := e.Attribute(a.Name); template != nil {
			templates = append(templates, template)
		}
	}
	if err := e.Add(&b, templates, values, nil, false); err != nil {
		return "", false
	}
	return string(keyOf(e, b.AppendItem(nil))), true
}

// addBatch adds the follow-up reads of a pattern to the partitions of the table that they read. A sampled item can
// represent declared items of several partitions. addBatch counts only the share in the sampled item's own partition.
func (t *Table) addBatch(p *model.Pattern, r *Reads, all []*Space) {
	for _, s := range all {
		if r.batch == nil || s.Table != p.Then.Table || s.Index != nil {
			continue
		}
		row := Source{Pattern: p, Entity: p.Then, Units: make([]float64, len(s.Parts))}
		for i, part := range s.Parts {
			rows := s.In(part)
			each := s.rates.grow.In(rows)
			for k := range rows {
				it := rows[k].Item
				if times := r.batch.items[it]; times > 0 {
					here := each(it) / t.w.Represents(it)
					row.Units[i] += p.Rate * times * here * table.ReadUnits(rows[k].Size(), p.Consistent)
				}
			}
		}
		s.Read += p.Rate * r.batch.units
		s.add(row)
	}
}
