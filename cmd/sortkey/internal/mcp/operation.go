package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// scanned is the default limit of a scan.
const scanned = 20

// operate runs an operation.
func (s *Server) operate(ctx context.Context, op *operation.Operation, v *operation.Values) (string, error) {
	if err := op.Parse(v); err != nil {
		return "", asked(err)
	}
	if op == operation.Scan && v.Limit == 0 {
		v.Limit = scanned
	}
	t, err := s.describe(ctx, v.Table)
	if err != nil {
		return "", err
	}
	v.Project = withKeys(v.Project, t.Schema(v.Index))
	in, err := op.Request(v, t)
	if err != nil {
		return "", asked(err)
	}

	page, err := operation.Send(ctx, s.o.Target, in)
	if err != nil {
		return "", s.refused(ctx, in, err)
	}
	var o object
	if op.Rows {
		o.add("asked", ask.Question(in, t.Key))
		s.addRows(&o, op, v, t.Schema(v.Index), page)
		return o.text(), nil
	}

	done, units, name := "asked", "readUnits", "item"
	if op.Writes {
		done, units, name = "done", "writeUnits", op.Returned
	}
	o.add(done, ask.Question(in, t.Key))
	o.add(units, page.Units)
	if page.Item == nil {
		o.add(name, nil)
		return o.text(), nil
	}
	raw, note := s.shown(page.Item, t.Key)
	o.add(name, json.RawMessage(raw))
	if note != "" {
		o.add("note", note)
	}
	return o.text(), nil
}

// describe returns the keys of a table. If the table does not exist, the error suggests a similar name or lists the
// existing tables.
func (s *Server) describe(ctx context.Context, name string) (*keyschema.Table, error) {
	t, err := explain.Describe(ctx, s.o.Target, name)
	e, ok := errors.AsType[*explain.ServiceError](err)
	if !ok {
		return t, err
	}
	help := "call tables for their names"
	if names, err := models.Tables(ctx, s.o.Target); err == nil {
		help = cmp.Or(text.DidYouMean(name, names), help)
	}
	if e.Code == "ResourceNotFoundException" {
		return nil, advice.New(help, "there is no table %s", text.Quote(name))
	}
	return nil, advice.New(help, "cannot describe table %s: %v", text.Quote(name), e)
}

// asked rewrites an error about the arguments of a command for a language model: it replaces the names of flags by
// the names of tool arguments.
func asked(err error) error {
	return &advice.Error{
		Msg: operation.ToolWords(err.Error()), Advice: operation.ToolWords(advice.Of(err)), Err: err,
	}
}

// refused explains why a request failed. If the service has rejected a query, the error also contains the rule that
// the query breaks, and queries that work.
func (s *Server) refused(ctx context.Context, in wire.Request, err error) error {
	if is, ok := operation.Unmet(err); ok {
		is, _ = s.cut(is, 0)
		return &advice.Error{Msg: "nothing is written: the condition is false", Advice: is, Err: err}
	}
	if query, ok := in.(*wire.QueryInput); ok && operation.Refused(err, "ValidationException") {
		return operation.Remedy(ctx, s.o.Target, explain.TextOptions{Prose: prose}, query, err)
	}
	return err
}

// prose is the width at which reports wrap sentences, in columns.
const prose = 100
