package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// checkUnique reports a field that an entity declares unique if two items have the same value of it. It also reports
// the field if no condition prevents a write that would give a second item the same value.
func checkUnique(p *Pass, e *model.Entity) {
	for _, field := range e.Unique {
		if a, b := twins(p.Items(e), field); a != nil {
			v := p.TableView(e.Table)
			f := v.Finding("two items of %s have the same %s, %s, which is declared unique", e.Name, field,
				quoted(a.Values.Get(field)))
			f.Pos, f.Entity, f.Severity, f.Keys = e.Pos, e.Name, model.Error, v.Shown(a, b)
			f.Advise("correct the items, or give %s more values", field)
			p.Report(f)
			continue
		}

		q, written := unguarded(p, e, field)
		if q != nil || !written && !keyedBy(e, field) {
			reportUnguarded(p, e, field, q)
		}
	}
}

// unguarded returns the first pattern that can give an item a value of the field that another item has already, or
// nil. written is true if any pattern writes the field.
func unguarded(p *Pass, e *model.Entity, field string) (q *model.Pattern, written bool) {
	for _, q := range p.Model.Patterns {
		if slices.ContainsFunc(q.Writes, func(w model.Write) bool { return w.Entity == e && gives(&w, field) }) {
			if written = true; !guarded(q, field) {
				return q, true
			}
		}
	}
	return nil, written
}

// twins returns two items that have the same value of a field, or nil.
func twins(items []*dataset.Item, field string) (a, b *dataset.Item) {
	first := map[string]*dataset.Item{}
	for _, it := range items {
		value := it.Values.Get(field)
		if have := first[value]; have != nil {
			return have, it
		}
		if value != "" {
			first[value] = it
		}
	}
	return nil, nil
}

// gives reports whether a write sets the field of an item.
func gives(w *model.Write, field string) bool {
	return w.Operation == model.Put || w.Operation == model.Update && slices.Contains(w.Changes(), field)
}

// keyedBy reports whether field is the only field in the table key of an entity, so that no two items have the same
// value.
func keyedBy(e *model.Entity, field string) bool {
	own := e.KeyFields()
	return len(own) == 1 && own[0].Name == field
}

// guarded reports whether the pattern's writes fail if another item has the value already. They do if the pattern
// also puts an item whose key consists of the field alone, on the condition that no such item exists.
func guarded(q *model.Pattern, field string) bool {
	return slices.ContainsFunc(q.Writes, func(o model.Write) bool {
		isNew := strings.Contains(o.If, "attribute_not_exists") && !strings.Contains(strings.ToUpper(o.If), " OR ")
		return o.Operation == model.Put && isNew && keyedBy(o.Entity, field)
	})
}

// reportUnguarded reports a field in which two items can have the same value. q is the pattern that can write it. If
// q is nil, any writer can.
func reportUnguarded(p *Pass, e *model.Entity, field string, q *model.Pattern) {
	v := p.TableView(e.Table)
	f := v.Finding("two items of %s can be written with the same %s, which is declared unique", e.Name, field)
	f.Pos, f.Entity = e.Pos, e.Name
	if q != nil {
		f.Say(": %q does not prevent it", q.Name)
		f.Pos, f.Pattern = q.Pos, q.Name
	}
	condition := "attribute_not_exists(" + text.Name(e.Table.Partition[0].Name) + ")"
	if keyedBy(e, field) {
		f.Advise("add the condition %s", condition)
	} else {
		f.Advise("write it in a transaction that also puts a marker, an item whose key is made from %s alone, such as "+
			"%s#{%s}, with the condition %s", field, strings.ToUpper(field), field, condition)
	}
	p.Report(f)
}
