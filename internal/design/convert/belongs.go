package convert

import (
	"iter"

	"github.com/sortkey/sortkey/internal/design/model"
)

// enoughParents is the number of a parent's items from which on they show how many items one has.
const enoughParents = 5

// belong declares the parents of entities, as far as their items show them: their components repeat
// the keys of the parent's items. Whole says that the model has all items, so that they show how many belong to one.
func (im *importer) belong(whole bool) {
	for _, e := range im.m.Entities {
		for _, s := range im.m.ShownParents(e, sampled, isParent(len(e.Samples))) {
			p := model.Parent{Entity: s.Entity}
			if s.Items >= enoughParents && whole {
				p.Per = perOf(s.Per)
			}
			e.Parents = append(e.Parents, p)
		}
		if len(e.Parents) > 0 && checkModel(im.m) != nil {
			e.Parents = nil
		}
	}
}

// sampleValues are the values of a sample.
type sampleValues struct{ *model.Sample }

func (s sampleValues) Get(field string) string { return s.Values[field] }

func sampled(e *model.Entity) iter.Seq[model.Values] {
	return func(yield func(model.Values) bool) {
		for _, s := range e.Samples {
			if !yield(sampleValues{s}) {
				return
			}
		}
	}
}

// isParent returns a function that reports whether most of a number of items belong to an item of an
// entity. In a part of a table, some items of the parent are missing.
func isParent(children int) func(*model.ShownParent) bool {
	return func(s *model.ShownParent) bool {
		return s.Distinct == s.Items && s.Orphans < children && 5*s.Orphans <= children
	}
}

// perOf returns a distribution like that of numbers in ascending order.
func perOf(n []int) model.Per {
	low, high := n[0], n[len(n)-1]
	per := model.Per{Min: low, Max: high}
	if low < high {
		p50, p95 := n[(len(n)-1)/2], n[(len(n)-1)*95/100]
		per.P50, per.P95 = &p50, &p95
	}
	return per
}
