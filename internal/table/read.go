package table

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// Read has the parameters that queries and scans share.
type Read struct {
	Table *Table
	// Index is the index to read, or nil for the table itself.
	Index *Index
	// Start is the ExclusiveStartKey. Reading starts after its position, even if no item has that key. If Start is
	// nil, reading starts at the first row.
	Start attr.Item
	// Limit is the maximum number of rows to examine, or 0 for no limit.
	Limit int
	// Consistent asks for strong consistency, which doubles the units.
	Consistent bool
	// Fetch makes a read of a local index return whole items, which it reads from the table.
	Fetch bool
	// Filter selects the items that are returned, after they have been counted as examined. Nil selects all.
	Filter *expr.Condition
}

// A Query reads the slice of one partition that a key condition selects.
type Query struct {
	Read
	Slice   *keycond.Slice
	Reverse bool
}

// A Scan reads a whole table or index, or one segment of it. Segments 0 means 1.
type Scan struct {
	Read
	Segment, Segments uint32
}

// A Page is the result of one query or scan.
type Page struct {
	// Examined is the number of rows read. Returned is the number of those that passed the filter.
	Examined, Returned int
	// Bytes is the size of the rows read, without the items that a local index fetched from the table.
	Bytes int
	// Last is the key of the last row examined. The next page starts after it. Last is nil if there are no more rows.
	Last attr.Item
	// Capacity is the capacity that the page consumed.
	Capacity Capacity
}

// Query calls visit with every item of a page in order. An item is valid until visit returns. If visit returns an
// error, the query ends and returns it, except for [ErrEndPage], which only ends the page.
func (s *View) Query(q *Query, visit func(attr.Item) error) (Page, error) {
	if !q.Consistent && s.Lags() {
		return s.lagging(&q.Read, func(s *View) (Page, error) { return s.query(q, visit) })
	}
	return s.query(q, visit)
}

func (s *View) query(q *Query, visit func(attr.Item) error) (Page, error) {
	slice, err := q.after()
	if err != nil {
		return Page{}, err
	}
	tr := Trace{
		Operation: "Query", Partition: slice.Partition, Clauses: slice.Clauses, Range: slice.Range, Reverse: q.Reverse,
	}
	x := s.examine(&q.Read, visit)
	defer x.work.Done()
	read, err := slice.Page(s.r, q.Table.space(q.Index), x.options(q.Reverse), x.visit)
	x.work.Done() // release the slot for heavy work, as page calls the user's trace function
	if q.oneItem() {
		read.Last = nil
	}
	return s.page(&q.Read, x, read, err, tr)
}

// Scan calls visit with every item of a page in scan order. An item is valid until visit returns. Scan treats errors
// of visit like [View.Query].
func (s *View) Scan(q *Scan, visit func(attr.Item) error) (Page, error) {
	if !q.Consistent && s.Lags() {
		return s.lagging(&q.Read, func(s *View) (Page, error) { return s.scan(q, visit) })
	}
	return s.scan(q, visit)
}

func (s *View) scan(q *Scan, visit func(attr.Item) error) (Page, error) {
	span, err := q.spanAfter()
	if err != nil {
		return Page{}, err
	}
	x := s.examine(&q.Read, visit)
	defer x.work.Done()
	rows := s.r.Scan(q.Table.space(q.Index), span)
	read, err := q.schema().Page(rows, x.options(false), x.visit)
	x.work.Done()
	return s.page(&q.Read, x, read, err, Trace{Operation: "Scan", Span: span})
}

// An examiner does three things with the items of a page that [keycond] does not do. It counts them as heavy work, it
// fetches the whole items of a local index, and it adds up their billed sizes.
type examiner struct {
	s     *View
	q     *Read
	work  throttle.Work
	visit func(attr.Item) error // called for each item
	bills bool                  // add up billed sizes; they differ from item sizes if items have vectors
	// whole is the item of the table for the index entry being examined.
	whole attr.Item
	// fetched is the total size of the items that fetch has read, and units is the capacity that reading them
	// consumed.
	fetched int
	units   float64
	// billed is the total billed size of the items; see [Table.BilledSize].
	billed int
}

// examine returns an examiner for a page, which passes the items to visit. The caller must call work.Done at the end.
func (s *View) examine(q *Read, visit func(attr.Item) error) *examiner {
	x := &examiner{s: s, q: q, work: s.db.Work(s.serial), visit: visit}
	switch {
	case q.Fetch:
		x.visit = func(attr.Item) error { return visit(x.whole) }
	case q.Index == nil:
		x.bills = len(q.Table.vectors) > 0
	}
	return x
}

// options returns the options for reading the page.
func (x *examiner) options(reverse bool) keycond.PageOptions {
	filter := x.q.Filter
	return keycond.PageOptions{Limit: x.q.Limit, Reverse: reverse, Filter: filter, Examine: x.examine}
}

// examine handles an item that the page reads. It is called before the filter.
func (x *examiner) examine(it attr.Item) error {
	if x.q.Fetch {
		return x.fetch(it)
	}
	if x.bills {
		x.billed += x.q.Table.BilledSize(it)
	}
	return x.work.Add(x.s.ctx, len(it))
}

// fetch reads the whole item of an index entry, and adds its size and units.
func (x *examiner) fetch(entry attr.Item) (err error) {
	partition, sort := x.q.Table.addressOf(nil, entry)
	if x.whole, err = x.s.get(x.q.Table, partition, sort); err != nil {
		return err
	}
	x.fetched += x.whole.Size()
	x.units += ReadUnits(x.q.Table.BilledSize(x.whole), x.q.Consistent)
	return x.work.Add(x.s.ctx, len(entry)+len(x.whole))
}

// page returns the result of a page after its rows were read: it computes the consumed capacity and reports the
// trace.
func (s *View) page(q *Read, x *examiner, read keycond.Page, err error, tr Trace) (Page, error) {
	if err != nil {
		return Page{}, err
	}
	page := Page{Examined: read.Examined, Returned: read.Returned, Bytes: read.Bytes, Last: read.Last}
	billed := read.Bytes
	if q.Fetch || x.bills {
		page.Capacity.Table, tr.Fetched, billed = x.units, x.fetched, x.billed
	}
	if tr.Key = q.schema(); q.Index == nil {
		page.Capacity.Table += ReadUnits(billed, q.Consistent)
	} else {
		page.Capacity.addIndex(q.Index.Name(), q.Index.local, ReadUnits(read.Bytes, q.Consistent))
		tr.Index = q.Index.Name()
	}

	tr.Table, tr.Consistent = q.Table.Name(), q.Consistent
	tr.Examined, tr.Returned, tr.Units = page.Examined, page.Returned, page.Capacity.Total()
	tr.Bytes, tr.Stop = read.Bytes, read.Stop
	reportTrace(s.ctx, tr)
	return page, nil
}

// schema returns the key of the table or index to read. A start key must have exactly the attributes of that key.
func (q *Read) schema() *keycond.Schema {
	if q.Index != nil {
		return q.Index.key
	}
	return q.Table.key
}

// Messages about an ExclusiveStartKey, as captured in dynalite
// (test/query.js, test/scan.js).
const (
	msgStart        = "The provided starting key is invalid"
	msgStartOutside = "The provided starting key is outside query boundaries based on provided conditions"
	msgStartRange   = "The provided starting key does not match the range key predicate"
	msgStartOneRow  = "The query can return at most one row and cannot be restarted"
)

// position returns the position of the start key, which must have exactly the key attributes of the table or index.
// An error has the same text as the service's: for a scan of a table msgStart and the cause; for other reads
// msgStart, the cause, or both.
func (q *Read) position(scan bool) (store.Position, error) {
	s := q.schema()
	attrs := s.Attributes()
	whole := scan && q.Index == nil
	for _, a := range attrs {
		v := q.Start.Get(a.Name)
		if !whole && (v.IsZero() || q.Start.Len() != len(attrs)) {
			return store.Position{}, invalidStart(msgStart)
		}
		own, owner := s.Has(a.Name), s
		if !own {
			owner = q.Table.key
		}
		err := errKey()
		if v.Kind() == a.Kind && q.Start.Len() == len(attrs) {
			err = owner.CheckValue(a, v)
		}
		switch {
		case err == nil:
		case own && !whole:
			return store.Position{}, invalidStart("%s", err.Error())
		default:
			return store.Position{}, invalidStart("%s: %s", msgStart, err.Error())
		}
	}

	partition, _ := s.AppendPartition(nil, q.Start)
	sort, _ := s.AppendSort(nil, q.Start)
	return store.Position{Partition: partition, Sort: sort}, nil
}

// CheckStartForm returns an error if the start key has more or fewer attributes than the key of the table or index,
// or if its partition key has another kind. The service checks this before the key condition (dynalite,
// test/query.js).
func (q *Read) CheckStartForm() error {
	if q.Start == nil {
		return nil
	}
	hash := q.schema().Partition()[0]
	switch v := q.Start.Get(hash.Name); {
	case v.IsZero() || q.Start.Len() != len(q.schema().Attributes()):
		return invalidStart(msgStart)
	case v.Kind() != hash.Kind:
		return invalidStart("%s", errKey().Error())
	}
	return nil
}

// oneItem reports whether the query reads a table without a sort key. A partition of such a table has at most one
// item, so the page has no last key, and the service rejects a start key (alternator, test_query.py).
func (q *Query) oneItem() bool { return q.Index == nil && len(q.Table.key.Sort()) == 0 }

// after returns the part of the slice that lies after the start key.
func (q *Query) after() (*keycond.Slice, error) {
	if q.Start == nil {
		return q.Slice, nil
	}
	at, err := q.position(false)
	if err != nil {
		return nil, err
	}
	if q.oneItem() {
		return nil, invalidStart("The provided exclusive start key is invalid: ExclusiveStartKey: {%s}",
			startText(q.Start))
	}

	narrowed := len(q.Slice.Clauses) > len(q.schema().Partition())
	outside := string(at.Partition) != string(q.Slice.Partition)
	switch {
	case !q.Slice.Range.Contains(at.Sort):
		return nil, invalidStart(msgStartRange)
	case outside && narrowed:
		return nil, invalidStart(msgStartOneRow)
	case outside:
		return nil, invalidStart(msgStartOutside)
	}
	return q.Slice.After(at.Sort, q.Reverse), nil
}

// startText prints the attributes of a start key as the service does in its message about a start key for a table
// without a sort key. Source: alternator, for strings; other kinds are a guess.
func startText(key attr.Item) string {
	parts := make([]string, key.Len())
	for i := range parts {
		name, v := key.At(i)
		text := string(v.Raw())
		switch v.Kind() {
		case attr.Number:
			text = string(v.AppendNumber(nil))
		case attr.Binary:
			text = fmt.Sprintf("java.nio.HeapByteBuffer[pos=0 lim=%d cap=%[1]d]", len(text))
		}
		parts[i] = fmt.Sprintf("%s=AttributeValue: {%s:%s}", name, v.Kind(), text)
	}
	return strings.Join(parts, ", ")
}

// CheckStart returns the error that the query would return for its start key.
func (q *Query) CheckStart() error {
	_, err := q.after()
	return err
}

// CheckStart returns the error that the scan would return for its start key.
func (q *Scan) CheckStart() error {
	_, err := q.spanAfter()
	return err
}

// spanAfter returns the part of the segment that lies after the start key.
func (q *Scan) spanAfter() (store.Span, error) {
	segments := max(q.Segments, 1)
	span := store.Segment(q.Segment, segments)
	if q.Start == nil {
		return span, nil
	}
	at, err := q.position(true)
	if err != nil {
		return span, err
	}
	if !span.Contains(at) {
		return span, invalid(
			"The provided starting key is invalid: Invalid ExclusiveStartKey. "+
				"Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d",
			segments, q.Segment,
		)
	}
	span.After = &at
	return span, nil
}

// lagging reads a page of a query or a scan from a version that an eventually consistent read may see.
func (s *View) lagging(q *Read, read func(*View) (Page, error)) (page Page, err error) {
	err = s.Eventually(q.Table, q.Index, func(s *View) error {
		page, err = read(s)
		return err
	})
	return page, err
}
