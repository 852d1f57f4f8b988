package convert

import (
	"iter"

	"github.com/sortkey/sortkey/internal/design/model"
)

// enoughParents is the smallest number of a parent's items for which belong derives how many items belong to each.
const enoughParents = 5

// belong declares the parents of entities that their keys and items show (see [model.Model.ShownParents]). If whole
// is true, the samples are all items of the tables. Only then does belong also derive how many items belong to each
// parent.
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

// sampleValues are the field values of a sample.
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

// isParent returns a function that decides whether an entity is the parent of another, which has children items. At
// least four in five of these items must have a parent item. The function accepts some without one, because the
// samples of a table may lack parent items.
func isParent(children int) func(*model.ShownParent) bool {
	return func(s *model.ShownParent) bool {
		return s.Distinct == s.Items && s.Orphans < children && 5*s.Orphans <= children
	}
}

// perOf returns a distribution that fits n, the numbers of items per parent in ascending order.
func perOf(n []int) model.Per {
	low, high := n[0], n[len(n)-1]
	per := model.Per{Min: low, Max: high}
	if low < high {
		p50, p95 := n[(len(n)-1)/2], n[(len(n)-1)*95/100]
		per.P50, per.P95 = &p50, &p95
	}
	return per
}
