package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

// add adds the tool of an operation. The function run carries out a call of the tool and returns the answer.
func (s *Server) add(op *operation.Operation, run func(context.Context, *operation.Values) (string, error)) {
	schema := schemaOf(op)
	s.server.AddTool(&protocol.Tool{
		Name: op.Name, Title: op.Short, Description: op.ToolHelp(), InputSchema: schema,
		Annotations: &protocol.ToolAnnotations{
			Title: op.Short, ReadOnlyHint: !op.Writes, DestructiveHint: &op.Writes, OpenWorldHint: new(false),
		},
	}, func(ctx context.Context, req *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		answer, err := call(ctx, op, schema, req.Params.Arguments, run)
		result := &protocol.CallToolResult{}
		if err != nil {
			answer, result.IsError = s.message(err), true
		}
		result.Content = []protocol.Content{&protocol.TextContent{Text: answer}}
		return result, nil
	})
}

// schemaOf returns the JSON schema for the arguments of a tool.
func schemaOf(op *operation.Operation) *jsonschema.Schema {
	schema := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, // no other arguments
	}
	for _, p := range op.Params {
		if p.Name == "" {
			continue
		}

		property := &jsonschema.Schema{Description: p.ToolHelp()}
		switch p.Kind {
		case operation.Text, operation.Request:
			property.Type = "string"
		case operation.List:
			property.Type, property.Items = "array", &jsonschema.Schema{Type: "string"}
		case operation.Number:
			property.Type, property.Minimum, property.Maximum = "integer", p.Least, new(float64(math.MaxInt32))
		case operation.Switch:
			property.Type = "boolean"
		case operation.Object:
			property.Type = "object"
		}

		schema.Properties[p.Name] = property
		schema.PropertyOrder = append(schema.PropertyOrder, p.Name)
		if p.Required {
			schema.Required = append(schema.Required, p.Name)
		}
	}
	return schema
}

// call decodes the arguments of a tool and runs the tool. It decodes them itself, because the SDK decodes numbers as
// float64, which does not hold all 38 digits of a number. If an argument is unknown or missing, the error lists the
// arguments of the tool.
func call(
	ctx context.Context, op *operation.Operation, schema *jsonschema.Schema, arguments json.RawMessage,
	run func(context.Context, *operation.Values) (string, error),
) (answer string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = advice.New(
				"this is a bug in sortkey: report it to the user, and try different arguments",
				"%s failed inside: %v", op.Name, p,
			)
		}
	}()

	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(arguments)) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return "", advice.New("pass a JSON object", "the arguments of %s are not an object: %v", op.Name, err)
		}
	}
	takes := op.Name + " takes " + strings.Join(schema.PropertyOrder, ", ")
	v := new(operation.Values)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := op.Param(name)
		if name == "" || p == nil {
			help := takes
			if like, ok := text.Nearest(name, schema.PropertyOrder); ok {
				help = "did you mean " + like + "? " + help
			}
			return "", advice.New(help, "%s has no argument %q", op.Name, name)
		}
		if string(given[name]) == "null" {
			delete(given, name)
			continue
		}
		if set(p, v, given[name]) != nil {
			return "", advice.New(
				name+": "+p.ToolHelp(), "the argument %s of %s must be of type %s", name, op.Name,
				schema.Properties[name].Type,
			)
		}
		if n, ok := p.To(v).(*int32); ok && p.Least != nil && float64(*n) < *p.Least {
			return "", advice.New(
				"leave it out for the default", "the argument %s of %s must be at least %v", name, op.Name, *p.Least,
			)
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return "", advice.New(takes, "%s needs the argument %s", op.Name, name)
		}
	}
	return run(ctx, v)
}

// set decodes the value of a param. Language models often write a number in place of a string, or a string in place
// of an object, so set accepts these too. It keeps all digits of such a number.
func set(p *operation.Param, v *operation.Values, raw json.RawMessage) error {
	to := p.To(v)
	isText := raw[0] == '"'
	value := string(raw)
	if isText {
		if err := json.Unmarshal(raw, &value); err != nil {
			return err
		}
	}
	isObject := strings.HasPrefix(strings.TrimSpace(value), "{")
	isNumber := raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'

	switch to := to.(type) {
	case *[]byte:
		if !isObject {
			return errors.New("not an object")
		}
		*to = []byte(strings.TrimSpace(value))
		return nil
	case *string:
		if !isText && !isNumber && (p.Kind != operation.Request || !isObject) {
			return errors.New("not a text")
		}
		*to = value
		return nil
	case *[]string:
		if p.Kind != operation.Text {
			break
		}
		if !isText && !isNumber {
			return errors.New("not a text")
		}
		if value != "" || p.Required {
			*to = []string{value}
		}
		return nil
	}
	return json.Unmarshal(raw, to)
}

// message returns the text of an error with its advice.
func (s *Server) message(err error) string {
	e := s.o.Explain(err)
	message, _ := s.cut(e.Msg, 0)
	if e.Advice != "" {
		message += "\nTo do: " + e.Advice
	}
	return message
}

// cut skips the first skip lines of a text, and returns as many of the following lines as fit into an answer. If
// lines remain after these, next is the skip with which cut returns them. Otherwise next is 0.
func (s *Server) cut(whole string, skip int) (part string, next int) {
	lines := slices.Collect(strings.Lines(whole))
	lines = lines[min(max(skip, 0), len(lines)):]
	size := 0
	for i, line := range lines {
		if size += len(line); size > s.o.MaxAnswer {
			if i == 0 {
				return strings.ToValidUTF8(line[:s.o.MaxAnswer], "") + "…\n", skip + 1
			}
			return strings.Join(lines[:i], ""), skip + i
		}
	}
	return strings.Join(lines, ""), 0
}

// report returns the part of a text that begins after skip lines and fits into an answer. If more lines follow, it
// adds a note that says how to get them. If the text has no lines after skip, it returns a note that says so.
func (s *Server) report(whole string, skip int32) string {
	part, next := s.cut(whole, int(skip))
	if part == "" {
		return fmt.Sprintf("(the answer has only %s)\n", text.Count(strings.Count(whole, "\n")+1, "line"))
	}
	if next > 0 {
		part += fmt.Sprintf("\n(cut here; for the rest call the tool again with skip: %d)\n", next)
	}
	return part
}

// An object is a JSON object whose text has one line for each member, and for each element of a list. This text has
// fewer tokens for a language model than an indented object, and people can still read it.
type object []string

// A list is an array in an [object]. Its elements are JSON.
type list [][]byte

// add adds a member. It panics if JSON cannot represent the value.
func (o *object) add(name string, value any) {
	var raw []byte
	switch elements, isList := value.(list); {
	case isList && len(elements) > 0:
		raw = slices.Concat([]byte("[\n"), bytes.Join(elements, []byte(",\n")), []byte("\n]"))
	case isList:
		raw = []byte("[]")
	default:
		raw = encoded(value)
	}
	*o = append(*o, text.Quote(name)+": "+string(raw))
}

// encoded returns the JSON of a value. It panics if JSON cannot represent the value.
func encoded(value any) []byte {
	raw, err := text.JSON(value)
	if err != nil {
		panic(err)
	}
	return raw
}

// text returns the object.
func (o object) text() string { return "{\n" + strings.Join(o, ",\n") + "\n}" }
