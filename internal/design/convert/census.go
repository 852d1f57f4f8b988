package convert

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A census is what is known of all items of a design of which only some are samples: how
// many there are of each entity, how many different values a field has, and which items
// belong to which.
type census struct {
	total int
	// count and bytes are of the items of an entity.
	count, bytes map[*model.Entity]int
	none         map[*model.Table]int // items of no entity
	distinct     map[*model.Field]*distinct
	used         map[*model.Field]int // items with a value
	// linked has, by entity and field, the values of the items whose value of that field is
	// one of a random part of all values: so an item is there with everything that belongs
	// to it.
	linked map[*model.Entity]map[string][]linkedValues
	part   uint64 // the largest hash of a value of the part
}

// linkedItems is about how many items a census compares with others by one field.
const linkedItems = 20_000

// linkedValues are the values of the fields in the keys of an item.
type linkedValues map[string]string

// Get returns the value of a field.
func (v linkedValues) Get(field string) string { return v[field] }

// count counts all items, and declares what that shows.
func (im *importer) count(ctx context.Context) error {
	if checkModel(im.m) != nil {
		if err := im.isolate(ctx); err != nil {
			return err
		}
	}
	c, err := im.census(ctx, im.offeredItems)
	if err != nil {
		return err
	}
	im.counted = true
	im.apply(c)
	return nil
}

// census reads all items again and counts them by the entities that were inferred.
func (im *importer) census(ctx context.Context, total int) (*census, error) {
	c := &census{
		total: total, count: map[*model.Entity]int{}, bytes: map[*model.Entity]int{}, none: map[*model.Table]int{},
		distinct: map[*model.Field]*distinct{}, used: map[*model.Field]int{},
		linked: map[*model.Entity]map[string][]linkedValues{}, part: math.MaxUint64,
	}
	if total > linkedItems {
		c.part = math.MaxUint64 / uint64(total) * linkedItems
	}
	keyed := map[*model.Entity][]*model.Field{}
	for _, e := range im.m.Entities {
		keyed[e] = e.KeyedFields()
	}
	n := 0
	for o, err := range im.allOffers() {
		if n++; n%1024 == 0 && err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		c.add(im.m, o, keyed)
	}
	return c, nil
}

func (c *census) add(m *model.Model, o offered, keyed map[*model.Entity][]*model.Field) {
	e := m.Classify(o.t, o.it)
	if e == nil {
		c.none[o.t]++
		return
	}

	c.count[e]++
	c.bytes[e] += o.it.Size()
	values := e.FieldsOf(o.it)
	for _, f := range e.Fields {
		v, ok := values[f.Name]
		if !ok {
			continue
		}
		d := c.distinct[f]
		if d == nil {
			d = &distinct{}
			c.distinct[f] = d
		}
		d.add(hashOf(v))
		c.used[f]++
	}

	var own linkedValues
	for _, f := range keyed[e] {
		v, ok := values[f.Name]
		if !ok || hashOf(v) > c.part {
			continue
		}
		if own == nil {
			own = linkedValues{}
			for _, f := range keyed[e] {
				own[f.Name] = values[f.Name]
			}
		}
		by := c.linked[e]
		if by == nil {
			by = map[string][]linkedValues{}
			c.linked[e] = by
		}
		if len(by[f.Name]) < 8*linkedItems {
			by[f.Name] = append(by[f.Name], own)
		}
	}
}

// hashOf returns a hash of a text whose bits are all alike, the same in every run.
func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// A distinct estimates the number of different values from the smallest of their hashes.
type distinct struct {
	smallest []uint64 // sorted
}

// distinctExact is up to how many values the number is exact.
const distinctExact = 1024

func (d *distinct) add(hash uint64) {
	n := len(d.smallest)
	if n == distinctExact && hash >= d.smallest[n-1] {
		return
	}
	at, found := slices.BinarySearch(d.smallest, hash)
	if found {
		return
	}
	if n == distinctExact {
		d.smallest = d.smallest[:n-1]
	}
	d.smallest = slices.Insert(d.smallest, at, hash)
}

func (d *distinct) count() int {
	n := len(d.smallest)
	if n < distinctExact {
		return n
	}
	return int(float64(n-1) / (float64(d.smallest[n-1]) / math.MaxUint64))
}

// apply writes what the census says into the model, as far as the model stays valid.
func (im *importer) apply(c *census) {
	im.belongByCensus(c)
	for _, e := range im.m.Entities {
		e.Samples = e.Samples[:min(len(e.Samples), im.samplesOf(e, c.count[e]))]
		e.Count = max(0, c.count[e]-len(e.Samples))
	}

	for _, t := range im.m.Tables {
		if n := c.none[t]; n > 0 {
			im.add(Loss{What: text.Count(n, "item") + " of table " + t.Name, Why: "they fit no entity"})
		}
	}

	if checkModel(im.m) != nil { // the counts contradict what belongs to what
		for _, e := range im.m.Entities {
			e.Samples, e.Count = nil, c.count[e]
		}
	}

	if checkModel(im.m) != nil {
		im.unlink(func(p *model.Parent) { p.Per = model.Per{} })
	}
	if err := checkModel(im.m); err != nil {
		for _, e := range im.m.Entities {
			e.Parents = nil
		}
	}

	if err := checkModel(im.m); err != nil {
		for _, e := range im.m.Entities {
			e.Count = 0
		}
		im.add(Loss{What: "the counts of the entities", Why: reason(err)})
	}

	im.repeat(c)
	im.leaveRoom(c)
	im.countLosses(c)
}

// samplesOf returns how many samples an entity keeps. Count is for the items beside the
// samples; what belongs to what needs the counts in proportion, so that samples are few.
func (im *importer) samplesOf(e *model.Entity, n int) int {
	alone := len(e.Parents) == 0 && !slices.ContainsFunc(im.m.Entities, func(o *model.Entity) bool {
		return slices.ContainsFunc(o.Parents, func(p model.Parent) bool { return p.Entity == e })
	})
	switch {
	case !alone:
		return max(1, n/50)
	case n <= 20:
		return n
	}
	return max(5, n/50)
}

// repeat declares the number of different values of fields whose values repeat.
func (im *importer) repeat(c *census) {
	carried := func(f *model.Field) bool {
		return slices.ContainsFunc(im.m.Entities, func(e *model.Entity) bool {
			has := func(p model.Parent) bool { return slices.Contains(p.Entity.KeyFields(), f) }
			return slices.ContainsFunc(e.Parents, has)
		})
	}
	for f, d := range c.distinct {
		n := d.count()
		if f.Distinct > 0 || len(f.Values) > 0 || n < 1 || 2*n > c.used[f] || carried(f) {
			continue
		}
		if f.Distinct = n; checkModel(im.m) != nil {
			f.Distinct = 0
		}
	}
}

// leaveRoom declares more different numbers than there are generated items for fields that
// tell the items of an entity apart: the samples have some of them.
func (im *importer) leaveRoom(c *census) {
	for _, e := range im.m.Entities {
		if e.Count == 0 || len(e.Samples) == 0 {
			continue
		}
		for _, f := range e.KeyFields() {
			room := c.count[e] + len(e.Samples)
			if (f.Type.Name != "int" && f.Type.Name != "number") || e.CarriedFrom(f) != nil || f.Distinct >= room ||
				c.distinct[f] == nil || 2*c.distinct[f].count() < c.count[e] {
				continue
			}
			have := f.Distinct
			if f.Distinct = room; checkModel(im.m) != nil {
				f.Distinct = have
			}
		}
	}
}

// countLosses says that the model has only samples of the items.
func (im *importer) countLosses(c *census) {
	for _, e := range im.m.Entities {
		if n := c.count[e]; n > len(e.Samples) {
			im.add(Loss{
				What: fmt.Sprintf("%s of %s", text.Count(n, "item"), e.Name),
				Why: fmt.Sprintf("%d of them are samples, and count generates others; they have %d bytes on average",
					len(e.Samples), c.bytes[e]/n),
			})
		}
	}
}

// unlink changes the parents of all entities.
func (im *importer) unlink(change func(*model.Parent)) {
	for _, e := range im.m.Entities {
		for i := range e.Parents {
			change(&e.Parents[i])
		}
	}
}

// belongByCensus declares the parents of entities by all items: field by field, from the
// one that tells most items apart.
func (im *importer) belongByCensus(c *census) {
	for _, e := range im.m.Entities {
		fields := e.KeyedFields()
		slices.Reverse(fields)
		for _, f := range fields {
			seq := func(e *model.Entity) iter.Seq[model.Values] { return values(c.linked[e][f.Name]) }
			children := len(c.linked[e][f.Name])
			fits := isParent(children)
			for _, s := range im.m.ShownParents(e, seq, func(s *model.ShownParent) bool {
				return s.Fields[len(s.Fields)-1] == f && s.Items > 0 && fits(s)
			}) {
				p := model.Parent{Entity: s.Entity}
				if s.Items >= enoughParents {
					p.Per = meanPer(s.Per, float64(c.count[e])/float64(c.count[s.Entity]))
				}
				e.Parents = append(e.Parents, p)
				if checkModel(im.m) != nil {
					e.Parents = e.Parents[:len(e.Parents)-1]
				}
			}
		}
		slices.SortFunc(e.Parents, func(a, b model.Parent) int {
			return cmp.Compare(slices.Index(im.m.Entities, a.Entity), slices.Index(im.m.Entities, b.Entity))
		})
	}
}

func values(list []linkedValues) iter.Seq[model.Values] {
	return func(yield func(model.Values) bool) {
		for _, v := range list {
			if !yield(v) {
				return
			}
		}
	}
}

// meanPer returns a distribution like that of numbers in ascending order, with a mean.
func meanPer(n []int, mean float64) model.Per {
	per := perOf(n)
	if per.P50 == nil || per.P95 == nil {
		return per
	}
	// Of 40 parts, 10 are Min and 19 P50, 10 P95 and 1 Max: see model.Per.
	low, p50, p95, high := float64(per.Min), float64(*per.P50), float64(*per.P95), float64(per.Max)
	if a := math.Round((40*mean - 10*low - 10*p95 - high) / 19); a >= low && a <= p95 {
		p50 = a
	} else if a := math.Round((40*mean - 10*low - 19*p50 - high) / 10); a >= p50 && a <= high {
		p95 = a
	} else {
		return model.Per{} // the model divides the items evenly
	}
	*per.P50, *per.P95 = int(p50), int(p95)
	return per
}

// allOffers returns all items with their tables.
func (im *importer) allOffers() iter.Seq2[offered, error] {
	return func(yield func(offered, error) bool) {
		for _, o := range im.held {
			if !yield(o, nil) {
				return
			}
		}
		for _, s := range im.streams {
			for o, err := range im.offers(s, func(string) {}) {
				if !yield(o, err) || err != nil {
					return
				}
			}
		}
	}
}

// pour samples all items, and puts the samples into their tables.
func (im *importer) pour() error {
	s := newSampler(max(im.o.Items, 0))
	lost := map[string]int{}
	for _, o := range im.held {
		s.offer(o)
	}
	for _, stream := range im.streams {
		for o, err := range im.offers(stream, func(why string) { lost[why]++ }) {
			if err != nil {
				return err
			}
			s.offer(o)
		}
	}
	for why, n := range lost {
		im.add(Loss{What: text.Count(n, "item"), Why: why})
	}
	for _, o := range s.sample() {
		im.put(o.t, o.it, nil, o.n)
	}
	im.offeredItems = s.seen
	return nil
}
