// Package explain tells what a request reads: the range its key condition
// compiles to, the rows in it and just outside it, what it costs, and for a
// request that is not one range, which rule it breaks and what would work.
package explain

import (
	"encoding/json"

	"github.com/sortkey/sortkey/attr"
)

// A Report is what one request read, all its pages together.
type Report struct {
	Operation string // Query, Scan or GetItem
	Table     string
	Index     string // "" for the table itself
	Request   json.RawMessage

	// Clauses are the key conditions in words, and Low and High the bounds of
	// the sort positions read. A Scan has none.
	Clauses   string
	Partition Bound
	Low, High Bound
	Reverse   bool

	// Before and After are the keys of the rows just outside the range, nil
	// where there are none.
	Before, After attr.Item

	Pages              int
	Examined, Returned int
	// Bytes is the documented size of the rows examined, and Wasted of those
	// that were examined and not returned.
	Bytes, Wasted int
	// Strong and Eventual are the read units with and without ConsistentRead.
	// Strong is 0 for a global index, which cannot be read consistently.
	Strong, Eventual float64
	// Stop says why the last page ended, Last is its LastEvaluatedKey.
	Stop     string
	Last     attr.Item
	Entities []Share
	Items    []attr.Item // the rows returned, in order, up to the caller's limit

	// Refused is set when the request is not one the service takes.
	Refused *Refusal
}

// A Bound is one end of a range, or a partition, in bytes and as a person
// would write it. Bytes is nil where the range is open.
type Bound struct {
	Bytes []byte
	Text  string
	// Inclusive says whether a row at the bound itself is read.
	Inclusive bool
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

// Advice is one way to ask what a refused request wanted to know.
type Advice struct {
	Text string
	// Request is a request that works, nil when the way needs another key.
	Operation string
	Request   json.RawMessage
}
