package table

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// load sorts the rows of parts and loads them. It changes nothing and returns false for done if the table has a
// stream or a history, if one of its indexes is being built, or if the store is shared. The caller must then use
// updates.
func (b *Bulk) load(ctx context.Context, parts []*Part, items int) (done bool, err error) {
	db := b.db
	if err := db.Updates.RLock(ctx); err != nil {
		return false, err
	}
	defer db.Updates.RUnlock()
	all := db.Current()
	t, err := (&View{ctx: ctx, db: db, tables: all}).Table(b.name)
	if err == nil {
		err = b.same(t)
	}
	if err != nil {
		return false, err
	}
	building := slices.ContainsFunc(t.all, func(ix *Index) bool { return ix.def.Building })
	if building || t.def.Stream != nil || t.def.History() != nil || db.sharing != nil {
		return false, nil
	}
	if l := db.lag.Load(); l != nil {
		if err := db.keepVersion(ctx, l); err != nil {
			return false, err
		}
	}
	if db.Marked.Load() { // a load cannot remove the mark
		if err := db.update(ctx, all.Rows, func(store.Writer) error { return nil }); err != nil {
			return false, err
		}
	}

	var w *bulkLoad
	err = db.Store.(capability.Loader).Load(ctx, func(l store.Loading) error {
		w = &bulkLoad{table: t, loading: l, removed: make([]*Part, tableShards)}
		for i := range w.removed {
			w.removed[i] = &Part{table: t, rows: make([]bulkRows, buckets(t))}
		}
		w.parts = slices.Concat(w.removed, parts)
		if err := b.know(t, l, items); err != nil {
			return err
		}
		w.known = b.known
		return w.run()
	})
	if err != nil {
		return false, err
	}
	for i, c := range t.Counters(false) {
		c.Stats.Add(w.changed[i].items, w.changed[i].bytes)
	}
	if b.known == nil {
		b.lookups += int64(items)
	}
	return true, nil
}

// maxKnown is the maximum number of keys in Bulk.known. Each key takes two to four bytes.
const maxKnown = 16 << 20

// know decides whether to read all keys of the table into b.known. Without known, each load must look up its items in
// the store one by one. So know compares the time of a scan of the table with the time of all these lookups: those of
// earlier loads and the more lookups of this one. The caller holds the write lock of the store.
func (b *Bulk) know(t *Table, r store.Reader, more int) error {
	writes := t.stats.Writes.Load()
	if writes != b.since {
		b.known = nil
	}
	b.since = t.stats.Writes.Add(1)
	items, _ := t.Items()
	if items+int64(more) > maxKnown {
		b.known = nil
		return nil
	}
	if b.known != nil {
		return nil
	}

	// Reading the next row of a scan takes about an eighth of the time of a Get.
	const quicker = 8
	all := items <= quicker*(b.lookups+int64(more))
	known := make(keyFilters, tableShards)
	var buf []byte
	for row, err := range r.Scan(t.def.Space, store.Everything()) {
		if err != nil {
			return err
		}
		if !all {
			return nil
		}
		buf = address.Append(buf[:0], t.def.Space, row.Partition, row.Sort)
		known.add(buf)
	}
	b.known, b.lookups = known, 0
	return nil
}

// A bulkLoad is the state of one load of parts.
type bulkLoad struct {
	table   *Table
	loading store.Loading
	known   keyFilters
	removed []*Part // deletions of the index entries of replaced items, by bucket of the table
	parts   []*Part // removed, then those to load
	changed []delta // changes of the counters: of the table, then of each index
}

func (w *bulkLoad) run() error {
	t := w.table
	w.changed = make([]delta, 1+len(t.all))
	if err := parallel(len(w.parts), func(i int) error {
		p := w.parts[i]
		p.suit(t)
		p.replaced = append(p.replaced[:0], make([]bool, len(p.items))...)
		return nil
	}); err != nil {
		return err
	}
	changed := make([]delta, buckets(t))
	if err := parallel(tableShards, func(i int) error { return w.loadItems(i, &changed[i]) }); err != nil {
		return err
	}
	indexes := changed[tableShards:]
	if err := parallel(len(indexes), func(i int) error {
		return w.loadEntries(tableShards+i, &indexes[i])
	}); err != nil {
		return err
	}

	for i, d := range changed {
		space := 0
		if i >= tableShards {
			space = 1 + (i-tableShards)/indexShards(t)
		}
		w.changed[space].items += d.items
		w.changed[space].bytes += d.bytes
	}
	return nil
}

func (w *bulkLoad) addr(r *bulkRow) []byte { return r.addr.of(w.parts[r.part].arena) }

// value returns the item in a row, or nil for a deletion.
func (w *bulkLoad) value(r *bulkRow) attr.Item {
	if r.value.len == 0 {
		return nil
	}
	return r.value.of(w.parts[r.part].arena)
}

// gather returns the rows of one bucket of all parts in address order. It leaves out index rows of items that a later
// item replaces. Rows with the same address stay in the order of the parts, so the last of them is the valid one.
func (w *bulkLoad) gather(bucket int) []bulkRow {
	n := 0
	for _, p := range w.parts {
		n += len(p.rows[bucket])
	}
	rows := make([]bulkRow, 0, n)
	for i, p := range w.parts {
		for _, r := range p.rows[bucket] {
			if bucket >= tableShards && len(p.replaced) > 0 && p.replaced[r.item] {
				continue
			}
			r.part = uint32(i)
			rows = append(rows, r)
		}
	}

	slices.SortFunc(rows, func(a, b bulkRow) int {
		switch {
		case a.order < b.order:
			return -1
		case a.order > b.order:
			return 1
		}
		return cmp.Or(bytes.Compare(w.addr(&a), w.addr(&b)), cmp.Compare(a.part, b.part), cmp.Compare(a.item, b.item))
	})

	return rows
}

// again reports whether row i+1 has the same address as row i.
func (w *bulkLoad) again(rows []bulkRow, i int) bool {
	return i+1 < len(rows) && rows[i].order == rows[i+1].order && bytes.Equal(w.addr(&rows[i]), w.addr(&rows[i+1]))
}

// loadItems loads the items of a bucket. If an item replaces or deletes a stored one, loadItems adds deletions of the
// old index entries to w.removed. It marks the items of w.parts that a later item of the load replaces.
func (w *bulkLoad) loadItems(bucket int, d *delta) error {
	t, rows := w.table, w.gather(bucket)
	kept := rows[:0]
	var e entry
	var buf []byte
	for i := range rows {
		r := rows[i]
		if w.again(rows, i) {
			w.parts[r.part].replaced[r.item] = true
			continue
		}
		old, err := w.old(bucket, w.addr(&r), &buf)
		if err != nil {
			return err
		}
		item := w.value(&r)
		if old == nil && item == nil {
			continue
		}
		kept = append(kept, r)
		d.add(item, t.BilledSize(item), 1)
		d.add(old, t.BilledSize(old), -1)
		for n, ix := range t.all {
			if e.make(ix, old) {
				w.removed[bucket].remove(n, ix, &e)
			}
		}
	}

	return w.add(kept)
}

// add counts an item with the given billed size as added if sign is 1, or as removed if it is -1. It ignores a nil
// item.
func (d *delta) add(it attr.Item, size, sign int) {
	if it != nil {
		d.items += sign
		d.bytes += sign * (size + StorageOverhead)
	}
}

// old returns the item that the store has at an address, or nil. If w.known rules out that there is one, old does not
// read the store.
func (w *bulkLoad) old(bucket int, addr []byte, buf *[]byte) (attr.Item, error) {
	if w.known != nil && !w.known[bucket].add(hashOf(addr)) {
		return nil, nil
	}
	space, partition, sort, _ := address.Parse(addr, *buf)
	value, ok, err := w.loading.Get(space, partition, sort)
	if err != nil || !ok {
		return nil, err
	}
	return itemOf(value), nil
}

// remove adds a row to the part that deletes the entry e of the index ix, which is number n of the table's indexes.
// The row has no value, so value.at holds the size of the entry instead.
func (p *Part) remove(n int, ix *Index, e *entry) {
	shards := indexShards(p.table)
	r := bulkRow{addr: p.address(ix.def.Space, e.partition, e.sort), value: extent{at: uint32(e.value.Size())}}
	p.put(tableShards+n*shards, shards, r)
}

// loadEntries loads the index entries of a bucket.
func (w *bulkLoad) loadEntries(bucket int, d *delta) error {
	rows := w.gather(bucket)
	kept := rows[:0]
	for i := range rows {
		r := rows[i]
		if it := w.value(&r); it != nil {
			d.add(it, it.Size(), 1)
		} else {
			d.items--
			d.bytes -= int(r.value.at) + StorageOverhead
		}
		if !w.again(rows, i) {
			kept = append(kept, r)
		}
	}
	return w.add(kept)
}

// add passes rows to the store's loader. The rows are in address order.
func (w *bulkLoad) add(rows []bulkRow) error {
	if len(rows) == 0 {
		return nil
	}
	return w.loading.Add(func(yield func(addr, value []byte) bool) {
		for i := range rows {
			if !yield(w.addr(&rows[i]), w.value(&rows[i])) {
				return
			}
		}
	})
}

// keyFilters holds one filter for each bucket of a table.
type keyFilters []keyFilter

func (f keyFilters) add(addr []byte) {
	const space = 8
	f[int(addr[space])*len(f)>>8].add(hashOf(addr))
}

var hashSeed = maphash.MakeSeed()

func hashOf(addr []byte) uint64 { return maphash.Bytes(hashSeed, addr) }

// A keyFilter is a Bloom filter that grows. It is a list of blocked filters, each twice as large as the one before.
// About 1 % of the lookups of missing keys are false positives.
type keyFilter struct {
	levels []filterLevel
}

// A filterLevel has 16 bits for each key, all in one cache line.
type filterLevel struct {
	lines [][8]uint64 // their number is a power of two
	free  int         // how many more keys fit
}

const (
	firstLevel  = 1 << 8 // lines
	keysPerLine = 32
)

// add adds the hash of a key and reports whether the filter may have had it before.
func (f *keyFilter) add(hash uint64) (had bool) {
	if f.has(hash) {
		return true
	}
	n := len(f.levels)
	if n == 0 || f.levels[n-1].free == 0 {
		lines := firstLevel << n
		f.levels = append(f.levels, filterLevel{make([][8]uint64, lines), lines * keysPerLine})
		n++
	}
	f.levels[n-1].set(hash)
	return false
}

func (f *keyFilter) has(hash uint64) bool {
	for i := range f.levels {
		if f.levels[i].has(hash) {
			return true
		}
	}
	return false
}

const filterBits = 6 // bits set for each key

func (l *filterLevel) has(hash uint64) bool {
	line := &l.lines[int(hash>>32)&(len(l.lines)-1)]
	h := uint32(hash)
	for range filterBits {
		if line[h>>29]&(1<<(h>>23&63)) == 0 {
			return false
		}
		h *= 0x9E3779B1
	}
	return true
}

func (l *filterLevel) set(hash uint64) {
	l.free--
	line := &l.lines[int(hash>>32)&(len(l.lines)-1)]
	h := uint32(hash)
	for range filterBits {
		line[h>>29] |= 1 << (h >> 23 & 63)
		h *= 0x9E3779B1
	}
}
