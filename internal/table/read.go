package table

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// PageBytes ends a page: an item is read while the documented sizes of those
// before it are below it, so the item that exceeds the limit is in the page.
// Where exactly the service ends a page is not documented
// (DG/Query.Pagination.html says 1 MB).
const PageBytes = 1 << 20

// ErrEndPage is returned by a function that visits items to end the page with the item
// that it was called with.
var ErrEndPage = errors.New("table: end of page")

// Read holds the parameters that queries and scans have in common.
type Read struct {
	Table *Table
	// Index is the index to read, or nil for the table itself.
	Index *Index
	// Start is the ExclusiveStartKey: reading starts strictly after it, whether
	// or not an item has that key. Nil starts at the beginning.
	Start attr.Item
	// Limit is the most rows to examine, or 0.
	Limit int
	// Consistent asks for strong consistency, which doubles the units.
	Consistent bool
	// Fetch makes a local index read whole items from the table.
	Fetch bool
	// Filter leaves out items after they were examined. Nil keeps all.
	Filter *expr.Condition
}

// A Query reads the slice of one partition that a key condition selects.
type Query struct {
	Read
	Slice   *keycond.Slice
	Reverse bool
}

// A Scan reads everything, or one segment of Segments. Segments 0 means 1.
type Scan struct {
	Read
	Segment, Segments uint32
}

// A Page is the result of one query or scan.
type Page struct {
	// Examined counts the rows read, Returned those that passed the filter.
	Examined, Returned int
	// Bytes is the size of the rows read, without what was fetched from the table.
	Bytes int
	// Last is the key of the last row examined, to start the next page after,
	// or nil when the end was reached.
	Last attr.Item
	// Capacity is the capacity that the page consumed.
	Capacity Capacity
}

// Query calls visit with every item of a page in order. The items are valid
// until visit returns; an error from it ends the query, and [ErrEndPage] the page.
func (s *View) Query(q *Query, visit func(attr.Item) error) (Page, error) {
	if !q.Consistent && s.Lags() {
		return s.lagging(&q.Read, func(s *View) (Page, error) { return s.query(q, visit) })
	}
	return s.query(q, visit)
}

func (s *View) query(q *Query, visit func(attr.Item) error) (Page, error) {
	r, err := q.rangeAfter()
	if err != nil {
		return Page{}, err
	}
	tr := Trace{
		Operation: "Query", Partition: q.Slice.Partition, Clauses: q.Slice.Clauses, Range: r, Reverse: q.Reverse,
	}
	rows := s.r.Query(q.Table.space(q.Index), q.Slice.Partition, r, q.Reverse)
	page, err := s.page(&q.Read, rows, tr, visit)
	if q.oneItem() {
		page.Last = nil
	}
	return page, err
}

// Scan calls visit with every item of a page in scan order. The items are
// valid until visit returns; an error from it ends the scan.
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
	tr := Trace{Operation: "Scan", Span: span}
	rows := s.r.Scan(q.Table.space(q.Index), span)
	return s.page(&q.Read, rows, tr, visit)
}

// page walks rows until the last or until the page is full, and counts them.
func (s *View) page(q *Read, rows iter.Seq2[store.Row, error], tr Trace, visit func(attr.Item) error) (Page, error) {
	p := &pager{s: s, q: q, visit: visit, tr: tr}
	p.tr.Stop = StopEnd
	rows(func(row store.Row, err error) bool {
		if err != nil {
			return p.fail(err)
		}
		return p.take(itemOf(row.Value))
	})
	if p.err != nil {
		return Page{}, p.err
	}
	p.count()
	return p.page, nil
}

// A pager makes one page, a row at a time.
type pager struct {
	s     *View
	q     *Read
	visit func(attr.Item) error
	page  Page
	tr    Trace
	err   error
	// billed counts the bytes that a read of the table is charged for; see
	// [Table.BilledSize].
	billed int
}

// take takes the next row. It reports false when the page is done.
func (p *pager) take(item attr.Item) bool {
	p.page.Examined++
	p.tr.Bytes += item.Size()
	if p.q.Index == nil {
		p.billed += p.q.Table.BilledSize(item)
	}
	full := item
	if p.q.Fetch {
		var err error
		if full, err = p.fetch(item); err != nil {
			return p.fail(err)
		}
	}

	ended := false
	if p.q.Filter.Eval(item) {
		p.page.Returned++
		err := p.visit(full)
		if ended = errors.Is(err, ErrEndPage); err != nil && !ended {
			return p.fail(err)
		}
	}

	switch {
	case ended:
		p.tr.Stop = StopAnswer
	case p.page.Examined == p.q.Limit:
		p.tr.Stop = StopLimit
	case p.tr.Bytes >= PageBytes:
		p.tr.Stop = StopSize
	default:
		return true
	}
	p.page.Last = keyOf(item, p.q.keyAttributes())
	return false
}

func (p *pager) fail(err error) bool {
	p.err = err
	return false
}

// fetch reads the whole item of an index entry and counts it.
func (p *pager) fetch(entry attr.Item) (attr.Item, error) {
	full, err := p.s.fetch(p.q.Table, entry)
	if err != nil {
		return nil, err
	}
	p.tr.Fetched += full.Size()
	p.page.Capacity.Table += ReadUnits(p.q.Table.BilledSize(full), p.q.Consistent)
	return full, nil
}

// count computes the capacity and reports the trace.
func (p *pager) count() {
	q, page, tr := p.q, &p.page, &p.tr
	page.Bytes = tr.Bytes
	if tr.Key = q.Table.key; q.Index == nil {
		page.Capacity.Table += ReadUnits(p.billed, q.Consistent)
	} else {
		page.Capacity.addIndex(q.Index.Name(), q.Index.local, ReadUnits(tr.Bytes, q.Consistent))
		tr.Index, tr.Key = q.Index.Name(), q.Index.key
	}
	tr.Table, tr.Consistent = q.Table.Name(), q.Consistent
	tr.Examined, tr.Returned, tr.Units = page.Examined, page.Returned, page.Capacity.Total()
	reportTrace(p.s.ctx, p.tr)
}

// fetch reads the whole item of an index entry.
func (s *View) fetch(t *Table, item attr.Item) (attr.Item, error) {
	partition, _ := t.key.AppendPartition(nil, item)
	sort, _ := t.key.AppendSort(nil, item)
	return s.get(t, partition, sort)
}

// keyAttributes returns the attributes of a start key.
func (q *Read) keyAttributes() []keycond.Attribute {
	if q.Index != nil {
		return q.Index.attributes
	}
	return q.Table.attributes
}

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

// position returns the position of the start key, which must have exactly the
// key attributes of the table or index. A scan of a table has one message for
// all errors of it, other reads have three.
func (q *Read) position(scan bool) (store.Position, error) {
	s := q.schema()
	attrs := q.keyAttributes()
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

// CheckStartForm refuses a start key with more or fewer attributes than the key
// of the table or index, or with another partition key. The service checks that
// before the key condition (dynalite, test/query.js).
func (q *Read) CheckStartForm() error {
	if q.Start == nil {
		return nil
	}
	hash := q.schema().Hash[0]
	switch v := q.Start.Get(hash.Name); {
	case v.IsZero() || q.Start.Len() != len(q.keyAttributes()):
		return invalidStart(msgStart)
	case v.Kind() != hash.Kind:
		return invalidStart("%s", errKey().Error())
	}
	return nil
}

// oneItem reports whether a partition of the table or index holds one item.
// Nothing follows it, so the service refuses a start key (alternator,
// test_query.py), and a page returns none.
func (q *Query) oneItem() bool { return q.Index == nil && len(q.Table.key.Range) == 0 }

// rangeAfter returns the part of the slice that lies after the start key.
func (q *Query) rangeAfter() (store.Range, error) {
	r := q.Slice.Range
	if q.Start == nil {
		return r, nil
	}
	at, err := q.position(false)
	if err != nil {
		return r, err
	}
	if q.oneItem() {
		return r, invalidStart("The provided exclusive start key is invalid: ExclusiveStartKey: {%s}", startText(q.Start))
	}
	narrowed := len(q.Slice.Clauses) > len(q.schema().Hash)
	outside := string(at.Partition) != string(q.Slice.Partition)
	switch {
	case !r.Contains(at.Sort):
		return r, invalidStart(msgStartRange)
	case outside && narrowed:
		return r, invalidStart(msgStartOneRow)
	case outside:
		return r, invalidStart(msgStartOutside)
	}
	if q.Reverse {
		r.Hi = at.Sort
	} else {
		r.Lo = append(slices.Clone(at.Sort), 0)
	}
	return r, nil
}

// startText returns the attributes of a start key as the service prints them where a
// partition has one item. Source: alternator, for strings; the others are likely.
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

// CheckStart refuses a start key as the query itself would.
func (q *Query) CheckStart() error {
	_, err := q.rangeAfter()
	return err
}

// CheckStart refuses a start key as the scan itself would.
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
			"The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d",
			segments, q.Segment,
		)
	}
	span.After = &at
	return span, nil
}

// lagging reads a page of a query or a scan from the version that it sees.
func (s *View) lagging(q *Read, read func(*View) (Page, error)) (page Page, err error) {
	err = s.Eventually(q.Table, q.Index, func(s *View) error {
		page, err = read(s)
		return err
	})
	return page, err
}
