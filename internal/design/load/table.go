package load

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Table computes what all patterns of a dataset and the declared rates of its entities read and write. It computes
// each part on the first call and keeps the result in the dataset.
type Table struct {
	w      *dataset.Dataset
	target explain.Target
	spaces []space
}

// TableOf returns the table of a dataset.
func TableOf(w *dataset.Dataset) *Table {
	return &Table{w: w, target: w.Target(), spaces: spacesOf(w)}
}

// What a dataset keeps.
type (
	readsID  struct{ *model.Pattern }
	writesID struct{ *model.Pattern }
	itemsID  struct{ *model.Entity } // an entity's items by key
	loadsID  struct{}
	runID    struct {
		operation, request string
		items              int
	}
)

// once returns the result of f. It calls f once for each id and keeps the result in the dataset for later calls.
func once[V any](w *dataset.Dataset, id any, f func() (V, error)) (V, error) {
	kept, _ := w.Kept.LoadOrStore(id, sync.OnceValues(f))
	return kept.(func() (V, error))()
}

// Run runs the request of a pattern that reads. It runs equal requests only once. The report keeps at most the given
// number of items. If items is 0, the limit is the default of [explain.Options].
func (t *Table) Run(ctx context.Context, in wire.Request, items int) (*explain.Report, error) {
	text := compile.JSON(in)
	return once(t.w, runID{in.Op().String(), string(text), items}, func() (*explain.Report, error) {
		return explain.Run(
			ctx, t.target, explain.Question{Input: in, Text: text},
			explain.Options{Items: items, Classify: t.w.EntityName},
		)
	})
}

// Writes returns the cost of a pattern that writes. The error is an [*compile.Error] if the pattern cannot be
// compiled to a request, and [ErrNoItem] if the dataset has no item to write.
func (t *Table) Writes(ctx context.Context, p *model.Pattern) (*Cost, error) {
	return once(t.w, writesID{p}, func() (*Cost, error) { return t.write(ctx, p) })
}

// Reads are what a pattern reads for all values that its conditions can have.
type Reads struct {
	// Spread is nil if there is only one value. Growth is the number of rows at the declared scale for each row that
	// the pattern reads with its own values. BatchGrowth is the same factor for the read units of its follow-up
	// reads.
	Spread              *Spread
	Growth, BatchGrowth float64
	// Slices are what the pattern reads for each value, the largest first. A pattern of several requests has none.
	Slices []Slice
	// Requests is the number of requests of the pattern. MeanUnits and MeanRows are what all of them read together,
	// on average at the declared scale. MeanUnits includes the follow-up reads.
	Requests            int
	MeanUnits, MeanRows float64

	// Among is 0 if the dataset has items that show over which partitions the requests spread. Otherwise, it is the
	// number of these partitions, computed from the declared counts. If a count is missing, Among is infinite,
	// Uncounted is the entity that needs the count, and no partition has a load.
	Among     float64
	Uncounted *model.Entity

	batch    *batch // the follow-up reads, or nil
	windowed bool
	fixed    []string // fields in which the pattern's requests differ
	space    *dataset.Space
	// loads has, for each request, the load of each partition that it reads. Requests that differ only in their
	// period share one entry. Only a pattern with a rate has loads. addReads drops them to free memory, because there
	// can be a million partitions.
	loads [][]partLoad
	scan  bool
	// only is set for a pattern without an entity. It is the partition that the request of the pattern names, or nil.
	only *dataset.Part
}

// mostSlices is the largest number of slices that Reads keeps for a pattern. It bounds memory: a pattern can have a
// million values, and the smallest of them do not matter.
const mostSlices = 1 << 16

// Reads returns what a pattern reads. The result is empty if the service refuses the pattern's request.
func (t *Table) Reads(ctx context.Context, p *model.Pattern) (*Reads, error) {
	return once(t.w, readsID{p}, func() (*Reads, error) { return t.read(ctx, p) })
}

func (t *Table) read(ctx context.Context, p *model.Pattern) (*Reads, error) {
	r := &Reads{Growth: 1, BatchGrowth: 1}
	questions, err := t.questions(ctx, p)
	if err != nil || len(questions) == 0 {
		return r, err
	}
	first := questions[0].Report
	if table := t.w.Model.Table(first.Table); table != nil && (first.Index == "" || table.Index(first.Index) != nil) {
		if r.space, err = t.w.Space(ctx, table, table.Index(first.Index)); err != nil {
			return r, err
		}
	}
	r.scan, r.fixed = first.Operation == "Scan", questions[0].Fixed
	var spreaders []*spreader
	var s *spreader // has the values of all requests
	defer func() {
		slices.SortStableFunc(r.Slices, func(a, b Slice) int {
			return cmp.Compare(b.DeclaredBytes(), a.DeclaredBytes())
		})
		t.average(r, p, questions)
		t.follow(r, p, s)
		if len(spreaders) > 0 && p.Entity != nil {
			r.Among, r.Uncounted = spreaders[0].among()
		}
	}()

	if r.scan || r.space == nil {
		return r, nil
	}
	win := windowsOf(p)
	spreaders, err = spreadersOf(ctx, t.w, r.space, questions, win)
	if err != nil || len(spreaders) == 0 {
		return r, err
	}
	r.grow(spreaders)
	s = spreaders[0]
	if r.windowed = win != nil; len(questions) > 1 || r.windowed {
		s = together(p, spreaders, len(questions), win)
	}
	s.rank()
	s.weigh()
	if s != spreaders[0] {
		s.divide(spreaders)
	}
	if len(questions) == 1 {
		r.Slices = s.slices()
	}
	for _, one := range spreaders {
		if p.Rate > 0 {
			r.loads = append(r.loads, one.loads())
		}
	}
	if p.Entity == nil && s.known && s.of[nil] && len(s.of) == 1 && len(questions) == 1 {
		r.only = &s.own
	}
	if len(s.all) > 1 || r.windowed && len(s.all) > 0 {
		r.Spread, err = s.read(ctx, t.target)
	}
	return r, err
}

// average sets the averages of what the requests read.
func (t *Table) average(r *Reads, p *model.Pattern, questions []question) {
	if r.Requests = len(questions); r.Spread != nil {
		r.MeanUnits, r.MeanRows = r.Spread.Mean, r.Spread.MeanRows
		return
	}
	if r.scan && r.space != nil { // a report may lack the last pages of a scan
		rows, bytes := volumeOf(r.space.Rows, t.w.Represents)
		read := float64(len(r.space.Rows))
		if limit := float64(p.Limit); limit > 0 && rows > limit {
			rows, bytes, read = limit, bytes*limit/rows, min(read, limit)
		}
		r.MeanRows, r.MeanUnits = rows, table.ReadUnits(int(bytes), p.Consistent)
		if own := questions[0].Report; t.w.Scale >= 1 && own.Last == nil {
			r.MeanUnits = own.Units(p.Consistent) // rounded up page by page
		}
		r.Growth = rows / max(read, 1)
		r.BatchGrowth = r.Growth
		return
	}
	var reports []*explain.Report
	for i := range questions {
		reports = append(reports, questions[i].Report)
	}
	sum := explain.Sum(reports)
	own := Reading{
		Rows: sum.Returned, Bytes: sum.Bytes + sum.Fetched, Units: sum.Units(p.Consistent), Growth: r.Growth,
		Requests: r.Requests,
	}
	r.MeanUnits, r.MeanRows = own.DeclaredUnits(), own.DeclaredRows()
}

// questions runs the requests of a pattern with its own values. If it cannot make one of the requests, or the service
// refuses one, it returns no questions.
func (t *Table) questions(ctx context.Context, p *model.Pattern) (all []question, err error) {
	parts, err := compile.Split(p)
	if err != nil {
		return nil, nil
	}
	var fixed []string
	for _, c := range p.Where {
		if c.Op == model.In {
			fixed = append(fixed, c.Field)
		}
	}
	for _, part := range parts {
		q := question{Pattern: part, Fixed: fixed}
		if q.Input, err = compile.Pattern(part); err != nil {
			return nil, nil
		}
		q.Report, err = t.Run(ctx, q.Input, 0)
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if err != nil || q.Report.Refused != nil {
			return nil, nil
		}
		all = append(all, q)
	}
	return all, nil
}

// A Space is the load of the partitions of a table or an index.
type Space struct {
	*dataset.Space
	// Reads and Writes are the read and write units per second of each partition.
	Reads, Writes []float64
	// Sources are the parts of Reads and Writes: one for each pattern or declared rate.
	Sources []Source
	// Items has, for each entity, the item that updates, deletes and condition checks write most often. It is empty
	// for an index.
	Items []ItemLoad
	items map[*dataset.Item]*ItemLoad
	rates *rates

	// Read and Written are the read and write units per second in all partitions. RowsWritten is the rows written per
	// second.
	Read, Written, RowsWritten float64
}

// A Source is what one pattern, or the rates of an entity, adds to the partitions of a space.
type Source struct {
	Pattern *model.Pattern // nil for the declared rates of Entity
	Entity  *model.Entity
	Write   bool
	Units   []float64 // units per second of each partition
	// Total is the units per second in all partitions. If addLocals copied the source from a local index to its
	// table, Total is 0, because the source of the index has it.
	Total float64
	// Puts is the number of items that the source puts per second, or 0 if it does something else.
	Puts float64
}

// An ItemLoad is the load of one item per second.
type ItemLoad struct {
	Item *dataset.Item
	// Writes is the number of writes and condition checks. Transactions is the number of them that are in
	// transactions. Units are write units.
	Writes, Transactions, Units float64
	Pattern                     *model.Pattern // the pattern with the highest rate
}

// Spaces returns the loads of all tables and indexes, each table before its indexes.
func (t *Table) Spaces(ctx context.Context) ([]*Space, error) {
	return once(t.w, loadsID{}, func() ([]*Space, error) { return t.load(ctx) })
}

func (t *Table) load(ctx context.Context) (all []*Space, err error) {
	for i := range t.spaces {
		s, err := t.w.Space(ctx, t.spaces[i].Table, t.spaces[i].Index)
		if err != nil {
			return nil, err
		}
		all = append(all, &Space{
			Space: s, Reads: make([]float64, len(s.Parts)), Writes: make([]float64, len(s.Parts)),
			rates: newRates(t.w, s),
		})
	}
	for _, s := range all {
		t.declared(s)
	}
	for _, p := range t.w.Model.Patterns {
		switch {
		case p.Rate == 0:
		case p.IsWrite():
			err = t.addWrites(ctx, p, all)
		default:
			err = t.addReads(ctx, p, all)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, s := range all {
		s.most()
		addLocals(s, all)
	}
	return all, nil
}

// Periodic reports whether the partition key of an entity contains a time. If so, only the partitions of one period
// get load at any moment.
func (s *Space) Periodic(e *model.Entity) bool { return s.rates.periodic(e) }

// add adds a source.
func (s *Space) add(row Source) {
	all := s.Reads
	if row.Write {
		all = s.Writes
	}
	for i, units := range row.Units {
		all[i] += units
	}
	s.Sources = append(s.Sources, row)
}

// at returns the index of a partition in s.Parts.
func (s *Space) at(p dataset.Part) int {
	i, _ := slices.BinarySearchFunc(s.Parts, p.From, func(p dataset.Part, from int) int {
		return cmp.Compare(p.From, from)
	})
	return i
}

// declared adds the declared rates of entities. It assumes that all reads are eventually consistent and go to the
// table, not to an index.
func (t *Table) declared(s *Space) {
	for _, e := range t.w.Model.Entities {
		if e.Table != s.Table || e.Writes == 0 && (e.Reads == 0 || s.Index != nil) {
			continue
		}
		reads := Source{Entity: e, Units: make([]float64, len(s.Parts))}
		writes := Source{Entity: e, Units: make([]float64, len(s.Parts)), Write: true, Puts: e.Writes}
		for i, p := range s.Parts {
			s.rates.rows(p, func(row *dataset.Row, share float64) {
				if row.Item.Entity != e {
					return
				}
				reads.Units[i] += e.Reads * share * table.ReadUnits(row.Size(), false)
				writes.Units[i] += e.Writes * share * table.WriteUnits(row.Size())
				even := t.w.Represents(row.Item) / t.w.Declared(e)
				writes.Total += e.Writes * even * table.WriteUnits(row.Size())
				s.RowsWritten += e.Writes * even
				if s.Index == nil {
					s.Read += e.Reads * even * table.ReadUnits(row.Size(), false)
				}
			})
		}
		if e.Reads > 0 && s.Index == nil {
			s.add(reads)
		}
		if e.Writes > 0 {
			s.Written += writes.Total
			s.add(writes)
		}
	}
}

// addReads adds the reads of a pattern to each partition.
func (t *Table) addReads(ctx context.Context, p *model.Pattern, all []*Space) error {
	r, err := t.Reads(ctx, p)
	if err != nil || r.space == nil {
		return err
	}
	t.addBatch(p, r, all)
	i := slices.IndexFunc(all, func(s *Space) bool { return s.Space == r.space })
	s := all[i]
	s.Read += p.Rate * r.MeanUnits
	if r.batch != nil {
		s.Read -= p.Rate * r.batch.units // these units belong to another table
	}
	row := Source{Pattern: p, Entity: p.Entity, Units: make([]float64, len(s.Parts))}
	rates := s.rates
	if r.scan {
		for i, part := range s.Parts {
			row.Units[i] = p.Rate * scanned(s, part, p)
		}
		s.add(row)
		return nil
	}

	periodic := rates.periodic(p.Entity)
	for _, of := range r.loads {
		groups := map[string]float64{} // the sum of the shares of partitions that differ only in time
		for _, load := range of {
			groups[rates.group(load, p.Entity, r.fixed)] += load.share
		}
		for _, load := range of {
			if load.none != nil {
				continue
			}
			i := s.at(load.part)
			switch {
			case r.only != nil:
				if load.part == *r.only {
					row.Units[i] = p.Rate * load.units
				}
			case r.Among > 0 && p.Asked == model.AskedZipf: // give the first ranks to the file's items
				first := harmonic(p.Skew, float64(len(of))) / harmonic(p.Skew, r.Among)
				row.Units[i] = p.Rate * load.share * first * load.units
			case r.Among > 0:
				row.Units[i] = p.Rate / r.Among * load.units
			case periodic && !r.windowed:
				row.Units[i] = p.Rate * groups[rates.group(load, p.Entity, r.fixed)] * load.units
			default:
				row.Units[i] += p.Rate * load.share * load.units
			}
		}
	}
	r.loads = nil
	s.add(row)
	return nil
}

// scanned returns a partition's part of the read units of a scan. It does not round up to whole units, because one
// page of a scan reads several partitions.
func scanned(s *Space, part dataset.Part, p *model.Pattern) float64 {
	rows, bytes := s.Volume(part)
	if limit := float64(p.Limit); limit > 0 && rows > limit {
		bytes *= limit / rows
	}
	units := bytes / (8 << 10)
	if p.Consistent {
		units *= 2
	}
	return units
}

// Volume returns the rows of a partition and their bytes, at the declared scale.
func (s *Space) Volume(p dataset.Part) (rows, bytes float64) {
	return volumeOf(s.In(p), s.rates.grow.In(s.In(p)))
}

// Whole returns the number of all rows and their bytes, at the declared scale.
func (s *Space) Whole() (rows, bytes float64) { return volumeOf(s.Rows, s.rates.w.Represents) }

// volumeOf adds up rows and their bytes. It counts a row as many times as the function each returns for the row's
// item.
func volumeOf(rows []dataset.Row, each func(*dataset.Item) float64) (n, bytes float64) {
	for i := range rows {
		times := each(rows[i].Item)
		n += times
		bytes += times * float64(rows[i].Size())
	}
	return n, bytes
}

// addWrites adds the writes of a pattern to each partition and to single items.
func (t *Table) addWrites(ctx context.Context, p *model.Pattern, all []*Space) error {
	c, err := t.Writes(ctx, p)
	if err != nil { // the check of the pattern reports this error
		return context.Cause(ctx)
	}
	for _, m := range c.members {
		for k, s := range all {
			if m.means[k].units == 0 {
				continue
			}
			if s.Index != nil || m.write.Operation != model.Check {
				s.RowsWritten += p.Rate * m.means[k].rows
			}
			row := Source{Pattern: p, Entity: m.write.Entity, Write: true, Units: make([]float64, len(s.Parts))}
			row.Total = p.Rate * m.means[k].units
			if m.write.Operation == model.Put {
				row.Puts = p.Rate
			}
			t.divide(m, s, k, &row)
			s.Written += row.Total
			s.add(row)
			if s.Index == nil && m.write.Operation != model.Put { // a put usually creates a new item
				s.addItems(m, k, p)
			}
		}
	}
	return nil
}

// divide divides the load of a write among the partitions in proportion to their items. If the partition key contains
// a time, each partition gets the load that it has during its own period.
func (t *Table) divide(m *member, s *Space, k int, row *Source) {
	for i, p := range s.Parts {
		s.rates.rows(p, func(r *dataset.Row, share float64) {
			if effects, ok := m.effects[r.Item]; ok {
				n := share * t.w.Declared(m.write.Entity)
				row.Units[i] += row.Pattern.Rate * m.share(t.w, r.Item, n) * effects[k].units
			}
		})
	}
	for it, effects := range m.effects {
		e := &effects[k]
		if e.to == nil { // the row stays where it is
			continue
		}
		if id, ok := s.Schema.AppendPartition(nil, e.to); ok {
			if part, ok := s.Partition(id); ok {
				n := t.w.Represents(it)
				row.Units[s.at(part)] += row.Pattern.Rate * m.share(t.w, it, n) * e.moved
			}
		}
	}
}

// addItems adds the load of a write to single items.
func (s *Space) addItems(m *member, k int, p *model.Pattern) {
	if s.items == nil {
		s.items = map[*dataset.Item]*ItemLoad{}
	}
	for it, share := range m.shares {
		l := s.items[it]
		if l == nil {
			l = &ItemLoad{Item: it, Pattern: p}
			s.items[it] = l
		}
		if l.Pattern.Rate < p.Rate {
			l.Pattern = p
		}
		l.Writes += p.Rate * share
		l.Units += p.Rate * share * m.effects[it][k].units
		if p.Operation == model.Transaction {
			l.Transactions += p.Rate * share
		}
	}
}

// most keeps, for each entity, only the item with the most writes.
func (s *Space) most() {
	of := map[*model.Entity]int{}
	for it, l := range s.items {
		at, ok := of[it.Entity]
		if !ok {
			at = len(s.Items)
			of[it.Entity] = at
			s.Items = append(s.Items, *l)
		}
		most := &s.Items[at]
		if c := cmp.Compare(l.Writes, most.Writes); c > 0 || c == 0 && before(it, most.Item) {
			*most = *l
		}
	}
	s.items = nil
	slices.SortFunc(s.Items, func(a, b ItemLoad) int { return cmp.Compare(a.Item.Entity.Name, b.Item.Entity.Name) })
}

// before orders items that have equally many writes, so that the order is always the same.
func before(a, b *dataset.Item) bool {
	return string(a.Attributes) < string(b.Attributes)
}

// addLocals adds the loads of local indexes to the partitions of their table, because a local index is stored in the
// same partitions.
func addLocals(s *Space, all []*Space) {
	if s.Index != nil {
		return
	}
	for _, local := range all {
		if local.Table != s.Table || local.Index == nil || !local.Index.Local {
			continue
		}
		for _, row := range local.Sources {
			units := make([]float64, len(s.Parts))
			for i, p := range local.Parts {
				id := local.PartitionOf(nil, &local.Rows[p.From])
				if part, ok := s.Partition(id); ok {
					units[s.at(part)] += row.Units[i]
				}
			}
			row.Units, row.Total, row.Puts = units, 0, 0 // the index's own source has the total
			s.add(row)
		}
	}
}
