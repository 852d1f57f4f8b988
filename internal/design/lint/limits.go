package lint

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

var limits = Rule{
	ID: "limits", Title: "Keys, items and collections near their limits", Severity: model.Warning,
	Help: "A partition key has at most 2,048 bytes of UTF-8, a sort key 1,024, and an item 400 KB with its " +
		"rows in local indexes. In a table with a local index, all items of a partition have at most 10 GB " +
		"together. A write beyond a limit is refused. It is an error if the declared sizes and counts go " +
		"beyond one.",

	Slot: checkKeyLength, Entity: checkItemSize, View: checkCollection,
}

// The limits of an item and of an item collection. Source: DG/Constraints.html, DG/LSI.html.
const (
	maxItemBytes       = 400 << 10
	maxCollectionBytes = 10 << 30
)

// judge completes a finding about a size in bytes. most is the largest size that the model allows, and now is the
// largest size in the dataset. judge returns false if the size is harmless: most is within the limit, and now is at
// most three quarters of the limit.
func judge(f *Finding, what string, most, now, limit int) bool {
	switch {
	case most > limit:
		f.Severity = model.Error
		f.Say("%s can have %s, and the limit is %s: writes will be refused", what, bytesText(most), bytesText(limit))
	case now > limit*3/4:
		f.Say("%s has up to %s, and the limit is %s", what, bytesText(now), bytesText(limit))
	default:
		return false
	}
	return true
}

func bytesText(n int) string {
	if n < 10_000 {
		return text.Count(n, "byte")
	}
	return text.Size(n)
}

func checkKeyLength(p *Pass, s *Slot) {
	limit, role := keycond.MaxPartitionKeyBytes, "the partition key "
	if s.SortView() != nil {
		limit, role = keycond.MaxSortKeyBytes, "the sort key "
	}
	now, at := largest(p.Items(s.Entity), func(it *dataset.Item) int { return len(it.Attributes.Get(s.Name).Raw()) })
	f := s.Finding("")
	f.Keys = s.View().Shown(at)
	most := longest(s.Entity, s.Parts)
	f.Advise("limit the length of the values in %s, or put a hash there and the text into another attribute", s.Name)
	if s.Kind == attr.String && judge(f, role+s.Name, most, now, limit) {
		p.Report(f)
	}
}

// largest returns the largest size of an item, and the item.
func largest(items []*dataset.Item, size func(*dataset.Item) int) (most int, at *dataset.Item) {
	for _, it := range items {
		if n := size(it); n > most {
			most, at = n, it
		}
	}
	return most, at
}

func checkItemSize(p *Pass, e *model.Entity) {
	now, at := largest(p.Items(e), func(it *dataset.Item) int {
		n := it.Attributes.Size()
		for _, v := range p.Views {
			if v.Table == e.Table && v.Index != nil && v.Index.Local {
				size, _ := v.Size(it.Attributes)
				n += size
			}
		}
		return n
	})

	most, most1 := 0, 0
	large := &model.Template{} // large is the attribute that can be largest; most1 is its size in bytes
	for _, t := range e.Attributes {
		n := len(t.Name) + longest(e, partsOf(t))
		if most += n; n > most1 {
			large, most1 = t, n
		}
	}

	v := p.TableView(e.Table)
	f := v.Finding("")
	f.Entity, f.Pos, f.Keys = e.Name, large.Pos, v.Shown(at)
	f.Advise("put %s into separate items, or into an object store", large.Name)
	if judge(f, "an item of "+e.Name, most, now, maxItemBytes) {
		p.Report(f)
	}
}

// checkCollection compares the size of each item collection with the limit. An item collection consists of the items
// of a partition and their rows in local indexes.
func checkCollection(p *Pass, v *View) {
	local := slices.DeleteFunc(slices.Clone(p.Views), func(o *View) bool {
		return o.Table != v.Table || o.Index == nil || !o.Index.Local
	})
	if v.Index != nil || len(local) == 0 || v.Load() == nil {
		return
	}

	most := 0.0
	var at dataset.Part
	for _, part := range v.Parts {
		_, sum := v.Load().Volume(part)
		for _, o := range local {
			if in, ok := o.Partition(v.PartitionOf(nil, &v.Rows[part.From])); ok {
				_, bytes := o.Load().Volume(in)
				sum += bytes
			}
		}
		if sum > most {
			most, at = sum, part
		}
	}
	if most < maxCollectionBytes/2 {
		return
	}

	f := v.FindingOf(at, "at the declared scale, the item collection of %s has %s with its local indexes, "+
		"and the limit is 10 GB", v.PartitionKey(v.Rows[at.From].Item), text.Size(most))
	f.Entity = "" // the collection can have items of any entity
	f.Index = local[0].Index.Name
	if most > maxCollectionBytes {
		f.Severity = model.Error
	}
	f.Advice = "make " + f.Index + " a global index with its own partition key, or divide the partition by month " +
		"or by a number"
	p.Report(f)
}
