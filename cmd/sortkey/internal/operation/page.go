package operation

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Page is what the service answers to one request.
type Page struct {
	Items    []attr.Item // rows
	Item     attr.Item   // the one item that was read, or that a write returns; nil for none
	Last     attr.Item   // where the next page of rows begins, nil at the end
	Token    *string     // where the next page of a statement begins, nil at the end
	Examined *int64      // rows, nil if the service does not say
	Units    float64
	Traces   []sortkey.Trace // of what was read, if the service reports them
}

// More reports whether there may be another page.
func (p *Page) More() bool { return p.Last != nil || p.Token != nil }

// Send sends a request to a database.
func Send(ctx context.Context, to explain.Target, in wire.Request) (*Page, error) {
	out, traces, err := to.Do(ctx, in)
	if err != nil {
		return nil, err
	}
	p := pageOf(out)
	p.Traces = traces
	return p, nil
}

// pageOf returns what an answer of the service says.
func pageOf(out wire.Output) *Page {
	p := new(Page)
	used := (*wire.ConsumedCapacity)(nil)
	switch out := out.(type) {
	case *wire.QueryOutput:
		p.Items, p.Last, p.Examined, used = out.Items, out.LastEvaluatedKey, out.ScannedCount, out.ConsumedCapacity
	case *wire.ScanOutput:
		p.Items, p.Last, p.Examined, used = out.Items, out.LastEvaluatedKey, out.ScannedCount, out.ConsumedCapacity
	case *wire.ExecuteStatementOutput:
		p.Items, p.Last, p.Token, used = out.Items, out.LastEvaluatedKey, out.NextToken, out.ConsumedCapacity
	case *wire.GetItemOutput:
		p.Item, used = out.Item, out.ConsumedCapacity
	case *wire.PutItemOutput:
		p.Item, used = returned(out.Attributes), out.ConsumedCapacity
	case *wire.UpdateItemOutput:
		p.Item, used = returned(out.Attributes), out.ConsumedCapacity
	case *wire.DeleteItemOutput:
		p.Item, used = returned(out.Attributes), out.ConsumedCapacity
	}
	p.Last = returned(p.Last)
	if used != nil && used.CapacityUnits != nil {
		p.Units = *used.CapacityUnits
	}
	return p
}

// returned returns an item, or nil if it has no attributes.
func returned(it attr.Item) attr.Item {
	if it.Len() == 0 {
		return nil
	}
	return it
}

// After returns the request for the page after p.
func After(in wire.Request, p *Page) wire.Request {
	switch in := in.(type) {
	case *wire.QueryInput:
		next := *in
		next.ExclusiveStartKey = p.Last
		return &next
	case *wire.ScanInput:
		next := *in
		next.ExclusiveStartKey = p.Last
		return &next
	case *wire.ExecuteStatementInput:
		next := *in
		next.NextToken = p.Token
		return &next
	}
	return in
}

// Refused reports whether the service refuses a request with an error of this code.
func Refused(err error, code string) bool {
	api, ok := errors.AsType[explain.APIError](err)
	return ok && api.ErrorCode() == code
}

// Unmet says what the item is for which the condition of a write is false, if that is why it failed.
func Unmet(err error) (is string, ok bool) {
	if !Refused(err, "ConditionalCheckFailedException") {
		return "", false
	}
	if e, ok := errors.AsType[*explain.ServiceError](err); ok && e.Item.Len() > 0 {
		return "the item is " + text.Literal(attr.NewMap(e.Item)), true
	}
	return "there is no such item", true
}
