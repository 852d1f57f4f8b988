package mcp

import (
	"cmp"
	"context"
	"errors"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
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

// asked returns an error in what somebody typed in the words of the tools.
func asked(err error) error {
	if err == nil {
		return nil
	}
	return &advice.Error{
		Msg: operation.ToolWords(err.Error()), Advice: operation.ToolWords(advice.Of(err)), Err: err,
	}
}

// refused returns the error of a request that failed, with the names and values that the model wrote. For a
// query that the service refuses it has the rule that the query breaks, and what to ask instead.
func (s *Server) refused(ctx context.Context, d *side, in wire.Input, err error) error {
	if is, ok := operation.Unmet(err); ok {
		is, _ = s.cut(is, 0)
		return &advice.Error{Msg: "nothing is written: the condition is false", Advice: is, Err: err}
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		err = &explain.ServiceError{Code: api.ErrorCode(), Message: api.ErrorMessage()}
	}
	e, ok := errors.AsType[*explain.ServiceError](err)
	err = service(err, in)
	if query, isQuery := in.(*wire.QueryInput); ok && isQuery && e.Code == "ValidationException" {
		return operation.Remedy(ctx, d.target, explain.TextOptions{Prose: prose}, query, err)
	}
	return err
}

// service returns an error of the service about a request with the names and values that the model wrote.
func service(err error, in wire.Input) error {
	e, ok := errors.AsType[*explain.ServiceError](err)
	if !ok {
		return err
	}
	return &advice.Error{Msg: e.Code + ": " + ask.TextsOf(in).Message(e.Message), Advice: advice.Of(err), Err: err}
}

// prose is the column at which sentences of reports wrap.
const prose = 100
