package check

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
)

// TableStats are statistics of the items in a table or an index.
type TableStats struct {
	Table *design.Table
	Index *design.Index // nil for the table itself
	// Items, Bytes and Partitions count what is in the world.
	Items, Bytes, Partitions int
	// DeclaredItems and DeclaredBytes are Items and Bytes at the declared
	// scale.
	DeclaredItems, DeclaredBytes float64
	// Entities are the shares of entities, the largest first. The entity of raw
	// items is "".
	Entities []EntityStats
	// The partitions with the most items, bytes, read units and write units per
	// second at the declared scale; nil if there are none, or no declared
	// rates.
	ByItems, ByBytes, ByReads, ByWrites *Partition
}

// EntityStats is the share of an entity in a table or an index.
type EntityStats struct {
	Entity       string
	Items, Bytes int
}

// A Partition is one partition of a table or an index.
type Partition struct {
	// Key are the values of the partition key.
	Key          []attr.Value
	Items, Bytes int
	// DeclaredItems and DeclaredBytes are Items and Bytes at the declared scale
	// (see [design.World.Growth]).
	DeclaredItems, DeclaredBytes float64
	// Reads and Writes are units per second: the rates of entities, spread
	// evenly over their items at the declared scale. Reads are eventually
	// consistent and counted only for tables, because reads of indexes are not
	// declared.
	Reads, Writes float64
}

// Text returns the partition key as text.
func (p *Partition) Text() string { return keyText(p.Key) }

// Stats returns the statistics of all tables and indexes, each table before its
// indexes.
func Stats(w *design.World) []TableStats {
	var all []TableStats
	for _, t := range w.Model.Tables {
		all = append(all, stats(w, t, nil))
		for _, x := range t.Indexes {
			all = append(all, stats(w, t, x))
		}
	}
	return all
}

func stats(w *design.World, t *design.Table, x *design.Index) TableStats {
	s := TableStats{Table: t, Index: x}
	hash := t.Partition
	if x != nil {
		hash = x.Partition
	}
	partitions := map[string]*Partition{}
	entities := map[string]*EntityStats{}
	grow := w.Growth(hash)
	for row := range w.Rows(t, x) {
		it, size := row.Item, row.Size
		s.Items++
		s.Bytes += size
		s.DeclaredItems += w.Represents(it)
		s.DeclaredBytes += w.Represents(it) * float64(size)
		p := partitions[string(row.Partition)]
		if p == nil {
			p = &Partition{}
			for _, a := range hash {
				p.Key = append(p.Key, it.Attributes.Get(a.Name))
			}
			partitions[string(row.Partition)] = p
		}
		p.Items++
		p.Bytes += size
		p.DeclaredItems += grow.Of(it)
		p.DeclaredBytes += grow.Of(it) * float64(size)
		reads, writes := w.Load(row, x, grow)
		p.Reads += reads
		p.Writes += writes
		name := ""
		if it.Entity != nil {
			name = it.Entity.Name
		}
		es := entities[name]
		if es == nil {
			es = &EntityStats{Entity: name}
			entities[name] = es
		}
		es.Items++
		es.Bytes += size
	}
	s.Partitions = len(partitions)
	for _, es := range entities {
		s.Entities = append(s.Entities, *es)
	}
	slices.SortFunc(s.Entities, func(a, b EntityStats) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Entity, b.Entity))
	})
	ids := slices.Sorted(maps.Keys(partitions))
	hottest := func(by func(*Partition) float64) *Partition {
		var best *Partition
		most := 0.0
		for _, id := range ids {
			// Ignore rounding in sums of shares.
			if v := by(partitions[id]); v > most*(1+1e-9) && !math.IsNaN(v) {
				best, most = partitions[id], v
			}
		}
		return best
	}
	s.ByItems = hottest(func(p *Partition) float64 { return p.DeclaredItems })
	s.ByBytes = hottest(func(p *Partition) float64 { return p.DeclaredBytes })
	s.ByReads = hottest(func(p *Partition) float64 { return p.Reads })
	s.ByWrites = hottest(func(p *Partition) float64 { return p.Writes })
	return s
}
