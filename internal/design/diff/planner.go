package diff

import (
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A Question asks the user for a decision that the two versions leave open. There is no plan until the user has
// answered all questions.
type Question struct {
	Ask    string `json:"ask"`
	Answer string `json:"answer"` // how to answer it
}

// A planner makes a plan from the items of the old version and their forms in the new version.
//
// Until the program has switched, both versions are in use, so the plan only adds before then. An item that keeps its
// key may gain attributes. Any other change needs a key, a table or an index that the old version does not have. If
// the new version uses a name of the old version for something else, the plan gives it another name ([Name]). The
// target is the new version with these other names. The planner then runs the patterns of both versions on the items
// of both. If a pattern reads wrong items, the planner changes more names; if that does not help, it uses a new
// table.
type planner struct {
	ctx       context.Context
	was, is   Side
	renames   Renames
	pairs     map[*model.Entity]*pair
	splits    map[*model.Entity][]*pair // by renamed entity: pairs with other new entities that may have its items
	parts     map[*model.Entity]bool    // new entities to which some old item belongs
	olds      []dataset.Item            // items of the old dataset, then examples
	names     *names
	target    *model.Model
	items     []moved
	questions []Question
	unsaid    map[*model.Entity]bool // gone entities about which askGone did not ask, because no entity is new
	all       []Step
}

// make changes names in the target until there are no conflicts. If no question is open, it then makes the steps.
func (p *planner) make() error {
	old, made := p.was.Dataset.Model, p.is.Dataset.Model
	if err := p.renames.check(old, made); err != nil {
		return err
	}
	p.pairs, p.names = pairs(old, made, p.renames), newNames(old, made)
	p.splits, p.parts = splits(made, p.pairs, p.renames), map[*model.Entity]bool{}
	p.examples()
	var err error
	if p.target, err = p.names.target(); err != nil {
		return err
	}
	p.askGone()
	for again := true; again; {
		if p.target, err = p.names.target(); err != nil {
			return err
		}
		p.migrate()
		if again = p.conflicts(); len(p.questions) > 0 {
			return nil
		}
		if again {
			continue
		}
		if again, err = p.disturbed(); err != nil || len(p.questions) > 0 {
			return err
		}
	}
	p.steps()
	return nil
}

func (p *planner) ask(answer, format string, args ...any) {
	q := Question{Ask: fmt.Sprintf(format, args...), Answer: answer}
	if !slices.Contains(p.questions, q) {
		p.questions = append(p.questions, q)
	}
}

// askGone adds two kinds of questions: what became of entities that are gone, if there are new entities; and what
// becomes of the raw items in a table that is gone.
func (p *planner) askGone() {
	old, made := p.was.Dataset.Model, p.is.Dataset.Model
	taken := map[*model.Entity]bool{}
	for _, pr := range p.pairs {
		taken[pr.is] = true
	}
	var fresh []string
	for _, e := range made.Entities {
		if !taken[e] {
			fresh = append(fresh, e.Name)
		}
	}
	p.unsaid = map[*model.Entity]bool{}
	for _, e := range old.Entities {
		if _, said := p.renames[e.Name]; said || p.pairs[e] != nil {
			continue
		}
		if p.unsaid[e] = len(fresh) == 0; len(fresh) == 0 {
			continue
		}
		remove := fmt.Sprintf("--rename %s= if its items are to be deleted", e.Name)
		if other := p.heir(e); other != "" {
			p.ask(
				fmt.Sprintf("--rename %s=%s --rename %[2]s=%[3]s if so; %[4]s", e.Name, other, fresh[0], remove),
				"the new %s has the keys that %s had: is it %[2]s, and has %[1]s another name now?", other, e.Name,
			)
			continue
		}
		if len(fresh) == 1 {
			answer := fmt.Sprintf("--rename %s=%s if so; %s", e.Name, fresh[0], remove)
			p.ask(answer, "is %s the new name of %s?", fresh[0], e.Name)
			continue
		}
		p.ask(
			fmt.Sprintf("--rename %s=%s or another of them; %s", e.Name, fresh[0], remove),
			"entity %s is gone: which of %s has its items now?", e.Name, list(fresh),
		)
	}

	for _, t := range old.Tables {
		if _, said := p.renames[t.Name]; said || p.successor(t) != nil {
			continue
		}
		elsewhere := func(r *model.RawItem) bool { return r.Table != t }
		if n := len(slices.DeleteFunc(slices.Clone(old.Items), elsewhere)); n > 0 {
			p.ask(
				fmt.Sprintf("--rename %s=TABLE to put them there; --rename %[1]s= to delete them", t.Name),
				"table %s is gone: where do its %s of no entity go?", t.Name, text.Count(n, "item"),
			)
		}
	}
}

// heir returns the name of an entity that both versions have and whose new form has the key of gone, or "" if there
// is none. The user may have renamed gone to this name, and the entity that had it to another.
func (p *planner) heir(gone *model.Entity) string {
	for _, a := range p.was.Dataset.Model.Entities {
		if pr := p.pairs[a]; pr != nil && a.Name == pr.is.Name && sameKeys(gone, pr.is) && !sameKeys(a, pr.is) {
			return a.Name
		}
	}
	return ""
}

// conflicts renames everything in the target that would overwrite items or attributes that the old version still
// reads. It reports whether it renamed anything.
func (p *planner) conflicts() (again bool) {
	old, made := p.was.Dataset.Model, p.is.Dataset.Model
	renew := func(t *model.Table, format string, args ...any) {
		again = p.names.renew(made.Tables[slices.Index(p.target.Tables, t)], format, args...) || again
	}
	// apart separates new items from old ones in the same table. It gives the new keys another first word. If that is
	// not possible, it moves all items to another table.
	given := map[*model.Table]bool{}
	apart := func(t *model.Table, format string, args ...any) {
		given[t] = given[t] || p.renewWords(t, t.Sort, fmt.Sprintf(format, args...))
		if again = again || given[t]; !given[t] {
			renew(t, format, args...)
		}
	}
	for _, t := range p.target.Tables {
		a := old.Table(t.Name)
		if a == nil {
			continue
		}
		if why := replacement(a, t); why != "" {
			renew(t, "%s", why)
			continue
		}
		kinds := a.Kinds()
		for name, kind := range t.Kinds() {
			if k, ok := kinds[name]; ok && k != kind {
				p.renewAttribute(t, name, &again, "an index needs it as %s, and an old one as %s", kind, k)
			}
		}
	}
	if again {
		return true
	}

	before, after := map[string]*moved{}, map[string]*moved{}
	merged := map[[2]*model.Entity]bool{}
	listed := map[string]bool{} // keys of raw items in the new version
	for _, r := range p.target.Items {
		listed[place(r.Table, r.Item)] = true
	}
	for i := range p.items {
		if v := &p.items[i]; v.times > 0 {
			before[place(v.was.Table, v.was.Attributes)] = v
		}
	}
	for i := range p.items {
		v := &p.items[i]
		from := p.target.Table(v.was.Table.Name)
		p.kinds(v, &again)
		if v.kept {
			p.changed(v, &again)
		} else if from != nil {
			p.leaves(v, from, listed, apart)
		}
		if v.table == nil {
			continue
		}

		key := place(v.table, v.item)
		if into := old.Table(v.table.Name); into != nil && !v.kept {
			if other := before[key]; other != nil && other != v {
				apart(v.table, "items of %s would replace those of %s", nameOf(v.entity), nameOf(other.was.Entity))
			} else if e := old.Classify(into, keyOnly(into, v.item)); e != nil && e != v.was.Entity {
				apart(v.table, "new keys of %s could be old keys of %s", nameOf(v.entity), e.Name)
			}
		}
		if v.times == 0 {
			continue
		}
		if other := after[key]; other != nil && v.certain() && other.certain() {
			if both := [2]*model.Entity{other.was.Entity, v.was.Entity}; !merged[both] {
				merged[both] = true
				p.ask(
					"give the key what tells them apart", "an item of %s and another of %s would both have the key %s",
					nameOf(both[0]), nameOf(both[1]), keyShown(v.table, v.item),
				)
			}
		}
		after[key] = v
	}
	return again
}

// changed renames each attribute whose value would change in an item that keeps its key.
func (p *planner) changed(v *moved, again *bool) {
	for name, value := range v.was.Attributes.All() {
		is := v.item.Get(string(name))
		if is.Kind() != 0 && !attr.Equal(is, value) {
			p.renewAttribute(v.table, string(name), again, "the old version reads the old values")
		}
	}
}

// kinds renames an attribute if an index of the other version needs it with another type, because the service refuses
// an item whose index key attribute has a wrong type.
func (p *planner) kinds(v *moved, again *bool) {
	mismatch := func(t *model.Table, it attr.Item, target *model.Table) {
		if t == nil || target == nil {
			return
		}
		for _, x := range t.Indexes {
			for _, a := range x.Keys() {
				if k := it.Get(a.Name).Kind(); k != 0 && k != a.Kind {
					p.renewAttribute(
						target, a.Name, again, "an index needs it as %s, and the other version has it as %s", a.Kind, k,
					)
				}
			}
		}
	}
	from := p.target.Table(v.was.Table.Name)
	mismatch(from, v.was.Attributes, from)
	if v.table != nil {
		mismatch(p.was.Dataset.Model.Table(v.table.Name), v.item, v.table)
	}
}

// leaves checks an item whose old key stays in use until the plan deletes the item. If a new entity or raw item could
// have the same key, leaves separates old and new keys. If the item's entity is gone, leaves may instead ask the user
// whether its items belong to the new entity with such keys.
func (p *planner) leaves(
	v *moved, from *model.Table, listed map[string]bool, apart func(t *model.Table, format string, args ...any),
) {
	e := p.target.Classify(from, keyOnly(from, v.was.Attributes))
	if e == nil && !listed[place(from, v.was.Attributes)] {
		return
	}
	if _, said := p.renames[nameOf(v.was.Entity)]; v.table != nil || said || e == nil {
		apart(from, "old keys of %s could be new keys of %s", nameOf(v.was.Entity), nameOf(e))
		return
	}
	if p.unsaid[v.was.Entity] && v.times > 0 {
		p.ask(
			fmt.Sprintf("--rename %s=%s if so; --rename %[1]s= if they are to be deleted", v.was.Entity.Name, e.Name),
			"entity %s is gone, and its items have keys of %s: are they items of %[2]s?", v.was.Entity.Name, e.Name,
		)
	}
}

func (p *planner) renewAttribute(t *model.Table, name string, again *bool, format string, args ...any) {
	own := p.is.Dataset.Model.Tables[slices.Index(p.target.Tables, t)]
	if p.names.attributes[own][name] != "" || p.names.tables[own] != "" {
		return // an earlier item has already caused the same change
	}
	*again = p.names.renewAttribute(own, name, format, args...) || *again
}

// disturbed renames a table, an attribute or the first words of keys if a pattern would read wrong items while the
// items of both versions exist. It reports whether it renamed anything.
func (p *planner) disturbed() (again bool, err error) {
	if !slices.ContainsFunc(p.items, func(v moved) bool { return !v.kept || len(v.gains())+len(v.loses()) > 0 }) {
		return false, nil
	}
	q, made, err := p.misread()
	if err != nil || q == nil {
		return false, err
	}
	version, other := "old", "new"
	if made {
		version, other = other, version
	}
	t := p.target.Table(q.Table.Name)
	if t == nil {
		t = p.successor(q.Table)
	}
	own := p.is.Dataset.Model.Tables[slices.Index(p.target.Tables, t)]
	why := fmt.Sprintf("%q of the %s version would read items of the %s one", q.Name, version, other)
	switch {
	case q.Index == nil:
		again = p.renewWords(t, t.Sort, why)
	case !q.Index.Local:
		again = p.renewWords(t, q.Index.Partition, why)
		if again {
			break
		}
		for _, a := range q.Index.Keys() {
			if !t.Has(a.Name) && t.IsKey(a.Name) {
				p.renewAttribute(t, a.Name, &again, "%s", why)
			}
		}
	}
	if !again && !p.names.renew(own, "%s", why) {
		p.ask("change the pattern", "%s in a table of its own too", why)
		return false, nil
	}
	return true, nil
}

// renewWords finds the entities whose items get other keys in the same table. It gives these keys another first word,
// so that the new items do not mix with old ones. It reports whether it changed any key.
func (p *planner) renewWords(t *model.Table, keys []model.Attribute, why string) (again bool) {
	for _, e := range p.is.Dataset.Model.Entities {
		moves := slices.ContainsFunc(p.items, func(v moved) bool {
			return v.table == t && !v.kept && v.was.Table.Name == t.Name && v.entity != nil && v.entity.Name == e.Name
		})
		for _, a := range keys {
			again = moves && p.names.renewWord(e, a.Name, why) || again
		}
	}
	return again
}

// nameOf returns the name of an entity, or "no entity".
func nameOf(e *model.Entity) string {
	if e == nil {
		return "no entity"
	}
	return e.Name
}
