package lint

import (
	"iter"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var undeclaredParent = Rule{
	ID: "undeclared-parent", Title: "Items whose parents do not exist", Severity: model.Note,
	Help: "If the keys of one entity have the components that tell the items of another apart, its items " +
		"belong to those. Unless the model says so, with of: Project and per:, both are generated " +
		"independently: most partitions then have one item, where in truth each has as many as its parent, " +
		"and what patterns read is too little.",

	Entity: checkParents,
}

// fewOrphans is the fraction of items without a parent that the rule tolerates.
const fewOrphans = 0.05

func checkParents(p *Pass, e *model.Entity) {
	made := 0
	generated := func(e *model.Entity) iter.Seq[model.Values] {
		return func(yield func(model.Values) bool) {
			for _, it := range p.Items(e) {
				if it.Generated && !yield(orphan{it.Values, it}) {
					return
				}
			}
		}
	}
	for range generated(e) {
		made++
	}
	if made == 0 {
		return
	}
	isParent := func(s *model.ShownParent) bool { return s.Items > 0 }
	missing := slices.DeleteFunc(p.Model.ShownParents(e, generated, isParent), func(s *model.ShownParent) bool {
		// If the key of s is a single field that e shares, the dataset draws the values of this field from the items
		// of s.
		drawn := len(s.KeyFields()) == 1 && slices.Contains(e.Fields, s.Fields[0])
		// With distinct, the author has declared the number of values on purpose.
		said := slices.ContainsFunc(s.Fields, func(f *model.Field) bool { return e.Field(f.Name).Distinct > 0 })
		return drawn || said || float64(s.Orphans) <= fewOrphans*float64(made)
	})
	if len(missing) == 0 {
		return
	}

	s := missing[0]
	v := p.TableView(e.Table)
	f := v.Finding("%s of %s generated items of %s belong to no %s, although their keys contain those of %s",
		text.Thousands(s.Orphans), text.Thousands(made), e.Name, s.Name, s.Name)
	f.Entity, f.Pos, f.Keys = e.Name, e.Pos, v.Shown(s.Orphan.(orphan).item)
	var of []string
	for _, parent := range e.Parents {
		of = append(of, parent.Entity.Name)
	}
	list := strings.Join(append(of, s.Name), ", ")
	if len(of) > 0 {
		list = "[" + list + "]"
	}
	f.Advise("write of: %s in %s, and per: how many of them one %s has", list, e.Name, s.Name)
	p.Report(f)
}

// An orphan is a generated item as [model.Values]. It keeps the item, so that the rule can show its key.
type orphan struct {
	dataset.Values
	item *dataset.Item
}
