package model

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
)

// The operations of a [Write], beside PutItem, UpdateItem and DeleteItem.
const (
	Put    = "PutItem"
	Update = "UpdateItem"
	Delete = "DeleteItem"
	// Check is the condition of a transaction on an item that it does not write.
	Check = "ConditionCheck"
	// Transaction is the operation of a pattern with several writes.
	Transaction = "TransactWriteItems"
)

// A Write is the write of one item of an entity.
type Write struct {
	Pos       Pos
	Operation string
	Entity    *Entity
	// Where are equalities that choose the items to try the write with; none means any.
	Where []Condition
	// Set are equalities: the fields that an update changes, and their new values.
	Set []Condition
	// If is a condition with field names and quoted values, or "". Parameters are those of its :names, as
	// in a pattern's filter.
	If         string
	Parameters attr.Item
}

// IsWrite reports whether the pattern writes.
func (p *Pattern) IsWrite() bool { return len(p.Writes) > 0 }

// Changes returns the fields that the write changes in an item that exists.
func (w *Write) Changes() (fields []string) {
	for _, c := range w.Set {
		fields = append(fields, c.Field)
	}
	return fields
}

// DependsOn reports whether the value of the attribute, or whether an item has it, depends on a field.
func (t *Template) DependsOn(field string) bool {
	return t.Template != nil && slices.Contains(t.Template.Components(), field) || t.Asks(field)
}

// ItemWrites returns how many items of an entity are written each second, whatever that costs. A
// condition of a transaction writes none.
func (m *Model) ItemWrites(e *Entity) (rate float64) {
	rate = e.Writes
	for p, w := range m.Writes(e) {
		if w.Operation != Check {
			rate += p.Rate
		}
	}
	return rate
}

// ChangingFields returns the fields of e that change during the life of an item: those that the model
// lists, and those that its patterns update.
func (m *Model) ChangingFields(e *Entity) []string {
	all := slices.Clone(e.Mutable)
	for _, w := range m.Writes(e) {
		for _, name := range w.Changes() {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
