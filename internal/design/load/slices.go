package load

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
	"github.com/sortkey/sortkey/store"
)

// A spreader computes what a pattern reads for each value that its key conditions can have.
type spreader struct {
	w     *dataset.Dataset
	space *dataset.Space
	q     question
	p     *model.Pattern
	// of is the set of entities whose items count. It contains only the pattern's entity, if there is one, or else
	// the entities in the partition that the pattern reads. The key nil stands for items without an entity.
	of map[*model.Entity]bool
	// hash, free and listed are the names in the equality conditions. The names in hash determine the partition.
	// Those in free are in the sort key, and each candidate takes their values from an item. Those in listed keep the
	// pattern's own values, because the model or the pattern lists their values.
	hash, free, listed []string
	// ranged is true if a condition on the sort key is not an equality. moved is the condition whose arguments a
	// candidate can take from the items instead of the pattern, or nil: the time range of the windows, or a prefix.
	// If the pattern's own prefix matches no row of a value, the value gets the prefixes of its own items.
	ranged bool
	moved  *model.Condition
	// win are the time windows that the pattern asks for, or nil. With windows, a candidate has all rows that a value
	// has in a partition, whatever their time.
	win *windows
	// timed is true if an equality or a prefix limits a time in the sort key. All values but the pattern's own then
	// take the limit from their items, because only the length of the range matters, not its date.
	timed  bool
	shared bool // some name is in the partition key and in the sort key
	one    bool // a request reads one item
	// own is the partition that the pattern's own values select. known is false if the space has no such partition.
	own   dataset.Part
	known bool

	grow    *dataset.Growth // growth of the groups of rows that the equality conditions select
	all     []candidate
	variety float64 // see [dataset.Growth.Variety]; -1 before the first use
	several bool    // some partitions have several values
	weights float64 // total weight of all values, or 0 to compute it from the field all
}

// A candidate is one combination of values for the equality conditions, with the slice that the pattern reads for it.
// If the pattern makes several requests or asks for time windows, parts holds what these requests read in each
// partition.
type candidate struct {
	Slice
	// row is one of the rows from low up to high, all of which have the candidate's values.
	row       *dataset.Row
	low, high int
	own       bool
	empty     bool     // no rows have the value; row has an item from elsewhere, such as a parent's
	bucket    string   // the period in the partition key
	args      []string // arguments of the moved condition; nil means the pattern's own
	parts     []part
	series    []series // the value's rows; set only in a sample, with windows
	// batch is the read units of the follow-up reads in the dataset.
	batch float64
	// These five are what one request reads at the declared scale; with windows, what the request for the busiest
	// window reads. then is the read units of the follow-up reads. held is the number of rows that the request would
	// read without its limit.
	rows, bytes, units, then, held float64
	// average is what a request reads on average over all windows, or nil without windows.
	average *average
	// times is the number of values at the declared scale that the candidate represents.
	times float64
	often float64 // average weight of each represented value among all requests
	first float64 // weight of the first represented value
}

// A part is what one request reads for a value in one partition.
type part struct {
	s *spreader
	*candidate
}

func newSpreader(w *dataset.Dataset, space *dataset.Space, q question, win *windows) *spreader {
	s := &spreader{w: w, space: space, q: q, p: q.Pattern, win: win, variety: -1, of: map[*model.Entity]bool{}}
	p := s.p
	if p.Entity != nil {
		s.of[p.Entity] = true
	} else {
		for _, e := range q.Report.Entities {
			s.of[w.Model.Entity(e.Entity)] = true
		}
	}

	s.own, s.known = space.Partition(q.Report.Partition.Bytes)
	for i, c := range p.Where {
		f := s.field(c.Field)
		inHash, inSort := s.names(space.Hash, c.Field), s.names(space.Sort, c.Field)
		timed := f != nil && model.Moment(f.Type) && inSort
		if win != nil && i == win.at {
			s.ranged, s.moved = true, &p.Where[i]
			continue
		}
		if c.Op == ast.OpBeginsWith && f != nil && inSort {
			s.moved = &p.Where[i]
			s.timed = s.timed || timed
		}
		if c.Op != ast.Equal {
			s.ranged = s.ranged || inSort
			continue
		}
		switch {
		case slices.Contains(q.Fixed, c.Field), inHash && lists(f):
			s.listed = append(s.listed, c.Field)
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

	s.one = OneKey(space.Table, q.Report)
	return s
}

// lists reports whether the model lists the values of a field. It returns false for a list of shard numbers, that is,
// of consecutive numbers from 0.
func lists(f *model.Field) bool {
	if f == nil {
		return false
	}
	values := f.Values
	if len(values) == 0 {
		values = f.Type.Values
	}
	for i, v := range values {
		if v != strconv.Itoa(i) {
			return true
		}
	}
	return false
}

func (s *spreader) field(name string) *model.Field {
	if s.p.Entity == nil {
		return nil
	}
	return s.p.Entity.Field(name)
}

// names reports whether a name in a condition is a key attribute in list, or a component of such an attribute.
func (s *spreader) names(list []model.Attribute, name string) bool {
	for _, a := range list {
		if s.field(name) == nil && a.Name == name {
			return true
		}
	}
	return s.p.Entity != nil && s.p.Entity.ComponentsOf(list)[name]
}

// has reports whether the pattern reads items of the entity.
func (s *spreader) has(e *model.Entity) bool {
	return e == s.p.Entity && e != nil || s.p.Entity == nil && s.of[e]
}

// find finds all candidates.
func (s *spreader) find(ctx context.Context) error {
	inSort := func(name string) bool { return s.names(s.space.Sort, name) }
	simple := len(s.free) == 0 && s.moved == nil && !s.shared && !s.timed && s.win == nil &&
		!slices.ContainsFunc(s.listed, inSort) // each group is a whole partition
	fixed := map[string]string{}
	for _, name := range s.listed {
		c, _ := s.condition(name)
		fixed[name] = c.Args[0]
	}
	if simple && len(fixed) == 0 {
		s.grow = s.w.Growth(s.space)
	} else {
		s.grow = s.w.GrowthBy(s.space, s.sorted(), fixed, s.win.ignored())
	}
	var held []int32 // indexes of the partitions with rows; there can be a million
	for i, at := range s.space.Parts {
		if i%1024 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}

		switch {
		case s.one:
			s.items(at)
		case simple:
			if slices.ContainsFunc(s.space.In(at), func(r dataset.Row) bool { return s.lists(&r) }) {
				if held = append(held, int32(i)); len(fixed) > 0 {
					s.grow.Count(s.space.In(at))
				}
			}
		default:
			s.groups(at)
		}
	}
	s.all = slices.Grow(s.all, len(held))
	for _, i := range held {
		s.partition(s.space.Parts[i])
	}
	s.measure()
	if s.p.Entity != nil && !s.one {
		s.childless()
	}
	return nil
}

// childless adds candidates for values without rows, such as projects without tasks. It does so if a parent's items
// determine all values of the conditions: requests then ask for each of these items, even if no item of the pattern's
// entity belongs to it.
func (s *spreader) childless() {
	e := s.p.Entity
	names := slices.Concat(s.hash, s.free)
	var fields []*model.Field
	for _, name := range names {
		if f := s.field(name); f != nil {
			fields = append(fields, f)
			continue
		}
		t := e.Attribute(name)
		if t == nil {
			return
		}
		for _, component := range t.Components() {
			fields = append(fields, e.Field(component))
		}
	}
	parent := s.w.Giver(e, fields)
	if len(fields) == 0 || parent == nil {
		return
	}

	known := map[string]bool{}
	for i := range s.all {
		known[s.valuesOf(&s.all[i])] = true
	}
	first, made := len(s.all), 0.0
	for it := range s.w.ItemsOf(parent) {
		it, ok := s.keyed(it, names)
		if !ok {
			continue
		}
		c := candidate{row: &dataset.Row{Item: it}, empty: true, units: s.unitsOf(0), times: 1}
		c.Growth, c.ByteGrowth = 1, 1
		if id := s.valuesOf(&c); !known[id] {
			known[id] = true
			s.all = append(s.all, c)
			if it.Generated {
				made++
			}
		}
	}

	identified := !slices.ContainsFunc(parent.KeyFields(), func(f *model.Field) bool {
		return !slices.Contains(fields, f)
	})
	if s.w.Scale >= 1 || !identified {
		return
	}
	with := s.grow.Groups(e) // number of declared parent items that have rows
	if with == 0 {
		return
	}
	none := max(0, float64(parent.Count)-with)
	for i := first; i < len(s.all); i++ {
		if c := &s.all[i]; c.row.Item.Generated {
			c.times = none / made
		}
	}
}

// keyed returns an item with the values of the parent's item and the attributes that the conditions name. It builds
// these attributes with the templates of the pattern's entity. It returns false if the parent lacks a value for a
// template.
func (s *spreader) keyed(it *dataset.Item, names []string) (*dataset.Item, bool) {
	var templates []*model.Template
	for _, name := range names {
		if s.field(name) == nil {
			templates = append(templates, s.p.Entity.Attribute(name))
		}
	}
	if len(templates) == 0 {
		return it, true
	}
	var b model.ItemBuilder
	if err := s.p.Entity.Add(&b, templates, it.Values.Map(), nil, true); err != nil {
		return nil, false
	}
	with := *it
	with.Attributes = b.AppendItem(nil)
	return &with, true
}

// sorted returns the fields in the sort key that the equality conditions compare. Each has the type in which a
// condition compares it, such as the month of a time.
func (s *spreader) sorted() map[string]keys.Type {
	all := map[string]keys.Type{}
	for _, name := range slices.Concat(s.hash, s.free, s.listed) {
		c, _ := s.condition(name)
		f := s.field(name)
		if f == nil || !model.Moment(f.Type) {
			all[name] = keys.Type{}
			continue
		}
		all[name] = f.Type
		if period, ok := model.Period(c.Args[0]); ok {
			all[name] = period
		}
	}
	return all
}

// items adds a candidate for each item of a partition.
func (s *spreader) items(at dataset.Part) {
	for i := at.From; i < at.To; i++ {
		if row := &s.space.Rows[i]; s.lists(row) {
			s.add(at, candidate{row: row, Slice: Slice{From: i, To: i + 1}, low: i, high: i + 1})
		}
	}
}

// partition adds one candidate for a partition, with the rows in the range of sort keys that the pattern's own values
// select. It adds none if lists is false for every row of the partition.
func (s *spreader) partition(at dataset.Part) {
	rows := s.space.In(at)
	first := slices.IndexFunc(rows, func(r dataset.Row) bool { return s.lists(&r) })
	if first < 0 {
		return
	}
	c := candidate{row: &rows[first], own: s.known && at == s.own, low: at.From, high: at.To}
	c.From, c.To = s.space.Range(at, store.Range{Lo: s.q.Report.Low.Bytes, Hi: s.q.Report.High.Bytes})
	s.add(at, c)
}

// groups divides the rows of a partition into groups with equal values for the equality conditions, and adds the
// candidates of each group.
func (s *spreader) groups(at dataset.Part) {
	seen := at.From // all rows before seen are in a group
	var others map[[2]int]bool
	for i := at.From; i < at.To; i++ {
		row := &s.space.Rows[i]
		if i < seen || !s.lists(row) {
			continue
		}

		base := candidate{row: row}
		if s.win != nil && s.win.bucket.Name != "" {
			var err error
			if base.bucket, err = s.win.bucket.Canonical(row.Item.Values.Get(s.win.field)); err != nil {
				continue
			}
		}
		slice, err := s.slice(&base, true)
		if err != nil {
			continue // for example, the template rejects a value
		}
		base.low, base.high = s.space.Range(at, slice.Range)
		// The item can spell the value differently from the template. The range for the template's spelling then does
		// not contain the item's row.
		if i < base.low || i >= base.high {
			id := [2]int{base.low, base.high}
			if others[id] || id[0] == id[1] {
				continue
			}
			if others == nil {
				others = map[[2]int]bool{}
			}
			others[id] = true
		} else {
			seen = base.high
		}

		if s.win == nil {
			s.grow.Count(s.space.Rows[base.low:base.high])
		}
		low := s.q.Report.Low.Bytes
		base.own = s.known && at == s.own && (low == nil || slice.Range.Contains(low))
		s.group(at, base)
	}
}

// group adds the candidates of a group of rows with equal values. Without a range, or with windows, it adds one
// candidate with all rows. Otherwise, it adds one candidate with the range of the pattern's own values if this range
// contains rows of the group. If it contains none, or if the range limits a time, group adds a candidate for each
// prefix that the items have.
func (s *spreader) group(at dataset.Part, base candidate) {
	switch {
	case !s.ranged, s.win != nil:
		base.From, base.To = base.low, base.high
		s.add(at, base)
		return
	}

	if base.own || !s.timed || s.moved == nil {
		if slice, err := s.slice(&base, false); err == nil {
			base.From, base.To = s.space.Range(at, slice.Range)
			if base.own || base.From < base.To || s.moved == nil {
				s.add(at, base)
				return
			}
		}
	}

	seen := base.low
	for i := base.low; i < base.high; i++ {
		if row := &s.space.Rows[i]; i >= seen && s.lists(row) {
			prefix := beginning(s.moved.Args[0], row.Item.Values.Get(s.moved.Field))
			seen = max(i+1, s.follow(at, base, []string{prefix}))
		}
	}
}

// follow adds a candidate that has args as the arguments of its moved condition. It returns the index after the last
// row in the candidate's range.
func (s *spreader) follow(at dataset.Part, c candidate, args []string) int {
	if args == nil {
		return 0
	}
	c.args = args
	slice, err := s.slice(&c, false)
	if err != nil {
		return 0
	}
	if c.From, c.To = s.space.Range(at, slice.Range); c.From < c.To {
		s.add(at, c)
	}
	return c.To
}

// slice returns the slice that the pattern's conditions select with the candidate's values. If equalities is true, it
// applies only the equality conditions.
func (s *spreader) slice(c *candidate, equalities bool) (*keycond.Slice, error) {
	q := s.pattern(c)
	if equalities && s.ranged {
		q.Where = slices.DeleteFunc(q.Where, func(w model.Condition) bool { return w.Op != ast.Equal })
		if c.bucket != "" {
			all := model.Condition{Field: s.win.field, Op: ast.Equal, Args: []string{c.bucket}}
			q.Where = append(q.Where, all)
		}
	}
	return compile.Slice(s.space.Schema, q)
}

func (s *spreader) add(at dataset.Part, c candidate) {
	c.Part = at
	s.all = append(s.all, c)
}

// lists reports whether a row is of one of the pattern's entities and has the pattern's values of the listed fields.
func (s *spreader) lists(r *dataset.Row) bool {
	return s.has(r.Item.Entity) && !slices.ContainsFunc(s.listed, func(name string) bool {
		c, _ := s.condition(name)
		return s.value(r.Item, c) != c.Args[0]
	})
}

// listing returns the rows for which lists is true.
func (s *spreader) listing(rows []dataset.Row) (all []dataset.Row) {
	for i := range rows {
		if s.lists(&rows[i]) {
			all = append(all, rows[i])
		}
	}
	return all
}

func sizeOf(rows []dataset.Row) int {
	n := 0
	for i := range rows {
		n += rows[i].Size()
	}
	return n
}

const day = 24 * time.Hour

// A unit is the unit of a time range's bounds: a layout of package time for seconds, days, months or years.
type unit string

// unitOf returns the unit of a bound, or "" if the bound is not a time.
func unitOf(text string) unit {
	for _, layout := range model.Layouts {
		if _, err := time.Parse(layout, text); err == nil {
			return unit(layout)
		}
	}
	return ""
}

// place returns a time as a number of units, such as the number of its day since 1970.
func (u unit) place(text string) (float64, bool) {
	for _, layout := range model.Layouts {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		switch t = t.UTC(); u {
		case time.DateOnly:
			return math.Floor(float64(t.Unix()) / day.Seconds()), true
		case "2006-01":
			return float64(t.Year()*12 + int(t.Month()) - 1), true
		case "2006":
			return float64(t.Year()), true
		}
		return float64(t.Unix()), true
	}
	return 0, false
}

// text returns the time at a number of units. It is the inverse of place, but rounds to whole seconds.
func (u unit) text(at float64) string {
	n := int(at)
	switch u {
	case time.DateOnly:
		return time.Unix(int64(n)*int64(day.Seconds()), 0).UTC().Format(time.DateOnly)
	case "2006-01":
		return time.Date(n/12, time.Month(n%12+1), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
	case "2006":
		return time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006")
	}
	return time.Unix(int64(n), 0).UTC().Format(string(u))
}

// beginning returns a prefix of value that is as long as the pattern's own prefix. It counts the length in folders if
// the prefix is a path, and else in bytes.
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
	return bytes.Equal(r.High.Bytes, append(bytes.Clone(r.Low.Bytes), 0)) // only one key is in the range
}
