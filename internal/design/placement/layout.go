package placement

import (
	"bytes"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/store"
)

// The requests to ranges that one request of a client causes. A write reads the item
// before it replaces it, for its condition and its indexes (docs/design.md, Writes).
const (
	perRead       = 1
	perWrite      = 2
	perIndexWrite = 1 // for each index that holds the item
	// Each write inserts a row with an id of its own in sortkey_commits, which is removed
	// later (store/postgres/commit.go).
	perCommit = 2
)

// commits is the SQL table of these ids. They are random, so it can be split anywhere.
const (
	commits    = "sortkey_commits"
	commitKeys = 1 << 20
)

// A stretch is a piece of the key space whose load and bytes are spread evenly over
// its keys: a row of the world with the declared rows that it represents, or the
// end of a partition, where new rows arrive.
type stretch struct {
	addr  []byte
	space int
	row   *world.Row
	// keys is the number of keys over which requests are spread, at least 1. A range can
	// begin at each.
	keys float64
	// partitions is the number of partitions that the stretch represents.
	partitions     float64
	rows, bytes    float64
	requests       float64 // per second
	end, beginning bool    // of a partition, where new rows arrive
}

// A layout is the key space in the order of addresses. The integer part of a position
// is the index of a stretch, the rest a fraction of that stretch. sums[i] is the sum of
// the stretches before i. Stretches from index rows on are in sortkey_commits, not in
// sortkey_rows; a range begins there, because the tables are separate.
type layout struct {
	stretches []stretch
	sums      []amount
	rows      int
}

// An amount is what lies in a part of the key space.
type amount struct{ rows, bytes, requests float64 }

func (a amount) plus(b amount, times float64) amount {
	return amount{a.rows + b.rows*times, a.bytes + b.bytes*times, a.requests + b.requests*times}
}

func (s *stretch) amount() amount { return amount{s.rows, s.bytes, s.requests} }

func newLayout(list []stretch) *layout {
	l := &layout{stretches: list, sums: make([]amount, len(list)+1), rows: len(list)}
	for i := range list {
		l.sums[i+1] = l.sums[i].plus(list[i].amount(), 1)
	}
	return l
}

// upTo returns what lies before a position.
func (l *layout) upTo(at float64) amount {
	i := int(at)
	if i >= len(l.stretches) {
		return l.sums[len(l.stretches)]
	}
	return l.sums[i].plus(l.stretches[i].amount(), at-float64(i))
}

// between returns what lies in [lo, hi).
func (l *layout) between(lo, hi float64) amount { return l.upTo(hi).plus(l.upTo(lo), -1) }

// nearest returns the position strictly inside (lo, hi) at which a range can begin
// and before which a figure is nearest to want.
func (l *layout) nearest(lo, hi, want float64, figure func(amount) float64) (at float64, ok bool) {
	i := sort.Search(len(l.stretches), func(i int) bool { return figure(l.sums[i+1]) >= want })
	if i >= len(l.stretches) {
		i = len(l.stretches) - 1
	}
	s := &l.stretches[i]
	candidates := []float64{float64(i), float64(i + 1)}
	if whole := figure(s.amount()); whole > 0 && s.keys >= 2 {
		n := math.Floor(s.keys)
		k := (want - figure(l.sums[i])) / whole * n
		candidates = append(candidates, float64(i)+math.Floor(k)/n, float64(i)+math.Ceil(k)/n)
	}
	best := math.Inf(1)
	for _, c := range candidates {
		if c <= lo || c >= hi {
			continue
		}
		if d := math.Abs(figure(l.upTo(c)) - want); d < best {
			best, at, ok = d, c, true
		}
	}
	return at, ok
}

// A space is a table or an index in the layout, or sortkey_commits, which has no
// Space.
type space struct {
	*world.Space
	from, to int // stretches
}

// lay lays out the rows of a world: each table, then its indexes.
func lay(ctx context.Context, w *world.World) (*layout, []space, error) {
	var spaces []space
	var all []stretch
	for _, t := range w.Model.Tables {
		for _, x := range append([]*model.Index{nil}, t.Indexes...) {
			s, err := w.Space(ctx, t, x)
			if err != nil {
				return nil, nil, err
			}
			rates, err := w.Rates(ctx, s)
			if err != nil {
				return nil, nil, err
			}
			from := len(all)
			all = append(all, stretches(w, s, rates, len(spaces))...)
			spaces = append(spaces, space{Space: s, from: from, to: len(all)})
		}
	}

	writes := 0.0
	for _, e := range w.Model.Entities {
		if placed(w, e) {
			writes += w.Model.ItemWrites(e)
		}
	}

	rows := len(all)
	if writes > 0 {
		all = append(all, stretch{space: len(spaces), keys: commitKeys, partitions: 1, requests: writes * perCommit})
		spaces = append(spaces, space{from: rows, to: len(all)})
	}

	l := newLayout(all)
	l.rows = rows
	return l, spaces, nil
}

// placed reports whether an entity has items.
func placed(w *world.World, e *model.Entity) bool {
	return slices.ContainsFunc(w.Items, func(it world.Item) bool { return it.Entity == e })
}

// stretches returns a space in the order of addresses.
func stretches(w *world.World, s *world.Space, rates *world.Rates, number int) []stretch {
	grow := w.Growth(s)
	id := store.Space(number + 1)
	var list []stretch
	ends := map[string]*stretch{} // by entity and the beginning of the sort key, in a partition
	var partition []byte
	var each func(*world.Item) float64
	flush := func() {
		for _, e := range ends {
			list = append(list, *e)
		}
		clear(ends)
	}
	rates.Current(func(row *world.Row, share float64) {
		addr := store.AppendAddress(nil, id, s.PartitionOf(nil, row), s.SortOf(nil, row))
		if head := addr[:store.SortOffset(addr)]; !bytes.Equal(head, partition) {
			flush()
			partition = head
			at, _ := s.Partition(s.PartitionOf(nil, row))
			each = grow.In(s.In(at))
		}
		rows := w.Represents(row.Item)
		partitions := max(1, rows/each(row.Item))
		e := row.Item.Entity
		all := stretch{
			addr: addr, space: number, row: row, keys: max(1, rows), partitions: partitions, rows: rows,
			bytes: rows * float64(row.Size()),
		}
		if e == nil || share == 0 {
			list = append(list, all)
			return
		}
		writes := w.Model.WriteRate(e, s.Index) * share * perIndexWrite
		if s.Index == nil {
			all.requests = e.Reads * share * perRead
			writes = w.Model.ItemWrites(e) * share * perWrite
		}
		group, desc, timed := newest(s, row)
		if !timed || writes == 0 {
			all.requests += writes
			list = append(list, all)
			return
		}
		list = append(list, all)
		at := ends[group]
		if at == nil {
			at = &stretch{
				addr: addr, space: number, row: row, keys: partitions, partitions: partitions, end: !desc,
				beginning: desc,
			}
			ends[group] = at
		}
		at.requests += writes
		if !desc { // rows come in the order of the key
			at.addr, at.row = addr, row
		}
	})

	flush()
	slices.SortStableFunc(list, func(a, b stretch) int {
		if c := bytes.Compare(a.addr, b.addr); c != 0 {
			return c
		}
		return side(&a) - side(&b)
	})
	return list
}

// side orders the stretches of one address: a beginning, the row, an end.
func side(s *stretch) int {
	switch {
	case s.beginning:
		return -1
	case s.end:
		return 1
	}
	return 0
}

// growing are the types whose values grow with time.
var growing = []string{"year", "month", "date", "time", "epoch", "ulid", "ksuid"}

// newest reports whether the sort key has a time, so that new rows of an entity come at
// one end of a partition: at its beginning if the order is descending. All writes then
// go there. Rows with equal components before the time form a group, which has an end of
// its own.
func newest(s *world.Space, row *world.Row) (group string, desc, timed bool) {
	e := row.Item.Entity
	group = e.Name
	for _, a := range s.Sort {
		t := e.Attribute(a.Name)
		if t == nil || t.Template == nil {
			continue
		}
		for _, p := range t.Template.Parts() {
			if p.Name == "" {
				continue
			}
			if slices.Contains(growing, p.Type.Name) {
				return group, p.Type.Desc, true
			}
			group += "\x00" + row.Item.Values.Get(p.Name)
		}
	}
	return "", false, false
}
