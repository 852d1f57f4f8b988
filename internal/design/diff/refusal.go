package diff

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// mostShown limits the values that a question about refused values shows.
const mostShown = 5

// unwritten returns an error for each value that the templates of an entity cannot write.
func unwritten(e *model.Entity, values map[string]string) (all []*keys.Error) {
	for _, part := range e.AllParts() {
		value, ok := values[part.Name]
		if !ok {
			continue
		}
		_, err := part.Type.Encode(value)
		if refused, ok := errors.AsType[*keys.Error](err); ok {
			refused.Component = part.Name
			all = append(all, refused)
		}
	}
	return all
}

// invent replaces those values of a generated item that the new version cannot write, by other generated values. It
// asks no question, because the refused values were generated too and do not show that the program has such values.
func (v *moved) invent(values map[string]string, m *mates) error {
	for _, refused := range unwritten(v.entity, values) {
		f := v.entity.Field(refused.Component)
		if f == nil || slices.Contains(v.unsure, f.Name) {
			continue
		}
		m.next++
		made, err := dataset.Example(f, uint64(m.next))
		if err != nil {
			return err
		}
		values[f.Name] = made
		v.unsure = append(v.unsure, f.Name)
	}
	return nil
}

// refusals are the items that the new version cannot write, grouped by entity, field and type.
type refusals []*refusal

// A refusal is the reason why the new version cannot write some items of an entity: their values of a field or, if
// field is "", their values together.
type refusal struct {
	entity, field, typ string
	values             []string
	items              float64
	why                string // for the first item
}

// add adds an item that the new version cannot write because of err.
func (all *refusals) add(v *moved, err error) {
	r := refusal{entity: v.was.Entity.Name, why: err.Error()}
	value := keyShown(v.was.Table, v.was.Attributes)
	if e, ok := errors.AsType[*keys.Error](err); ok {
		r.field, r.typ, r.why = e.Component, e.Type, e.Msg+"; "+e.Advice
		value = strconv.Quote(e.Value)
	}
	i := slices.IndexFunc(*all, func(o *refusal) bool {
		return o.entity == r.entity && o.field == r.field && o.typ == r.typ
	})
	if i < 0 {
		i = len(*all)
		*all = append(*all, &r)
	}
	found := (*all)[i]
	found.items += v.times
	if !slices.Contains(found.values, value) {
		found.values = append(found.values, value)
	}
}

// ask adds a question for each group of items: what should become of them?
func (all refusals) ask(p *planner) {
	for _, r := range all {
		n, shown := amount{items: r.items}, r.values
		if more := len(shown) - mostShown; more > 0 {
			shown = append(slices.Clone(shown[:mostShown]), fmt.Sprintf("%s more", text.Thousands(more)))
		}
		if r.field == "" {
			p.ask(
				"keep the templates, or let the new form be another entity and move the items yourself",
				"the new version cannot write %s of %s: %s (%s)", n, r.entity, list(shown), r.why,
			)
			continue
		}
		p.ask(
			fmt.Sprintf(
				"first give %s another %s, or delete %s; or keep the type; or let the new form be another entity "+
					"and move the items yourself",
				text.Agree(n.count(), "the item", "these items"), r.field, text.Agree(n.count(), "it", "them"),
			),
			"%s of %s %s %s that %s cannot write: %s (%s)",
			n, r.entity, text.Agree(n.count(), "has a value of", "have values of"), r.field, r.typ, list(shown), r.why,
		)
	}
}
