package lint

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

var undeclaredParent = rule.Rule{
	ID: "undeclared-parent", Title: "Items whose parents do not exist", Severity: model.Note,
	Help: "If the keys of one entity have the components that tell the items of another apart, its items belong to those. " +
		"Unless the model says so, with of: Project and per:, both are generated independently: most partitions then " +
		"have one item, where in truth each has as many as its parent, and what patterns read is too little.",

	Entity: checkParents,
}

// fewOrphans is the share of items without a parent up to which there is no finding.
const fewOrphans = 0.05

func checkParents(p *rule.Pass, e *model.Entity) {
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
		return len(s.KeyFields()) == 1 || float64(s.Orphans) <= fewOrphans*float64(made)
	})
	if len(missing) > 0 {
		reportParents(p, e, missing, made)
	}
}

// An orphan is the values of an item, with the item.
type orphan struct {
	world.Values
	item *world.Item
}

// reportParents reports an entity whose items belong to items that do not exist.
func reportParents(p *rule.Pass, e *model.Entity, missing []*model.ShownParent, made int) {
	v := p.TableView(e.Table)
	f := v.Finding("of %s generated items of %s", text.Thousands(made), e.Name)
	f.Entity, f.Pos = e.Name, e.Pos
	f.Keys = v.Shown(missing[0].Orphan.(orphan).item)

	var of, per []string
	for _, parent := range e.Parents {
		of = append(of, parent.Entity.Name)
	}
	for i, s := range missing {
		var names []string
		for _, field := range s.Fields {
			names = append(names, field.Name)
		}
		f.Say(
			"%s %s belong to no %s, although %s %s to which", []string{",", ", and"}[i],
			text.Thousands(s.Orphans), s.Name, names, text.Agree(len(names), "shows", "show"),
		)
		of = append(of, s.Name)
		each := "one " + s.Name + " has"
		if s.Count > 0 {
			each += fmt.Sprintf(" (%v with these counts)", max(math.Round(float64(e.Count)/float64(s.Count)), 1))
		}
		per = append(per, each)
	}
	list := strings.Join(of, ", ")
	if len(of) > 1 {
		list = "[" + list + "]"
	}
	f.Advise("write of: %s in %s, and per: how many of them %s", list, e.Name, per)
	p.Report(f)
}
