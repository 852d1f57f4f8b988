package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// describe returns the keys of a table. The error for one that does not exist names those that do.
func (d *side) describe(ctx context.Context, name string) (*keyschema.Table, error) {
	t, err := explain.Describe(ctx, d.target, name)
	if e, ok := errors.AsType[*explain.ServiceError](err); ok {
		help := "call tables for their names"
		if names, err := d.tables(ctx); err == nil {
			help = cmp.Or(text.DidYouMean(name, names), help)
			if len(names) == 0 {
				help = "there are no tables yet: design_load creates those of a model"
			}
		}
		if e.Code == "ResourceNotFoundException" {
			return nil, advice.New(help, "there is no table %s", text.Quote(name))
		}
		return nil, advice.New(help, "cannot describe table %s: %v", text.Quote(name), e)
	}
	return t, err
}

// words replaces flags of the command in errors of package ask by the arguments of tools.
var words = strings.NewReplacer(
	"; separate values with commas or repeat --pk", "; separate values with commas", "--", "",
)

// asked returns an error of package ask in the words of the tools.
func asked(err error) error {
	if err == nil {
		return nil
	}
	return &advice.Error{Msg: words.Replace(err.Error()), Advice: words.Replace(advice.Of(err)), Err: err}
}

// service returns an error of the service about a request with the names and values that the model wrote.
func service(err error, in wire.Input) error {
	e, ok := errors.AsType[*explain.ServiceError](err)
	if !ok {
		return err
	}
	return &advice.Error{Msg: e.Code + ": " + ask.TextsOf(in).Message(e.Message), Advice: advice.Of(err), Err: err}
}

// refused returns the error of a query with the rule that its condition breaks, and requests that work.
func (s *Server) refused(ctx context.Context, d *side, in *wire.QueryInput, t *keyschema.Table, err error) error {
	e, ok := errors.AsType[*explain.ServiceError](err)
	err = service(err, in)
	_, _, unreadable := ask.TextsOf(in).Fault()
	if !ok || unreadable || e.Code != "ValidationException" {
		return err
	}
	report, failed := explain.Run(ctx, d.target, explain.Question{Input: in}, explain.Options{Items: -1})
	if failed != nil || report.Refused == nil || report.Refused.Rule == "" {
		return err
	}
	remedy := report.Remedy(explain.TextOptions{Prose: prose, Command: commandOf(t)})
	return &advice.Error{Msg: err.Error() + "\n" + strings.TrimSuffix(remedy, "\n"), Advice: advice.Of(err), Err: err}
}

// otherAttribute matches a condition on an attribute that it names.
var otherAttribute = text.Pattern(`^([\w.]+)\s*(?:<=|>=|<>|!=|==|=|<|>)`)

// onOther returns the error for a sort condition that names an attribute that is not the sort key, or nil.
func onOther(q *ask.Query, t *keyschema.Table) error {
	schema := t.Schema(q.Index)
	if schema == nil || len(q.Sort) != 1 || len(schema.Sort()) == 0 {
		return nil
	}
	m := otherAttribute().FindStringSubmatch(q.Sort[0])
	if m == nil || schema.Has(m[1]) {
		return nil
	}
	return advice.New(
		"if it is a condition, put it into filter, which drops rows after they are read and paid for; to read only "+
			"those rows, an index needs "+m[1]+" as its sort key. If it is a value, write = before it",
		"the sort key is %s, and %q names another attribute", strings.Join(schema.SortNames(), ", "), q.Sort[0],
	)
}

// meant returns the error of a condition that is not one range, with the request that it means or the
// rule that it breaks.
func (s *Server) meant(ctx context.Context, d *side, q *ask.Query, t *keyschema.Table, err error) error {
	if other := onOther(q, t); other != nil {
		return other
	}
	err = asked(err)
	in, ok := q.Meant(t)
	if !ok {
		return err
	}
	if again, ok := ask.Of(in, t); ok {
		instead := err.Error() + "\ninstead: " + toolCall(t.Name, again)
		return &advice.Error{Msg: instead, Advice: advice.Of(err), Err: err}
	}
	_, _, failed := d.target.Do(ctx, in)
	if failed == nil {
		return err
	}
	return s.refused(ctx, d, in, t, failed)
}

// prose is the column at which sentences of reports wrap.
const prose = 100

// commandOf returns the function that writes a request on a table as a call of a tool.
func commandOf(t *keyschema.Table) func(wire.Request) string {
	return func(in wire.Request) string {
		if t != nil {
			if q, ok := ask.Of(in, t); ok {
				return toolCall(t.Name, q)
			}
		}
		return in.Op().String() + " " + string(in.AppendJSON(nil))
	}
}

// toolCall returns a query, or a scan, as a call of the tool.
func toolCall(table string, q *ask.Query) string {
	raw, err := text.JSON(struct {
		Table      string   `json:"table"`
		Index      string   `json:"index,omitempty"`
		Partition  string   `json:"partition,omitempty"`
		Sort       string   `json:"sort,omitempty"`
		Filter     string   `json:"filter,omitempty"`
		Project    []string `json:"project,omitempty"`
		Limit      int32    `json:"limit,omitempty"`
		Descending bool     `json:"descending,omitempty"`
		Consistent bool     `json:"consistent,omitempty"`
	}{
		table, q.Index, strings.Join(q.Partition, ", "), strings.Join(q.Sort, ", "), q.Filter, q.Project, q.Limit,
		q.Backwards, q.Consistent,
	})
	if err != nil {
		raw = json.RawMessage("{}")
	}
	if len(q.Partition) == 0 {
		return "scan " + string(raw)
	}
	return "query " + string(raw)
}
