package sortkey

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A TableOf reads and writes the items of a table, or reads those of an index, as values of
// type T: a struct with the tags of the AWS SDK's attributevalue package, see
// [attr.Marshal], or [attr.Item]. It is safe for concurrent use.
//
// Arguments of its methods are first the values of the key, in the order of its attributes,
// then [Option]s. An operation takes part in the transaction of its context; see [DB.Update].
type TableOf[T any] struct {
	db          *DB
	name, index string
}

// Table returns a table with items of type T. The table need not exist yet.
func Table[T any](db *DB, name string) *TableOf[T] { return &TableOf[T]{db: db, name: name} }

// Index returns an index of the table, for reading.
func (t *TableOf[T]) Index(name string) *TableOf[T] { return &TableOf[T]{t.db, t.name, name} }

// A Key is the primary key of an item: its values in the order of the table's key.
type Key []any

// Get returns the item with a key. The error is [ErrNotFound] if there is none.
func (t *TableOf[T]) Get(ctx context.Context, args ...any) (item T, err error) {
	g := gets.Get().(*get)
	defer g.free()
	g.operation = &opGet
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
	switch _, err = t.db.service.GetItem(ctx, &g.in, g.visit); {
	case err != nil:
		return item, failed(err)
	case !g.found:
		return item, ErrNotFound
	}
	return *found, g.err
}

// A get is the state of one Get. It is pooled; nothing keeps a part of it.
type get struct {
	call
	in    wire.GetItemInput
	dst   any
	found bool
	err   error
	visit func(attr.Item)
}

var gets = sync.Pool{New: func() any {
	g := new(get)
	g.visit = func(it attr.Item) { g.found, g.err = true, decode(it, g.dst) }
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

func newWrite(o *operation) *write {
	w := writes.Get().(*write)
	w.operation = o
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
	c := newWrite(&opPut)
	defer c.free()
	if err := c.options(opts); err != nil {
		return err
	}
	it, err := encode(item)
	if err != nil {
		return err
	}
	c.put = wire.PutItemInput{
		TableName: &t.name, Item: it, ConditionExpression: c.condition, ExpressionAttributeNames: c.usedNames(),
		ExpressionAttributeValues: c.boundValues(), ReturnValues: c.oldValues(),
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	out, err := t.db.service.PutItem(ctx, &c.put)
	if err != nil {
		return failed(err)
	}
	return c.storeOld(out.Attributes)
}

// Delete deletes the item with a key, if there is one. Options are [If] and [Old].
func (t *TableOf[T]) Delete(ctx context.Context, args ...any) error {
	c := newWrite(&opDelete)
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
	return c.storeOld(out.Attributes)
}

// Update changes the item with a key by an update expression, or makes one, and returns the
// item as it is then. Placeholders such as :n take the values in the order in which they
// first appear; [Option]s such as [If] stand after the values.
func (t *TableOf[T]) Update(ctx context.Context, key Key, update string, args ...any) (item T, err error) {
	c := newWrite(&opUpdate)
	defer c.free()
	c.key = append(c.key, key...)
	for _, arg := range args {
		if o, ok := arg.(Option); !ok {
			c.args = append(c.args, arg)
		} else if err := c.option(o); err != nil {
			return item, err
		}
	}
	source, err := c.expression(update, c.args)
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
	out, err := t.db.service.UpdateItem(ctx, &c.update)
	if err != nil {
		return item, failed(err)
	}
	err = decode(out.Attributes, &item)
	return item, err
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
// all pages; each page is a state of its own unless the context has a transaction.
func (t *TableOf[T]) Query(ctx context.Context, args ...any) iter.Seq2[T, error] {
	return t.all(ctx, &opQuery, func(r *reading) error { return t.prepareQuery(ctx, r, args) })
}

// QueryPage returns one page of what [TableOf.Query] yields.
func (t *TableOf[T]) QueryPage(ctx context.Context, args ...any) (*Page[T], error) {
	r := newReading(&opQuery)
	defer r.free()
	if err := t.prepareQuery(ctx, r, args); err != nil {
		return nil, err
	}
	return t.one(ctx, r)
}

// Scan yields all items of the table or index, in an order that says nothing.
func (t *TableOf[T]) Scan(ctx context.Context, opts ...Option) iter.Seq2[T, error] {
	return t.all(ctx, &opScan, func(r *reading) error { return t.prepareScan(r, opts) })
}

// ScanPage returns one page of what [TableOf.Scan] yields.
func (t *TableOf[T]) ScanPage(ctx context.Context, opts ...Option) (*Page[T], error) {
	r := newReading(&opScan)
	defer r.free()
	if err := t.prepareScan(r, opts); err != nil {
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
	query wire.QueryInput
	scan  *wire.ScanInput // of a scan
}

var readings = sync.Pool{New: func() any { return new(reading) }}

func newReading(o *operation) *reading {
	r := readings.Get().(*reading)
	r.operation = o
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
	out, err := s.Query(ctx, &r.query, visit)
	if err != nil {
		return nil, err
	}
	return out.LastEvaluatedKey, nil
}

// prepareQuery makes a reading a query.
func (t *TableOf[T]) prepareQuery(ctx context.Context, r *reading, args []any) error {
	if err := r.parse(args); err != nil {
		return err
	}
	schema, err := t.schema(ctx)
	if err != nil {
		return err
	}
	condition, err := r.keyCondition(schema)
	if err != nil {
		return err
	}
	if r.start, err = t.startOf(r.after); err != nil {
		return err
	}

	r.query = wire.QueryInput{
		TableName: &t.name, IndexName: t.indexName(), KeyConditionExpression: &condition, FilterExpression: r.filter,
		ProjectionExpression: r.projected(), ExpressionAttributeNames: r.usedNames(),
		ExpressionAttributeValues: r.boundValues(), ConsistentRead: &r.consistent,
	}
	if r.descending {
		r.query.ScanIndexForward = new(false)
	}
	return nil
}

// prepareScan makes a reading a scan.
func (t *TableOf[T]) prepareScan(r *reading, opts []Option) (err error) {
	if err := r.options(opts); err != nil {
		return err
	}
	if r.start, err = t.startOf(r.after); err != nil {
		return err
	}
	r.scan = &wire.ScanInput{
		TableName: &t.name, IndexName: t.indexName(), FilterExpression: r.filter, ProjectionExpression: r.projected(),
		ExpressionAttributeNames: r.usedNames(), ExpressionAttributeValues: r.boundValues(), ConsistentRead: &r.consistent,
	}
	if r.segmented {
		r.scan.Segment, r.scan.TotalSegments = &r.segment, &r.segments
	}
	return nil
}

// firstPage is how many items the first page of a loop reads, so that a loop that ends early
// has read little. Later pages have the size of the service's.
const firstPage = 256

// all yields the items of all pages.
func (t *TableOf[T]) all(ctx context.Context, o *operation, prepare func(*reading) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		r := newReading(o)
		defer r.free()
		if err := prepare(r); err != nil {
			yield(none, err)
			return
		}
		left := r.limit // 0: no limit
		limit := int64(firstPage)
		if r.filter == nil && left > 0 {
			limit = min(limit, left)
		}

		var page []T
		for size := &limit; ; size = nil {
			var err error
			page = page[:0]
			if page, err = t.read(ctx, r, size, page); err != nil {
				yield(none, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
			if r.start == nil {
				return
			}
		}
	}
}

// fewItems is the room that the first item of a page is given, for others that follow.
const fewItems = 8

// read appends the items of the next page to list, and moves the reading behind it.
func (t *TableOf[T]) read(ctx context.Context, r *reading, limit *int64, list []T) ([]T, error) {
	var wrong error // of the first item that does not fit into a T
	next, err := r.page(ctx, t.db.service, limit, func(it attr.Item) (int, error) {
		if wrong != nil {
			return 0, nil
		}
		if list == nil {
			list = make([]T, 0, fewItems)
		}
		var none T
		list = append(list, none)
		wrong = decode(it, &list[len(list)-1])
		return 0, nil
	})
	switch {
	case err != nil:
		return nil, failed(err)
	case wrong != nil:
		return nil, wrong
	}
	r.start = next
	return list, nil
}

// one reads one page.
func (t *TableOf[T]) one(ctx context.Context, r *reading) (*Page[T], error) {
	var limit *int64
	if r.limit > 0 {
		limit = &r.limit
	}
	p := new(Page[T])
	ctx = table.WithTrace(ctx, func(tr table.Trace) { p.Trace = newTrace(&tr) })
	var err error
	if p.Items, err = t.read(ctx, r, limit, nil); err != nil {
		return nil, err
	}
	p.Cursor = t.cursor(r.start)
	return p, nil
}

// tableKey returns the key of the table, for operations on one item.
func (t *TableOf[T]) tableKey(ctx context.Context) (*keycond.Schema, error) {
	if t.index != "" {
		return nil, misuse("index %s of table %s is for Query and Scan: use the table", t.index, t.name)
	}
	return t.schema(ctx)
}

// schema returns the key of the table or index.
func (t *TableOf[T]) schema(ctx context.Context) (*keycond.Schema, error) {
	def, err := t.db.tables.Describe(ctx, t.name)
	if err != nil { // another server may have made it
		if err := t.db.tables.Refresh(ctx); err != nil {
			return nil, failed(err)
		}
		if def, err = t.db.tables.Describe(ctx, t.name); err != nil {
			return nil, &Error{Code: "ResourceNotFoundException", Message: "Requested resource not found"}
		}
	}
	if t.index == "" {
		return def.Key(), nil
	}
	ix, err := def.Index(t.index)
	if err != nil {
		return nil, &Error{Code: wire.CodeValidation, Message: err.Error()}
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

func (c *call) storeOld(it attr.Item) error {
	if c.old == nil || it == nil {
		return nil
	}
	return decode(it, c.old)
}

// encode returns the item of a struct, map or item.
func encode(v any) (attr.Item, error) {
	if it, ok := v.(attr.Item); ok {
		return it, nil
	}
	return attr.MarshalItem(v)
}

// decode stores an item, which is valid for the duration of the call, in *dst.
func decode(it attr.Item, dst any) error {
	if dst, ok := dst.(*attr.Item); ok {
		*dst = bytes.Clone(it)
		return nil
	}
	return attr.UnmarshalItem(it, dst)
}

// attributeOf returns the attribute value of a Go value.
func attributeOf(v any) (attr.Value, error) {
	switch v := v.(type) {
	case attr.Value:
		return v, nil
	case string:
		return attr.NewString(v), nil
	}
	return attr.Marshal(v)
}
