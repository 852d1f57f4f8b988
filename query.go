package sortkey

import (
	"context"
	"iter"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
)

// A Page is one page of a query or a scan. [TableOf.QueryPage] and [TableOf.ScanPage] return it.
type Page[T any] struct {
	Items []T
	// Cursor makes [After] continue with the next page. It is "" if this page is the last one. A cursor is plain text
	// and does not expire; other tables and indexes refuse it.
	Cursor string
	// Trace describes what the page has read: the range, rows, bytes and units, and why the page ended.
	Trace Trace
}

// Query yields the items of one partition in the order of their sort keys. partition is the value of the partition
// key. If the partition key has several attributes, partition is a [Key] of their values. If the sort key has several
// attributes, the Key may also have the values of the first of them. One option may be the range of the next
// attribute: [BeginsWith], [Between], [Compare] or [In]. The loop reads all pages. Each page shows the state of the
// table when the page was read. In a transaction, all pages show the state when the loop began, even if the body of
// the loop writes.
//
// An error ends the loop, except a [*DecodeError]: the loop continues after an item that does not fit T. When the
// context ends, the error is the cause of the context.
func (t *TableOf[T]) Query(ctx context.Context, partition any, opts ...QueryOption) iter.Seq2[T, error] {
	args := appendArguments(append(make([]any, 0, 1+len(opts)), take(partition)), opts)
	return func(yield func(T, error) bool) { t.pages(ctx, &opQuery, args, yield) }
}

// QueryPage returns one page of what [TableOf.Query] yields, for programs that return pages and cursors to their
// clients. An item that does not fit T ends the page: the error is a [*DecodeError], and the page has the items
// before that item and a cursor that continues after it.
func (t *TableOf[T]) QueryPage(ctx context.Context, partition any, opts ...QueryOption) (*Page[T], error) {
	if ctx == nil {
		return nil, noContext("TableOf.QueryPage")
	}
	c := newCall(&opQuery, t.name, t.index)
	defer c.free()
	var list [8]any
	if err := t.prepare(ctx, c, appendArguments(append(list[:0], partition), opts)); err != nil {
		return nil, err
	}
	return t.one(ctx, c)
}

// Scan yields all items of the table or index in no useful order (by a hash of the partition key). It reads every
// row. Use it for exports and repairs, and use [TableOf.Query] wherever you know the partition key. Scan yields
// errors as [TableOf.Query] does.
func (t *TableOf[T]) Scan(ctx context.Context, opts ...Option) iter.Seq2[T, error] {
	args := appendArguments(nil, opts)
	return func(yield func(T, error) bool) { t.pages(ctx, &opScan, args, yield) }
}

// ScanPage returns one page of what [TableOf.Scan] yields, as [TableOf.QueryPage] does for a query.
func (t *TableOf[T]) ScanPage(ctx context.Context, opts ...Option) (*Page[T], error) {
	if ctx == nil {
		return nil, noContext("TableOf.ScanPage")
	}
	c := newCall(&opScan, t.name, t.index)
	defer c.free()
	if err := t.prepare(ctx, c, appendArguments(nil, opts)); err != nil {
		return nil, err
	}
	return t.one(ctx, c)
}

// page reads a page of at most *limit rows, or a full page of the service if limit is nil, and returns the number of
// matching items. It sets c.start to the start key of the next page, or to nil after the last page.
func (c *call) page(ctx context.Context, s *api.Service, limit *int64, visit api.Visit) (count int64, err error) {
	if c.scan == nil {
		c.query.ExclusiveStartKey, c.query.Limit = c.start, limit
		count, c.start, err = s.QueryClauses(ctx, &c.query, c.clauses, visit)
		return count, err
	}
	c.scan.ExclusiveStartKey, c.scan.Limit = c.start, limit
	out, err := s.Scan(ctx, c.scan, visit)
	if err != nil {
		return 0, err
	}
	c.start = out.LastEvaluatedKey
	return *out.Count, nil
}

// prepare parses the arguments and fills c with the query or the scan that they ask for.
func (t *TableOf[T]) prepare(ctx context.Context, c *call, args []any) error {
	if err := c.parse(args); err != nil {
		return err
	}
	var err error
	if c.start, err = startOf(t.name, t.index, c.after); err != nil {
		return err
	}
	if c.operation == &opScan || c.operation == &opCount && len(c.key) == 0 && c.sort == nil {
		t.prepareScan(c)
		return nil
	}
	return t.prepareQuery(ctx, c)
}

func (t *TableOf[T]) prepareQuery(ctx context.Context, c *call) error {
	schema, err := t.schema(ctx)
	if err != nil {
		return err
	}
	if err := c.keyClauses(schema); err != nil {
		return err
	}

	c.query = wire.QueryInput{
		TableName: &t.name, IndexName: t.indexName(), FilterExpression: c.filter,
		ProjectionExpression: c.projected(), ExpressionAttributeNames: c.usedNames(),
		ExpressionAttributeValues: c.boundValues(), ConsistentRead: &c.consistent,
	}
	if c.given&kindDescending != 0 {
		c.query.ScanIndexForward = new(false)
	}
	return nil
}

func (t *TableOf[T]) prepareScan(c *call) {
	c.scan = &wire.ScanInput{
		TableName: &t.name, IndexName: t.indexName(), FilterExpression: c.filter, ProjectionExpression: c.projected(),
		ExpressionAttributeNames: c.usedNames(), ExpressionAttributeValues: c.boundValues(),
		ConsistentRead: &c.consistent,
	}
	if c.segmented {
		c.scan.Segment, c.scan.TotalSegments = &c.segment, &c.segments
	}
}

// firstPage is the number of items that the first page of a loop reads. It is small, so that a loop that ends early
// has read little. Later pages end at the service's limit of 1 MB.
const firstPage = 256

// pages runs the loop of a query or a scan: it reads one page after another and yields their items.
func (t *TableOf[T]) pages(ctx context.Context, o *operation, args []any, yield func(T, error) bool) {
	var none T
	if ctx == nil {
		yield(none, noContext("TableOf."+o.name))
		return
	}
	c := newCall(o, t.name, t.index)
	defer c.free()
	if err := t.prepare(ctx, c, args); err != nil {
		yield(none, err)
		return
	}
	reads, release, err := t.db.tables.Freeze(ctx)
	if err != nil {
		yield(none, failed(err))
		return
	}
	defer release()

	left := c.limit // 0: no limit
	size := int64(firstPage)
	l := t.itemType.lists.Get().(*list[T])
	defer t.itemType.keep(l)
	for {
		err := t.read(reads, c, size, left, l)
		misfit, _ := err.(*DecodeError)
		if err != nil && misfit == nil {
			yield(none, t.db.ended(ctx, err))
			return
		}
		for i := range l.items {
			if err := t.db.ended(ctx, nil); err != nil {
				yield(none, err)
				return
			}
			if !yield(l.items[i], nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}

		if misfit != nil {
			if !yield(none, misfit) {
				return
			}
			if left--; left == 0 {
				return
			}
		}

		if c.start == nil {
			return
		}
		size = 0
	}
}

// ended returns the error with which a loop ends. If ctx has ended, it is the cause of ctx. If the database is
// closing, it is [store.ErrClosed]. Otherwise it is err.
func (db *DB) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if db.closing.Load() {
		return store.ErrClosed
	}
	return err
}

// read fills l with the items of the next page, and sets c.start to the start of the page after that. The page ends
// after size rows have been read or most items have been found; 0 means no limit. An item that does not fit T also
// ends the page, with a [*DecodeError].
func (t *TableOf[T]) read(ctx context.Context, c *call, size, most int64, l *list[T]) error {
	if most > 0 && c.filter == nil && (size == 0 || most < size) {
		size = most
	}
	var limit *int64
	if c.size = size; size > 0 {
		limit = &c.size
	}

	t.itemType.empty(l)
	l.end = 0
	if c.filter != nil {
		l.end = int(most)
	}
	// decoding may wait for another read, so this read must not hold a slot for heavy work meanwhile
	if t.itemType.callsMethods {
		ctx = throttle.Exempt(ctx)
	}
	if _, err := c.page(ctx, t.db.service, limit, l.visit); err != nil {
		return failed(err)
	}
	if l.wrong != nil {
		return t.misfit(ctx, c, c.start, l.wrong)
	}
	return nil
}

// one reads one page and returns it with its cursor and its trace.
func (t *TableOf[T]) one(ctx context.Context, c *call) (*Page[T], error) {
	p := new(Page[T])
	ctx = table.WithTrace(ctx, func(tr table.Trace) { p.Trace = Trace(engine.NewTrace(&tr)) })
	l := t.itemType.lists.Get().(*list[T])
	defer t.itemType.keep(l)
	err := t.read(ctx, c, c.limit, 0, l)
	if _, ok := err.(*DecodeError); err != nil && !ok {
		return nil, err
	}
	p.Items = t.itemType.take(l)
	p.Cursor = cursorOf(t.name, t.index, c.start)
	return p, err
}
