package table

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// VectorIndex returns the vector index of t called name. The error has kind [Validation], even for an index that is
// CREATING.
func (s *View) VectorIndex(t *Table, name string) (*Index, error) {
	for _, ix := range t.all {
		if ix.def.Name == name && ix.def.Vector != nil {
			if ix.def.Status(s.db.Clock()) == StatusCreating {
				return nil, invalid("Cannot search backfilling vector index: %s", name)
			}
			return ix, nil
		}
	}
	return nil, invalid("The table does not have the specified index: %s", name)
}

// A Search looks for the items in a vector index that are nearest to a vector.
type Search struct {
	Table  *Table
	Index  *Index
	Vector []float32
	// Equal has attribute values that the found items must have too. All its attributes are in the schema of the
	// index and have the right kinds. The partition key of the index, if there is one, must be among them.
	Equal attr.Item
	Limit int
}

// A Match is an item that a search found. The item has its vector as a binary value; see [Index.Matched].
type Match struct {
	Item  attr.Item
	Score float64
}

// Search returns the items nearest to the vector, the nearest first. Equally near items are in index order. bytes is
// the total size of the entries that Search read.
func (s *View) Search(q *Search) (found []Match, bytes int, err error) {
	partition, ok := q.Index.key.AppendPartition(nil, q.Equal)
	if !ok {
		return nil, 0, errKey()
	}
	v := q.Index.def.Vector
	work := s.db.Work(s.serial)
	defer work.Done()
	n := 0
	for row, err := range s.r.Query(q.Index.def.Space, partition, store.Range{}, false) {
		if err != nil {
			return nil, 0, err
		}
		if n++; n%1024 == 0 && s.ctx.Err() != nil {
			return nil, 0, s.ctx.Err()
		}
		it := itemOf(row.Value)
		bytes += it.Size()
		if err := work.Add(s.ctx, len(it)); err != nil {
			return nil, 0, err
		}
		if !hasAll(it, q.Equal) {
			continue
		}
		score := v.score(q.Vector, it.Get(v.Attribute).Raw())
		at, _ := slices.BinarySearchFunc(found, score, func(m Match, score float64) int {
			if v.Function == DotProduct && m.Score >= score || v.Function != DotProduct && m.Score <= score {
				return -1
			}
			return 1
		})

		if at == q.Limit {
			continue
		}
		if len(found) == q.Limit {
			found = found[:len(found)-1]
		}
		found = slices.Insert(found, at, Match{slices.Clone(it), score})
	}

	return found, max(bytes, minVectorBytes), nil
}

// hasAll reports whether an item has all the attributes in values, with equal values.
func hasAll(it, values attr.Item) bool {
	for name, v := range values.All() {
		if !attr.Equal(it.Get(string(name)), v) {
			return false
		}
	}
	return true
}

// score returns the distance of two vectors, or their dot product. It computes with float64 and limits the result to
// the range of float32.
func (v *Vector) score(query []float32, stored []byte) float64 {
	var product, queried, kept, distance float64
	same := true
	for i, f := range query {
		g := math.Float32frombits(binary.LittleEndian.Uint32(stored[4*i:]))
		a, b := float64(f), float64(g)
		product += a * b
		queried += a * a
		kept += b * b
		distance += (a - b) * (a - b)
		same = same && f == g
	}

	score := product
	switch v.Function {
	case Euclidean:
		score = math.Sqrt(distance)
	case Cosine:
		switch {
		case queried == 0 || kept == 0:
			score = 1
		case same:
			score = 0
		default:
			score = min(max(1-product/(math.Sqrt(queried)*math.Sqrt(kept)), 0), 2)
		}
	}

	return min(max(score, -math.MaxFloat32), math.MaxFloat32)
}

// Matched returns the item of a [Match] as a client sees it. If withVector is set and the index projects the vector,
// the item has it as a list of numbers. Otherwise the item has no vector.
func (ix *Index) Matched(it attr.Item, withVector bool) (attr.Item, error) {
	var b attr.Builder
	for name, v := range it.All() {
		if string(name) != ix.def.Vector.Attribute {
			b.AddBytes(name, v)
			continue
		}
		if !withVector ||
			ix.def.Projection.Type != ProjectAll && !slices.Contains(ix.def.Projection.Include, string(name)) {
			continue
		}
		list := make([]attr.Value, 0, len(v.Raw())/4)
		for raw := v.Raw(); len(raw) > 0; raw = raw[4:] {
			f := math.Float32frombits(binary.LittleEndian.Uint32(raw))
			n, err := attr.NewNumber(strconv.FormatFloat(float64(f), 'g', -1, 32))
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
		b.AddBytes(name, attr.NewList(list...))
	}
	return b.Item(), nil
}
