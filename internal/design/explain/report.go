package explain

import (
	"encoding/json"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// A Report describes what a request read, over all its pages.
type Report struct {
	Operation string // Query, Scan or GetItem
	Table     string
	Index     string          // "" for the table itself
	Request   json.RawMessage // as its author wrote it
	// Schema is the key of the table or index, or nil if it does not exist.
	// Projection is the projection of the index: ALL, KEYS_ONLY or INCLUDE; ""
	// for the table itself.
	Schema     *keycond.Schema
	Projection string
	// Consistent reports whether the request asks for strong consistency. Limit
	// is its Limit, or 0. Filter is its filter with the values in it.
	Consistent bool
	Limit      int
	Filter     string

	// Clauses are the key conditions, Partition is the partition that they
	// name, and Low and High are the ends of the range of sort keys. A Scan has
	// none of them.
	Clauses   []keycond.Clause
	Partition End
	Low, High End
	Reverse   bool
	// Start is the ExclusiveStartKey, at which reading began inside the range.
	Start attr.Item

	// Before and After are the keys of the rows just outside the range, in the
	// order of the sort key, with their entities. They are nil at the ends of
	// the partition.
	Before, After             attr.Item
	BeforeEntity, AfterEntity string
	// BeforeItem and AfterItem are these rows with what else the endpoint returned of them.
	BeforeItem, AfterItem attr.Item

	Pages              int
	Examined, Returned int
	// Bytes is the documented size of the examined rows, and Wasted that of the
	// rows that were not returned. Fetched is the size of the items that a
	// local index fetched from the table; Bytes does not include it.
	Bytes, Wasted, Fetched int
	// Strong and Eventual are the read units with and without ConsistentRead.
	// Strong is 0 for a global index, which cannot be read consistently.
	Strong, Eventual float64
	// Consumed is the number of units that the endpoint reports, or 0.
	Consumed float64
	// Traces are those that the endpoint reported for the pages of the request.
	Traces []sortkey.Trace
	// Traced is true if the endpoint reported what it read and the figures
	// agree with those of the report.
	Traced bool
	// Stop says why the last page ended. Last is its LastEvaluatedKey, and Next
	// the key of the first row after it; both can be nil.
	Stop       string
	Last, Next attr.Item
	Entities   []Share
	Items      []attr.Item // the returned rows, in order, up to the caller's limit
	// Rows are the examined rows in order, up to the caller's limit. Tail holds
	// the last of the rows beyond it. The rows between are counted but not
	// kept.
	Rows, Tail []Row

	// Notes explain the figures.
	Notes []string
	// Hints say in words how to read less or, of a refused request, what to ask instead, best first.
	Hints []string
	// Refused is set if the service refuses the request.
	Refused *Refusal
}

// Units returns the read units over all pages, those of strong consistency if the request or its
// author asks for it.
func (r *Report) Units(consistent bool) float64 {
	if consistent || r.Consistent {
		return r.Strong
	}
	return r.Eventual
}

// Waste returns the share of the bytes read that are not returned.
func (r *Report) Waste() float64 {
	if r.Bytes+r.Fetched == 0 {
		return 0
	}
	return float64(r.Wasted) / float64(r.Bytes+r.Fetched)
}

// A Row is an examined row.
type Row struct {
	Key    attr.Item // the key attributes of the table and of the index
	Item   attr.Item // the whole row, without what an index does not project
	Entity string
	// Bytes is the documented size of the row.
	Bytes    int
	Returned bool
}

// A Share counts the rows of one entity in a report. Entity is "" for items
// that match no entity.
type Share struct {
	Entity   string `json:"entity"`
	Examined int    `json:"examined"`
	Returned int    `json:"returned"`
	Bytes    int    `json:"bytes"`
	Wasted   int    `json:"wasted"`
}

// A Refusal says why the service refuses a request, or why it is not one range.
type Refusal struct {
	// Code and Message are those of the service.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Where is the expression that is wrong, with a caret below the
	// fault; "" for other faults.
	Where string `json:"-"`
	// Rule is the broken rule in one sentence, and Source the page of the
	// developer guide that states it.
	Rule   string `json:"rule,omitempty"`
	Source string `json:"source,omitempty"`
}
