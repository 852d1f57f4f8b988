package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/aws/smithy-go"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/wire"
)

// addOperations adds the tools of operations.
func (s *Server) addOperations() {
	where := "The first write makes a fork, a copy that these tools use from then on; the database itself does not " +
		"change. See fork_diff and fork_discard."
	switch {
	case s.o.Write:
		where = "It writes to the database itself."
	case !s.forkable():
		where = "The user has not allowed writes to this database, so it is refused."
	}

	for _, op := range operation.All {
		if op.Tool.Example == "" {
			continue
		}
		t := tool{name: op.Name, title: op.Short, description: op.ToolHelp()}
		if op.Writes {
			t.description += "\n" + where
			t.effect = adds // the fork can be thrown away
			if s.o.Write {
				t.effect = changes
			}
		}
		addParams(s, t, op, func(ctx context.Context, v *operation.Values) (string, error) {
			return s.operate(ctx, op, v)
		})
	}

	addParams(s, explainTool, operation.Explain, s.explain)
}

// addParams adds a tool whose arguments are the params of an operation.
func addParams(
	s *Server, t tool, op *operation.Operation, run func(context.Context, *operation.Values) (string, error),
) {
	schema := schemaOf(op)
	s.addTool(t, schema, func(ctx context.Context, given map[string]json.RawMessage) (string, error) {
		v := new(operation.Values)
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if err := set(op.Param(name), v, given[name]); err != nil {
				return "", readable(t.name, name, schema, err)
			}
		}
		return run(ctx, v)
	})
}

// schemaOf returns the schema of the arguments of a tool.
func schemaOf(op *operation.Operation) *jsonschema.Schema {
	schema := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, // none
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

// set sets the value of a param.
func set(p *operation.Param, v *operation.Values, raw json.RawMessage) error {
	to := p.To(v)
	switch p.Kind {
	case operation.Text:
		var w word
		if err := json.Unmarshal(raw, &w); err != nil {
			return err
		}
		switch to := to.(type) {
		case *string:
			*to = string(w)
		case *[]string:
			if w != "" || p.Required {
				*to = []string{string(w)}
			}
		}
		return nil
	case operation.Request:
		if raw[0] == '{' {
			*to.(*string) = string(raw)
			return nil
		}
	case operation.Object:
		return json.Unmarshal(raw, (*document)(to.(*[]byte)))
	}
	return json.Unmarshal(raw, to)
}

// scanned is the default limit of a scan.
const scanned = 20

// operate runs an operation.
func (s *Server) operate(ctx context.Context, op *operation.Operation, v *operation.Values) (answer string, err error) {
	if err := op.Parse(v); err != nil {
		return "", asked(err)
	}
	if op == operation.Scan && v.Limit == 0 {
		v.Limit = scanned
	}
	use := s.read
	if op.Writes {
		use = func(do func(*side) error) error { return s.write(ctx, do) }
	}
	err = use(func(d *side) error {
		t, err := d.describe(ctx, v.Table)
		if err != nil {
			return err
		}
		v.Project = withKeys(v.Project, t.Schema(v.Index))
		in, err := op.Request(v, t)
		if err != nil {
			return asked(err)
		}

		question := ask.Question(in, t.Key)
		page, traces, err := d.send(ctx, op, in)
		if err != nil {
			s.log.add(request{Tool: op.Name, Request: question, Error: codeOf(err)})
			return s.refused(ctx, d, in, err)
		}
		if op.Rows {
			answer, err = s.rows(op, v, question, t.Schema(v.Index), page, traces)
		} else {
			answer, err = s.item(op, question, t.Key, page, d)
		}
		return err
	})
	return answer, err
}

// send sends a request. A target reports what was read, but does not write.
func (d *side) send(
	ctx context.Context, op *operation.Operation, in wire.Request,
) (*operation.Page, []sortkey.Trace, error) {
	if op.Writes {
		page, err := operation.Send(ctx, d.client, in)
		return page, nil, err
	}
	out, traces, err := d.target.Do(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	return operation.PageOf(out), traces, nil
}

// codeOf returns the code of an error of the service, or its text.
func codeOf(err error) string {
	if e, ok := errors.AsType[*explain.ServiceError](err); ok {
		return e.Code
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return err.Error()
}
