package lint

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

// A Study is a dataset, divided into the subjects that rules examine. The subjects of each kind are in file order.
type Study struct {
	Dataset *dataset.Dataset
	Model   *model.Model
	// Entities are the entities stored in a table of the model.
	Entities []*model.Entity
	// Views are the tables, each followed by its indexes.
	Views   []*View
	Slots   []*Slot
	Queries []*Query

	ctx     context.Context
	items   map[*model.Entity][]*dataset.Item
	written map[column][]Written
}

// A View is a table or an index with its rows in key order.
type View struct {
	*dataset.Space
	// Keys are the key attributes, those of the partition key first.
	Keys  []model.Attribute
	study *Study
}

// A Slot is a key attribute of an entity that has a template.
type Slot struct {
	Entity   *model.Entity
	Name     string // of the attribute
	Kind     attr.Kind
	Pos      model.Pos
	Template *keys.Template
	Parts    []keys.Part // of the template
	// Places are the views whose key includes the slot.
	Places []Place
	study  *Study
}

// A Place is a view whose key includes a slot. Sort is true if the slot is in its sort key.
type Place struct {
	*View
	Sort bool
}

// A Component is a field in a slot.
type Component struct {
	*Slot
	Name string // of the field
	Type keys.Type
	At   int // index in the slot's parts
}

// A Query is a pattern that reads, with its request and with what the request read.
type Query struct {
	*model.Pattern
	// Parts has a pattern for each request. The embedded Pattern is the first; most patterns send only one request.
	Parts    []*model.Pattern
	View     *View            // nil if the model does not declare the table
	Compiled wire.Request     // nil for a pattern that does not compile
	Failed   *compile.Error   // why the pattern does not compile
	Report   *explain.Report  // nil if the pattern was not run
	Clauses  []keycond.Clause // the pattern's conditions on key attributes, also if they do not form one range
	// Entities are the entities of the rows that the query examined.
	Entities []*model.Entity
	study    *Study
}

// A Written is a value of a field that a person wrote in the model, with an item that has the value.
type Written struct {
	Text string
	Item *dataset.Item // an item with this value, or nil if no item has it
}

// A column identifies a field of an entity.
type column struct {
	e     *model.Entity
	field string
}

// Items returns the items of an entity, or the raw items if e is nil.
func (st *Study) Items(e *model.Entity) []*dataset.Item { return st.items[e] }

// First returns the first item of an entity, or nil.
func (st *Study) First(e *model.Entity) *dataset.Item {
	if items := st.items[e]; len(items) > 0 {
		return items[0]
	}
	return nil
}

// TableView returns the view of a table itself.
func (st *Study) TableView(t *model.Table) *View { return st.view(t.Name, "") }

// view returns the view of a table's index, or of the table itself if index is "". It returns nil if the model does
// not declare the table or the index.
func (st *Study) view(table, index string) *View {
	for _, v := range st.Views {
		if v.Table.Name == table && v.IndexName() == index {
			return v
		}
	}
	return nil
}

// IndexName returns the name of the view's index, or "" for a table.
func (v *View) IndexName() string {
	if v.Index == nil {
		return ""
	}
	return v.Index.Name
}

// Slot returns the slot of an entity's attribute, or nil.
func (st *Study) Slot(e *model.Entity, name string) *Slot {
	for _, s := range st.Slots {
		if s.Entity == e && s.Name == name {
			return s
		}
	}
	return nil
}

// SlotsOf returns the slots of the named attribute, of all entities of a table.
func (st *Study) SlotsOf(t *model.Table, name string) (all []*Slot) {
	for _, s := range st.Slots {
		if s.Entity.Table == t && s.Name == name {
			all = append(all, s)
		}
	}
	return all
}
