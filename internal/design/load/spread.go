// Package load computes what the patterns of a model read and write at the declared scale.
//
// [Table.Reads] returns what a pattern reads for every value that its key conditions can have, not only for the
// values in the model. If the key contains a customer, it covers each customer; if it also contains a project, it
// covers each project of each customer. Reads first ranks the values by the sizes of their rows. It then makes real
// requests for the values at the median, the 95th percentile and the top, so their figures are exact. [Table.Writes]
// returns the cost of a write, including its index rows and its transaction. [Table.Spaces] adds up the loads of each
// partition and of the most written items. Budgets, bills, tables and lint rules all use the loads of this package.
package load

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// A question is one request of an access pattern, with the report of running it with the pattern's own values.
type question struct {
	Pattern *model.Pattern
	Input   wire.Request
	Report  *explain.Report
	// Fixed are the fields whose values in the equality conditions do not change, such as the shard if the pattern
	// reads all shards.
	Fixed []string
}

// A Spread is what a pattern reads for all values of the equality conditions on its partition key and sort key. A
// field whose values the model lists, such as a state, keeps the pattern's own value. If a parent's items determine
// the values, each of these items counts as a value, even if it has no rows.
type Spread struct {
	// Partitions is the number of partitions that the pattern reads. Values is the number of values of its
	// conditions. Empty is the number of values without rows, such as customers without orders.
	Partitions int `json:"partitions"`
	Values     int `json:"values"`
	Empty      int `json:"empty,omitempty"`
	// P50 and P95 are the readings at the 50th and the 95th percentile of the cost, over all requests. Worst is the
	// most expensive reading.
	P50   Reading `json:"p50"`
	P95   Reading `json:"p95"`
	Worst Reading `json:"worst"`
	// Mean is the average of the read units at the declared scale, weighted by how often requests ask for each value.
	Mean float64 `json:"mean"`
	// MeanRows is the average of the rows returned, with the same weights.
	MeanRows float64 `json:"-"`
	// Readings are the readings of all values for which a request was made, the most expensive first.
	Readings []Reading `json:"-"`
}

// A Reading is what a pattern reads for one value.
type Reading struct {
	Key PartitionKey `json:"partition"`
	// Sort is the condition on the sort key, as an expression, or "" if it is the same for all values.
	Sort    string          `json:"sort,omitempty"`
	Request json.RawMessage `json:"request"`
	// Rows is the number of rows returned, and Examined the number of rows read. Bytes includes the items that a
	// local index fetches.
	Rows     int     `json:"rows"`
	Examined int     `json:"examined"`
	Bytes    int     `json:"bytes"`
	Pages    int     `json:"pages"`
	Units    float64 `json:"units"`
	Waste    float64 `json:"waste"`
	// Growth is the number of rows at the declared scale for each row examined.
	Growth float64 `json:"growth"`
	// ByteGrowth is the number of bytes at the declared scale for each byte read, or 0 if it equals Growth.
	ByteGrowth float64 `json:"-"`
	// Batch is the part of Units that the follow-up reads cost. DeclaredBatch is their cost at the declared scale.
	Batch         float64 `json:"-"`
	DeclaredBatch float64 `json:"-"`
	// Requests is the number of requests for the value. If there are several, declared is the sum of their read units
	// at the declared scale. Each request's units are rounded up before they are added.
	Requests int `json:"-"`
	declared float64
	// Item is an item with the values of the request.
	Item *dataset.Item `json:"-"`
}

// DeclaredRows returns the rows returned at the declared scale.
func (r *Reading) DeclaredRows() float64 { return float64(r.Rows) * r.Growth }

// DeclaredUnits returns the read units at the declared scale.
func (r *Reading) DeclaredUnits() float64 {
	grow := r.byteGrowth()
	if grow == 1 && r.Growth == 1 {
		return r.Units
	}
	if r.declared > 0 {
		return r.declared + r.DeclaredBatch
	}
	blocks := func(bytes float64) float64 { return math.Max(math.Ceil(bytes/(4<<10)), 1) } // units are per 4 KB begun
	each := float64(r.Bytes) / float64(max(r.Requests, 1))
	return (r.Units-r.Batch)*blocks(each*grow)/blocks(each) + r.DeclaredBatch
}

// MarshalJSON adds the rows and units at the declared scale.
func (r Reading) MarshalJSON() ([]byte, error) {
	type plain Reading
	return text.JSON(struct {
		plain
		DeclaredRows  float64 `json:"declaredRows"`
		DeclaredUnits float64 `json:"declaredUnits"`
	}{plain(r), r.DeclaredRows(), r.DeclaredUnits()})
}

func (r *Reading) byteGrowth() float64 { return cmp.Or(r.ByteGrowth, r.Growth) }

// DeclaredPages returns the number of pages at the declared scale.
func (r *Reading) DeclaredPages() float64 {
	n := float64(max(r.Requests, 1))
	return math.Max(float64(r.Pages), n*math.Ceil(float64(r.Bytes)/n*r.byteGrowth()/(1<<20)))
}

// The sizes of the rows do not show how many rows a filter returns; only a request does. If the pattern has a filter,
// read therefore makes requests for up to readParts values, and stops once they have read more than readBytes.
const (
	readParts = 256
	readBytes = 32 << 20
)

// grow sets the growth factors of r from the candidates with the pattern's own values.
func (r *Reads) grow(spreaders []*spreader) {
	rows, declared, batch, then := 0.0, 0.0, 0.0, 0.0
	for _, s := range spreaders {
		for i := range s.all {
			if c := &s.all[i]; c.own {
				rows, declared = rows+float64(c.Rows), declared+c.rows
				batch, then = batch+c.batch, then+c.then
			}
		}
	}
	if rows > 0 {
		r.Growth = declared / rows
	}
	if r.BatchGrowth = r.Growth; batch > 0 {
		r.BatchGrowth = then / batch
	}
}

// slices returns the slices of the most expensive values, the most expensive first, and at most mostSlices. For a
// value with several parts, it returns the largest part.
func (s *spreader) slices() []Slice {
	all := make([]Slice, 0, min(len(s.all), mostSlices))
	for i := range s.all {
		c := &s.all[i]
		if c.empty || len(all) == mostSlices {
			continue
		}
		if len(c.parts) > 0 {
			largest := slices.MaxFunc(c.parts, func(a, b part) int { return cmp.Compare(a.bytes, b.bytes) })
			c = largest.candidate
		}
		all = append(all, c.Slice)
	}
	return all
}

// A Slice is what a request reads for one value.
type Slice struct {
	Part dataset.Part
	// From and To bound the indexes of the slice's rows in the space. A limit of the request does not shorten this
	// range.
	From, To int
	// Rows and Bytes are what the request reads in the dataset. Growth and ByteGrowth are the factors that convert
	// them to the declared scale.
	Rows, Bytes        int
	Growth, ByteGrowth float64
}

// DeclaredBytes returns the bytes at the declared scale.
func (s *Slice) DeclaredBytes() float64 { return float64(s.Bytes) * s.ByteGrowth }

// Units returns the read units at the declared scale.
func (s *Slice) Units(consistent bool) float64 {
	return table.ReadUnits(int(s.DeclaredBytes()), consistent)
}

// rank sorts the candidates, the most expensive first. There can be a million, so rank sorts their indexes and then
// moves each candidate once.
func (s *spreader) rank() {
	order := make([]int32, len(s.all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, k int32) int {
		return cmp.Or(s.compare(&s.all[i], &s.all[k]), cmp.Compare(i, k))
	})

	// Permute in place: follow each cycle and move every candidate to its rank, until the cycle is back at its first
	// candidate.
	for i := range order {
		first, at := s.all[i], int32(i)
		for order[at] != int32(i) {
			s.all[at], at, order[at] = s.all[order[at]], order[at], at
		}
		s.all[at], order[at] = first, at
	}
}

// compare orders candidates by cost including follow-up reads, the most expensive first. Among candidates of equal
// cost, such as those that read one full page, it puts the one with the most bytes and rows first.
func (s *spreader) compare(a, b *candidate) int {
	return cmp.Or(
		cmp.Compare(b.units+b.then, a.units+a.then), cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.rows, a.rows),
		cmp.Compare(b.held, a.held),
	)
}

// read requests the values at the ranks that the Spread reports, and more values if there is a filter.
func (s *spreader) read(ctx context.Context, target explain.Target) (*Spread, error) {
	rank := ranksOf(len(s.all), func(i int) float64 { return s.all[i].times * s.all[i].often })
	p50, p95 := rank(0.5), rank(0.95)
	chosen := map[int]bool{0: true, p50: true, p95: true}
	if s.q.Report.Filter != "" {
		bytes := 0
		for i := 0; i < min(len(s.all), readParts) && bytes <= readBytes; i++ {
			bytes += s.all[i].Bytes
			chosen[i] = true
		}
	}

	out := s.counted()
	s.several = out.Values-out.Empty > out.Partitions
	byRank := map[int]Reading{}
	for _, i := range slices.Sorted(maps.Keys(chosen)) {
		r, err := s.reading(ctx, target, &s.all[i])
		if err != nil {
			return nil, err
		}
		if r != nil {
			byRank[i] = *r
			out.Readings = append(out.Readings, *r)
		}
	}
	if len(out.Readings) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(out.Readings, func(a, b Reading) int {
		return cmp.Or(
			cmp.Compare(b.DeclaredUnits(), a.DeclaredUnits()),
			cmp.Compare(float64(b.Bytes)*b.byteGrowth(), float64(a.Bytes)*a.byteGrowth()),
			cmp.Compare(b.DeclaredRows(), a.DeclaredRows()),
		)
	})
	out.Worst, out.P95, out.P50 = out.Readings[0], byRank[p95], byRank[p50]
	out.Mean, out.MeanRows = s.mean(byRank)
	return out, nil
}

// counted returns a spread that has only the numbers of partitions and values.
func (s *spreader) counted() *Spread {
	out := &Spread{}
	// indexed by the first row of a partition; there can be a million partitions
	first := make([]bool, len(s.space.Rows))
	add := func(p dataset.Part) {
		if !first[p.From] {
			first[p.From] = true
			out.Partitions++
		}
	}
	for i := range s.all {
		c := &s.all[i]
		out.Values++
		switch {
		case c.empty:
			out.Empty++
		case len(c.parts) == 0:
			add(c.Part)
		}
		for _, p := range c.parts {
			add(p.Part)
		}
	}
	return out
}

// ranksOf returns a function that converts a share of the requests to a rank. There are n candidates in descending
// order of cost, and times returns the number of requests for each. A request for the candidate at the returned rank
// costs at least as much as that share of the requests.
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

// mean returns the weighted averages of the units and rows of all candidates. If a candidate has a reading, mean uses
// the figures of the reading, and else those computed from the sizes of the rows.
func (s *spreader) mean(readings map[int]Reading) (units, rows float64) {
	for i := range s.all {
		c := &s.all[i]
		cost, returned := c.cost()
		if r, ok := readings[i]; ok && c.average == nil {
			cost, returned = r.DeclaredUnits()-r.DeclaredBatch, r.DeclaredRows()
		}
		weight := c.often * c.times
		units += cost * weight
		rows += returned * weight
	}
	all := s.total()
	if all == 0 {
		return 0, 0
	}
	return units / all, rows / all
}

// reading makes all requests for the value of a candidate and adds up what they read. It returns nil if a
// template rejects its values.
func (s *spreader) reading(ctx context.Context, target explain.Target, c *candidate) (*Reading, error) {
	split, err := compile.Split(s.pattern(c))
	if err != nil {
		return nil, nil
	}
	sum := &Reading{Requests: len(split), Item: c.row.Item, Growth: c.Growth, ByteGrowth: c.ByteGrowth}
	if len(c.parts) > 0 {
		sum.declared = c.units
	}
	waste := 0.0
	var rows []dataset.Row
	for _, one := range split {
		slice, err := compile.Slice(s.space.Schema, one)
		if err != nil {
			return nil, nil
		}
		in, err := compile.Pattern(one)
		if err != nil {
			return nil, nil
		}
		rep, err := explain.Run(ctx, target, explain.Question{Input: in}, explain.Options{Items: -1, Brief: true})
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if err != nil || rep.Refused != nil {
			return nil, nil
		}
		if sum.Key == nil || sum.Examined == 0 && rep.Examined > 0 {
			sum.Key, sum.Request = nil, compile.JSON(in)
			for _, clause := range slice.Clauses[:len(s.space.Hash)] {
				sum.Key = append(sum.Key, clause.Values[0])
			}
			rest := *slice
			rest.Clauses = slice.Clauses[len(s.space.Hash):]
			if sum.Sort = ""; (s.several || s.moved != nil) && len(s.space.Sort) > 0 {
				sum.Sort = rest.String()
			}
		}
		if at, ok := s.space.Partition(slice.Partition); ok && rep.Examined > 0 {
			from, to := s.space.Range(at, slice.Range)
			rows = append(rows, s.limited(s.space.Rows[from:to])...)
		}
		bytes := rep.Bytes + rep.Fetched
		sum.Rows, sum.Examined, sum.Pages = sum.Rows+rep.Returned, sum.Examined+rep.Examined, sum.Pages+rep.Pages
		sum.Bytes += bytes
		sum.Units += rep.Units(s.p.Consistent)
		waste += rep.Waste() * float64(bytes)
	}
	if len(rows) > 0 {
		returned := float64(sum.Rows) / float64(sum.Examined)
		batch, then := s.batched(rows, c.Growth)
		sum.Batch, sum.DeclaredBatch = batch*returned, then*returned
		sum.Units += sum.Batch
	}
	if len(split) > 1 && s.win != nil {
		sum.Sort = s.win.field + " BETWEEN " + strings.Join(c.args, " AND ")
	}
	sum.Waste = waste / float64(max(sum.Bytes, 1))
	return sum, nil
}

// Place returns the partition key of a reading. It adds the condition on the sort key unless that is the same for all
// readings.
func (r *Reading) Place() string {
	if r.Sort == "" {
		return r.Key.Text()
	}
	return r.Key.Text() + ", " + r.Sort
}
