package wire_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/wire"
)

// A model is the service model, from which the generated files are made. The tests in this file compare inputs with
// the model itself, independently of those files.
type model struct {
	Operations map[string]struct{ Input string }
	Shapes     map[string]modelShape
}

type modelShape struct {
	Type          string
	Members       map[string]string
	Required      []string
	Member, Value string
	Enum          []string
	Min, Max      *int64
	Pattern       string
}

func loadModel(t *testing.T) model {
	t.Helper()
	m := model{Operations: map[string]struct{ Input string }{}, Shapes: map[string]modelShape{}}
	for _, name := range []string{"dynamodb", "dynamodbstreams"} {
		text, err := os.ReadFile("../apigen/model/" + name + ".json")
		require.NoError(t, err)
		var part model
		require.NoError(t, json.Unmarshal(text, &part))
		maps.Copy(m.Operations, part.Operations)
		maps.Copy(m.Shapes, part.Shapes)
	}
	// Add what the model lacks: see tables.go of apigen.
	create := m.Shapes["CreateTableInput"]
	create.Required = append(create.Required, "AttributeDefinitions", "KeySchema")
	m.Shapes["CreateTableInput"] = create
	load := m.Shapes["ImportTableInput"]
	load.Required = append(load.Required, "ClientToken")
	m.Shapes["ImportTableInput"] = load
	return m
}

// samples has a matching string for each pattern of the model.
var samples = map[string]string{
	"": "abc", "[a-zA-Z0-9_.-]+": "abc", "[A-Za-z0-9][A-Za-z0-9\\-\\_\\.]{0,126}[A-Za-z0-9]": "abc",
	"([0-9a-f]{16})+": "0123456789abcdef", "^[^\\$]+$": "abc", "[,;:|\\t ]": ";", `\p{Print}+`: "abc",
	"[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*": "abc", "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$": "abc",
	"[0-9]{12}": "123456789012",
	"[\\u0020-\\uD7FF\\uE000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF\\r\\n\\t]*": "abc",
}

// valid returns JSON of a shape that satisfies all constraints and has only required members.
func (m *model) valid(t *testing.T, name string) any {
	t.Helper()
	if name == "AttributeValue" {
		return map[string]any{"S": "x"}
	}
	s := m.Shapes[name]
	least := 0
	if s.Min != nil {
		least = int(*s.Min)
	}
	switch s.Type {
	case "string":
		text, ok := samples[s.Pattern]
		require.True(t, ok, "no sample of %q, the pattern of %s", s.Pattern, name)
		if len(s.Enum) > 0 {
			return s.Enum[0]
		}
		return text + strings.Repeat("x", max(0, least-len(text)))
	case "boolean":
		return true
	case "structure":
		members := map[string]any{}
		for _, required := range s.Required {
			members[required] = m.valid(t, s.Members[required])
		}
		return members
	case "list":
		return slices.Repeat([]any{m.valid(t, s.Member)}, max(least, 1))
	case "map":
		return map[string]any{"key": m.valid(t, s.Value)}
	}
	return max(least, 1)
}

// wrong returns values that each violate one constraint of a shape, by the end of the message, after the path.
func (m *model) wrong(t *testing.T, name string) map[string]any {
	t.Helper()
	s := m.Shapes[name]
	bad := map[string]any{}
	put := func(v any, text string, args ...any) { bad[fmt.Sprintf("Member must "+text, args...)] = v }
	switch {
	case name == "TableArn":
		put("a b c", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
		put("ab", "have length greater than or equal to 3")
		put("arn:"+strings.Repeat("x", 1021), "have length less than or equal to 1024")
	case s.Enum != nil:
		put("other", "satisfy enum value set: [")
	case s.Type == "string":
		if s.Min != nil && *s.Min > 0 && (s.Pattern == "" || *s.Min > 1) {
			put(strings.Repeat("x", int(*s.Min)-1), "have length greater than or equal to %d", *s.Min)
		}
		if s.Max != nil && s.Pattern == "" {
			put(strings.Repeat("x", int(*s.Max)+1), "have length less than or equal to %d", *s.Max)
		}
		if s.Pattern != "" {
			put("\x01$", "satisfy regular expression pattern: %s", s.Pattern)
		}
	case s.Type == "integer" || s.Type == "long":
		if s.Min != nil {
			put(*s.Min-1, "have value greater than or equal to %d", *s.Min)
		}
		if s.Max != nil {
			put(*s.Max+1, "have value less than or equal to %d", *s.Max)
		}
	case s.Type == "list":
		if s.Min != nil {
			put([]any{}, "have length greater than or equal to %d", *s.Min)
		}
		if s.Max != nil {
			put(slices.Repeat([]any{m.valid(t, s.Member)}, int(*s.Max)+1),
				"have length less than or equal to %d", *s.Max)
		}
	}
	return bad
}

// A place is the position of a shape in an input.
type place struct {
	op   wire.Op
	path string
	// put returns a body that is valid except for the value v at the place.
	put func(v any) any
}

// walk calls visit with the place of every member in a structure, at any depth.
func (m *model) walk(t *testing.T, name string, at place, visit func(p place, structure, member string)) {
	t.Helper()
	s := m.Shapes[name]
	if name == "AttributeValue" || s.Type != "structure" {
		return
	}
	for member, target := range s.Members {
		p := place{op: at.op, path: at.path + strings.ToLower(member[:1]) + member[1:], put: func(v any) any {
			members := m.valid(t, name).(map[string]any)
			if members[member] = v; v == nil {
				delete(members, member)
			}
			return at.put(members)
		}}
		visit(p, name, member)
		switch of := m.Shapes[target]; of.Type {
		case "structure":
			m.walk(t, target, place{p.op, p.path + ".", p.put}, visit)
		case "list":
			in := func(v any) any { return p.put([]any{v}) }
			m.walk(t, of.Member, place{p.op, p.path + ".1.member.", in}, visit)
		}
	}
}

// eachMember calls visit with every member of the inputs of all operations, except those that texts.go has rules for:
// the scripts of package api test them.
func (m *model) eachMember(t *testing.T, visit func(p place, structure, member string)) {
	t.Helper()
	frequent := []wire.Op{
		wire.OpGetItem, wire.OpPutItem, wire.OpUpdateItem, wire.OpDeleteItem, wire.OpQuery, wire.OpScan,
		wire.OpBatchGetItem, wire.OpBatchWriteItem, wire.OpTransactGetItems, wire.OpTransactWriteItems,
		wire.OpSearchVectors,
	}
	for _, op := range wire.Operations() {
		if !slices.Contains(frequent, op) {
			m.walk(t, m.Operations[op.String()].Input, place{op: op, put: func(v any) any { return v }}, visit)
		}
	}
}

// read decodes a body for an operation.
func read(op wire.Op, body any) (wire.Input, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	in := op.NewInput()
	return in, wire.Decode(text, in)
}

// TestConstraints violates each constraint of the model at each place.
func TestConstraints(t *testing.T) {
	m := loadModel(t)
	violated := 0
	refuse := func(p place, value any, text string) {
		t.Helper()
		in, err := read(p.op, p.put(value))
		require.NoError(t, err, "%v: %s", p.op, p.path)
		got := message(t, wire.Validate(p.op, in))
		violated++
		// Some violations have a sentence of their own, which the scripts of package api test.
		sentence := p.path == "tableName" && value == nil || p.path == "resourceArn" && value == nil ||
			strings.HasPrefix(p.path, "tag") && strings.HasPrefix(got, "The Tag ") ||
			p.path == "backupArn" && got == "Invalid Backup ARN" ||
			strings.HasSuffix(got, "Name must be at least 3 characters long and at most 255 characters long")
		if want := "at '" + p.path + "' failed to satisfy constraint: " + text; !sentence &&
			!strings.Contains(got, want) {
			t.Errorf("%v with %v\n got %s\nwant %s", p.op, value, got, want)
		}
	}
	for _, op := range wire.Operations() {
		in, err := read(op, m.valid(t, m.Operations[op.String()].Input))
		require.NoError(t, err, op)
		require.NoError(t, wire.Validate(op, in), op)
	}
	m.eachMember(t, func(p place, structure, member string) {
		s := m.Shapes[structure]
		if slices.Contains(s.Required, member) {
			refuse(p, nil, "Member must not be null")
		}
		target := s.Members[member]
		for text, value := range m.wrong(t, target) {
			refuse(p, value, text)
		}
		if of := m.Shapes[target]; of.Type == "list" {
			elem := place{p.op, p.path + ".1.member", func(v any) any { return p.put([]any{v}) }}
			for text, value := range m.wrong(t, of.Member) {
				refuse(elem, value, text)
			}
		}
	})
	require.Greater(t, violated, 500)
}

// TestTypes sets each member to a value of the wrong type.
func TestTypes(t *testing.T) {
	const class = "com.amazonaws.dynamodb.v20120810."
	m := loadModel(t)
	names := map[string]string{"integer": "Integer", "long": "Long", "double": "Double", "timestamp": "Date"}
	m.eachMember(t, func(p place, structure, member string) {
		target := m.Shapes[structure].Members[member]
		var value any = "x"
		want := "STRING_VALUE cannot be converted to " + names[m.Shapes[target].Type]
		switch m.Shapes[target].Type {
		case "string":
			value, want = 5, "NUMBER_VALUE cannot be converted to String"
		case "boolean":
			want = "Unexpected token received from parser"
		case "structure":
			value, want = []any{}, "Unrecognized collection type class "+class+target
		case "list":
			want = "Unexpected field type"
			if elem := m.Shapes[target].Member; m.Shapes[elem].Type == "structure" || elem == "AttributeValue" {
				value, want = []any{[]any{}}, "Unrecognized collection type class "+class+elem
			}
		case "map":
			value, want = []any{}, "Unrecognized collection type java.util.Map<java.lang.String, "
		}
		_, err := read(p.op, p.put(value))
		require.ErrorContains(t, err, want, "%v with %v at %s", p.op, value, p.path)
	})
}
