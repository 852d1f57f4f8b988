package check

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// TableStats are statistics of the items in a table or an index.
type TableStats struct {
	Table *model.Table
	Index *model.Index // nil for the table itself
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
	// (see [world.World.Growth]).
	DeclaredItems, DeclaredBytes float64
	// Reads and Writes are units per second (see [design.Rates]). Reads are
	// eventually consistent and counted only for tables, because reads of
	// indexes are not declared.
	Reads, Writes float64
}

// Text returns the partition key as text.
func (p *Partition) Text() string { return keyText(p.Key) }

// Stats returns the statistics of all tables and indexes, each table before its
// indexes.
func Stats(ctx context.Context, w *world.World) ([]TableStats, error) {
	var all []TableStats
	for _, t := range w.Model.Tables {
		for _, x := range append([]*model.Index{nil}, t.Indexes...) {
			s, err := w.Space(ctx, t, x)
			if err != nil {
				return nil, err
			}
			rates, err := w.Rates(ctx, s)
			if err != nil {
				return nil, err
			}
			all = append(all, stats(w, s, rates))
		}
	}
	return all, nil
}

func stats(w *world.World, space *world.Space, rates *world.Rates) TableStats {
	s := TableStats{
		Table: space.Table, Index: space.Index, Items: len(space.Rows), Bytes: space.Bytes,
		Partitions: len(space.Parts),
	}
	entities := map[*model.Entity]*EntityStats{}
	grow := w.Growth(space.Hash)
	for _, at := range space.Parts {
		rows := space.In(at)
		p := Partition{Items: len(rows)}
		for i := range rows {
			row := &rows[i]
			it, size := row.Item, row.Size()
			s.DeclaredItems += w.Represents(it)
			s.DeclaredBytes += w.Represents(it) * float64(size)
			p.Bytes += size
			p.DeclaredItems += grow.Of(it)
			p.DeclaredBytes += grow.Of(it) * float64(size)
			es := entities[it.Entity]
			if es == nil {
				es = &EntityStats{}
				if it.Entity != nil {
					es.Entity = it.Entity.Name
				}
				entities[it.Entity] = es
			}
			es.Items++
			es.Bytes += size
		}
		p.Reads, p.Writes = rates.Of(at)
		highest(&s.ByItems, &p, p.DeclaredItems, func(p *Partition) float64 { return p.DeclaredItems })
		highest(&s.ByBytes, &p, p.DeclaredBytes, func(p *Partition) float64 { return p.DeclaredBytes })
		highest(&s.ByReads, &p, p.Reads, func(p *Partition) float64 { return p.Reads })
		highest(&s.ByWrites, &p, p.Writes, func(p *Partition) float64 { return p.Writes })
		for _, best := range []*Partition{s.ByItems, s.ByBytes, s.ByReads, s.ByWrites} {
			if best != nil && best.Key == nil {
				best.Key = PartitionKey(space, &rows[0])
			}
		}
	}
	for _, es := range entities {
		s.Entities = append(s.Entities, *es)
	}
	slices.SortFunc(s.Entities, func(a, b EntityStats) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Entity, b.Entity))
	})
	return s
}

// highest replaces *best by a copy of p if its value is higher, except for
// rounding in sums of shares.
func highest(best **Partition, p *Partition, v float64, of func(*Partition) float64) {
	most := 0.0
	if *best != nil {
		most = of(*best)
	}
	if v > most*(1+1e-9) && !math.IsNaN(v) {
		next := *p
		*best = &next
	}
}

// PartitionKey returns the values of the partition key of a row.
func PartitionKey(s *world.Space, r *world.Row) (key []attr.Value) {
	for _, a := range s.Hash {
		key = append(key, r.Item.Attributes.Get(a.Name))
	}
	return key
}
