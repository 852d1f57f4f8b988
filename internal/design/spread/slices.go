package spread

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// A spreader finds the slices of a pattern in all partitions of a space.
type spreader struct {
	w     *world.World
	space *world.Space
	q     Question
	p     *model.Pattern
	grow  world.Growth
	// of are the entities whose partitions the pattern reads; nil among them
	// stands for items of no entity.
	of map[*model.Entity]bool
	// hash are the names in the conditions that fix the partition, free those
	// that take their values from an item of the partition if their own do not
	// occur there, and listed those whose values the model lists.
	hash, free, listed []string
	// moved is a range or a prefix that follows the items of a partition if its own is empty
	// there, or nil.
	moved *model.Condition
	// timed is true if the conditions bound a time. They follow the items in every partition but
	// the pattern's own: what matters is how long they are, not when.
	timed  bool
	shared bool // a name fixes the partition and bounds the range
	// own is the partition of the pattern's own values, if known.
	own   world.Part
	known bool

	all       []candidate
	estimated bool // some candidates have estimates
}

// A candidate is a partition with the pattern's slice there.
type candidate struct {
	Slice
	item *world.Item // gives the values of the conditions
	row  *world.Row
	own  bool     // only the partition key is from the item
	args []string // of the condition that follows the items, unless own
}

func newSpreader(w *world.World, space *world.Space, q Question) *spreader {
	s := &spreader{w: w, space: space, q: q, p: q.Pattern, grow: w.Growth(space.Hash), of: map[*model.Entity]bool{}}
	p := s.p
	if p.Entity != nil {
		s.of[p.Entity] = true
	} else {
		for _, e := range q.Report.Entities {
			s.of[w.Model.Entity(e.Entity)] = true
		}
	}

	s.own, s.known = space.Partition(q.Report.Partition.Bytes)
	get := q.Report.Operation == "GetItem"
	if p.Request != nil {
		if get || !s.replaceable() {
			return nil
		}
		return s
	}

	for i, c := range p.Where {
		f := s.field(c.Field)
		inHash, inSort := s.names(space.Hash, c.Field), s.names(space.Sort, c.Field)
		timed := f != nil && model.Moment(f.Type) && inSort
		if c.Op != ast.Equal {
			if timed || f != nil && inSort && (c.Op == ast.OpBetween || c.Op == ast.OpBeginsWith) {
				s.moved = &p.Where[i]
			}
			s.timed = s.timed || timed
			continue
		}
		switch {
		case inHash:
			s.hash = append(s.hash, c.Field)
			s.shared = s.shared || inSort
		case !inSort:
		case f != nil && (len(f.Values) > 0 || len(f.Type.Values) > 0):
			s.listed = append(s.listed, c.Field)
		default:
			s.free = append(s.free, c.Field)
			s.timed = s.timed || timed
		}
	}

	s.shared = s.shared || get
	return s
}

func (s *spreader) field(name string) *model.Field {
	if s.p.Entity == nil {
		return nil
	}
	return s.p.Entity.Field(name)
}

// names reports whether a name in a condition is in key attributes.
func (s *spreader) names(list []model.Attribute, name string) bool {
	for _, a := range list {
		if s.field(name) == nil && a.Name == name {
			return true
		}
	}
	return s.p.Entity != nil && s.p.Entity.ComponentsOf(list)[name]
}

// has reports whether the pattern is about an entity.
func (s *spreader) has(e *model.Entity) bool {
	return e == s.p.Entity && e != nil || s.p.Entity == nil && s.of[e]
}

// find finds all candidates.
func (s *spreader) find(ctx context.Context) error {
	for i, at := range s.space.Parts {
		if i%1024 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}

		rows := s.space.In(at)
		first := 0
		for first < len(rows) && !s.has(rows[first].Item.Entity) {
			first++
		}

		if first == len(rows) {
			continue
		}
		its := s.known && at == s.own && s.q.Report.Operation != "GetItem"
		if its || !s.shared && !s.timed {
			from, to := s.ownRange(at)
			if its || from < to || len(s.free) == 0 && s.moved == nil {
				c := candidate{item: rows[first].Item, row: &rows[first], own: true}
				c.Part = at
				s.add(c, s.space.Rows[from:to])
				continue
			}
		}

		s.group(at, rows[first:])
	}
	return nil
}

// ownRange returns the rows of a partition in the range of the pattern's own
// values.
func (s *spreader) ownRange(at world.Part) (from, to int) {
	r := s.q.Report
	from, to = at.From, at.To
	if r.Low.Bytes != nil {
		from, _ = s.space.Find(at, r.Low.Bytes)
	}
	if r.High.Bytes != nil {
		to, _ = s.space.Find(at, r.High.Bytes)
	}
	return from, max(from, to)
}

// add adds a candidate that reads some rows.
func (s *spreader) add(c candidate, rows []world.Row) {
	r := s.q.Report
	limited := r.Limit > 0
	if limited && len(rows) > r.Limit {
		if r.Reverse {
			rows = rows[len(rows)-r.Limit:]
		} else {
			rows = rows[:r.Limit]
		}
	}
	c.Rows, c.Growth = len(rows), 1
	grown := 0.0
	for i := range rows {
		c.Bytes += rows[i].Size()
		grown += s.grow.Of(rows[i].Item)
	}
	if len(rows) > 0 && !limited && !OneKey(s.space.Table, r) {
		c.Growth = grown / float64(len(rows))
	}
	s.all = append(s.all, c)
}

// group adds the candidate of a partition whose conditions take their values
// from the items there: those with which the pattern reads most.
func (s *spreader) group(at world.Part, rows []world.Row) {
	one := OneKey(s.space.Table, s.q.Report)
	rows = s.listing(rows)
	free := s.free
	here := slices.DeleteFunc(slices.Clone(rows), func(r world.Row) bool { return !s.matches(r.Item) })
	if len(here) > 0 {
		// Only times are others than the pattern's own.
		rows = here
		free = slices.DeleteFunc(slices.Clone(free), func(name string) bool { return !s.isTime(name) })
	}

	groups := map[string][]world.Row{}
	var order []string
	for _, r := range rows {
		key := ""
		for _, name := range free {
			c, _ := s.condition(name)
			key += s.value(r.Item, c) + "\x00"
		}
		if s.moved != nil && s.moved.Op == ast.OpBeginsWith {
			key += beginning(s.moved.Args[0], r.Item.Values.Get(s.moved.Field))
		}
		if one {
			key = string(s.space.SortOf(nil, &r))
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}

	var most []world.Row
	var args []string
	bytes := 0
	for _, key := range order {
		list, of := groups[key], []string(nil)
		if s.moved != nil {
			if list, of = s.window(list); of == nil {
				continue
			}
		}
		if n := sizeOf(list); n > bytes {
			most, args, bytes = list, of, n
		}
	}
	if most == nil {
		return
	}

	s.estimated = true
	c := candidate{item: most[0].Item, row: &most[0], args: args}
	c.Part = at
	s.add(c, most)
}

// listing returns the rows of the pattern's entities that have its values of listed fields.
func (s *spreader) listing(rows []world.Row) []world.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r world.Row) bool {
		return !s.has(r.Item.Entity) || slices.ContainsFunc(s.listed, func(name string) bool {
			c, _ := s.condition(name)
			return s.value(r.Item, c) != c.Args[0]
		})
	})
}

// matches reports whether an item has the pattern's own values of free fields that are no times.
func (s *spreader) matches(it *world.Item) bool {
	return !slices.ContainsFunc(s.free, func(name string) bool {
		c, _ := s.condition(name)
		return !s.isTime(name) && s.value(it, c) != c.Args[0]
	})
}

func (s *spreader) isTime(name string) bool {
	f := s.field(name)
	return f != nil && model.Moment(f.Type)
}

func sizeOf(rows []world.Row) int {
	n := 0
	for i := range rows {
		n += rows[i].Size()
	}
	return n
}

// window returns the rows that the moved condition reads most of, with its
// values there, or nil if the values have no distance.
func (s *spreader) window(rows []world.Row) ([]world.Row, []string) {
	c := s.moved
	if c.Op == ast.OpBeginsWith {
		return rows, []string{beginning(c.Args[0], rows[0].Item.Values.Get(c.Field))}
	}

	at, layout, ok := s.places(rows)
	if !ok {
		return nil, nil
	}
	if c.Op != ast.OpBetween {
		return s.tail(rows, at, layout)
	}

	low, _, _ := place(c.Args[0])
	high, _, ok := place(c.Args[1])
	if !ok || high < low {
		return nil, nil
	}

	// Rows are in the order of the key, which need not be that of the values.
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}

	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	from, bytes, most, first, last := 0, 0, 0, 0, 0
	for to, i := range order {
		for bytes += rows[i].Size(); at[i]-at[order[from]] > high-low; from++ {
			bytes -= rows[order[from]].Size()
		}
		if bytes > most {
			most, first, last = bytes, from, to+1
		}
	}

	var read []world.Row
	for _, i := range order[first:last] {
		read = append(read, rows[i])
	}
	return read, []string{placeText(at[order[first]], layout), placeText(at[order[first]]+high-low, layout)}
}

// places returns the values of the moved condition in rows, and the layout of a time.
func (s *spreader) places(rows []world.Row) (at []float64, layout string, ok bool) {
	if _, layout, ok = place(s.moved.Args[0]); !ok {
		return nil, "", false
	}
	at = make([]float64, len(rows))
	for i := range rows {
		if at[i], _, ok = place(rows[i].Item.Values.Get(s.moved.Field)); !ok {
			return nil, "", false
		}
	}
	return at, layout, true
}

// tail returns the rows that a range without one end reads, with its bound: as far back from the last
// value, or forward from the first, as the pattern's own bound is in its own partition. Where that
// has no rows, nothing is known, and the range is all.
func (s *spreader) tail(rows []world.Row, at []float64, layout string) ([]world.Row, []string) {
	bound, _, _ := place(s.moved.Args[0])
	sign := 1.0 // the values beyond the bound, in ascending order
	if s.moved.Op == ast.Less || s.moved.Op == ast.LessOrEqual {
		sign = -1
	}

	reach := math.Inf(1)
	if s.known {
		from, to := s.ownRange(s.own)
		for _, r := range s.listing(s.space.Rows[from:to]) {
			if v, _, ok := place(r.Item.Values.Get(s.moved.Field)); ok {
				if distance := sign * (v - bound); math.IsInf(reach, 1) || distance > reach {
					reach = distance
				}
			}
		}
	}

	end := math.Inf(-1)
	for _, v := range at {
		end = max(end, sign*v)
	}
	var read []world.Row
	first := math.Inf(1)
	for i, v := range at {
		if sign*v >= end-reach {
			read, first = append(read, rows[i]), min(first, sign*v)
		}
	}

	if !math.IsInf(reach, 1) {
		first = end - reach
	}
	return read, []string{placeText(sign*first, layout)}
}

// layouts are the text forms of times in conditions.
var layouts = []string{time.RFC3339Nano, time.DateOnly, "2006-01", "2006"}

// place returns a time in seconds or a number, with the layout of a time.
func place(text string) (float64, string, bool) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, "", true
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.Unix()), layout, true
		}
	}
	return 0, "", false
}

// placeText is the inverse of place, at the precision of seconds.
func placeText(at float64, layout string) string {
	if layout == "" {
		return strconv.FormatFloat(at, 'f', -1, 64)
	}
	return time.Unix(int64(at), 0).UTC().Format(layout)
}

// beginning returns as much of a value as a prefix has of its own: as many
// folders of a path, or as many bytes.
func beginning(prefix, value string) string {
	folders := strings.Count(prefix, "/")
	if folders == 0 {
		return value[:min(len(prefix), len(value))]
	}
	parts := strings.SplitAfter(value, "/")
	return strings.Join(parts[:min(folders, len(parts))], "")
}

// OneKey reports whether a request reads at most one item of a table.
func OneKey(t *model.Table, r *explain.Report) bool {
	switch {
	case r.Index != "" || r.Operation == "Scan":
		return false
	case r.Operation == "GetItem" || len(t.Sort) == 0:
		return true
	}
	return bytes.Equal(r.High.Bytes, append(bytes.Clone(r.Low.Bytes), 0)) // no key lies between
}
