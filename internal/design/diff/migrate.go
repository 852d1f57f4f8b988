package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/keys"
)

// A moved is an item of the old version together with its form in the new version.
type moved struct {
	was    *dataset.Item
	times  float64       // number of items at the declared scale that this one represents; 0 for an example
	entity *model.Entity // in planner.target; nil for a raw item, or if the entity is gone
	table  *model.Table  // in planner.target; nil if the plan deletes the item
	item   attr.Item
	kept   bool // the item keeps its table and its key
	// fresh are fields for which the item has invented values, because the old version does not have them or writes
	// them less precisely.
	fresh []string
	// unsure are fields whose generated value the new version cannot write. The item has another generated value
	// instead.
	unsure []string
}

// place returns a string that identifies a table and a key.
func place(t *model.Table, it attr.Item) string {
	b := append([]byte(t.Name), 0)
	for _, a := range t.Keys() {
		v := it.Get(a.Name)
		b = item.AppendKey(append(b, byte(v.Kind())), v)
	}
	return string(b)
}

// keyOnly returns the key of an item in a table.
func keyOnly(t *model.Table, it attr.Item) attr.Item {
	var b attr.Builder
	for _, a := range t.Keys() {
		b.Add(a.Name, it.Get(a.Name))
	}
	return b.Item()
}

// keyShown formats the key of an item for people.
func keyShown(t *model.Table, it attr.Item) string {
	var all []string
	for _, a := range t.Keys() {
		all = append(all, a.Name+"="+model.TextOf(it.Get(a.Name)))
	}
	return strings.Join(all, ", ")
}

// certain reports whether all values of the new form come from the old version.
func (v *moved) certain() bool { return len(v.fresh)+len(v.unsure) == 0 }

// classify sets kept.
func (v *moved) classify() {
	v.kept = v.table != nil && v.table.Name == v.was.Table.Name &&
		!slices.ContainsFunc(slices.Concat(v.table.Keys(), v.was.Table.Keys()), func(a model.Attribute) bool {
			return !attr.Equal(v.item.Get(a.Name), v.was.Attributes.Get(a.Name))
		})
}

// gains returns the attributes that only the new form of the item has, and loses those that only the old form has.
func (v *moved) gains() []string { return missing(v.item, v.was.Attributes) }
func (v *moved) loses() []string { return missing(v.was.Attributes, v.item) }

// missing returns the names of the attributes that the first item has and other lacks.
func missing(it, other attr.Item) (names []string) {
	for name := range it.All() {
		if other.Get(string(name)).Kind() == 0 {
			names = append(names, string(name))
		}
	}
	return names
}

// union returns the item with the attributes of both forms, as the table has it while both versions are in use.
func (v *moved) union() attr.Item {
	var b attr.Builder
	for name, value := range v.was.Attributes.All() {
		b.AddBytes(name, value)
	}
	for _, name := range v.gains() {
		b.Add(name, v.item.Get(name))
	}
	return b.Item()
}

// migrate computes the new form of each item of the old version.
func (p *planner) migrate() {
	p.items = p.items[:0]
	mates := map[*pair]*mates{}
	var refused refusals
	for i := range p.olds {
		v := moved{was: &p.olds[i]}
		if i < len(p.was.Dataset.Items) {
			v.times = p.was.Dataset.Represents(v.was)
		}
		switch e := v.was.Entity; {
		case e == nil:
			p.carryRaw(&v)
		case p.pairs[e] != nil:
			pr := p.part(&v)
			if mates[pr] == nil {
				mates[pr] = p.matesOf(pr)
			}
			v.entity = p.target.Entity(pr.is.Name)
			v.table = v.entity.Table
			if err := v.migrate(pr, mates[pr]); err != nil && v.times == 0 {
				continue // the new version cannot write this example
			} else if err != nil {
				v.table = nil
				refused.add(&v, err)
			}
		}
		v.classify()
		p.items = append(p.items, v)
	}
	refused.ask(p)
}

// part returns the pair for an item. If the item's entity was split into several, part chooses the new entity whose
// form fits the item best: first by the key, then by the number of attributes that differ. If two fit equally well,
// part adds a question.
func (p *planner) part(v *moved) *pair {
	named := p.pairs[v.was.Entity]
	best, tie := named, (*pair)(nil)
	least, ok := named.fits(v.was)
	for _, pr := range p.splits[v.was.Entity] {
		f, fits := pr.fits(v.was)
		if !fits {
			continue
		}
		nearer := cmp.Compare(f.differs, least.differs)
		if f.key != least.key {
			nearer = 1
			if f.key {
				nearer = -1
			}
		}
		switch {
		case !ok || nearer < 0:
			best, least, ok, tie = pr, f, true, nil
		case nearer == 0:
			tie = pr
		}
	}
	if tie != nil && v.times > 0 {
		p.ask(
			fmt.Sprintf("--rename %s==%s if all become %[2]s; or give one of them a constant, or values of a field, "+
				"that only its items have", named.was.Name, named.is.Name),
			"items of %s have the form of %s and of %s: which are they?", named.was.Name, best.is.Name, tie.is.Name,
		)
	}
	p.parts[best.is] = true
	return best
}

// carryRaw sets the table and the new form of a raw item. If the item has all key attributes of its new table, it
// stays as it is. Otherwise, its new form is the raw item at the same position in the new version.
func (p *planner) carryRaw(v *moved) {
	if v.table = p.successor(v.was.Table); v.table == nil {
		return
	}
	v.item = v.was.Attributes
	fits := func(it attr.Item) bool {
		lacks := func(a model.Attribute) bool { return it.Get(a.Name).Kind() != a.Kind }
		return !slices.ContainsFunc(v.table.Keys(), lacks)
	}
	if fits(v.item) {
		return
	}

	// Only the order in the two files connects a raw item with its new version.
	nth := 0
	for _, r := range p.was.Dataset.Model.Items {
		if r.Table == v.was.Table && place(r.Table, r.Item) == place(v.was.Table, v.item) {
			break
		}
		if r.Table == v.was.Table {
			nth++
		}
	}
	for _, r := range p.target.Items {
		if r.Table == v.table {
			if nth--; nth < 0 {
				v.item = r.Item
				return
			}
		}
	}
	v.table = nil
	p.ask(
		"write it among the items of the new version", "item %s of table %s lacks a key of table %s",
		keyShown(v.was.Table, v.was.Attributes), v.was.Table.Name, p.successor(v.was.Table).Name,
	)
}

// successor returns the target's table for the raw items of an old table. This is the table of the same name or the
// table that renames give. If there is neither, it is the only new table, provided that an entity moves from the old
// table to it. successor returns nil if there is no such table.
func (p *planner) successor(old *model.Table) *model.Table {
	is := p.is.Dataset.Model
	name, _, said := p.renames.of(old.Name)
	if is.Table(old.Name) != nil {
		name, said = old.Name, true
	}
	if said {
		if t := is.Table(name); t != nil {
			return p.now(t)
		}
		return nil
	}

	isOld := func(t *model.Table) bool { return p.was.Dataset.Model.Table(t.Name) != nil }
	fresh := slices.DeleteFunc(slices.Clone(is.Tables), isOld)
	for _, pr := range p.pairs {
		if len(fresh) == 1 && pr.was.Table == old && pr.is.Table == fresh[0] {
			return p.now(fresh[0])
		}
	}
	return nil
}

// now returns the target's copy of a table of the new version.
func (p *planner) now(t *model.Table) *model.Table {
	return p.target.Tables[slices.Index(p.is.Dataset.Model.Tables, t)]
}

// mates are the items of a new entity. If the new entity has a field that the old version lacks, a migrated item
// takes the value of the field from one of them.
type mates struct {
	shared, fresh []string // fields of the new version
	finer         []string // fields that the new version writes more precisely than the old one
	by            map[string][]*dataset.Item
	all           []*dataset.Item
	next          int
}

func (p *planner) matesOf(pr *pair) *mates {
	m := &mates{by: map[string][]*dataset.Item{}}
	for _, f := range pr.is.Fields {
		if pr.from[f.Name] == "" {
			m.fresh = append(m.fresh, f.Name)
		} else {
			m.shared = append(m.shared, f.Name)
		}
	}
	for name, from := range pr.from {
		if model.Finer(written(pr.is, name), written(pr.was, from)) {
			m.finer = append(m.finer, name)
		}
	}
	slices.Sort(m.finer)
	if len(m.fresh) == 0 {
		return m
	}
	for i := range p.is.Dataset.Items {
		if it := &p.is.Dataset.Items[i]; it.Entity == pr.is {
			m.all = append(m.all, it)
			id := m.id(it.Values.Lookup)
			m.by[id] = append(m.by[id], it)
		}
	}
	return m
}

// written returns the most precise type with which the templates of the entity write the field.
func written(e *model.Entity, field string) (finest keys.Type) {
	for _, part := range e.AllParts() {
		if part.Name == field && (finest.Name == "" || model.Finer(part.Type, finest)) {
			finest = part.Type
		}
	}
	return finest
}

// id encodes the values of the fields that both versions have, for use as a key of m.by.
func (m *mates) id(value func(field string) (string, bool)) string {
	var b strings.Builder
	for _, name := range m.shared {
		v, ok := value(name)
		fmt.Fprintf(&b, "%t%q", ok, v)
	}
	return b.String()
}

// of returns an item of the new version whose shared fields have the values that value returns. If there is none, of
// returns another item. It returns nil if the entity has no items.
func (m *mates) of(value func(field string) (string, bool)) *dataset.Item {
	id := m.id(value)
	if list := m.by[id]; len(list) > 0 {
		if len(list) > 1 {
			m.by[id] = list[1:]
		}
		return list[0]
	}
	if len(m.all) == 0 {
		return nil
	}
	m.next++
	return m.all[(m.next-1)%len(m.all)]
}

// migrate computes the new form of an item. The templates of the new entity make attributes from the item's values.
// Attributes that no old template makes stay as they are.
func (v *moved) migrate(pr *pair, m *mates) error {
	old := v.was.Values.Map()
	value := func(field string) (string, bool) {
		text, ok := old[pr.from[field]]
		return text, ok
	}
	values := map[string]string{}
	for name := range pr.from {
		if text, ok := value(name); ok {
			values[name] = text
		}
	}

	v.fresh = slices.Concat(m.fresh, m.finer)
	var mate *dataset.Item
	if len(m.fresh) > 0 {
		mate = m.of(value)
	}
	for _, name := range m.fresh {
		if mate != nil {
			if text, ok := mate.Values.Lookup(name); ok {
				values[name] = text
			}
		} else if f := v.entity.Field(name); f != nil {
			text, err := dataset.Example(f, 0)
			if err != nil {
				return err
			}
			values[name] = text
		}
	}
	if v.was.Generated {
		if err := v.invent(values, m); err != nil {
			return err
		}
	}

	var b model.ItemBuilder
	// ignore the error: values are missing if a sample gives a key attribute directly
	for i := range pr.was.Attributes {
		_ = pr.was.Add(&b, pr.was.Attributes[i:i+1], old, nil, false)
	}
	own := b.Item()
	var err error
	var extra attr.Builder
	for name, value := range v.was.Attributes.All() {
		if pr.was.Table.Has(string(name)) && !v.table.Has(string(name)) {
			continue // a key of the old table only
		}
		if got := own.Get(string(name)); !attr.Equal(got, value) {
			extra.AddBytes(name, value)
		}
	}
	if v.item, err = v.entity.ItemWith(values, extra.Item()); err == nil {
		return nil
	}
	if all := unwritten(v.entity, values); len(all) > 0 {
		return all[0]
	}
	return err
}

// rewritten returns a field whose text changes in the new form, such as 007 to 7, or a time to a day. It ignores text
// that the new form only extends, such as a day to a time, and fields that only one version has. It returns "" if no
// text changes.
func (v *moved) rewritten(pr *pair) (field, was, is string) {
	old, made := textsOf(v.was.Entity, v.was.Attributes), textsOf(v.entity, v.item)
	for _, f := range v.entity.Fields {
		texts := made[f.Name]
		if len(texts) == 0 || slices.Contains(v.fresh, f.Name) || slices.Contains(v.unsure, f.Name) {
			continue
		}
		for _, text := range old[pr.from[f.Name]] {
			has := func(s string) bool { return strings.HasPrefix(s, text) || sameTime(s, text) }
			if !slices.ContainsFunc(texts, has) {
				return f.Name, text, texts[0]
			}
		}
	}
	return "", "", ""
}

// sameTime reports whether two texts are the same moment, even if one has a fraction of zero or another time zone.
func sameTime(a, b string) bool {
	x, err := time.Parse(time.RFC3339, a)
	y, err2 := time.Parse(time.RFC3339, b)
	return err == nil && err2 == nil && x.Equal(y)
}

// textsOf returns the texts of each field: one from each attribute of the item whose template has the field.
func textsOf(e *model.Entity, it attr.Item) map[string][]string {
	all := map[string][]string{}
	for _, t := range e.Attributes {
		one := model.Entity{Attributes: []*model.Template{t}}
		for name, text := range one.FieldsOf(it) {
			all[name] = append(all[name], text)
		}
	}
	return all
}
