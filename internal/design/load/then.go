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

// batched returns the read units of the follow-up reads for the given rows, up to the limit of the request.
func (s *spreader) batched(rows []dataset.Row) (units float64) {
	e := s.p.Then
	if e == nil {
		return 0
	}
	leads, seen, sizes := keyedItems(s.w, e), map[string]bool{}, e.Table.RowSizes(nil)
	for _, row := range s.limited(rows) {
		key, ok := keyFrom(e, row.Item.Values.Map())
		if !ok || seen[key] {
			continue
		}
		seen[key] = true
		size := 0
		if it := leads[key]; it != nil {
			size, _ = sizes.Of(it.Attributes)
		}
		units += table.ReadUnits(size, s.p.Consistent)
	}
	return units
}

// follow adds the pattern's follow-up reads: the items whose keys are in the returned rows.
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
			if c.row == nil || c.empty {
				continue
			}
			_, rows := c.cost()
			share := c.often * c.times / all
			counted += share * rows
			r.batch.add(s.requests(c), share*rows, p.Then, keyed)
		}
	}
	if r.scan && r.space != nil {
		r.batch.add([][]dataset.Row{r.space.Rows}, r.MeanRows, p.Then, keyed)
		counted = r.MeanRows
	}
	if counted == 0 {
		return
	}

	// Scale to the rows that the pattern returns: rows that a filter drops cause no read, and values without an item
	// in the dataset count like the others.
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

// add adds the follow-up reads for the rows of some requests. Rows is the average number of rows that a request
// returns. A request reads each item once.
func (b *batch) add(requests [][]dataset.Row, rows float64, e *model.Entity, keyed map[string]*dataset.Item) {
	n := 0
	for _, all := range requests {
		n += len(all)
	}
	for _, all := range requests {
		seen := map[string]bool{}
		for _, row := range all {
			key, ok := keyFrom(e, row.Item.Values.Map())
			switch it := keyed[key]; {
			case !ok || seen[key]:
			case it == nil:
				b.none += rows / float64(n)
			default:
				b.items[it] += rows / float64(n)
			}
			seen[key] = true
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

// requests returns the rows that each request for the value of a candidate reads. There is one request for each
// window that has rows.
func (s *spreader) requests(c *candidate) (all [][]dataset.Row) {
	if s.win == nil {
		return [][]dataset.Row{s.limited(s.space.Rows[c.From:c.To])}
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
