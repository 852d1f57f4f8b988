package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// TestLegacy runs the scripts of testdata. Each line of a command is one request. The commands are:
//
//	item       the item for the commands below
//	legacy     the condition equivalent to a filter; legacy or: joined by OR
//	expected   the same for Expected
//	updates    the update equivalent to AttributeUpdates, and what it changes in the item; without an
//	           item, it creates one with the key "key"
func TestLegacy(t *testing.T) {
	datadriven.Walk(t, "../legacy/testdata", func(t *testing.T, path string) {
		var it attr.Item
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "item" {
				it = nil
				if d.Input != "" {
					it = parsed(t, d.Input)
				}
				return ""
			}
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				out.WriteString(answer(t, d, it, line) + "\n")
			}
			return out.String()
		})
	})
}

func answer(t *testing.T, d *datadriven.TestData, it attr.Item, line string) string {
	var c *expr.Condition
	var err error
	switch d.Cmd {
	case "legacy":
		c, err = legacy.Condition(legacy.QueryFilter, conditions(t, line), d.HasArg("or"))
	case "expected":
		var raw map[string]condition
		require.NoError(t, json.Unmarshal([]byte(line), &raw))
		conds := map[string]wire.ExpectedAttributeValue{}
		for name, one := range raw {
			conds[name] = wire.ExpectedAttributeValue{
				ComparisonOperator: one.ComparisonOperator, AttributeValueList: one.list(t),
				Value: value(t, one.Value), Exists: one.Exists,
			}
		}
		c, err = legacy.ExpectedCondition(conds, d.HasArg("or"))
	case "updates":
		u, err := update(t, line)
		if err != nil {
			return "error: " + err.Error()
		}
		return fmt.Sprintf("%q  %s", u, changed(t, u, it))
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%-5t  %s", c.Match(it), c)
}

// A condition is the JSON of a condition on one attribute.
type condition struct {
	ComparisonOperator *string
	AttributeValueList []json.RawMessage
	Value              json.RawMessage
	Exists             *bool
}

func (c *condition) list(t *testing.T) []attr.Value {
	if c.AttributeValueList == nil {
		return nil
	}
	values := []attr.Value{}
	for _, raw := range c.AttributeValueList {
		values = append(values, value(t, raw))
	}
	return values
}

func conditions(t *testing.T, text string) map[string]wire.Condition {
	var raw map[string]condition
	require.NoError(t, json.Unmarshal([]byte(text), &raw))
	conds := map[string]wire.Condition{}
	for name, c := range raw {
		conds[name] = wire.Condition{ComparisonOperator: c.ComparisonOperator, AttributeValueList: c.list(t)}
	}
	return conds
}

func update(t *testing.T, text string) (*expr.Update, error) {
	var raw map[string]struct {
		Action *string
		Value  json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(text), &raw))
	updates := map[string]wire.AttributeValueUpdate{}
	for name, up := range raw {
		updates[name] = wire.AttributeValueUpdate{Action: up.Action, Value: value(t, up.Value)}
	}
	return legacy.Update(updates)
}

// changed returns the attributes that u sets, as JSON, and the names of those that it removes.
func changed(t *testing.T, u *expr.Update, it attr.Item) string {
	after, err := u.Apply(it, parsed(t, `{"pk": {"S": "key"}}`))
	if err != nil {
		return "error: " + legacy.Refused(err).Error()
	}
	_, err = item.Check(after)
	require.NoError(t, err)
	if after == nil {
		return "-"
	}

	var b attr.Builder
	for name, v := range after.All() {
		if !attr.Equal(v, it.Get(string(name))) {
			b.AddBytes(name, v)
		}
	}
	text := string(b.Item().AppendJSON(nil))
	for name := range it.All() {
		if after.Get(string(name)).IsZero() {
			text += " without " + string(name)
		}
	}
	return text
}

func value(t *testing.T, raw json.RawMessage) attr.Value {
	if raw == nil {
		return attr.Value{}
	}
	v, err := attr.ParseValue(raw)
	require.NoError(t, err)
	return v
}

func parsed(t *testing.T, text string) attr.Item {
	it, err := attr.ParseItem([]byte(text))
	require.NoError(t, err)
	return it
}

// TestKeyConditions checks the errors of KeyConditions, which have another precedence than those of expressions.
// Source: dynalite, test/query.js.
func TestKeyConditions(t *testing.T) {
	const equal = `{"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}`
	const ends = `{"ComparisonOperator": "NE", "AttributeValueList": [{"S": "a"}]}`
	for _, tt := range []struct{ key, conds, want string }{
		{"a / b", `{"a": ` + equal + `}`, ""},
		{"a / b", `{"a": ` + equal + `, "b": ` + equal + `}`, ""},
		{"a / b", `{"a": ` + equal + `, "b": ` + ends + `}`,
			"Attempted conditional constraint is not an indexable operation"},
		{"a / b", `{"c": ` + ends + `, "b": ` + equal + `}`, "Query condition missed key schema element: a"},
		{"a / b", `{"a": ` + ends + `, "c": ` + equal + `}`, "Query condition missed key schema element: b"},
		{"a", `{"a": ` + equal + `, "c": ` + ends + `}`, "Query key condition not supported"},
	} {
		s, err := keycond.ParseSchema(tt.key)
		require.NoError(t, err)
		c, err := legacy.Condition(legacy.KeyConditions, conditions(t, tt.conds), false)
		require.NoError(t, err)
		if _, err = legacy.Compile(s, c); tt.want != "" {
			require.EqualError(t, err, tt.want, tt.conds)
		} else {
			require.NoError(t, err)
		}
	}
}
