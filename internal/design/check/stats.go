package check

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
)

// TableStats are statistics of the items in a table or an index.
type TableStats struct {
	Table *model.Table `json:"table"`
	Index *model.Index `json:"index,omitempty"` // nil for the table itself
	// Items and Bytes are the number and the size of the items in the dataset. Partitions is the number of their
	// partitions.
	Items      int `json:"items"`
	Bytes      int `json:"bytes"`
	Partitions int `json:"partitions"`
	// DeclaredItems and DeclaredBytes are Items and Bytes at the declared
	// scale.
	DeclaredItems float64 `json:"declaredItems"`
	DeclaredBytes float64 `json:"declaredBytes"`
	// Reads and Writes are units per second at the declared rates of entities and patterns. A declared read of an
	// entity counts as an eventually consistent read of one item. Rows is the number of rows written per second.
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
	Rows   float64 `json:"rowsWritten"`
	// Entities has the items of each entity, the largest first. Raw items have the entity "".
	Entities []EntityStats `json:"entities"`
	// ByItems, ByBytes, ByReads and ByWrites are the partitions with the most items, bytes, read units per second and
	// write units per second, all at the declared scale. They are nil if there are no items or no declared rates.
	ByItems  *Partition `json:"mostItems,omitempty"`
	ByBytes  *Partition `json:"mostBytes,omitempty"`
	ByReads  *Partition `json:"mostReads,omitempty"`
	ByWrites *Partition `json:"mostWrites,omitempty"`
}

// IndexName returns the name of the index, or "" for the table itself.
func (s *TableStats) IndexName() string {
	if s.Index == nil {
		return ""
	}
	return s.Index.Name
}

// Name returns the name of the table, followed by that of the index if there is one.
func (s *TableStats) Name() string {
	if s.Index == nil {
		return s.Table.Name
	}
	return s.Table.Name + " by " + s.Index.Name
}

// EntityStats counts the items of an entity in a table or an index.
type EntityStats struct {
	Entity string `json:"entity"`
	Items  int    `json:"items"`
	Bytes  int    `json:"bytes"`
	// DeclaredItems is Items at the declared scale.
	DeclaredItems float64 `json:"declaredItems"`
}

// A Partition is one partition of a table or an index.
type Partition struct {
	Key   load.PartitionKey `json:"partition"`
	Items int               `json:"items"`
	Bytes int               `json:"bytes"`
	// DeclaredItems and DeclaredBytes are Items and Bytes at the declared scale
	// (see [dataset.Dataset.Growth]).
	DeclaredItems float64 `json:"declaredItems"`
	DeclaredBytes float64 `json:"declaredBytes"`
	// Reads and Writes are units per second of all patterns and all declared rates of entities (see [load.Table]).
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
}

// Stats returns the statistics of all tables and indexes. Each table comes before its indexes.
func Stats(ctx context.Context, w *dataset.Dataset) ([]TableStats, error) {
	var all []TableStats
	spaces, err := load.TableOf(w).Spaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range spaces {
		all = append(all, stats(w, s))
	}
	return all, nil
}

func stats(w *dataset.Dataset, space *load.Space) TableStats {
	s := TableStats{
		Table: space.Table, Index: space.Index, Items: len(space.Rows), Bytes: space.Bytes,
		Partitions: len(space.Parts), Entities: []EntityStats{},
		Reads: space.Read, Writes: space.Written, Rows: space.RowsWritten,
	}

	entities := map[*model.Entity]*EntityStats{}
	s.DeclaredItems, s.DeclaredBytes = space.Whole()
	for i, at := range space.Parts {
		rows := space.In(at)
		p := Partition{Items: len(rows)}
		p.DeclaredItems, p.DeclaredBytes = space.Volume(at)
		for i := range rows {
			row := &rows[i]
			it, size := row.Item, row.Size()
			p.Bytes += size
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
			es.DeclaredItems += w.Represents(it)
		}
		p.Reads, p.Writes = space.Reads[i], space.Writes[i]
		highest(&s.ByItems, &p, func(p *Partition) float64 { return p.DeclaredItems })
		highest(&s.ByBytes, &p, func(p *Partition) float64 { return p.DeclaredBytes })
		highest(&s.ByReads, &p, func(p *Partition) float64 { return p.Reads })
		highest(&s.ByWrites, &p, func(p *Partition) float64 { return p.Writes })
		for _, best := range []*Partition{s.ByItems, s.ByBytes, s.ByReads, s.ByWrites} {
			if best != nil && best.Key == nil {
				best.Key = load.PartitionKeyOf(space.Space, &rows[0])
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

// highest compares p with *best by the function of. If p has the higher value, highest sets *best to a copy of p. It
// ignores differences that come from rounding.
func highest(best **Partition, p *Partition, of func(*Partition) float64) {
	v, most := of(p), 0.0
	if *best != nil {
		most = of(*best)
	}
	if v > most*(1+1e-9) && !math.IsNaN(v) {
		next := *p
		*best = &next
	}
}
