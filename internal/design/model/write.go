package model

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
)

// The operations of a [Write] and of a [Pattern] that writes.
const (
	Put    = "PutItem"
	Update = "UpdateItem"
	Delete = "DeleteItem"
	// Check is the operation of a condition in a transaction on an item that the transaction does not write.
	Check = "ConditionCheck"
	// Transaction is the operation of a pattern with several writes.
	Transaction = "TransactWriteItems"
)

// A Write is the write of one item of an entity.
type Write struct {
	Pos       Pos
	Operation string
	Entity    *Entity
	// Where are equality conditions. The command design check tries the write only with items that meet all of them.
	// If Where is empty, it tries the write with any item.
	Where []Condition
	// Set are equality conditions: the fields that an update changes, with their new values.
	Set []Condition
	// If is a condition expression with field names and quoted values, or "". It can also name parameters, as :name.
	// Parameters has their values, as for a pattern's filter.
	If         string
	Parameters attr.Item
}

// IsWrite reports whether the pattern writes.
func (p *Pattern) IsWrite() bool { return len(p.Writes) > 0 }

// Changes returns the fields that the write changes in an existing item.
func (w *Write) Changes() (fields []string) {
	for _, c := range w.Set {
		fields = append(fields, c.Field)
	}
	return fields
}

// DependsOn reports whether a field determines the value of the attribute, or whether an item has the attribute.
func (t *Template) DependsOn(field string) bool {
	return t.Template != nil && slices.Contains(t.Template.Components(), field) || t.Asks(field)
}

// ItemWrites returns how many writes of items of e are made per second, at its declared rate and by patterns. It does
// not weigh them by cost, and does not count the condition checks of transactions.
func (m *Model) ItemWrites(e *Entity) (rate float64) {
	rate = e.Writes
	for p, w := range m.Writes(e) {
		if w.Operation != Check {
			rate += p.Rate
		}
	}
	return rate
}

// ChangingFields returns the fields of e that may change during the life of an item: those that the model declares
// mutable, and those that its patterns update.
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
