package dataset

import (
	"bytes"
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A Space is the key space of a table or an index: its rows in key order.
type Space struct {
	Table *model.Table
	Index *model.Index // nil for the table itself
	// Schema is the key schema. Hash and Sort are the attributes of the partition key and the sort key.
	Schema     *keycond.Schema
	Hash, Sort []model.Attribute
	Rows       []Row
	Parts      []Part
	// Bytes is the size of all rows by DynamoDB's documented rules.
	Bytes int

	sizes  *model.RowSizes
	growth *Growth // growth of the partitions; nil before the first call of [Dataset.Growth]
}

// Size returns the documented size of an item's row in the space. It reports false if the space does not hold the
// item.
func (s *Space) Size(it attr.Item) (int, bool) { return s.sizes.Of(it) }

// A Row is the row of an item in a space. There can be millions of rows, so a row does not store its key.
type Row struct {
	Item *Item
	size int32 // in bytes, by DynamoDB's rules
}

// Size returns the documented size in bytes.
func (r *Row) Size() int { return int(r.size) }

// PartitionOf appends the encoded partition key of a row to dst.
func (s *Space) PartitionOf(dst []byte, r *Row) []byte {
	dst, _ = s.Schema.AppendPartition(dst, r.Item.Attributes)
	return dst
}

// SortOf appends the encoded sort key of a row to dst. The encoded sort key is the row's position in its partition.
func (s *Space) SortOf(dst []byte, r *Row) []byte {
	dst, _ = s.Schema.AppendSort(dst, r.Item.Attributes)
	return dst
}

// A Part is a partition: the range of its rows in a space.
type Part struct{ From, To int }

// In returns the rows of a partition.
func (s *Space) In(p Part) []Row { return s.Rows[p.From:p.To] }

// Partition returns the partition with the given encoded key. It reports false if there is none.
func (s *Space) Partition(id []byte) (Part, bool) {
	var scratch [256]byte
	i, ok := slices.BinarySearchFunc(s.Parts, id, func(p Part, id []byte) int {
		return bytes.Compare(s.PartitionOf(scratch[:0], &s.Rows[p.From]), id)
	})
	if !ok {
		return Part{}, false
	}
	return s.Parts[i], true
}

// Find returns the index in Rows of the first row of a partition at or after a position. It reports whether that row
// is exactly at the position.
func (s *Space) Find(p Part, position []byte) (int, bool) {
	var scratch [256]byte
	i, ok := slices.BinarySearchFunc(s.In(p), position, func(r Row, position []byte) int {
		return bytes.Compare(s.SortOf(scratch[:0], &r), position)
	})
	return p.From + i, ok
}

// Range returns the rows of a partition in a range of positions. from is the index of the first row, and to is the
// index after the last.
func (s *Space) Range(p Part, r store.Range) (from, to int) {
	from, to = p.From, p.To
	if r.Lo != nil {
		from, _ = s.Find(p, r.Lo)
	}
	if r.Hi != nil {
		to, _ = s.Find(p, r.Hi)
	}
	return from, max(from, to)
}

// Space returns the key space of the index x of a table, or of the table itself if x is nil. The first call sorts the
// rows; later calls return the same space.
func (w *Dataset) Space(ctx context.Context, t *model.Table, x *model.Index) (*Space, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := spaceID{t, x}
	if s := w.spaces[id]; s != nil {
		return s, nil
	}
	s := &Space{Table: t, Index: x, Schema: t.Schema(x), Hash: t.Partition, Sort: t.Sort}
	if x != nil {
		s.Hash, s.Sort = x.Partition, x.Sort
	}
	if err := s.fill(ctx, w); err != nil {
		return nil, err
	}
	if w.spaces == nil {
		w.spaces = map[spaceID]*Space{}
	}
	w.spaces[id] = s
	return s, nil
}

type spaceID struct {
	t *model.Table
	x *model.Index
}

// A keyedRow is a row during the sort of its space. There can be millions of rows, so a keyedRow has an offset into
// an arena instead of its key.
type keyedRow struct {
	item *Item
	head uint64 // eight bytes of the key, which order compares
	at   int    // offset of the key in the arena
	size int32
	mid  uint16 // length of the encoded partition key
	len  uint16 // length of the key
}

// An arena stores keys in chunks, so that growing does not copy them.
type arena [][]byte

const chunk = 1 << 18

// next returns the last chunk, with space for a key of usual length. Appending a longer key makes the chunk grow.
func (a *arena) next() []byte {
	if last := len(*a) - 1; last >= 0 && len((*a)[last]) < chunk-4096 {
		return (*a)[last]
	}
	*a = append(*a, make([]byte, 0, chunk))
	return (*a)[len(*a)-1]
}

func (a arena) partition(r *keyedRow) []byte {
	return a[r.at/chunk][r.at%chunk:][:r.mid]
}

func (a arena) sort(r *keyedRow) []byte {
	return a[r.at/chunk][r.at%chunk:][r.mid:r.len]
}

func (s *Space) fill(ctx context.Context, w *Dataset) error {
	var all []keyedRow
	s.sizes = s.Table.RowSizes(s.Index)
	var keys arena
	for i := range w.Items {
		if i%1024 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		it := &w.Items[i]
		if it.Table != s.Table {
			continue
		}
		size, ok := s.sizes.Of(it.Attributes)
		if !ok {
			continue
		}
		key := keys.next()
		at := len(key)
		if key, ok = s.Schema.AppendPartition(key, it.Attributes); !ok {
			continue
		}
		mid := len(key)
		if key, ok = s.Schema.AppendSort(key, it.Attributes); !ok {
			continue
		}
		keys[len(keys)-1] = key
		all = append(all, keyedRow{
			item: it, size: int32(size), at: (len(keys)-1)*chunk + at, mid: uint16(mid - at),
			len: uint16(len(key) - at),
		})
		s.Bytes += size
	}

	keys.order(all, false)
	s.Rows = make([]Row, len(all))
	for i := range all {
		s.Rows[i] = Row{Item: all[i].item, size: all[i].size}
		if i == 0 || !bytes.Equal(keys.partition(&all[i]), keys.partition(&all[i-1])) {
			s.Parts = append(s.Parts, Part{From: i})
		}
		s.Parts[len(s.Parts)-1].To = i + 1
	}
	return nil
}
