package tabledef

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

// A template is a CloudFormation template with the values of its parameters.
type template struct {
	*input
	parameters map[string]any
	mappings   map[string]any
	conditions map[string]any
	resources  map[string]any
	depth      int // number of values that contain the current one; limited, because a mapping can contain itself
}

// none is the value of AWS::NoValue. A member with this value is removed.
type none struct{}

// pseudoParameters returns values for the pseudo parameters of CloudFormation. The partition and the URL suffix are
// the same almost everywhere. The others are stand-ins, because only a deployment knows them.
func pseudoParameters() map[string]any {
	values := map[string]any{"AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com", "AWS::NoValue": none{}}
	for name, standIn := range map[string]string{
		"AWS::StackName": "stack", "AWS::Region": defaultRegion, "AWS::AccountId": defaultAccount,
		"AWS::StackId": "arn:aws:cloudformation:" + defaultRegion + ":" + defaultAccount +
			":stack/stack/00000000-0000-4000-8000-000000000000",
	} {
		values[name] = unresolved{name: name, standIn: standIn, legal: true}.from(name)
	}
	return values
}

const (
	defaultRegion  = "us-east-1"
	defaultAccount = "000000000000"
)

// isFragment reports whether root looks like the content of a Resources section. Some projects build templates from
// files with such content.
func isFragment(root map[string]any) bool {
	for _, r := range root {
		if kind, _ := object(r)["Type"].(string); isTable(kind) && object(r)["Properties"] != nil {
			return true
		}
	}
	return false
}

func isTable(kind string) bool {
	return kind == "AWS::DynamoDB::Table" || kind == "AWS::DynamoDB::GlobalTable" ||
		kind == "AWS::Serverless::SimpleTable"
}

// object returns v as an object, or nil if it is not one.
func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func (in *input) parseTemplate(root map[string]any) ([]*Schema, error) {
	for _, variable := range []string{"${self:", "${opt:", "${sls:", "${param:", "${file("} {
		if mentions(root, variable, maxDepth) {
			return nil, advice.New(
				"load the serverless.yml of the service",
				"the template has variables of the Serverless Framework: %s…", variable,
			)
		}
	}
	declared := map[string]bool{}
	for name := range object(root["Parameters"]) {
		declared[name] = true
	}
	if err := in.with.check(declared); err != nil {
		return nil, err
	}
	return in.tables(root, pseudoParameters())
}

// parameter returns the value of a parameter that the caller does not give: its default or a stand-in.
func parameter(name string, p map[string]any) any {
	kind, _ := p["Type"].(string)
	value, has := p["Default"]
	allowed, _ := p["AllowedValues"].([]any)
	u := missing(name, name, name)
	u.legal = kind != "String" || len(allowed) > 0
	switch {
	case has && strings.HasPrefix(kind, "AWS::SSM::"):
		// value is the name of an SSM parameter. Only a deployment knows the parameter's value.
		u.standIn = legalName(fmt.Sprint(value))
	case has && strings.Contains(kind, "List"):
		var list []any
		for part := range strings.SplitSeq(fmt.Sprint(value), ",") {
			list = append(list, strings.TrimSpace(part))
		}
		return list
	case has:
		return value
	case len(allowed) > 0:
		u.standIn = fmt.Sprint(allowed[0])
	case p["MinValue"] != nil:
		u.standIn = fmt.Sprint(p["MinValue"])
	case kind == "Number":
		u.standIn = "1"
	}
	return u.from(name)
}

// tables returns the tables of a template. values has the values of parameters that the template does not declare,
// such as pseudo parameters.
func (in *input) tables(root, values map[string]any) (all []*Schema, err error) {
	t := &template{
		input: in, parameters: values,
		mappings: object(root["Mappings"]), conditions: object(root["Conditions"]),
		resources: object(root["Resources"]),
	}
	for name, p := range object(root["Parameters"]) {
		t.parameters[name] = parameter(name, object(p))
	}
	for name, value := range in.with {
		t.parameters[name] = value
	}
	for _, id := range slices.Sorted(maps.Keys(t.resources)) {
		if strings.HasPrefix(id, "Fn::ForEach::") {
			in.note(Note{
				"Resources." + id + " is not read: it is a loop",
				"load the output of aws cloudformation get-template --template-stage Processed",
			})
			continue
		}
		r := object(t.resources[id])
		kind, _ := r["Type"].(string)
		if kind == "AWS::CloudFormation::Stack" || kind == "AWS::Serverless::Application" {
			in.note(Note{"Resources." + id + " is not read: it is a stack", "if it has tables, load its template"})
		}
		if !isTable(kind) {
			continue
		}
		s, err := t.table(id, kind, r)
		if t.values < 0 {
			return nil, &advice.Error{Msg: fmt.Sprintf("Resources.%s: %v", id, errValues), Err: errValues}
		}
		if err != nil {
			return nil, err
		}
		if s != nil {
			s.About, _ = root["Description"].(string)
			all = append(all, s)
		}
	}
	if all == nil {
		if len(in.notes) > 0 { // the table may be in a part that was skipped
			return nil, advice.New(in.notes[0].Advice, "%w: %s", errNoTable, in.notes[0].Text)
		}
		return nil, advice.New("", "%w", errNoTable)
	}
	return all, nil
}

// table returns the table of a resource. It returns nil if the resource's condition is false.
func (t *template) table(id, kind string, r map[string]any) (*Schema, error) {
	if name, ok := r["Condition"].(string); ok {
		switch t.value(map[string]any{"Condition": name}) {
		case true:
		case false:
			return nil, nil
		default:
			return nil, advice.New(
				"give the parameters that the condition needs",
				"Resources.%s: the condition %s depends on a value that is unknown", id, name,
			)
		}
	}
	properties := object(t.value(r["Properties"]))
	if kind == "AWS::Serverless::SimpleTable" {
		properties = simpleTable(properties)
	}
	if properties == nil {
		return nil, advice.New("", "Resources.%s has no Properties", id)
	}
	if properties["TableName"] == nil {
		// Without a name in the template, the service would make one from the stack's name, the id and random
		// letters.
		properties["TableName"] = id
		if len(id) < 3 { // too short for a table
			stack, _ := t.known(map[string]any{"Ref": "AWS::StackName"})
			properties["TableName"] = stack + "-" + id
		}
	}
	if s := object(properties["StreamSpecification"]); s != nil {
		s["StreamEnabled"] = true // templates omit it
	}
	return t.finish("Resources."+id, properties)
}

// maxRepeated limits how often a template repeats one definition. maxNesting limits how deep modules nest.
const (
	maxRepeated = 1000
	maxNesting  = 10
)

// simpleTable converts the properties of a SAM SimpleTable to those of the table that SAM makes of it.
func simpleTable(p map[string]any) map[string]any {
	key := map[string]any{"Name": "id", "Type": "String"}
	if own, ok := p["PrimaryKey"].(map[string]any); ok {
		key = own
	}
	kind, ok := key["Type"].(string)
	if !ok {
		kind = "String"
	}
	table := map[string]any{
		"TableName": p["TableName"], "ProvisionedThroughput": p["ProvisionedThroughput"],
		"KeySchema": []any{map[string]any{"AttributeName": key["Name"], "KeyType": "HASH"}},
		"AttributeDefinitions": []any{
			map[string]any{"AttributeName": key["Name"], "AttributeType": kind[:min(1, len(kind))]},
		},
	}
	return table
}

// value evaluates the functions in a value. If only a deployment knows the result, value returns an unresolved value.
func (t *template) value(v any) any {
	t.values--
	if t.values < 0 || t.depth > maxDepth*10 {
		return unresolved{name: "a value that refers to itself"}
	}
	t.depth++
	defer func() { t.depth-- }()
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
				if name == "Ref" || name == "Condition" || strings.HasPrefix(name, "Fn::") {
					return t.call(name, arg)
				}
			}
		}
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) { // sorted, because the order of evaluation shows in notes
			if m := t.value(v[name]); m != (none{}) {
				out[name] = m
			}
		}
		return out
	}
	return v
}

// call evaluates a function.
func (t *template) call(name string, arg any) any {
	v := t.evaluate(name, arg)
	if u, ok := v.(unresolved); ok && u.name == "" {
		u.name = t.functionText(name, arg)
		return u
	}
	return v
}

// evaluate evaluates a function. If it cannot, it returns an unresolved value without a name, and call sets the name.
func (t *template) evaluate(name string, arg any) any {
	var fail unresolved
	list, _ := arg.([]any)
	switch name {
	case "Ref":
		id, _ := arg.(string)
		return t.ref(id)
	case "Fn::If":
		if len(list) != 3 {
			return fail
		}
		switch t.value(map[string]any{"Condition": list[0]}) {
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
			key = t.value(key)
			if u, ok := key.(unresolved); ok {
				fail.of = append(fail.of, u.of...)
			}
			text, ok := t.text(key)
			if !ok {
				return fail
			}
			at = object(at)[text]
		}
		if at == nil && len(list) > 3 {
			at = object(list[3])["DefaultValue"]
		}
		if at != nil {
			return t.value(at)
		}
	case "Fn::Select":
		if len(list) != 2 {
			return fail
		}
		at, err := strconv.Atoi(fmt.Sprint(t.value(list[0])))
		from, isList := t.value(list[1]).([]any)
		if err == nil && isList && at >= 0 && at < len(from) {
			return from[at]
		}
	case "Fn::Split":
		if len(list) != 2 {
			return fail
		}
		between, _ := list[0].(string)
		return split(t.value(list[1]), between, fail)
	case "Condition":
		id, _ := arg.(string)
		if c, ok := t.conditions[id]; ok {
			return t.value(c)
		}
	case "Fn::Equals":
		if len(list) != 2 {
			return fail
		}
		a, knownA := t.known(list[0])
		b, knownB := t.known(list[1])
		if knownA && knownB {
			return a == b
		}
	case "Fn::Not":
		if len(list) == 1 {
			if c, ok := t.value(list[0]).(bool); ok {
				return !c
			}
		}
	case "Fn::And", "Fn::Or":
		decides := name == "Fn::Or"
		unknown := false
		for _, c := range list {
			c, ok := t.value(c).(bool)
			if unknown = unknown || !ok; ok && c == decides {
				return decides
			}
		}
		if !unknown {
			return !decides
		}
	case "Fn::ImportValue":
		return missing(t.functionText(name, arg), fmt.Sprint(standIn(t.value(arg))), "")
	}
	return fail
}

// functionText returns a function call as JSON writes it.
func (t *template) functionText(name string, arg any) string {
	src, ok := arg.(string)
	if !ok {
		if made, err := json.Marshal(arg); err == nil {
			src = string(made)
		}
	}
	return name + " " + text.Clip(src, advice.MaxText)
}

// split splits a text. If the value is unresolved, split splits the stand-in and returns unresolved parts.
func split(v any, between string, fail unresolved) any {
	u, unknown := v.(unresolved)
	text, ok := v.(string)
	if unknown {
		text, ok = u.standIn, u.standIn != ""
	}
	if !ok || between == "" {
		return fail
	}
	var parts []any
	for part := range strings.SplitSeq(text, between) {
		if u.standIn = part; unknown && part != "" {
			parts = append(parts, u)
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

// standIn returns the stand-in of an unresolved value. It returns any other value unchanged.
func standIn(v any) any {
	if u, ok := v.(unresolved); ok {
		return u.standIn
	}
	return v
}

// known evaluates a value to text. If the text depends on parameters that are not given, known returns the text with
// stand-ins and adds a note. It returns false if no parameter would make the text known.
func (t *template) known(v any) (string, bool) { return t.text(t.value(v)) }

// text converts an evaluated value to text, as known does.
func (t *template) text(v any) (string, bool) {
	if u, ok := v.(unresolved); ok {
		if len(u.gives()) == 0 {
			return "", false
		}
		t.made(u)
		return u.standIn, true
	}
	return fmt.Sprint(v), true
}

// ref returns the value of a parameter. For a resource, it returns the id as a stand-in for the name that the service
// would invent.
func (t *template) ref(id string) any {
	if v, ok := t.parameters[id]; ok {
		return v
	}
	give := id
	if t.resources[id] != nil {
		give = ""
	}
	return missing(id, id, give)
}

// substitute replaces each ${name} in a text. The map own takes precedence over parameters and resources.
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
			v = t.ref(strings.TrimSpace(name))
			if resource, _, attribute := strings.Cut(name, "."); attribute {
				v = missing("${"+name+"}", resource, "")
			}
		}

		parts = append(parts, v)
	}
}
