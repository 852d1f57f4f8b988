package load

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

const (
	// mostItems is the largest number of items that try sends a write for, evenly spaced among the items of the
	// entity.
	mostItems = 200
	// MostCounted is the largest number of items for which the write units are computed, evenly spaced among those of
	// the entity.
	MostCounted = 1 << 17
)

// A Cost is the cost of a pattern that writes.
type Cost struct {
	// Request is the request for the first item for which the service accepts the write. If the service accepts the
	// write for no item, it is the request for the first item.
	Request wire.Request `json:"-"`
	// Items is the number of items for which the write units are computed. If the condition refused none of the items
	// tried, these are all items that the write may apply to, at most [MostCounted]. Otherwise, they are only the
	// items tried and accepted. Unmet is the number of refused items.
	Items int `json:"items"`
	Unmet int `json:"-"`
	// All is the number of items that the write may apply to.
	All int `json:"-"`
	// First is the write units for the first item. P50 and P95 are the 50th and the 95th percentile of the write
	// units over all items. Worst is the maximum.
	First float64 `json:"-"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	Worst float64 `json:"worst"`
	// Spaces are the tables and indexes in which the write costs units, in the order of the file.
	Spaces []SpaceCost `json:"spaces"`
	// Refused is the last error of the service if it accepts the write for no item. It is nil if the only errors were
	// failed conditions.
	Refused *wire.Error `json:"-"`

	members []*member
}

// A SpaceCost is the cost of a write in a table or an index.
type SpaceCost struct {
	Table *model.Table `json:"table"`
	Index *model.Index `json:"index,omitempty"` // nil for the table itself
	// Mean and Worst are the average and the maximum of the write units over the items.
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
}

// Mean returns the average of the write units in all tables and indexes together.
func (c *Cost) Mean() float64 {
	sum := 0.0
	for _, s := range c.Spaces {
		sum += s.Mean
	}
	return sum
}

// MarshalJSON adds the mean.
func (c *Cost) MarshalJSON() ([]byte, error) {
	type plain Cost
	return text.JSON(struct {
		*plain
		Mean float64 `json:"mean"`
	}{(*plain)(c), c.Mean()})
}

// ErrNoItem means that the dataset has no item that the write applies to.
var ErrNoItem = errors.New("no item of the model has the values in where")

func (table *Table) write(ctx context.Context, p *model.Pattern) (*Cost, error) {
	t := &writer{w: table.w, p: p, spaces: table.spaces}
	for i := range p.Writes {
		m := &member{
			write: &p.Writes[i], shares: map[*dataset.Item]float64{}, effects: map[*dataset.Item][]effect{},
			means: make([]effect, len(t.spaces)),
		}
		m.items = matching(t.w, m.write)
		if len(m.items) == 0 {
			return nil, ErrNoItem
		}
		t.cost.members = append(t.cost.members, m)
	}
	t.cost.All = len(t.cost.members[0].items)
	met, err := t.try(ctx)
	if err != nil {
		return nil, err
	}
	return &t.cost, t.count(ctx, met)
}

// A writer computes the cost of one pattern that writes.
type writer struct {
	w      *dataset.Dataset
	p      *model.Pattern
	spaces []space
	cost   Cost
}

// A member is one write of a pattern. A transaction has several.
type member struct {
	write *model.Write
	items []*dataset.Item // items that the write may apply to
	// shares has, for each item, the share of all requests that write it. effects has, for each item, the effect of
	// writing it in each space. means has the average effect in each space.
	shares  map[*dataset.Item]float64
	effects map[*dataset.Item][]effect
	means   []effect
	// loose is the number of declared requests that do not determine which item the member writes. They spread evenly
	// over all its items.
	loose float64
	// before, skew and factor are set for the first member if the pattern has a zipf distribution. before has, for
	// each item, the number of declared requests that rank before it. factor normalizes the weights to an average of
	// 1.
	before map[*dataset.Item]float64
	skew   float64
	factor float64
	all    float64 // declared requests; set for the first member only
}

// An effect is what writing an item changes in one space. units are the write units that fall on the row's old place,
// and moved those for the row in a new place. rows is the number of rows written.
type effect struct {
	units, moved float64
	rows         float64
	to           attr.Item // the item after the write, or nil if its row stays in place
}

// A space is a table or an index, with the sizes of its rows.
type space struct {
	SpaceCost
	sizes *model.RowSizes
}

// spacesOf returns the tables and indexes of a dataset, each table before its indexes.
func spacesOf(w *dataset.Dataset) (all []space) {
	for _, t := range w.Model.Tables {
		all = append(all, space{SpaceCost{Table: t}, t.RowSizes(nil)})
		for _, x := range t.Indexes {
			all = append(all, space{SpaceCost{Table: t, Index: x}, t.RowSizes(x)})
		}
	}
	return all
}

// matching returns the items that a write may apply to, the items of the file first. For an update, it returns only
// the items that the update would change. If the update would change none, it returns all.
func matching(dataset *dataset.Dataset, w *model.Write) (all []*dataset.Item) {
	changed := all
	for it := range dataset.ItemsOf(w.Entity) {
		if !has(it, w.Where) {
			continue
		}
		all = append(all, it)
		if len(w.Set) > 0 && !has(it, w.Set) {
			changed = append(changed, it)
		}
	}
	if len(changed) > 0 {
		return changed
	}
	return all
}

// has reports whether an item has the values of all conditions.
func has(it *dataset.Item, list []model.Condition) bool {
	return !slices.ContainsFunc(list, func(c model.Condition) bool { return it.Values.Get(c.Field) != c.Args[0] })
}

// spreadOver calls f for numbers from 0 up to n, evenly spaced. It makes n calls, or most calls if n is larger than
// most.
func spreadOver(n, most int, f func(i int) error) error {
	for i := range min(n, most) {
		if err := f(i * n / min(n, most)); err != nil {
			return err
		}
	}
	return nil
}

// try sends the write for up to mostItems items to a fork of the database, each with the related items of the other
// members. It returns the indexes of the items for which the service accepts the write.
func (t *writer) try(ctx context.Context) (met []int, err error) {
	if err := t.w.Fill(ctx); err != nil {
		return nil, err
	}
	fork, err := t.w.DB.Fork()
	if err != nil {
		return nil, err
	}
	defer fork.Close()
	service := engine.Of(fork).Service
	err = spreadOver(len(t.cost.members[0].items), mostItems, func(at int) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		ok, err := t.send(ctx, service, at)
		if ok {
			met = append(met, at)
		}
		return err
	})
	if len(met) > 0 {
		t.cost.Refused = nil
	}
	return met, err
}

// send sends the write for the item at an index, and reports whether the service accepts it.
func (t *writer) send(ctx context.Context, service *api.Service, at int) (bool, error) {
	var items []compile.Item
	chosen, _ := t.chosen(at)
	for i, it := range chosen {
		items = append(items, compile.Item{Values: it.Values.Map(), Attributes: it.Attributes})
		if w := &t.p.Writes[i]; w.Operation == model.Put { // a put creates an item, so delete the existing one
			in := &wire.DeleteItemInput{TableName: &w.Entity.Table.Name, Key: keyOf(w.Entity, it.Attributes)}
			if _, err := service.DeleteItem(ctx, in); err != nil {
				return false, err
			}
		}
	}
	in, err := compile.Write(t.p, items)
	if err != nil {
		return false, err
	}
	if t.cost.Request == nil {
		t.cost.Request = in
	}

	switch in := in.(type) {
	case *wire.PutItemInput:
		_, err = service.PutItem(ctx, in)
	case *wire.UpdateItemInput:
		_, err = service.UpdateItem(ctx, in)
	case *wire.DeleteItemInput:
		_, err = service.DeleteItem(ctx, in)
	case *wire.TransactWriteItemsInput:
		_, err = service.TransactWriteItems(ctx, in)
	}
	e, ok := errors.AsType[*wire.Error](err)
	switch {
	case ok && (e.Code == "ConditionalCheckFailedException" || e.Code == "TransactionCanceledException"):
		t.cost.Unmet++
		return false, nil
	case ok:
		t.cost.Refused = e
		return false, nil
	case err != nil:
		return false, err
	}
	if t.cost.Items++; t.cost.Items == 1 {
		t.cost.Request = in
	}
	return true, nil
}

// keyOf returns the key of an item of an entity.
func keyOf(e *model.Entity, it attr.Item) attr.Item {
	var key attr.Builder
	for _, a := range e.Table.Keys() {
		key.Add(a.Name, it.Get(a.Name))
	}
	return key.Item()
}

// chosen takes the item of the first member at an index and returns the item that each member writes. decided tells,
// for each member, whether the first item determines which item that is.
func (t *writer) chosen(at int) (chosen []*dataset.Item, decided []bool) {
	main := t.cost.members[0].items[at]
	chosen, decided = []*dataset.Item{main}, []bool{true}
	if len(t.p.Writes) == 1 {
		return chosen, decided
	}
	values := main.Values.Map()
	for i := 1; i < len(t.p.Writes); i++ {
		it, ok := t.related(i, at, values, chosen)
		chosen, decided = append(chosen, it), append(decided, ok)
	}
	return chosen, decided
}

// related returns the item that member i writes together with an item of the first member. This is the item whose key
// has the first item's values, unless apart forbids it. Otherwise, it is any item, preferably one that no earlier
// member writes. The second result is true if no other item is possible.
func (t *writer) related(i, at int, values map[string]string, chosen []*dataset.Item) (*dataset.Item, bool) {
	w := &t.p.Writes[i]
	values = maps.Clone(values)
	for _, c := range w.Where {
		values[c.Field] = c.Args[0]
	}
	if key, ok := keyFrom(w.Entity, values); ok {
		if it := keyedItems(t.w, w.Entity)[key]; it != nil && !t.apart(i, it, chosen) {
			return it, true
		}
	}
	all := t.cost.members[i].items
	for k := range min(len(all), len(chosen)+1) {
		if it := all[(at+k)%len(all)]; !slices.Contains(chosen, it) {
			return it, len(all) == 1
		}
	}
	return all[at%len(all)], len(all) == 1
}

// apart reports whether member i must write an item other than it. This is so if three things are true: an earlier
// member has chosen the item, one of the two members is a put, which creates a new item, and member i has no
// conditions that select the item.
func (t *writer) apart(i int, it *dataset.Item, chosen []*dataset.Item) bool {
	k := slices.Index(chosen, it)
	if k < 0 {
		return false
	}
	a, b := &t.p.Writes[k], &t.p.Writes[i]
	return (a.Operation == model.Put || b.Operation == model.Put) && len(b.Where) == 0
}

// count computes the write units of the requests for all items of the first member. met are the indexes of the tried
// items that the condition accepted. If it refused some, count computes only the items in met.
func (t *writer) count(ctx context.Context, met []int) error {
	c := &t.cost
	if len(met) == 0 {
		return nil
	}
	list := met
	if len(met) == min(c.All, mostItems) {
		list = nil
		_ = spreadOver(len(c.members[0].items), MostCounted, func(i int) error {
			list = append(list, i)
			return nil
		})
	}

	c.Items = len(list)
	requests := make([]request, 0, len(list))
	for n, at := range list {
		if n%1024 == 0 && context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		r := request{times: t.w.Represents(c.members[0].items[at])}
		r.chosen, r.decided = t.chosen(at)
		for i, it := range r.chosen {
			for _, e := range t.effects(c.members[i], it) {
				r.units += e.units + e.moved
			}
		}
		requests = append(requests, r)
	}
	c.First = requests[0].units
	slices.SortStableFunc(requests, func(a, b request) int { return cmp.Compare(b.units, a.units) })
	t.weigh(requests)
	t.average(requests)
	rank := ranksOf(len(requests), func(i int) float64 { return requests[i].times })
	c.P50, c.P95, c.Worst = requests[rank(0.5)].units, requests[rank(0.95)].units, requests[0].units
	t.sum()
	return nil
}

// A request is the write of one item of the first member with the related items of the others.
type request struct {
	chosen  []*dataset.Item
	decided []bool // whether a key determines the item
	units   float64
	times   float64 // number of declared requests that it represents
}

// weigh sets how often each request is made if the pattern has a zipf distribution.
func (t *writer) weigh(requests []request) {
	if t.p.Asked != model.AskedZipf {
		return
	}
	m, z, all, weights := t.cost.members[0], zipf{skew: t.p.Skew}, 0.0, 0.0
	m.before, m.skew = map[*dataset.Item]float64{}, t.p.Skew
	for _, r := range requests {
		m.before[r.chosen[0]] = all
		all, weights = all+r.times, weights+z.next(r.times)*r.times
	}
	m.factor = all / weights
	for i := range requests {
		r := &requests[i]
		r.times *= m.weight(r.chosen[0], r.times)
	}
}

// average sets the average effects of each member over all requests, and how often the requests write each of its
// items.
func (t *writer) average(requests []request) {
	members, all := t.cost.members, 0.0
	// the first member's items, grouped by the related item of each member
	groups := make([]map[*dataset.Item][]dataset.Row, len(members))
	for i := range groups {
		groups[i] = map[*dataset.Item][]dataset.Row{}
	}
	for _, r := range requests {
		all += r.times
		for i, it := range r.chosen {
			if r.decided[i] {
				groups[i][it] = append(groups[i][it], dataset.Row{Item: r.chosen[0]})
			} else {
				members[i].loose += r.times
			}
			for k, e := range t.effects(members[i], it) {
				mean := &members[i].means[k]
				mean.units += (e.units + e.moved) * r.times
				mean.rows += e.rows * r.times
			}
		}
	}
	for i, m := range members {
		t.divide(m, groups[i], all)
		for k := range m.means {
			m.means[k].units, m.means[k].rows = m.means[k].units/all, m.means[k].rows/all
		}
	}
}

// weight returns the average weight of declared items that item it represents, relative to an average of 1 over all
// declared items. The parameter items is how many of them count, beginning with the most frequent.
func (m *member) weight(it *dataset.Item, items float64) float64 {
	if m.before == nil {
		return 1
	}
	z := zipf{skew: m.skew, at: m.before[it]}
	return z.next(items) * m.factor
}

// share returns the share of all requests that write the declared items that item it represents. The parameter items
// is how many of them count, beginning with the most frequent. In members other than the first, the first declared
// item gets the share in m.shares, and each other one gets an average share.
func (m *member) share(w *dataset.Dataset, it *dataset.Item, items float64) float64 {
	if m.all > 0 {
		return items * m.weight(it, items) / m.all
	}
	return m.shares[it] + max(0, items-1)/w.Declared(m.write.Entity)
}

// divide sets how often the requests write each item of a member. If the items of several requests relate to the same
// item, the requests add up: for example, each vote writes the poll that counts it. A sample has fewer such requests
// than the model declares, so divide scales them up.
func (t *writer) divide(m *member, groups map[*dataset.Item][]dataset.Row, all float64) {
	main := t.cost.members[0]
	if m == main {
		m.all = all
		for it := range groups {
			m.shares[it] = m.weight(it, 1) / all
		}
		return
	}
	grow := t.w.GrowthOf(keyFields(m.write.Entity))
	for _, rows := range groups {
		grow.Count(rows)
	}
	for it, rows := range groups {
		each := grow.In(rows)
		for i := range rows {
			n := each(rows[i].Item)
			m.shares[it] += main.weight(rows[i].Item, n) * n / all
		}
	}

	declared := 0.0
	for _, it := range m.items {
		declared += t.w.Represents(it)
	}
	if m.loose > 0 {
		for _, it := range m.items {
			m.shares[it] += m.loose / all / declared
			t.effects(m, it)
		}
	}
}

// effects returns the effect of the member's write of an item in each space.
func (t *writer) effects(m *member, it *dataset.Item) []effect {
	if all, ok := m.effects[it]; ok {
		return all
	}
	before, after := it.Attributes, it.Attributes
	switch m.write.Operation {
	case model.Put:
		before = nil
	case model.Delete:
		after = nil
	case model.Update:
		after = updated(m.write, it)
	}

	all := make([]effect, len(t.spaces))
	for k := range t.spaces {
		if s := &t.spaces[k]; s.Table == m.write.Entity.Table {
			all[k] = s.effect(m.write.Operation, before, after)
			if s.Index == nil && t.p.Operation == model.Transaction {
				all[k].units *= 2 // a transaction prepares each write and commits it
			}
		}
	}
	m.effects[it] = all
	return all
}

// updated returns the item as it is after an update.
func updated(w *model.Write, it *dataset.Item) attr.Item {
	values := it.Values.Map()
	for _, c := range w.Set {
		values[c.Field] = c.Args[0]
	}
	changes := func(name string) bool {
		t := w.Entity.Attribute(name)
		return t != nil && slices.ContainsFunc(w.Changes(), t.DependsOn)
	}
	made, err := w.Entity.Item(values)
	if err != nil {
		return it.Attributes
	}
	var b attr.Builder
	for name, v := range it.Attributes.All() {
		if !changes(string(name)) {
			b.AddBytes(name, v)
		}
	}
	for name, v := range made.All() {
		if changes(string(name)) {
			b.AddBytes(name, v)
		}
	}
	return b.Item()
}

// effect returns the effect in the space of a write that changes an item from before to after. Before is nil for a
// put, after is nil for a delete.
func (s *space) effect(operation string, before, after attr.Item) effect {
	was, there := s.sizeOf(before)
	is, stays := s.sizeOf(after)
	switch {
	case s.Index == nil && operation == model.Check:
		return effect{units: table.WriteUnits(was)}
	case s.Index == nil:
		return effect{units: table.WriteUnits(max(was, is)), rows: 1}
	case operation == model.Check || !there && !stays:
		return effect{}
	case operation == model.Put:
		return effect{units: table.WriteUnits(is), rows: 1}
	case !there:
		return effect{moved: table.WriteUnits(is), rows: 1, to: after}
	case !stays:
		return effect{units: table.WriteUnits(was), rows: 1}
	case s.sizes.Same(before, after):
		return effect{}
	}
	for _, a := range s.Index.Keys() {
		if !attr.Equal(before.Get(a.Name), after.Get(a.Name)) {
			return effect{units: table.WriteUnits(was), moved: table.WriteUnits(is), rows: 2, to: after}
		}
	}
	return effect{units: table.WriteUnits(max(was, is)), rows: 1}
}

func (s *space) sizeOf(it attr.Item) (int, bool) {
	if it == nil {
		return 0, false
	}
	return s.sizes.Of(it)
}

// sum computes the costs in each table and index from the effects of the members.
func (t *writer) sum() {
	for k := range t.spaces {
		s := t.spaces[k].SpaceCost
		for _, m := range t.cost.members {
			s.Mean += m.means[k].units
			worst := 0.0
			for _, effects := range m.effects {
				worst = max(worst, effects[k].units+effects[k].moved)
			}
			s.Worst += worst
		}
		if s.Worst > 0 {
			t.cost.Spaces = append(t.cost.Spaces, s)
		}
	}
}
