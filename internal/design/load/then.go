package load

import (
	"math"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
)

// A batch has the follow-up reads of a pattern.
type batch struct {
	items   map[*dataset.Item]*fetch
	missing float64 // reads of keys without an item, on average for one request of the pattern
	units   float64 // read units of all follow-up reads, on average for one request
}

// A fetch says how often follow-up reads fetch an item, on average for one request of the pattern at the declared
// scale.
type fetch struct {
	// reads counts the reads of all declared items that the item represents. most limits the reads of one of them,
	// because a request fetches an item at most once.
	reads, most float64
	rows        []dataset.Row // the rows that lead to the item
}

// fetchUnits returns the read units of a follow-up read. A key without an item costs as much as an empty item.
func fetchUnits(p *model.Pattern, it *dataset.Item) float64 {
	if it == nil {
		return table.ReadUnits(0, p.Consistent)
	}
	return table.ReadUnits(it.Attributes.Size(), p.Consistent)
}

// followed returns, for each row, the key of the item that its follow-up read fetches, or "".
func followed(e *model.Entity, rows []dataset.Row) []string {
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i], _ = keyFrom(e, row.Item.Values.Map())
	}
	return all
}

// batched returns the read units of the follow-up reads for the rows that the requests for one value read. units is
// for the dataset. declared is for the declared scale, at which the requests read growth times as many rows.
func (s *spreader) batched(rows []dataset.Row, growth float64) (units, declared float64) {
	if s.p.Then == nil {
		return 0, 0
	}
	items, seen := keyedItems(s.w, s.p.Then), map[string]bool{}
	for _, key := range followed(s.p.Then, rows) {
		if key != "" && !seen[key] {
			seen[key] = true
			units += fetchUnits(s.p, items[key])
		}
	}
	if len(seen) == 0 {
		return 0, 0
	}
	n := float64(len(rows))
	return units, units * s.distinct(len(seen), n, n*growth) / float64(len(seen))
}

// distinct estimates how many different items follow-up reads fetch at the declared scale. In the dataset, the
// requests for a value read the given number of rows, and their follow-up reads fetch seen different items. At the
// declared scale, the requests read the number of rows in declared.
func (s *spreader) distinct(seen int, rows, declared float64) float64 {
	if s.w.Scale >= 1 || s.p.Entity == nil {
		return float64(seen) * declared / rows
	}
	return float64(seen) * s.fetched(declared/rows)
}

// fetched returns how many times as many items follow-up reads fetch if the requests for a value read the given number
// of times as many rows.
func (s *spreader) fetched(times float64) float64 {
	if s.variety < 0 {
		s.variety = s.grow.Variety(s.p.Entity, keyFields(s.p.Then))
	}
	return math.Pow(times, s.variety)
}

// keyFields returns the names of the fields in the key of an entity.
func keyFields(e *model.Entity) (names []string) {
	for _, f := range e.KeyFields() {
		names = append(names, f.Name)
	}
	return names
}

// follow adds the pattern's follow-up reads to r. They fetch the items whose keys are in the returned rows. s has the
// values of the pattern, or is nil.
func (t *Table) follow(r *Reads, p *model.Pattern, s *spreader) {
	if p.Then == nil {
		return
	}
	b := &batch{items: map[*dataset.Item]*fetch{}}
	items, counted := keyedItems(t.w, p.Then), 0.0
	switch {
	case r.scan && r.space != nil:
		counted = r.MeanRows
		keys := followed(p.Then, r.space.Rows)
		firsts, _ := firstsOf(keys)
		b.count(items, keys, r.space.Rows, firsts, counted/float64(len(keys)), 1)
	case s != nil:
		all := s.total()
		for i := range s.all {
			if c := &s.all[i]; !c.empty {
				_, rows := c.cost()
				counted += c.often * c.times / all * rows
				b.add(s, c, c.often*c.times/all, items)
			}
		}
	}
	if r.batch = b; counted == 0 {
		return
	}

	// Scale the follow-up reads to the rows that the pattern returns. This leaves out rows that a filter drops, which
	// cause no read, and includes values that the dataset lacks.
	factor := r.MeanRows / counted
	for it := range t.w.ItemsOf(p.Then) {
		if f := b.items[it]; f != nil {
			f.reads, f.most = f.reads*factor, f.most*factor
			b.units += f.reads * fetchUnits(p, it)
		}
	}
	b.units += b.missing * factor * fetchUnits(p, nil)
	r.MeanUnits += b.units
	if r.Spread != nil {
		r.Spread.Mean = r.MeanUnits
	}
}

// add adds the follow-up reads of the requests for a candidate's value. The parameter share is the share of the
// pattern's requests that ask for this value.
func (b *batch) add(s *spreader, c *candidate, share float64, items map[string]*dataset.Item) {
	_, declared := c.cost() // rows
	if s.win == nil {
		rows := s.returned(c)
		keys := followed(s.p.Then, rows)
		firsts, n := firstsOf(keys)
		if n > 0 {
			b.count(items, keys, rows, firsts, share*s.distinct(n, float64(len(rows)), declared)/float64(n), share)
		}
		return
	}

	rows := s.win.rows(c)
	keys := followed(s.p.Then, rowsOf(rows))
	firsts, n := s.win.firstsOf(rows, keys)
	switch {
	case n == 0:
		return
	case s.w.Scale < 1:
		some := 1 - math.Exp(-declared) // share of the windows with rows if the number of rows varies by chance
		n /= some * s.fetched(declared/some)
	default:
		n = c.held / declared // more than 1 with a limit
	}
	b.count(items, keys, rowsOf(rows), firsts, share/n, share)
}

// firstsOf returns 1 for each row that is the first to lead to its key, and 0 for all other rows. n is the number of
// keys.
func firstsOf(keys []string) (firsts []float64, n int) {
	firsts = make([]float64, len(keys))
	seen := map[string]bool{}
	for i, key := range keys {
		if key != "" && !seen[key] {
			seen[key], firsts[i] = true, 1
		}
	}
	return firsts, len(seen)
}

// count adds follow-up reads of the keys that rows lead to. firsts has, for each row, the share of requests in which
// it is the first row that leads to its key. reads and most are the numbers of reads (see [fetch]) if the share is 1.
func (b *batch) count(
	items map[string]*dataset.Item, keys []string, rows []dataset.Row, firsts []float64, reads, most float64,
) {
	for i, key := range keys {
		it := items[key]
		switch {
		case key == "":
			continue
		case it == nil:
			b.missing += firsts[i] * reads
			continue
		case b.items[it] == nil:
			b.items[it] = &fetch{}
		}
		f := b.items[it]
		f.reads, f.most = f.reads+firsts[i]*reads, f.most+firsts[i]*most
		f.rows = append(f.rows, rows[i])
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

// returned returns the rows that the requests for the value of a candidate read.
func (s *spreader) returned(c *candidate) (all []dataset.Row) {
	if len(c.parts) == 0 {
		return s.limited(s.space.Rows[c.From:c.To])
	}
	for _, p := range c.parts {
		all = append(all, p.s.limited(p.s.space.Rows[p.From:p.To])...)
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
// represent several declared items, in one partition or in several. The more rows lead to an item, compared with the
// declared items of the same rank, the fewer items it represents.
func (t *Table) addBatch(p *model.Pattern, r *Reads, all []*Space) {
	if r.batch == nil {
		return
	}
	grow := t.w.GrowthOf(keyFields(p.Then))
	for it := range t.w.ItemsOf(p.Then) {
		if f := r.batch.items[it]; f != nil {
			grow.Count(f.rows)
		}
	}
	for _, s := range all {
		if s.Table != p.Then.Table || s.Index != nil {
			continue
		}
		row := Source{Pattern: p, Entity: p.Then, Units: make([]float64, len(s.Parts))}
		for i, part := range s.Parts {
			rows := s.In(part)
			here := s.rates.grow.In(rows) // number of declared items in this partition that an item represents
			for k := range rows {
				if f := r.batch.items[rows[k].Item]; f != nil {
					from := f.rows[0].Item
					one := min(f.most, f.reads*grow.In(f.rows)(from)/t.w.Represents(from))
					reads := min(f.reads, one*here(rows[k].Item))
					row.Units[i] += p.Rate * reads * fetchUnits(p, rows[k].Item)
				}
			}
		}
		s.Read += p.Rate * r.batch.units
		s.add(row)
	}
	r.batch.items = nil // to free memory
}
