package api

import (
	"context"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/internal/event"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// call runs an operation: every one of them, whichever way its input came, and
// so the one place before and after all that they do. Its error is a
// [*wire.Error].
func call[I, O any](ctx context.Context, s *Service, op wire.Op, in I, do func(context.Context, I) (O, error)) (O, error) {
	if s.opts.Observer == nil {
		out, err := do(ctx, in)
		return out, s.typedError(err)
	}
	e, own := event.Of(ctx), false
	if e == nil {
		e, own = &event.Event{Operation: op.String(), Start: s.opts.Clock()}, true
		s.opts.Observer.Begin(ctx, e)
		ctx = event.With(ctx, e)
	}
	e.Tables = tablesOf(in)
	outer := ctx
	if op == wire.OpQuery || op == wire.OpScan {
		ctx = table.WithTrace(ctx, func(tr table.Trace) { e.Traces = append(e.Traces, tr) })
	}
	out, err := do(ctx, in)
	err = s.typedError(err)
	note(e, err)
	if own {
		e.Duration = s.opts.Clock().Sub(e.Start)
		s.opts.Observer.End(outer, e)
	}
	return out, err
}

// note says in an event how it ended.
func note(e *event.Event, err error) {
	if failed, ok := err.(*wire.Error); ok { //nolint:errorlint // typedError makes it one
		e.Error, e.Message = failed.Code, failed.Message
	}
}

// tablesOf returns the tables that an input names, sorted. Of an ARN it is the
// name, of what is neither the text as it is.
func tablesOf(in any) []string {
	names := map[string]bool{}
	add := func(name *string) {
		if name == nil || *name == "" {
			return
		}
		if ref, err := ParseTable(*name); err == nil {
			names[ref.Name] = true
		} else {
			names[*name] = true
		}
	}
	switch in := in.(type) {
	case *wire.GetItemInput:
		add(in.TableName)
	case *wire.PutItemInput:
		add(in.TableName)
	case *wire.UpdateItemInput:
		add(in.TableName)
	case *wire.DeleteItemInput:
		add(in.TableName)
	case *wire.QueryInput:
		add(in.TableName)
	case *wire.ScanInput:
		add(in.TableName)
	case *wire.CreateTableInput:
		add(in.TableName)
	case *wire.UpdateTableInput:
		add(in.TableName)
	case *wire.DeleteTableInput:
		add(in.TableName)
	case *wire.DescribeTableInput:
		add(in.TableName)
	case *wire.UpdateTimeToLiveInput:
		add(in.TableName)
	case *wire.DescribeTimeToLiveInput:
		add(in.TableName)
	case *wire.TagResourceInput:
		add(in.ResourceArn)
	case *wire.UntagResourceInput:
		add(in.ResourceArn)
	case *wire.ListTagsOfResourceInput:
		add(in.ResourceArn)
	case *wire.BatchGetItemInput:
		for name := range in.RequestItems {
			add(&name)
		}
	case *wire.BatchWriteItemInput:
		for name := range in.RequestItems {
			add(&name)
		}
	case *wire.TransactGetItemsInput:
		for _, item := range in.TransactItems {
			if item.Get != nil {
				add(item.Get.TableName)
			}
		}
	case *wire.TransactWriteItemsInput:
		for _, item := range in.TransactItems {
			switch {
			case item.Put != nil:
				add(item.Put.TableName)
			case item.Update != nil:
				add(item.Update.TableName)
			case item.Delete != nil:
				add(item.Delete.TableName)
			case item.ConditionCheck != nil:
				add(item.ConditionCheck.TableName)
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// consume notes what an operation consumed of a table in the event that ctx
// carries, if there is one.
func consume(ctx context.Context, t string, write bool, c *table.Capacity) {
	e := event.Of(ctx)
	if e == nil {
		return
	}
	if c.Table > 0 { // reads of an index have no part of the table
		e.Used = append(e.Used, event.Use{Table: t, Write: write, Units: c.Table})
	}
	for _, ix := range c.Indexes {
		e.Used = append(e.Used, event.Use{Table: t, Index: ix.Name, Write: write, Units: ix.Units})
	}
}

// consumeAll is consume for several tables.
func consumeAll(ctx context.Context, write bool, uses []use) {
	for i := range uses {
		consume(ctx, uses[i].table, write, &uses[i].Capacity)
	}
}
