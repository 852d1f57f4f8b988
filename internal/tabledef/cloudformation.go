package tabledef

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/advice"
)

// A template is a CloudFormation template with the values of its parameters.
type template struct {
	parameters map[string]any
	mappings   map[string]any
	conditions map[string]any
	resources  map[string]any
	depth      int // of conditions that refer to conditions
}

// none is the value of AWS::NoValue.
type none struct{}

// pseudoParameters returns the values of those that a test can do with. AWS::StackName,
// AWS::StackId and AWS::NotificationARNs have no value until they are given one.
func pseudoParameters() map[string]any {
	return map[string]any{
		"AWS::Region": defaultRegion, "AWS::AccountId": defaultAccount, "AWS::Partition": "aws",
		"AWS::URLSuffix": "amazonaws.com", "AWS::NoValue": none{},
	}
}

const (
	defaultRegion  = "us-east-1"
	defaultAccount = "000000000000"
)

// object returns a value as an object, which is nil if it is not one.
func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func (in *input) parseTemplate(root map[string]any) ([]*Schema, error) {
	declared := map[string]bool{}
	for name := range object(root["Parameters"]) {
		declared[name] = true
	}
	if err := in.with.check(declared); err != nil {
		return nil, err
	}
	return in.tables(root, pseudoParameters())
}

// tables returns the tables of a template. Values are the values of parameters that the
// template does not declare.
func (in *input) tables(root, values map[string]any) (all []*Schema, err error) {
	t := &template{
		parameters: values,
		mappings:   object(root["Mappings"]), conditions: object(root["Conditions"]),
		resources: object(root["Resources"]),
	}
	for name, p := range object(root["Parameters"]) {
		if value, ok := object(p)["Default"]; ok {
			t.parameters[name] = value
		}
	}
	for name, value := range in.with {
		t.parameters[name] = value
	}
	for _, id := range slices.Sorted(maps.Keys(t.resources)) {
		r := object(t.resources[id])
		if name, ok := r["Condition"].(string); ok {
			switch t.condition(map[string]any{"Condition": name}) {
			case false:
				continue
			case true:
			default:
				return nil, advice.New(
					"give the parameters that the condition needs",
					"Resources.%s: the condition %s depends on a value that is unknown", id, name,
				)
			}
		}
		properties := object(t.value(r["Properties"]))
		switch r["Type"] {
		case "AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable":
		case "AWS::Serverless::SimpleTable":
			properties = simpleTable(properties)
		default:
			continue
		}
		if properties == nil {
			return nil, advice.New("", "Resources.%s has no Properties", id)
		}
		if properties["TableName"] == nil {
			properties["TableName"] = id // the service would invent a name that begins with it
		}
		if s := object(properties["StreamSpecification"]); s != nil {
			s["StreamEnabled"] = true // templates leave it out
		}
		s, err := in.finish("Resources."+id, properties)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if all == nil {
		return nil, advice.New("", "the template has no table")
	}
	return all, nil
}

// simpleTable returns the table that the transform of SAM makes.
func simpleTable(p map[string]any) map[string]any {
	key := map[string]any{"Name": "id", "Type": "String"}
	if own, ok := p["PrimaryKey"].(map[string]any); ok {
		key = own
	}
	kind, _ := key["Type"].(string)
	table := map[string]any{
		"TableName": p["TableName"], "ProvisionedThroughput": p["ProvisionedThroughput"],
		"KeySchema":            []any{map[string]any{"AttributeName": key["Name"], "KeyType": "HASH"}},
		"AttributeDefinitions": []any{map[string]any{"AttributeName": key["Name"], "AttributeType": kind[:min(1, len(kind))]}},
	}
	return table
}

// value returns a value with its functions evaluated: unresolved for what only a
// deployment knows.
func (t *template) value(v any) any {
	switch v := v.(type) {
	case []any:
		var out []any
		for _, m := range v {
			if m = t.value(m); m != (none{}) {
				out = append(out, m)
			}
		}
		return out
	case map[string]any:
		if len(v) == 1 {
			for name, arg := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return t.call(name, arg)
				}
			}
		}
		out := map[string]any{}
		for name, m := range v {
			if m = t.value(m); m != (none{}) {
				out[name] = m
			}
		}
		return out
	}
	return v
}

// call evaluates a function.
func (t *template) call(name string, arg any) any {
	fail := unresolved{name: fmt.Sprintf("%s %v", name, arg)}
	list, _ := arg.([]any)
	switch name {
	case "Ref":
		id, _ := arg.(string)
		return t.ref(id)
	case "Fn::If":
		if len(list) != 3 {
			return fail
		}
		switch t.condition(map[string]any{"Condition": list[0]}) {
		case true:
			return t.value(list[1])
		case false:
			return t.value(list[2])
		}
	case "Fn::Sub":
		own := map[string]any{}
		text, ok := arg.(string)
		if !ok && len(list) == 2 {
			text, ok = list[0].(string)
			own, _ = list[1].(map[string]any)
		}
		if !ok {
			return fail
		}
		return t.substitute(text, own)
	case "Fn::Join":
		if len(list) != 2 {
			return fail
		}
		between, ok := t.value(list[0]).(string)
		parts, isList := t.value(list[1]).([]any)
		if !ok || !isList {
			return fail
		}
		return join(parts, between)
	case "Fn::FindInMap":
		if len(list) < 3 {
			return fail
		}
		var at any = t.mappings
		for _, key := range list[:3] {
			if key = t.value(key); at != nil {
				m, _ := at.(map[string]any)
				at = m[fmt.Sprint(key)]
			}
		}
		if at != nil {
			return at
		}
	}
	return fail
}

// ref returns the value of a parameter.
func (t *template) ref(id string) any {
	if v, ok := t.parameters[id]; ok {
		return v
	}
	standIn := id
	if id == "AWS::StackName" {
		standIn = "stack"
	}
	return missing(id, standIn, id)
}

// substitute replaces ${…} in a text.
func (t *template) substitute(text string, own map[string]any) any {
	var parts []any
	for {
		before, rest, found := strings.Cut(text, "${")
		parts = append(parts, before)
		if !found {
			return join(parts, "")
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return unresolved{name: text}
		}
		text = after
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			parts = append(parts, "${"+literal+"}")
			continue
		}
		v, ok := own[name]
		if ok {
			v = t.value(v)
		} else {
			v = t.ref(name)
		}
		parts = append(parts, v)
	}
}

// condition evaluates a condition: true, false, or nil if it is unknown.
func (t *template) condition(v any) any {
	if t.depth++; t.depth > maxDepth {
		return nil
	}
	defer func() { t.depth-- }()
	m, _ := v.(map[string]any)
	for name, arg := range m {
		list, _ := arg.([]any)
		switch name {
		case "Condition":
			id, _ := arg.(string)
			if c, ok := t.conditions[id]; ok {
				return t.condition(c)
			}
		case "Fn::Equals":
			if len(list) != 2 {
				return nil
			}
			a, b := t.value(list[0]), t.value(list[1])
			_, unknownA := a.(unresolved)
			_, unknownB := b.(unresolved)
			if unknownA || unknownB {
				return nil
			}
			return fmt.Sprint(a) == fmt.Sprint(b)
		case "Fn::Not":
			if len(list) == 1 {
				if c, ok := t.condition(list[0]).(bool); ok {
					return !c
				}
			}
		case "Fn::And", "Fn::Or":
			decides := name == "Fn::Or"
			unknown := false
			for _, c := range list {
				switch t.condition(c) {
				case decides:
					return decides
				case nil:
					unknown = true
				}
			}
			if !unknown {
				return !decides
			}
		}
	}
	return nil
}
