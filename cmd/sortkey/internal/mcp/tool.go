package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

// A word is a text argument. Models also write numbers for it, of which every digit counts.
type word string

// UnmarshalJSON reads a string, a number, or null for no text.
func (w *word) UnmarshalJSON(data []byte) error {
	c := data[0]
	switch {
	case c == '"':
		return json.Unmarshal(data, (*string)(w))
	case c == '-' || c >= '0' && c <= '9':
		*w = word(data)
		return nil
	case string(data) == "null":
		return nil
	}
	return &json.UnmarshalTypeError{Value: "another type", Type: reflect.TypeFor[string]()}
}

// A document is a JSON object, which models also write as a string.
type document []byte

// UnmarshalJSON reads an object, a string with one, or null for none.
func (d *document) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		data = []byte(strings.TrimSpace(s))
	}
	if len(data) == 0 || data[0] != '{' {
		return &json.UnmarshalTypeError{Value: "another type", Type: reflect.TypeFor[map[string]any]()}
	}
	*d = bytes.Clone(data)
	return nil
}

// schemas are the schemas of arguments that read more than they promise.
var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[word]():     {Type: "string"},
	reflect.TypeFor[[]string](): {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
}

// What a tool may change, for clients that ask their user before that.
type effect uint8

const (
	reads   effect = iota
	adds           // creates, and leaves alone what is there
	changes        // overwrites and deletes
)

// A tool is what the model sees of one.
type tool struct {
	name, title, description string
	effect                   effect
}

// add adds a tool with arguments In. The SDK would decode them with every number as a float64; this keeps
// all 38 digits, and its errors say which arguments there are.
func add[In any](s *Server, t tool, run func(context.Context, In) (string, error)) {
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		panic(err) // the arguments of a tool have no such types
	}
	s.addTool(t, schema, func(ctx context.Context, given map[string]json.RawMessage) (string, error) {
		var in In
		raw, err := json.Marshal(given)
		if err == nil {
			err = json.Unmarshal(raw, &in)
		}
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			field, _, _ := strings.Cut(wrong.Field, ".")
			return "", readable(t.name, field, schema, err)
		}
		if err != nil {
			return "", readable(t.name, "", schema, err)
		}
		return run(ctx, in)
	})
}

// addTool adds a tool that is run with the arguments that are given. They are in the schema, and those that the
// schema requires are there.
func (s *Server) addTool(
	t tool, schema *jsonschema.Schema, run func(context.Context, map[string]json.RawMessage) (string, error),
) {
	local, destructive := false, t.effect == changes
	s.server.AddTool(&protocol.Tool{
		Name: t.name, Title: t.title, Description: strings.TrimSpace(t.description), InputSchema: schema,
		Annotations: &protocol.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.effect == reads, DestructiveHint: &destructive, OpenWorldHint: &local,
		},
	}, func(ctx context.Context, req *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		answer, err := call(ctx, t.name, schema, req.Params.Arguments, run)
		result := &protocol.CallToolResult{}
		if err != nil {
			answer, result.IsError = s.message(err), true
		}
		result.Content = []protocol.Content{&protocol.TextContent{Text: answer}}
		return result, nil
	})
}

// call checks the arguments of a tool and runs it.
func call(
	ctx context.Context, name string, schema *jsonschema.Schema, arguments json.RawMessage,
	run func(context.Context, map[string]json.RawMessage) (string, error),
) (answer string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = advice.New(
				"try other arguments, and tell the user about this fault of sortkey", "%s failed inside: %v", name, p,
			)
		}
	}()
	given, err := readArguments(name, schema, arguments)
	if err != nil {
		return "", err
	}
	return run(ctx, given)
}

// readArguments returns the arguments of a tool, without those that are null.
func readArguments(
	name string, schema *jsonschema.Schema, arguments json.RawMessage,
) (map[string]json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(arguments)) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return nil, advice.New("pass a JSON object", "the arguments of %s are not an object: %v", name, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if schema.Properties[key] == nil {
			help := takes(name, schema)
			if like, ok := text.Nearest(key, schema.PropertyOrder); ok {
				help = "did you mean " + like + "? " + help
			}
			return nil, advice.New(help, "%s has no argument %q", name, key)
		}
	}
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	for _, key := range schema.Required {
		if _, ok := given[key]; !ok {
			return nil, advice.New(takes(name, schema), "%s needs the argument %s", name, key)
		}
	}
	return given, nil
}

// takes says which arguments a tool takes.
func takes(name string, schema *jsonschema.Schema) string {
	if len(schema.PropertyOrder) == 0 {
		return name + " takes no arguments"
	}
	return name + " takes " + strings.Join(schema.PropertyOrder, ", ")
}

// readable returns the error of an argument that cannot be read. Its name is "" if it is not known.
func readable(name, argument string, schema *jsonschema.Schema, err error) error {
	if p := schema.Properties[argument]; p != nil {
		return advice.New(
			argument+": "+p.Description, "the argument %s of %s must be of type %s", argument, name, p.Type,
		)
	}
	return advice.New(takes(name, schema), "cannot read the arguments of %s: %v", name, err)
}

// message returns the text of an error.
func (s *Server) message(err error) string {
	e := s.o.Explain(err)
	message, _ := s.cut(e.Msg, 0)
	if e.Advice != "" {
		message += "\nTo do: " + e.Advice
	}
	return message
}

// cut returns the lines of a text after the first skip of them, as many as fit into an answer, and the
// number of lines up to there if there are more.
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

// report returns the text of a tool after the first skip lines, with a note if it is cut.
func (s *Server) report(whole string, skip int) string {
	part, next := s.cut(whole, skip)
	if next > 0 {
		part += fmt.Sprintf("\n(cut here; for the rest call the tool again with skip: %d)\n", next)
	}
	return part
}
