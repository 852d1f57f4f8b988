package table

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// A Bulk puts and deletes any number of items of one table. Several goroutines can prepare items at the same time,
// each in its own [Part]. [Bulk.Write] then applies the parts in order. If the store is a [capability.Loader], Write
// sorts the rows of large parts and loads them into the table and its indexes, which is faster than updates.
//
// Other writers may use the table at the same time, but then a Bulk is slower.
type Bulk struct {
	// LoadFrom is the number of items from which a Write loads all items as sorted rows. A Write of fewer items uses
	// updates of one [Batch] each. Write always uses updates if the store is shared, or if the table has a stream or
	// point-in-time recovery. Default: DefaultLoadFrom.
	LoadFrom int

	db    *DB
	name  string
	table *Table // as it was when the Bulk was made

	// known is a filter with the keys of all items of the table, or nil if the Bulk has not read the keys. since is
	// the value of Stats.Writes after the last load. If Stats.Writes has changed, somebody else has written, and
	// known is out of date.
	known keyFilters
	since uint64
	// lookups counts the items that Bulk has looked up in the store while known was nil.
	lookups int64
}

// DefaultLoadFrom is the default of [Bulk.LoadFrom]. A load writes and syncs several files, while an update of a
// thousand items only syncs the log. So updates are faster for few items. Tests change the value.
var DefaultLoadFrom = 10_000

// Bulk returns a Bulk of the table called name. The error has kind [NotFound].
func (db *DB) Bulk(name string) (*Bulk, error) {
	t, err := db.Current().named(db, name)
	if err != nil {
		return nil, err
	}
	return &Bulk{LoadFrom: DefaultLoadFrom, db: db, name: name, table: t}, nil
}

// Loads reports whether the store can load sorted rows. If it can, large parts are faster than small ones.
func (b *Bulk) Loads() bool {
	_, ok := b.db.Store.(capability.Loader)
	return ok
}

// A Part is a sequence of puts and deletions for [Bulk.Write]. It must take less than 2 GB of memory. It is not safe
// for concurrent use. After Reset it can be reused.
type Part struct {
	table    *Table
	arena    []byte     // addresses and values
	items    []bulkRow  // in the order of the calls of Put and Delete
	rows     []bulkRows // rows of the table and its indexes, by bucket; nil if the store cannot load
	replaced []bool     // by index in items: true if a later item of the same load has the same key
	entry    entry
}

type bulkRows []bulkRow

// A bulkRow is a row whose address and value are in the arena of a part. An empty value deletes the row.
type bulkRow struct {
	order       uint64 // the 8 bytes of the address after the space, which decide most comparisons
	part, item  uint32
	addr, value extent
}

// An extent is a range of bytes in an arena.
type extent struct{ at, len uint32 }

func (e extent) of(arena []byte) []byte { return arena[e.at : e.at+e.len : e.at+e.len] }

// Part returns an empty part.
func (b *Bulk) Part() *Part {
	const items, bytes = 1 << 10, 64 << 10 // initial capacities
	p := &Part{table: b.table, items: make([]bulkRow, 0, items), arena: make([]byte, 0, bytes)}
	if b.Loads() {
		p.rows = make([]bulkRows, buckets(b.table))
	}
	return p
}

// Reset empties the part. The caller must not call it while a Write uses the part.
func (p *Part) Reset() {
	p.arena, p.items = p.arena[:0], p.items[:0]
	for i := range p.rows {
		p.rows[i] = p.rows[i][:0]
	}
}

// Len returns the number of puts and deletions.
func (p *Part) Len() int { return len(p.items) }

// Bytes returns roughly the memory that the part takes.
func (p *Part) Bytes() int {
	const row = 32
	n := len(p.arena) + row*len(p.items)
	for _, rows := range p.rows {
		n += row * len(rows)
	}
	return n
}

// Put adds a put of a copy of the item. It returns the same errors as [Tx.Put]; after an error the part is unchanged.
func (p *Part) Put(item attr.Item) error {
	if err := p.table.CheckPut(item); err != nil {
		return err
	}
	p.add(item, item)
	return nil
}

// Delete adds the deletion of the item with the given key. It returns the same errors as [Tx.Delete].
func (p *Part) Delete(key attr.Item) error {
	if err := p.table.CheckKey(key); err != nil {
		return err
	}
	p.add(key, nil)
	return nil
}

// add adds a put of item, or a deletion if item is nil. The caller has checked key.
func (p *Part) add(key, item attr.Item) {
	var buf [addressBytes]byte
	partition, sort := p.table.addressOf(buf[:0], key)
	r := bulkRow{item: uint32(len(p.items)), addr: p.address(p.table.def.Space, partition, sort)}
	if item != nil {
		r.value = p.keep(item)
	}
	p.items = append(p.items, r)
	if p.rows != nil {
		p.index(r)
	}
}

// index adds the rows of the item to the buckets of the table and its indexes.
func (p *Part) index(r bulkRow) {
	t := p.table
	p.put(0, tableShards, r)
	item := attr.Item(r.value.of(p.arena))
	if len(item) == 0 {
		return
	}
	for i, ix := range t.all {
		if !p.entry.make(ix, item) {
			continue
		}
		x := bulkRow{item: r.item, value: r.value}
		if x.addr = p.address(ix.def.Space, p.entry.partition, p.entry.sort); ix.project != nil ||
			ix.def.Vector != nil {
			x.value = p.keep(p.entry.value)
		}
		p.put(tableShards+i*indexShards(t), indexShards(t), x)
		item = r.value.of(p.arena) // the arena may have moved
	}
}

func (p *Part) address(space store.Space, partition, sort []byte) extent {
	at := len(p.arena)
	p.arena = address.Append(p.arena, space, partition, sort)
	return extent{uint32(at), uint32(len(p.arena) - at)}
}

func (p *Part) keep(value []byte) extent {
	at := len(p.arena)
	p.arena = append(p.arena, value...)
	return extent{uint32(at), uint32(len(value))}
}

// put adds a row to one of n buckets, the first of which has the number first. The hash at the start of the address
// chooses the bucket.
func (p *Part) put(first, n int, r bulkRow) {
	const space = 8 // bytes
	addr := r.addr.of(p.arena)[space:]
	var order [8]byte
	copy(order[:], addr)
	r.order = binary.BigEndian.Uint64(order[:])
	bucket := &p.rows[first+int(addr[0])*n>>8]
	*bucket = append(*bucket, r)
}

// tableShards is the number of buckets for the rows of a table. Each bucket holds a range of partition key hashes.
// Goroutines sort and load the buckets in parallel. The store writes a file for each bucket.
var tableShards = min(max(4, 2*runtime.GOMAXPROCS(0)), 32)

// indexShards is the number of buckets for the rows of each index of the table.
func indexShards(t *Table) int { return max(1, tableShards/max(1, len(t.all))) }

func buckets(t *Table) int { return tableShards + len(t.all)*indexShards(t) }

// suit makes p a part of t. If t is a newer version of the table for which the part was filled, suit computes the
// index rows and the buckets again.
func (p *Part) suit(t *Table) {
	if p.table == t {
		return
	}
	p.table, p.rows = t, make([]bulkRows, buckets(t))
	for _, r := range p.items {
		p.index(r)
	}
}

// Write applies parts in order. If a load fails, no item is written. If an update fails, the items of earlier updates
// stay written. The error has kind [NotFound] if the table was deleted.
func (b *Bulk) Write(ctx context.Context, parts []*Part) error {
	items := 0
	for _, p := range parts {
		items += len(p.items)
	}
	j, err := b.db.joined(ctx)
	if err != nil {
		return err
	}
	if j == nil && b.Loads() && items >= b.LoadFrom {
		if done, err := b.load(ctx, parts, items); done || err != nil {
			return err
		}
	}
	return b.update(ctx, parts)
}

// same returns an error unless t is the table for which the parts were made, in any version. A table that was created
// anew under the same name is another table.
func (b *Bulk) same(t *Table) error {
	if t.def.Space != b.table.def.Space {
		return NoSuchTable()
	}
	return nil
}

// update applies parts in updates of one [Batch] each.
func (b *Bulk) update(ctx context.Context, parts []*Part) error {
	part, item := 0, 0 // the next to write
	for part < len(parts) {
		var nextPart, nextItem int
		err := b.db.Update(ctx, func(tx *Tx) error {
			nextPart, nextItem = part, item
			t, err := tx.Table(b.name)
			if err == nil {
				err = b.same(t)
			}
			var size Batch
			for full := false; err == nil && !full && nextPart < len(parts); {
				p := parts[nextPart]
				if nextItem == len(p.items) {
					nextPart, nextItem = nextPart+1, 0
					continue
				}
				r := p.items[nextItem]
				_, partition, sort, _ := address.Parse(r.addr.of(p.arena), nil)
				item := attr.Item(slices.Clone(r.value.of(p.arena)))
				if len(item) == 0 {
					item = nil
				}
				_, err = tx.write(t, partition, sort, item, nil)
				nextItem++
				full = size.Add(int(r.value.len))
			}

			return err
		})
		if err != nil {
			return err
		}

		part, item = nextPart, nextItem
	}
	return nil
}

// parallel calls fn with each number from 0 to n-1, in up to GOMAXPROCS goroutines, and returns the first error.
func parallel(n int, fn func(i int) error) error {
	var calls errgroup.Group
	calls.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		calls.Go(func() error { return fn(i) })
	}
	return calls.Wait()
}
