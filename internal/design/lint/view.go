package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// Finding returns a finding about the view.
func (v *View) Finding(format string, args ...any) *Finding {
	f := newFinding(format, args...)
	f.Table, f.Index, f.Pos = v.Table.Name, v.IndexName(), v.Table.Pos
	if v.Index != nil {
		f.Pos = v.Index.Pos
	}
	return f
}

// FindingOf returns a finding about a partition of the view. The finding is placed at the template of the partition
// key, and shows the first and last key of the partition.
func (v *View) FindingOf(p dataset.Part, format string, args ...any) *Finding {
	f := v.Finding(format, args...)
	first, last := v.Rows[p.From].Item, v.Rows[p.To-1].Item
	f.Keys = v.Shown(first, last)
	if e := first.Entity; e != nil {
		f.Entity = e.Name
		if t := e.Attribute(v.Hash[0].Name); t != nil {
			f.Pos = t.Pos
		}
	}
	return f
}

// Load returns the load of the view's partitions, or nil if the context is done.
func (v *View) Load() *load.Space {
	all, _ := load.TableOf(v.study.Dataset).Spaces(v.study.ctx)
	for _, s := range all {
		if s.Space == v.Space {
			return s
		}
	}
	return nil
}

// String returns the name of the view for sentences.
func (v *View) String() string {
	if v.Index != nil {
		return "index " + v.Index.Name
	}
	return "table " + v.Table.Name
}

// keyNames returns the names of attributes.
func keyNames(all []model.Attribute) (names []string) {
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names
}

// Entities returns the entities of the view's table.
func (v *View) Entities() (all []*model.Entity) {
	for _, e := range v.study.Entities {
		if e.Table == v.Table {
			all = append(all, e)
		}
	}
	return all
}

// WrittenBy reports whether the entity has all key attributes of the view. If not, none of its items can be in the
// view.
func (v *View) WrittenBy(e *model.Entity) bool {
	return !slices.ContainsFunc(v.Keys, func(a model.Attribute) bool { return e.Attribute(a.Name) == nil })
}

// KeyOf returns the key of an item in the view as text.
func (v *View) KeyOf(it attr.Item) string { return keyOf(it, v.Keys) }

// PartitionKey returns the partition key of an item as text.
func (v *View) PartitionKey(it *dataset.Item) string { return keyOf(it.Attributes, v.Hash) }

func keyOf(it attr.Item, key []model.Attribute) string {
	var parts []string
	for _, a := range key {
		if value := it.Get(a.Name); value.Kind() != 0 {
			parts = append(parts, clip(text.Literal(value)))
		}
	}
	return strings.Join(parts, ", ")
}

// Shown returns the keys of items as text. It skips nil items.
func (v *View) Shown(items ...*dataset.Item) (all []string) {
	for _, it := range items {
		if it != nil {
			all = append(all, v.KeyOf(it.Attributes))
		}
	}
	return all
}

// Example returns the key of the entity's first item in the view, or nil.
func (v *View) Example(e *model.Entity) []string {
	for _, it := range v.study.items[e] {
		if _, ok := v.Size(it.Attributes); ok {
			return v.Shown(it)
		}
	}
	return nil
}
