// Package load says what the patterns of a model read and write, at the declared scale.
//
// [Table.Reads] returns what a pattern reads for every value that its key conditions can ask for, not only for its
// own: for each customer, or each project of a customer if both are in the key. Statistics of the rows rank the
// values; requests for those that matter give exact figures. [Table.Writes] returns what a write costs, with its
// index rows and its transaction. [Table.Spaces] adds them up for each partition and for the items that are written
// most. Nothing else computes a load: budgets, money, tables and lint rules read it from here.
package load

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
)

// A question is an access pattern whose request has been run with its own values.
type question struct {
	Pattern *model.Pattern
	Input   wire.Request
	Report  *explain.Report
	// Fixed are fields whose equalities keep their values, such as the shard if the pattern reads all shards.
	Fixed []string
}

// A Spread is what a pattern reads for all values that the equalities in its key conditions can have:
// those of the partition key, and those in the sort key. Those whose values the model lists, such as a
// state, keep the pattern's own. Values that a parent gives are those of all its items, also without rows.
type Spread struct {
	// Partitions is the number of partitions, and Values that of the values, each of which is in one
	// partition. Empty is the number of those without rows, such as customers without orders.
	Partitions int `json:"partitions"`
	Values     int `json:"values"`
	Empty      int `json:"empty,omitempty"`
	// P50 and P95 are the values that half and 95 % of the requests do not exceed. Worst is the one that costs
	// most.
	P50   Reading `json:"p50"`
	P95   Reading `json:"p95"`
	Worst Reading `json:"worst"`
	// Mean is the average of the read units at the declared scale, with the values asked for as the pattern says.
	Mean float64 `json:"mean"`
	// MeanRows is the average of the rows returned, in the same way.
	MeanRows float64 `json:"-"`
	// Readings are all that were read, the worst first.
	Readings []Reading `json:"-"`
}

// A Reading is what a pattern reads for one value.
type Reading struct {
	Key PartitionKey `json:"partition"`
	// Sort is the condition on the sort key, as an expression, if it is another for each value.
	Sort    string          `json:"sort,omitempty"`
	Request json.RawMessage `json:"request"`
	// Rows are returned, Examined are read. Bytes includes the items that a
	// local index fetches.
	Rows     int     `json:"rows"`
	Examined int     `json:"examined"`
	Bytes    int     `json:"bytes"`
	Pages    int     `json:"pages"`
	Units    float64 `json:"units"`
	Waste    float64 `json:"waste"`
	// Growth is the number of rows at the declared scale for each row examined.
	Growth float64 `json:"growth"`
	// ByteGrowth is the number of bytes at the declared scale for each byte read, or 0 if it is Growth.
	ByteGrowth float64 `json:"-"`
	// Batch are the units among Units of what is read by the values of the rows.
	Batch float64 `json:"-"`
	// Requests is the number of requests that read it, 0 for one. Of several, declared are the units at the
	// declared scale, each rounded up.
	Requests int `json:"-"`
	declared float64
	times    float64 // requests at the declared scale, in proportion to other readings
	// Item is an item in the partition that has the values of the request.
	Item *dataset.Item `json:"-"`
}

// DeclaredRows returns the rows at the declared scale.
func (r *Reading) DeclaredRows() float64 { return float64(r.Rows) * r.Growth }

// DeclaredUnits returns the read units at the declared scale.
func (r *Reading) DeclaredUnits() float64 {
	grow := r.byteGrowth()
	if grow == 1 && r.Growth == 1 {
		return r.Units
	}
	if r.declared > 0 {
		return r.declared + r.Batch*r.Growth
	}
	blocks := func(bytes float64) float64 { return math.Max(math.Ceil(bytes/(4<<10)), 1) } // units are rounded up
	each := float64(r.Bytes) / float64(max(r.Requests, 1))
	return (r.Units-r.Batch)*blocks(each*grow)/blocks(each) + r.Batch*r.Growth
}

// MarshalJSON adds what is read at the declared scale.
func (r Reading) MarshalJSON() ([]byte, error) {
	type plain Reading
	return text.JSON(struct {
		plain
		DeclaredRows  float64 `json:"declaredRows"`
		DeclaredUnits float64 `json:"declaredUnits"`
	}{plain(r), r.DeclaredRows(), r.DeclaredUnits()})
}

func (r *Reading) byteGrowth() float64 { return cmp.Or(r.ByteGrowth, r.Growth) }

// DeclaredPages returns the pages at the declared scale.
func (r *Reading) DeclaredPages() float64 {
	n := float64(max(r.Requests, 1))
	return math.Max(float64(r.Pages), n*math.Ceil(float64(r.Bytes)/n*r.byteGrowth()/(1<<20)))
}

const (
	// Statistics rank all values. Where they are estimates, the highest are
	// read to find the worst.
	likely = 16
	// With a filter, only reading shows what is returned, so up to this many
	// are read, but not more than the bytes.
	readParts = 256
	readBytes = 32 << 20
)

func (s *spreader) growth(ctx context.Context, w *dataset.Dataset, q question) (float64, error) {
	if s != nil {
		for i := range s.all {
			if c := &s.all[i]; c.own {
				return c.Growth, nil
			}
		}
	}
	return growthOf(ctx, w, q.Report)
}

// growthOf returns the number of rows at the declared scale for each row that some requests read, if these grow
// like their partitions.
func growthOf(ctx context.Context, w *dataset.Dataset, reports ...*explain.Report) (float64, error) {
	read, declared := 0.0, 0.0
	for _, r := range reports {
		t := w.Model.Table(r.Table)
		if r.Refused != nil || t == nil || r.Index != "" && t.Index(r.Index) == nil || OneKey(t, r) {
			continue
		}
		space, err := w.Space(ctx, t, t.Index(r.Index))
		if err != nil {
			return 1, err
		}

		rows, each := space.Rows, w.Represents
		if r.Operation != "Scan" {
			at, ok := space.Partition(r.Partition.Bytes)
			if !ok {
				continue
			}
			from, to := space.Range(at, store.Range{Lo: r.Low.Bytes, Hi: r.High.Bytes})
			rows, each = space.Rows[from:to], w.Growth(space).In(space.In(at))
		}
		sum := 0.0
		for i := range rows {
			sum += each(rows[i].Item)
		}
		if n := float64(len(rows)); r.Limit > 0 {
			most := float64(r.Limit)
			read, declared = read+math.Min(n, most), declared+math.Min(sum, most)
		} else {
			read, declared = read+n, declared+sum
		}
	}
	if read == 0 {
		return 1, nil
	}
	return declared / read, nil
}

// slices returns the slice that the pattern reads for each value of its equalities, the largest at the declared scale
// first.
func (s *spreader) slices() []Slice {
	all := make([]Slice, 0, min(len(s.all), mostSlices))
	for i := range s.all {
		if c := &s.all[i]; c.row != nil && !c.empty && c.again == 0 && len(all) < mostSlices {
			all = append(all, c.Slice)
		}
	}
	return all
}

// A Slice is what a request reads for one value.
type Slice struct {
	Part dataset.Part
	// From and To bound the rows of the space that it holds, beyond a limit too.
	From, To int
	// Rows and Bytes are read, of those generated or in the file. Growth and ByteGrowth are the numbers of
	// rows and bytes at the declared scale for each of them.
	Rows, Bytes        int
	Growth, ByteGrowth float64
}

// DeclaredBytes returns the bytes at the declared scale.
func (s *Slice) DeclaredBytes() float64 { return float64(s.Bytes) * s.ByteGrowth }

// Units returns the read units at the declared scale.
func (s *Slice) Units(consistent bool) float64 {
	return table.ReadUnits(int(s.DeclaredBytes()), consistent)
}

// slicesOf returns the candidates of a question, or nil if it has none in partitions.
func slicesOf(ctx context.Context, w *dataset.Dataset, q question, win *windows) (*spreader, error) {
	r := q.Report
	if r == nil || r.Refused != nil || r.Operation == "Scan" {
		return nil, nil
	}
	t := w.Model.Table(r.Table)
	if t == nil || r.Index != "" && t.Index(r.Index) == nil {
		return nil, nil
	}
	space, err := w.Space(ctx, t, t.Index(r.Index))
	if err != nil {
		return nil, err
	}
	s := newSpreader(w, space, q, win)
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	s.rank()
	s.weigh()
	return s, nil
}

// rank sorts the candidates, those that cost most first. There can be a million, so it moves each only once, when
// their order is known.
func (s *spreader) rank() {
	order := make([]int32, len(s.all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, k int32) int {
		return cmp.Or(s.compare(&s.all[i], &s.all[k]), cmp.Compare(i, k))
	})

	// Each candidate makes room for the one that belongs in its place, until that is the first one again.
	for i := range order {
		first, at := s.all[i], int32(i)
		for order[at] != int32(i) {
			s.all[at], at, order[at] = s.all[order[at]], order[at], at
		}
		s.all[at], order[at] = first, at
	}
}

// compare orders candidates, those that cost most first, with the items to which their rows lead.
func (s *spreader) compare(a, b *candidate) int {
	units := func(c *candidate) float64 { return table.ReadUnits(int(c.bytes), s.consistent()) + c.then }
	return cmp.Or(cmp.Compare(units(b), units(a)), cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.rows, a.rows))
}

// read reads the candidates that matter.
func (s *spreader) read(ctx context.Context, target explain.Target) (*Spread, error) {
	n := len(s.all)
	rank := s.ranks()
	p50, p95 := rank(0.5), rank(0.95)
	chosen := map[int]bool{s.nearest(0): true, s.nearest(p50): true, s.nearest(p95): true}
	if s.estimated {
		for i := range min(likely, n) {
			chosen[s.nearest(i)] = true
		}
	}

	if s.q.Report.Filter != "" {
		bytes, parts := 0, readParts
		for k := range parts {
			i := k // the highest first, then evenly
			if n > parts && k >= parts/4 {
				i = parts/4 + (k-parts/4)*(n-parts/4)/(parts*3/4)
			}
			if i >= n || bytes > readBytes {
				break
			}
			if s.all[i].again == 0 {
				bytes += s.all[i].Bytes
			}
			chosen[s.nearest(i)] = true
		}
	}

	out := &Spread{}
	parts := partSet{first: make([]bool, len(s.space.Rows))}
	for i := range s.all {
		c := &s.all[i]
		if c.row == nil || c.again > 0 {
			continue
		}
		out.Values++
		if c.empty {
			out.Empty++
		} else {
			parts.add(c.Part)
		}
	}
	out.Partitions = parts.n
	s.several = out.Values-out.Empty > out.Partitions
	byRank := map[int]Reading{}
	type slice struct {
		row      *dataset.Row
		from, to int
	}
	read := map[slice]*Reading{}
	for _, i := range slices.Sorted(maps.Keys(chosen)) {
		c := &s.all[i]
		id := slice{c.row, c.From, c.To}
		r, ok := read[id]
		if !ok {
			var err error
			if r, err = s.reading(ctx, target, *c); err != nil {
				return nil, err
			}
			read[id] = r
		}
		if r == nil {
			continue
		}
		r.Growth, r.ByteGrowth, r.times = c.Growth, c.ByteGrowth, c.times*c.often
		byRank[i] = *r
		out.Readings = append(out.Readings, *r)
	}

	if len(out.Readings) == 0 {
		return nil, nil
	}
	if s.all[0].row == nil {
		out.Readings = append(out.Readings, s.at(0, byRank)) // no generated item has the worst value
	}
	slices.SortStableFunc(out.Readings, func(a, b Reading) int {
		return cmp.Or(
			cmp.Compare(b.DeclaredUnits(), a.DeclaredUnits()),
			cmp.Compare(float64(b.Bytes)*b.byteGrowth(), float64(a.Bytes)*a.byteGrowth()),
			cmp.Compare(b.DeclaredRows(), a.DeclaredRows()),
		)
	})

	if len(byRank) == n {
		at := ranksOf(n, func(i int) float64 { return out.Readings[i].times })
		out.P50, out.P95 = out.Readings[at(0.5)], out.Readings[at(0.95)]
	} else {
		out.P50, out.P95 = s.at(p50, byRank), s.at(p95, byRank)
	}

	out.Worst = out.Readings[0]
	out.Mean, out.MeanRows = s.mean(byRank)
	return out, nil
}

// ranks returns the candidate that costs no less than a share of the requests.
func (s *spreader) ranks() func(share float64) int {
	return ranksOf(len(s.all), func(i int) float64 { return s.all[i].times * s.all[i].often })
}

// ranksOf returns which of n candidates, in descending order, costs no less than a share of the requests, of which
// each gets so many.
func ranksOf(n int, times func(i int) float64) func(share float64) int {
	all := 0.0
	for i := range n {
		all += times(i)
	}
	return func(share float64) int {
		below := 0.0
		for i := n - 1; i > 0; i-- {
			if below += times(i); below >= share*all*(1-1e-9) && below > 0 {
				return i
			}
		}
		return 0
	}
}

// A partSet counts partitions. There can be a million, so it marks their first rows.
type partSet struct {
	first []bool
	n     int
}

func (s *partSet) add(p dataset.Part) {
	if !s.first[p.From] {
		s.first[p.From] = true
		s.n++
	}
}

// nearest returns the rank of the candidate with an item that is nearest to a rank: one that reads rows if that
// at the rank does, or else none if possible.
func (s *spreader) nearest(rank int) int {
	near := func(is func(c *candidate) bool) int {
		for away := range len(s.all) {
			for _, i := range []int{rank - away, rank + away} {
				if i >= 0 && i < len(s.all) && is(&s.all[i]) {
					return i
				}
			}
		}
		return -1
	}
	alike := func(c *candidate) bool { return c.row != nil && (c.rows > 0) == (s.all[rank].rows > 0) }
	if i := near(alike); i >= 0 {
		return i
	}
	return max(near(func(c *candidate) bool { return c.row != nil }), 0)
}

// at returns the reading at a rank. If no generated item has its values, it is the nearest one, with the growth
// that it would need to be as large.
func (s *spreader) at(rank int, readings map[int]Reading) Reading {
	near := s.nearest(rank)
	r, c := readings[near], &s.all[rank]
	if near != rank && r.Rows > 0 {
		r.Growth, r.ByteGrowth = c.rows/float64(s.all[near].Rows), c.bytes/float64(s.all[near].Bytes)
	}
	return r
}

// mean returns the average units and rows of all candidates, by the weight of each: of those that were read as they
// were, of the others by the size of their rows.
func (s *spreader) mean(readings map[int]Reading) (units, rows float64) {
	weights := 0.0
	for i := range s.all {
		c := &s.all[i]
		cost, returned := s.cost(c)
		if r, ok := readings[i]; ok && c.average == nil {
			cost, returned = r.DeclaredUnits()-r.Batch*r.Growth, r.DeclaredRows()
		}
		weight := c.often * c.times
		units += cost * weight
		rows += returned * weight
		weights += weight
	}
	if weights == 0 {
		return 0, 0
	}
	return units / weights, rows / weights
}

func (s *spreader) reading(ctx context.Context, target explain.Target, c candidate) (*Reading, error) {
	in, err := s.request(c)
	if err != nil {
		return nil, nil // such as a value that the template refuses
	}
	q := explain.Question{Input: in}
	rep, err := explain.Run(ctx, target, q, explain.Options{Items: -1, Brief: true})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, nil
	}
	if rep.Refused != nil {
		return nil, nil
	}
	key := PartitionKeyOf(s.space, c.row)
	if slice, err := s.slice(c, false); c.empty && err == nil {
		key = nil
		for _, clause := range slice.Clauses[:len(s.space.Hash)] {
			key = append(key, clause.Values[0])
		}
	}
	batch := 0.0
	if rep.Examined > 0 {
		batch = s.batched(s.space.Rows[c.From:c.To]) * float64(rep.Returned) / float64(rep.Examined)
	}
	return &Reading{
		Key: key, Sort: s.sort(c), Request: compile.JSON(in),
		Rows: rep.Returned, Examined: rep.Examined, Pages: rep.Pages, Bytes: rep.Bytes + rep.Fetched,
		Units: rep.Units(s.p.Consistent) + batch, Batch: batch, Waste: rep.Waste(), Growth: c.Growth,
		ByteGrowth: c.ByteGrowth, Item: c.row.Item,
	}, nil
}

// sort returns the condition on the sort key of a candidate, if others have another.
func (s *spreader) sort(c candidate) string {
	if !s.several && s.moved == nil && s.win == nil || len(s.space.Sort) == 0 {
		return ""
	}
	slice, err := s.slice(c, false)
	if err != nil {
		return ""
	}
	rest := *slice
	rest.Clauses = slice.Clauses[len(s.space.Hash):]
	return rest.String()
}

// Place names the partition of a reading and, if others read another range, its range.
func (r *Reading) Place() string {
	if r.Sort == "" {
		return r.Key.Text()
	}
	return r.Key.Text() + ", " + r.Sort
}
