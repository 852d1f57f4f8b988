package operation

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Page is the response of the service to one request.
type Page struct {
	Items    []attr.Item // rows
	Item     attr.Item   // the item that a GetItem or a write returns, or nil
	Last     attr.Item   // last evaluated key, nil at the end
	Token    *string     // next token of a statement, nil at the end
	Examined *int64      // number of rows read, nil if the service does not say
	Units    float64
	Traces   []sortkey.Trace // traces of the reads, if the service reports them
}

// More reports whether there may be another page.
func (p *Page) More() bool { return p.Last != nil || p.Token != nil }

// Send sends a request to a database and returns the response. An error of the service has the names and values that
// the user typed in place of placeholders.
func Send(ctx context.Context, to explain.Target, in wire.Request) (*Page, error) {
	out, traces, err := to.Do(ctx, in)
	if refused, ok := errors.AsType[*explain.ServiceError](err); ok {
		told := *refused
		told.Message = ask.TextsOf(in).Message(refused.Message)
		err = &told
	}
	if err != nil {
		return nil, err
	}
	p := pageOf(out)
	p.Traces = traces
	return p, nil
}

// pageOf converts a response of the service to a page.
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

// Refused reports whether err is an error of the service with the code.
func Refused(err error, code string) bool {
	api, ok := errors.AsType[explain.APIError](err)
	return ok && api.ErrorCode() == code
}

// Unmet reports whether a write failed because its condition is false. If so, the text is describes the item that the
// service has compared with the condition, or says that the item does not exist.
func Unmet(err error) (is string, ok bool) {
	if !Refused(err, "ConditionalCheckFailedException") {
		return "", false
	}
	if e, ok := errors.AsType[*explain.ServiceError](err); ok && e.Item.Len() > 0 {
		return "the item is " + text.Literal(attr.NewMap(e.Item)), true
	}
	return "there is no such item", true
}
