package work

import "fmt"

// An Op is the name of an operation.
type Op string

// The operations of calls.
const (
	Get           Op = "GetItem"
	Put           Op = "PutItem"
	Update        Op = "UpdateItem"
	Query         Op = "Query"
	Scan          Op = "Scan"
	TransactWrite Op = "TransactWriteItems"
	TransactGet   Op = "TransactGetItems"
)

// Target returns the operation's X-Amz-Target.
func (o Op) Target() string { return "DynamoDB_20120810." + string(o) }

// A Range is the part of a table that a Query or Scan reads.
type Range struct {
	Index   string
	Key     string // key condition, "" for a scan
	Filter  string
	Values  []Bind
	After   int // the item whose key is the ExclusiveStartKey; -1 for none
	Limit   int
	Reverse bool
	// Segment is the number of the segment to scan, of Segments in all. Segments is 0 for a read of the whole range.
	Segment, Segments int
}

// A Call is one request.
type Call struct {
	Op Op
	// Items are the items that the call reads, puts or updates: one, or several in a transaction.
	Items []int
	// Version is the version of the items that the call puts.
	Version int
	// Range is for Query and Scan.
	Range Range
	// Want is the number of rows that the response must have; -1 if unknown.
	Want int
	// Examined is the approximate number of rows that a filtered page reads; 0
	// if unknown.
	Examined int
	// Page is true when the response ends at 1 MB. Other implementations may count bytes differently, and so return
	// another number of rows than Want.
	Page bool
}

// UpdateExpression is the expression of every update.
const UpdateExpression = "SET note = :note"

// Note returns the value of :note in an update of item i.
func (s Shape) Note(i, version int) string {
	bs := s.Binds(i, version)
	return bs[len(bs)-1].Text
}

// Body returns the call's request in JSON.
func (c *Call) Body(s Shape) []byte {
	switch c.Op {
	case Query, Scan:
		return c.rangeBody(s)
	case TransactWrite, TransactGet:
		b := []byte(`{"TransactItems":[`)
		for k, i := range c.Items {
			if k > 0 {
				b = append(b, ',')
			}
			if c.Op == TransactGet {
				b = fmt.Appendf(b, `{"Get":{"TableName":%q,"Key":%s}}`, TableName, s.keyJSON(i))
			} else {
				b = fmt.Appendf(b, `{"Put":{"TableName":%q,"Item":%s}}`, TableName, s.ItemJSON(nil, i, c.Version))
			}
		}
		return append(b, "]}"...)
	}

	i := c.Items[0]
	b := fmt.Appendf(nil, `{"TableName":%q,`, TableName)
	switch c.Op {
	case Put:
		b = append(s.ItemJSON(append(b, `"Item":`...), i, c.Version), '}')
	case Update:
		b = fmt.Appendf(b, `"Key":%s,"UpdateExpression":%q,"ExpressionAttributeValues":{":note":{"S":%q}}}`,
			s.keyJSON(i), UpdateExpression, s.Note(i, c.Version))
	default:
		b = fmt.Appendf(b, `"Key":%s}`, s.keyJSON(i))
	}
	return b
}

func (s Shape) keyJSON(i int) []byte { return appendJSON(nil, s.KeyBinds(i)) }

func (c *Call) rangeBody(s Shape) []byte {
	r := &c.Range
	b := fmt.Appendf(nil, `{"TableName":%q`, TableName)
	text := func(name, value string) {
		if value != "" {
			b = fmt.Appendf(b, `,%q:%q`, name, value)
		}
	}
	text("IndexName", r.Index)
	text("KeyConditionExpression", r.Key)
	text("FilterExpression", r.Filter)
	if len(r.Values) > 0 {
		b = appendJSON(append(b, `,"ExpressionAttributeValues":`...), r.Values)
	}
	if r.After >= 0 {
		b = fmt.Appendf(b, `,"ExclusiveStartKey":%s`, s.keyJSON(r.After))
	}
	if r.Limit > 0 {
		b = fmt.Appendf(b, `,"Limit":%d`, r.Limit)
	}
	if r.Reverse {
		b = append(b, `,"ScanIndexForward":false`...)
	}
	if r.Segments > 0 {
		b = fmt.Appendf(b, `,"Segment":%d,"TotalSegments":%d`, r.Segment, r.Segments)
	}
	return append(b, '}')
}
