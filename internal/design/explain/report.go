package explain

import (
	"encoding/json"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// A Report describes what a request read, over all its pages. In JSON, the fields from Clauses on are members of the
// object read. A refused request does not have this object.
type Report struct {
	Operation string          `json:"-"` // Query, Scan or GetItem
	Table     string          `json:"-"`
	Index     string          `json:"-"` // "" for the table itself
	Request   json.RawMessage `json:"-"` // as its author wrote it
	// Schema is the key of the table or index, or nil if it does not exist.
	// Projection is the projection of the index: ALL, KEYS_ONLY or INCLUDE; ""
	// for the table itself.
	Schema     *keycond.Schema `json:"-"`
	Projection string          `json:"-"`
	// Consistent says that the request asks for strong consistency. Limit is its Limit, or 0.
	Consistent bool `json:"-"`
	Limit      int  `json:"-"`

	// Clauses are the key conditions. Filter is the filter, with values in place of placeholders.
	Clauses []keycond.Clause `json:"keyCondition,omitempty"`
	Filter  string           `json:"filter,omitempty"`
	// Partition is the partition that the key conditions select, and Low and High are the ends of their range of sort
	// keys. All are empty for a Scan.
	Partition End  `json:"partition,omitzero"`
	Low       End  `json:"low,omitzero"`
	High      End  `json:"high,omitzero"`
	Reverse   bool `json:"reverse"`
	// Start is the ExclusiveStartKey after which the request begins to read.
	Start attr.Item `json:"-"`

	// Before and After are the keys of the rows just outside the range, in the order of the sort key. BeforeEntity
	// and AfterEntity are the entities of these rows. On a side where the range reaches the end of the partition,
	// both are empty.
	Before       attr.Item `json:"before,omitzero"`
	After        attr.Item `json:"after,omitzero"`
	BeforeEntity string    `json:"-"`
	AfterEntity  string    `json:"-"`
	// BeforeItem and AfterItem have the attributes of the rows outside the range, as far as the endpoint returned
	// them.
	BeforeItem attr.Item `json:"-"`
	AfterItem  attr.Item `json:"-"`

	Pages    int `json:"pages"`
	Examined int `json:"examined"`
	Returned int `json:"returned"`
	// Bytes is the size of the examined rows by the documented rules. Wasted is the size of those of them that were
	// not returned. Fetched is the size of the items that a local index fetched from the table; Bytes does not
	// include these items.
	Bytes   int `json:"bytes"`
	Fetched int `json:"fetched,omitzero"`
	Wasted  int `json:"wasted"`
	// Strong and Eventual are the read units with and without ConsistentRead.
	// Strong is 0 for a global index, which cannot be read consistently.
	Strong   float64 `json:"unitsStrong"`
	Eventual float64 `json:"unitsEventual"`
	// Consumed is the number of units that the endpoint reports, or 0.
	Consumed float64 `json:"unitsConsumed"`
	// Traces has the endpoint's trace of each page, if the endpoint sends traces.
	Traces []sortkey.Trace `json:"-"`
	// Stop says why the last page ended. Last is the LastEvaluatedKey of that page, and Next is the key of the first
	// row after the page. Last is nil if the request read to the end. Next is nil if no row follows, or if the report
	// is brief.
	Stop     string    `json:"stop"`
	Last     attr.Item `json:"lastEvaluatedKey,omitzero"`
	Next     attr.Item `json:"next,omitzero"`
	Entities []Share   `json:"entities"`
	// Rows are the first examined rows, in order, at most Options.Items. If there are more, Tail has the last of
	// them, at most tailRows. The report counts the rows between Rows and Tail but does not keep them.
	Rows  []Row       `json:"rows"`
	Tail  []Row       `json:"tail,omitempty"`
	Items []attr.Item `json:"items"` // the first returned rows, in order, at most Options.Items

	// Notes explain the figures.
	Notes []string `json:"notes,omitempty"`
	// Hints say how to read less or, for a refused request, what to send instead. The best hint comes first.
	Hints []string `json:"-"`
	// Refused is not nil if the service refuses the request.
	Refused *Refusal `json:"-"`
}

// Units returns the read units over all pages. If consistent or r.Consistent is true, it returns the units of
// strongly consistent reads.
func (r *Report) Units(consistent bool) float64 {
	if consistent || r.Consistent {
		return r.Strong
	}
	return r.Eventual
}

// Waste returns the fraction of the bytes read that the request does not return.
func (r *Report) Waste() float64 {
	if r.Bytes+r.Fetched == 0 {
		return 0
	}
	return float64(r.Wasted) / float64(r.Bytes+r.Fetched)
}

// A Row is an examined row.
type Row struct {
	Key    attr.Item `json:"key"` // the key attributes of the table and of the index
	Item   attr.Item `json:"-"`   // all attributes of the row; an index has only what it projects
	Entity string    `json:"entity,omitempty"`
	// Bytes is the size of the row by the documented rules.
	Bytes    int  `json:"bytes"`
	Returned bool `json:"returned"`
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

// A Refusal says why the service refuses a request. For a SELECT statement that the service accepts but runs as
// several requests, it says why the statement is not one range.
type Refusal struct {
	// Code and Message are the error code and the message of the service.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Where is the invalid expression with a caret below the error. It is "" for other errors.
	Where string `json:"-"`
	// Rule is the broken rule in one sentence, and Source the page of the
	// developer guide that states it.
	Rule   string `json:"rule,omitempty"`
	Source string `json:"source,omitempty"`
}
