package explain

import (
	"encoding/json"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// A Report is what one request read, all its pages together.
type Report struct {
	Operation string // Query, Scan or GetItem
	Table     string
	Index     string // "" for the table itself
	Request   json.RawMessage
	// Schema is the key of the table or index that was read, nil when there is
	// none. Projection is what the index holds: ALL, KEYS_ONLY or INCLUDE; ""
	// for the table itself.
	Schema     *keycond.Schema
	Projection string
	// Consistent says whether the request asks for strong consistency, Limit
	// is its Limit, or 0, and Filter its filter with the values in it.
	Consistent bool
	Limit      int
	Filter     string

	// Clauses are the key conditions, Partition the partition that they name
	// and Low and High the ends of the sort positions read. A Scan has none.
	Clauses   []keycond.Clause
	Partition keycond.End
	Low, High keycond.End
	Reverse   bool
	// Start is the ExclusiveStartKey, where reading began inside the range.
	Start attr.Item

	// Before and After are the keys of the rows just outside the range in the
	// order of the sort key, nil where there are none in the partition, with
	// the entities they belong to.
	Before, After             attr.Item
	BeforeEntity, AfterEntity string

	Pages              int
	Examined, Returned int
	// Bytes is the documented size of the rows examined, and Wasted of those
	// that were examined and not returned. Fetched is the size of the items
	// that a local index fetched from the table, which is not part of Bytes.
	Bytes, Wasted, Fetched int
	// Strong and Eventual are the read units with and without ConsistentRead.
	// Strong is 0 for a global index, which cannot be read consistently.
	Strong, Eventual float64
	// Consumed is what the endpoint says it consumed, in units; 0 when it does
	// not say.
	Consumed float64
	// Traced says that the endpoint told what it read and that it agrees with
	// the figures here.
	Traced bool
	// Stop says why the last page ended, Last is its LastEvaluatedKey and Next
	// the key of the row it stopped before, nil when there is none.
	Stop       string
	Last, Next attr.Item
	Entities   []Share
	Items      []attr.Item // the rows returned, in order, up to the caller's limit
	// Rows are the rows examined, in order, up to the caller's limit, and Tail
	// the last of those that did not fit. The rows between them are counted and
	// not kept.
	Rows, Tail []Row

	// Notes are what the reader should know about the figures.
	Notes []string
	// Advice are better ways to ask, for a request that the service takes.
	Advice []Advice
	// Refused is set when the request is not one the service takes.
	Refused *Refusal
}

// A Row is a row that was examined.
type Row struct {
	Key    attr.Item // the key attributes of the table and of the index
	Entity string
	// Bytes is the documented size of the row.
	Bytes    int
	Returned bool
}

// A Share is what one entity has of the rows of a report. Entity is "" for
// items that match none.
type Share struct {
	Entity             string
	Examined, Returned int
	Bytes, Wasted      int
}

// A Refusal says why a request is not one range, and what would be.
type Refusal struct {
	Code, Message string // the service's own words
	// Rule is the rule that is broken, in one sentence, Source the page of the
	// developer guide that states it.
	Rule, Source string
	// Advice are the nearest things that work, best first.
	Advice []Advice
}

// Advice is one way to ask what a request wanted to know.
type Advice struct {
	Text string
	// Request is a request that works, nil when the way needs another key.
	Operation string
	Request   json.RawMessage
}
