package table

import (
	"context"
	"slices"
	"time"

	"github.com/sortkey/sortkey/store"
)

// Undo gives a restored table the items that its source had at the time at. r sees the rows of the source, and h is
// its history. Undo undoes the later changes, the newest first. Clients cannot use the table yet.
func (db *DB) Undo(ctx context.Context, r store.Reader, h *Stream, t *Table, at time.Time) error {
	last, err := lastSequence(r, h, 0)
	if err != nil {
		return err
	}
	var batch []StreamRecord
	var size Batch
	flush := func() error {
		var tx Tx
		err := db.Change(ctx, func(w store.Writer) error {
			tx = Tx{View: View{ctx: ctx, db: db, tables: db.Current(), r: w}, w: w}
			for _, rec := range batch {
				partition, sort, err := t.Address(rec.Keys)
				if err == nil {
					_, err = tx.write(t, partition, sort, rec.Old, nil)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			tx.settle()
		}

		batch = nil
		size.Reset()
		return err
	}

	for epoch := int64(last.epoch()); epoch >= int64(h.EpochOf(at)); epoch-- {
		for rec, err := range records(r, h, Shard{Epoch: uint32(epoch)}, 0, true) {
			if err != nil {
				return err
			}
			if !rec.Time.After(at) {
				return flush()
			}
			batch = append(batch, rec)
			if size.Add(rec.Bytes()) {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}

	return flush()
}

// AddRows adds items and their index entries to a table that clients cannot use yet.
func (db *DB) AddRows(ctx context.Context, t *Table, rows []store.Row) error {
	counts := make([][2]int, len(t.all))
	err := db.Change(ctx, func(w store.Writer) error {
		clear(counts)
		var e entry
		for _, row := range rows {
			if err := w.Put(t.def.Space, row.Partition, row.Sort, row.Value); err != nil {
				return err
			}
			for i, ix := range t.all {
				if !e.make(ix, itemOf(row.Value)) {
					continue
				}
				if err := w.Put(ix.def.Space, e.partition, e.sort, slices.Clone(e.value)); err != nil {
					return err
				}
				counts[i][0]++
				counts[i][1] += e.value.Size() + StorageOverhead
			}
		}
		return nil
	})
	if err != nil {
		return err
	}

	for _, row := range rows {
		t.stats.Add(1, t.BilledSize(itemOf(row.Value))+StorageOverhead)
	}
	for i, ix := range t.all {
		ix.stats.Add(counts[i][0], counts[i][1])
	}
	return nil
}
