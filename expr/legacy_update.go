package expr

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/expr/ast"

	"github.com/sortkey/sortkey/attr"
)

// Actions of AttributeUpdates. Source: API_AttributeValueUpdate.html.
const (
	legacyPut    = "PUT"
	legacyAdd    = "ADD"
	legacyDelete = "DELETE"
)

// An AttributeUpdate is the change to one attribute in the AttributeUpdates
// parameter.
type AttributeUpdate struct {
	// Action is "PUT", "ADD", "DELETE", or empty for PUT.
	Action string
	// Value is zero when the request has none. Only DELETE allows that: it then
	// removes the attribute instead of members of a set.
	Value attr.Value
}

// FromAttributeUpdates returns the update equivalent to AttributeUpdates. The
// keys are names of top-level attributes, which may contain dots, and are
// processed in byte order. The error is an [*Error].
//
// Unlike in an expression, ADD also joins lists. Source:
// API_AttributeValueUpdate.html; alternator's test_item.py for lists;
// dynalite's test/updateItem.js for messages.
func FromAttributeUpdates(updates map[string]AttributeUpdate) (*Update, error) {
	actions := make([]ast.Action, 0, len(updates))
	for _, attribute := range slices.Sorted(maps.Keys(updates)) {
		up := updates[attribute]
		clause, err := up.clause(attribute)
		if err != nil {
			return nil, err
		}
		a := ast.Action{Clause: clause, Path: &ast.PathOperand{Path: ast.Path{{Name: attribute}}}}
		if clause != ast.RemoveClause {
			a.Value = &ast.ValueOperand{Value: up.Value}
		}
		actions = append(actions, a)
	}
	return newUpdate(AttributeUpdates, actions), nil
}

// clause checks the update of an attribute and returns the equivalent clause of
// an expression.
func (up AttributeUpdate) clause(attribute string) (ast.Clause, error) {
	const p = AttributeUpdates
	const invalid = "One or more parameter values were invalid: "
	if len(attribute) > attr.MaxNameBytes {
		return "", refuse(p, "Attribute name is too large, must be less than 65536 bytes")
	}
	k := up.Value.Kind()
	if k == 0 && up.Action != legacyDelete {
		return "", refuse(p, invalid+"Only DELETE action is allowed when no attribute value is specified")
	}
	switch up.Action {
	case "", legacyPut:
		return ast.SetClause, nil
	case legacyAdd:
		if k != attr.Number && k != attr.List && !k.IsSet() {
			return "", refuse(p, invalid+"ADD action is not supported for the type %s", k)
		}
		return ast.AddClause, nil
	case legacyDelete:
		if k == 0 {
			return ast.RemoveClause, nil
		}
		if !k.IsSet() {
			return "", refuse(p, invalid+"DELETE action with value is not supported for the type %s", k)
		}
		return ast.DeleteClause, nil
	}
	return "", refuse(
		p,
		"1 validation error detected: Value '%s' at 'attributeUpdates.%s.member.action' failed to satisfy constraint: Member must satisfy enum value set: [ADD, PUT, DELETE]",
		up.Action, attribute,
	)
}
