package sortkey

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A TableOf reads and writes the items of a table, or reads those of an index, as values of
// type T: a struct with the tags of the AWS SDK's attributevalue package, see
// [attr.Marshal], or [attr.Item]. It is safe for concurrent use.
//
// Arguments of its methods are first the values of the key, in the order of its attributes, one
// by one or as a [Key], then [Option]s. An operation takes part in the transaction of its context; see [DB.Update].
type TableOf[T any] struct {
	db          *DB
	name, index string
}

// Table returns a table with items of type T. The table need not exist yet.
func Table[T any](db *DB, name string) *TableOf[T] { return &TableOf[T]{db: db, name: name} }

// Index returns an index of the table, for reading.
func (t *TableOf[T]) Index(name string) *TableOf[T] { return &TableOf[T]{t.db, t.name, name} }

// A Key is the key of an item, or the beginning of one: its values in the order of the table's
// key. It stands wherever an operation takes values of a key.
type Key []any

// Get returns the item with a key. The error is [ErrNotFound] if there is none.
func (t *TableOf[T]) Get(ctx context.Context, args ...any) (item T, err error) {
	if ctx == nil {
		return item, noContext("TableOf.Get")
	}
	g := gets.Get().(*get)
	defer g.free()
	g.of(&opGet, t.name, "")
	if err := g.parse(args); err != nil {
		return item, err
	}
	schema, err := t.tableKey(ctx)
	if err != nil {
		return item, err
	}
	if g.in.Key, err = g.keyItem(g.in.Key[:0], schema); err != nil {
		return item, err
	}

	g.in.TableName, g.in.ConsistentRead = &t.name, &g.consistent
	g.in.ProjectionExpression, g.in.ExpressionAttributeNames = g.projected(), g.usedNames()
	found := new(T)
	g.dst = found
	g.aside = t.db.tables.Aside(ctx)
	switch _, err = t.db.service.GetItem(ctx, &g.in, g.visit); {
	case err != nil:
		return item, failed(err)
	case !g.found:
		return item, ErrNotFound
	case g.err != nil:
		return *found, &DecodeError{t.name, bytes.Clone(g.in.Key), g.err}
	}
	return *found, nil
}

// A get is the state of one Get. It is pooled; nothing keeps a part of it.
type get struct {
	call
	in    wire.GetItemInput
	dst   any
	found bool
	err   error
	visit func(attr.Item)
	aside func(func())
}

var gets = sync.Pool{New: func() any {
	g := new(get)
	g.visit = func(it attr.Item) {
		g.found, g.err = true, decodeAside(g.aside, it, g.dst)
	}
	return g
}}

func (g *get) free() {
	if discard != nil && discard(&g.call, g) {
		return
	}
	key := g.in.Key[:0]
	if cap(key) > keepBytes {
		key = nil
	}
	g.call.release()
	*g = get{call: g.call, in: wire.GetItemInput{Key: key}, visit: g.visit}
	gets.Put(g)
}

// discard is set by tests. It gets each state that an operation leaves, together with its
// call, and may overwrite it, as the next operation would. A state for which it reports true
// is not used again.
var discard func(c *call, state any) bool

// A write is the state of one Put, Delete or Update. It is pooled; nothing keeps a part of it.
type write struct {
	call
	put    wire.PutItemInput
	delete wire.DeleteItemInput
	update wire.UpdateItemInput
}

var writes = sync.Pool{New: func() any { return new(write) }}

func newWrite(o *operation, table string) *write {
	w := writes.Get().(*write)
	w.of(o, table, "")
	return w
}

func (w *write) free() {
	if discard != nil && discard(&w.call, w) {
		return
	}
	w.call.release()
	*w = write{call: w.call}
	writes.Put(w)
}

// Put writes an item, in place of the one with its key if there is one. Options are [If] and
// [Old].
func (t *TableOf[T]) Put(ctx context.Context, item T, opts ...Option) error {
	if ctx == nil {
		return noContext("TableOf.Put")
	}
	if err := t.notIndex(); err != nil {
		return err
	}
	c := newWrite(&opPut, t.name)
	defer c.free()
	if err := c.options(opts); err != nil {
		return err
	}
	boxed := any(item)
	it, err := attr.MarshalItem(boxed)
	if err != nil {
		return misuse("table %s: %w", t.name, err)
	}
	if err := t.checkTimes(ctx, boxed, it); err != nil {
		return err
	}
	c.put = wire.PutItemInput{
		TableName: &t.name, Item: it, ConditionExpression: c.condition, ExpressionAttributeNames: c.usedNames(),
		ExpressionAttributeValues: c.boundValues(), ReturnValues: c.oldValues(),
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	out, err := t.db.service.PutItem(ctx, &c.put)
	if err != nil {
		return t.refusedItem(ctx, it, err)
	}
	return t.storeOld(ctx, &c.call, out.Attributes)
}

// Delete deletes the item with a key, if there is one. Options are [If] and [Old].
func (t *TableOf[T]) Delete(ctx context.Context, args ...any) error {
	if ctx == nil {
		return noContext("TableOf.Delete")
	}
	c := newWrite(&opDelete, t.name)
	defer c.free()
	if err := c.parse(args); err != nil {
		return err
	}
	schema, err := t.tableKey(ctx)
	if err != nil {
		return err
	}
	key, err := c.keyItem(nil, schema)
	if err != nil {
		return err
	}
	c.delete = wire.DeleteItemInput{
		TableName: &t.name, Key: key, ConditionExpression: c.condition, ExpressionAttributeNames: c.usedNames(),
		ExpressionAttributeValues: c.boundValues(), ReturnValues: c.oldValues(),
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	out, err := t.db.service.DeleteItem(ctx, &c.delete)
	if err != nil {
		return failed(err)
	}
	return t.storeOld(ctx, &c.call, out.Attributes)
}

// Update changes the item with a key by an update expression, or makes one, and returns the
// item as it is then. The expression is written as in [If]: SET total = total + :n, state = 'PAID'.
// Placeholders take the values in the order in which they first appear; the [Option]s [If] and [Old]
// stand after the values.
func (t *TableOf[T]) Update(ctx context.Context, key Key, update string, args ...any) (item T, err error) {
	if ctx == nil {
		return item, noContext("TableOf.Update")
	}
	c := newWrite(&opUpdate, t.name)
	defer c.free()
	if err := c.addKey(key); err != nil {
		return item, err
	}
	for _, arg := range args {
		if o, ok := arg.(Option); !ok {
			c.args = append(c.args, arg)
		} else if err := c.option(o); err != nil {
			return item, err
		}
	}
	source, err := c.expression(update, c.args, lex.UpdateForm)
	if err != nil {
		return item, err
	}
	schema, err := t.tableKey(ctx)
	if err != nil {
		return item, err
	}
	it, err := c.keyItem(nil, schema)
	if err != nil {
		return item, err
	}

	c.update = wire.UpdateItemInput{
		TableName: &t.name, Key: it, UpdateExpression: source, ConditionExpression: c.condition,
		ExpressionAttributeNames: c.usedNames(), ExpressionAttributeValues: c.boundValues(), ReturnValues: allNew,
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	var old attr.Item
	keep := &old
	if c.old == nil {
		keep = nil
	}
	out, err := t.db.service.UpdateKeeping(ctx, &c.update, keep)
	if err != nil {
		return item, failed(err)
	}
	misfit := t.storeOld(ctx, &c.call, old)
	if err := decode(out.Attributes, &item); err != nil {
		misfit = &DecodeError{t.name, it, err}
	}
	return item, misfit
}

// A Page is one page of a query or a scan.
type Page[T any] struct {
	Items []T
	// Cursor is where the next page begins, for [After]; "" if this is the last one. It is
	// text that can be kept, and is refused by other tables and indexes.
	Cursor string
	// Trace says what the page has read: the range, rows, bytes, units, and why it stopped.
	Trace Trace
}

// Query yields the items in a range of one partition, in the order of their sort keys. It
// takes the values of the partition key, then, if the range is smaller, values of the sort
// key, a [SortRange], a [keys.Range] or a [keys.Template], then options. It reads on through
// all pages; each page is a state of its own. In a transaction the loop sees one state, that of
// its beginning, whatever its body writes.
//
// An error is the last thing that the loop yields, but for a [*DecodeError]: the loop goes on
// behind an item that does not fit T. When the context ends, the error is its cause.
func (t *TableOf[T]) Query(ctx context.Context, args ...any) iter.Seq2[T, error] {
	args = takeAll(args)
	return func(yield func(T, error) bool) { t.pages(ctx, &opQuery, args, yield) }
}

// QueryPage returns one page of what [TableOf.Query] yields. If an item does not fit T, the
// page ends with it: the error is a [*DecodeError], and the page has the items before it and
// a cursor with which to go on behind it.
func (t *TableOf[T]) QueryPage(ctx context.Context, args ...any) (*Page[T], error) {
	if ctx == nil {
		return nil, noContext("TableOf.QueryPage")
	}
	r := newReading(&opQuery, t.name, t.index)
	defer r.free()
	if err := t.prepare(ctx, r, args); err != nil {
		return nil, err
	}
	return t.one(ctx, r)
}

// Scan yields all items of the table or index, in an order that says nothing. Its errors are
// those of [TableOf.Query].
func (t *TableOf[T]) Scan(ctx context.Context, opts ...Option) iter.Seq2[T, error] {
	args := asArguments(opts)
	return func(yield func(T, error) bool) { t.pages(ctx, &opScan, args, yield) }
}

// ScanPage returns one page of what [TableOf.Scan] yields, as [TableOf.QueryPage] does.
func (t *TableOf[T]) ScanPage(ctx context.Context, opts ...Option) (*Page[T], error) {
	if ctx == nil {
		return nil, noContext("TableOf.ScanPage")
	}
	r := newReading(&opScan, t.name, t.index)
	defer r.free()
	if err := t.prepare(ctx, r, asArguments(opts)); err != nil {
		return nil, err
	}
	return t.one(ctx, r)
}

// A reading is a query or a scan that may be read page by page. It is pooled; nothing keeps a
// part of it.
type reading struct {
	call
	// start is the ExclusiveStartKey of the next page, nil for the first.
	start attr.Item
	size  int64 // the Limit of the next page
	query wire.QueryInput
	scan  *wire.ScanInput // of a scan
}

var readings = sync.Pool{New: func() any { return new(reading) }}

func newReading(o *operation, table, index string) *reading {
	r := readings.Get().(*reading)
	r.of(o, table, index)
	return r
}

func (r *reading) free() {
	if discard != nil && discard(&r.call, r) {
		return
	}
	r.call.release()
	*r = reading{call: r.call}
	readings.Put(r)
}

// page reads a page of at most limit rows, 0 for no limit, and returns the start of the next
// one.
func (r *reading) page(ctx context.Context, s *api.Service, limit *int64, visit api.Visit) (next attr.Item, err error) {
	if r.scan != nil {
		r.scan.ExclusiveStartKey, r.scan.Limit = r.start, limit
		out, err := s.Scan(ctx, r.scan, visit)
		if err != nil {
			return nil, err
		}
		return out.LastEvaluatedKey, nil
	}
	r.query.ExclusiveStartKey, r.query.Limit = r.start, limit
	out, err := s.QueryClauses(ctx, &r.query, r.clauses, visit)
	if err != nil {
		return nil, err
	}
	return out.LastEvaluatedKey, nil
}

// prepare makes a reading the query or the scan that its arguments ask for.
func (t *TableOf[T]) prepare(ctx context.Context, r *reading, args []any) error {
	if err := r.parse(args); err != nil {
		return err
	}
	var err error
	if r.start, err = t.startOf(r.after); err != nil {
		return err
	}
	if r.operation == &opScan || r.operation == &opCount && len(r.key) == 0 && r.sort == nil {
		t.prepareScan(r)
		return nil
	}
	return t.prepareQuery(ctx, r)
}

func (t *TableOf[T]) prepareQuery(ctx context.Context, r *reading) error {
	schema, err := t.schema(ctx)
	if err != nil {
		return err
	}
	if err := r.keyClauses(schema); err != nil {
		return err
	}

	r.query = wire.QueryInput{
		TableName: &t.name, IndexName: t.indexName(), FilterExpression: r.filter,
		ProjectionExpression: r.projected(), ExpressionAttributeNames: r.usedNames(),
		ExpressionAttributeValues: r.boundValues(), ConsistentRead: &r.consistent,
	}
	if r.descending {
		r.query.ScanIndexForward = new(false)
	}
	return nil
}

func (t *TableOf[T]) prepareScan(r *reading) {
	r.scan = &wire.ScanInput{
		TableName: &t.name, IndexName: t.indexName(), FilterExpression: r.filter, ProjectionExpression: r.projected(),
		ExpressionAttributeNames: r.usedNames(), ExpressionAttributeValues: r.boundValues(),
		ConsistentRead: &r.consistent,
	}
	if r.segmented {
		r.scan.Segment, r.scan.TotalSegments = &r.segment, &r.segments
	}
}

// firstPage is how many items the first page of a loop reads, so that a loop that ends early
// has read little. Later pages have the size of the service's.
const firstPage = 256

// pages yields the items of all pages.
func (t *TableOf[T]) pages(ctx context.Context, o *operation, args []any, yield func(T, error) bool) {
	var none T
	if ctx == nil {
		yield(none, noContext("TableOf."+o.name))
		return
	}
	r := newReading(o, t.name, t.index)
	defer r.free()
	if err := t.prepare(ctx, r, args); err != nil {
		yield(none, err)
		return
	}
	reads, release, err := t.db.tables.Freeze(ctx)
	if err != nil {
		yield(none, failed(err))
		return
	}
	defer release()

	left := r.limit // 0: no limit
	size := int64(firstPage)
	var page []T
	for {
		var err error
		page, err = t.read(reads, r, size, left, page[:0])
		misfit, _ := err.(*DecodeError)
		if err != nil && misfit == nil {
			yield(none, t.db.ended(ctx, err))
			return
		}
		for _, item := range page {
			if err := t.db.ended(ctx, nil); err != nil {
				yield(none, err)
				return
			}
			if !yield(item, nil) {
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
		if r.start == nil {
			return
		}
		size = 0
	}
}

// ended returns why a loop ends: the cause of a context that has ended, the error of a closed
// database, or else err.
func (db *DB) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if db.closing.Load() {
		return store.ErrClosed
	}
	return err
}

// fewItems is the room that the first item of a page is given, for others that follow.
const fewItems = 8

// read appends the items of the next page to list, and moves the reading behind it. The page
// examines at most size rows and ends with the item that is the last of most; 0 is no limit.
// It also ends with an item that does not fit T, and the error is a [*DecodeError].
func (t *TableOf[T]) read(ctx context.Context, r *reading, size, most int64, list []T) ([]T, error) {
	if most > 0 && r.filter == nil && (size == 0 || most < size) {
		size = most
	}
	var limit *int64
	if r.size = size; size > 0 {
		limit = &r.size
	}

	var wrong error
	aside := t.db.tables.Aside(ctx)
	next, err := r.page(ctx, t.db.service, limit, func(it attr.Item) (int, error) {
		if list == nil {
			list = make([]T, 0, fewItems)
		}
		var none T
		list = append(list, none)
		last := len(list) - 1
		if wrong = decodeAside(aside, it, &list[last]); wrong != nil {
			list = list[:last]
			return 0, keycond.ErrEndPage
		}
		if r.filter != nil && int64(len(list)) == most {
			return 0, keycond.ErrEndPage
		}
		return 0, nil
	})
	if err != nil {
		return nil, failed(err)
	}
	r.start = next
	if wrong != nil {
		return list, t.misfit(ctx, &r.call, next, wrong)
	}
	return list, nil
}

// misfit returns the error for an item that does not fit its Go type. The item, or a part of
// it, has the attributes of its primary key; nil stands for the only item that the arguments
// of the call can mean.
func (t *TableOf[T]) misfit(ctx context.Context, c *call, item attr.Item, err error) error {
	e := &DecodeError{Table: t.name, Err: err}
	def, notFound := t.definition(ctx)
	switch {
	case notFound != nil: // since the item was read
	case item == nil:
		e.Key, _ = c.keyItem(nil, def.Key())
	default:
		var b attr.Builder
		for _, a := range def.Key().Attributes() {
			b.Add(a.Name, item.Get(a.Name))
		}
		e.Key = b.Item()
	}
	return e
}

// one reads one page.
func (t *TableOf[T]) one(ctx context.Context, r *reading) (*Page[T], error) {
	p := new(Page[T])
	ctx = table.WithTrace(ctx, func(tr table.Trace) { p.Trace = newTrace(&tr) })
	var err error
	p.Items, err = t.read(ctx, r, r.limit, 0, nil)
	if _, ok := err.(*DecodeError); err != nil && !ok {
		return nil, err
	}
	p.Cursor = t.cursor(r.start)
	return p, err
}

// notIndex refuses an operation that only a table has.
func (t *TableOf[T]) notIndex() error {
	if t.index == "" {
		return nil
	}
	return misuse("index %s of table %s is for Query and Scan: use the table", t.index, t.name)
}

// tableKey returns the key of the table, for operations on one item.
func (t *TableOf[T]) tableKey(ctx context.Context) (*keycond.Schema, error) {
	if err := t.notIndex(); err != nil {
		return nil, err
	}
	return t.schema(ctx)
}

// definition returns the table as it is defined.
func (t *TableOf[T]) definition(ctx context.Context) (*table.Table, error) {
	def, err := t.db.tables.Describe(ctx, t.name)
	if err != nil { // another server may have made it
		if err := t.db.tables.Refresh(ctx); err != nil {
			return nil, failed(err)
		}
		if def, err = t.db.tables.Describe(ctx, t.name); err != nil {
			return nil, noTable()
		}
	}
	return def, nil
}

// schema returns the key of the table or index.
func (t *TableOf[T]) schema(ctx context.Context) (*keycond.Schema, error) {
	def, err := t.definition(ctx)
	if err != nil {
		return nil, err
	}
	if t.index == "" {
		return def.Key(), nil
	}
	ix, err := def.Index(t.index)
	if err != nil {
		return nil, failed(wire.Validation(err.Error()))
	}
	return ix.Key(), nil
}

func (t *TableOf[T]) indexName() *string {
	if t.index == "" {
		return nil
	}
	return &t.index
}

var allOld, allNew = new("ALL_OLD"), new("ALL_NEW")

func (c *call) projected() *string {
	if c.projection == nil {
		return nil
	}
	text := strings.Join(c.projection, ", ")
	return &text
}

func (c *call) oldValues() *string {
	if c.old == nil {
		return nil
	}
	return allOld
}

// storeOld stores the item as it was before a write.
func (t *TableOf[T]) storeOld(ctx context.Context, c *call, it attr.Item) error {
	if c.old == nil || it == nil {
		return nil
	}
	if err := decode(it, c.old); err != nil {
		return t.misfit(ctx, c, it, err)
	}
	return nil
}

// decode stores an item, which is valid for the duration of the call, in *dst.
func decode(it attr.Item, dst any) error {
	if dst, ok := dst.(*attr.Item); ok {
		*dst = bytes.Clone(it)
		return nil
	}
	return attr.UnmarshalItem(it, dst)
}

// decodeAside is decode within a read: if aside is not nil, it lets the methods of the type use the
// transaction, which the read has.
func decodeAside(aside func(func()), it attr.Item, dst any) error {
	if aside == nil {
		return decode(it, dst)
	}
	return decodeBeside(aside, it, dst)
}

// decodeBeside is decodeAside in an Update. Its error is on the heap, unlike that of other reads.
func decodeBeside(aside func(func()), it attr.Item, dst any) (err error) {
	aside(func() { err = decode(it, dst) })
	return err
}
