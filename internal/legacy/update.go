package legacy

import (
	"errors"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/wire"
)

// Update converts AttributeUpdates to an update. The keys are names of top-level attributes, which may contain dots;
// Update processes them in byte order. The error is an [*expr.Error].
//
// Unlike in an expression, ADD also appends to lists. Source: API_AttributeValueUpdate.html; alternator's
// test_item.py for lists; dynalite's test/updateItem.js for messages.
func Update(updates map[string]wire.AttributeValueUpdate) (*expr.Update, error) {
	actions := make([]ast.Action, 0, len(updates))
	for _, attribute := range slices.Sorted(maps.Keys(updates)) {
		up := updates[attribute]
		clause, err := clauseOf(attribute, up)
		if err != nil {
			return nil, err
		}

		a := ast.Action{Clause: clause, Path: &ast.PathOperand{Path: ast.Path{{Name: attribute}}}}
		if clause != ast.RemoveClause {
			a.Value = &ast.ValueOperand{Value: up.Value}
		}
		actions = append(actions, a)
	}
	return expr.NewUpdate(actions...)
}

// Refused takes an error that [expr.Update.Apply] has returned for an update from [Update]. It returns the error with
// the message that the service sends for AttributeUpdates.
func Refused(err error) error {
	if errors.Is(err, expr.ErrOperand) {
		return &expr.Error{Message: "Type mismatch for attribute to update"}
	}
	return err
}

// clauseOf checks an element of AttributeUpdates and returns the equivalent clause of an expression.
func clauseOf(attribute string, up wire.AttributeValueUpdate) (ast.Clause, error) {
	bad := func(format string, args ...any) (ast.Clause, error) {
		return "", refuse(AttributeUpdates, format, args...)
	}
	k := up.Value.Kind()
	switch action := valueOf(up.Action); {
	case len(attribute) > attr.MaxNameBytes:
		return bad("Attribute name is too large, must be less than 65536 bytes")
	case k == 0 && action == "DELETE":
		return ast.RemoveClause, nil
	case k == 0:
		return bad(invalid + "Only DELETE action is allowed when no attribute value is specified")
	case action == "DELETE" && !k.IsSet():
		return bad(invalid+"DELETE action with value is not supported for the type %s", k)
	case action == "DELETE":
		return ast.DeleteClause, nil
	case action == "ADD" && k != attr.Number && k != attr.List && !k.IsSet():
		return bad(invalid+"ADD action is not supported for the type %s", k)
	case action == "ADD":
		return ast.AddClause, nil
	case action == "" || action == "PUT":
		return ast.SetClause, nil
	default:
		return bad(
			"1 validation error detected: Value '%s' at 'attributeUpdates.%s.member.action' failed to satisfy "+
				"constraint: Member must satisfy enum value set: [ADD, PUT, DELETE]",
			action, attribute,
		)
	}
}
