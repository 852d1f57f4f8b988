package table

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// expiryHorizon is five years. Like the service, a sweep does not delete items that expired longer ago than that.
// Source: DG/time-to-live-ttl-before-you-start.html.
const expiryHorizon = 5 * 365 * 24 * time.Hour

// expired reports whether item has expired at now. The attribute must be a number of seconds since 1970; expired
// ignores a fraction.
func expired(item attr.Item, attribute string, now time.Time) bool {
	v := item.Get(attribute)
	if v.Kind() != attr.Number {
		return false
	}
	var buf [64]byte
	whole, _, _ := strings.Cut(string(v.AppendNumber(buf[:0])), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return false // too large to be a time
	}
	at := now.Unix()
	return seconds <= at && seconds >= at-int64(expiryHorizon/time.Second)
}

// sweepRows is the maximum number of items that a sweep examines in one view. The sweep then deletes the expired ones
// in an update of up to one [Batch]. Other operations can run in between.
const sweepRows = 10_000

// SweepTable deletes the items of a table that have expired at now, with their index entries, and returns their
// number.
func (db *DB) SweepTable(ctx context.Context, name string, now time.Time) (deleted int, err error) {
	span := store.Everything()
	for {
		gone, last, err := db.findExpired(ctx, name, span, now)
		if err != nil {
			return deleted, err
		}
		if len(gone) > 0 {
			n, err := db.deleteExpired(ctx, name, gone, now)
			if err != nil {
				return deleted, err
			}
			deleted += n
		}
		if last == nil {
			return deleted, nil
		}
		span.After = last
	}
}

// findExpired returns the addresses of expired items in span, and the address after which the next call continues.
// That address is nil if span has no more items, if the table was deleted, or if its time to live is disabled.
func (db *DB) findExpired(
	ctx context.Context, name string, span store.Span, now time.Time,
) (gone []store.Position, last *store.Position, err error) {
	err = db.View(ctx, func(s *View) error {
		t, err := s.Table(name)
		if err != nil || t.def.Expiry == "" {
			return nil
		}
		seen := 0
		var size Batch // also bounds the size of the update, as streams store the deleted items
		for row, err := range s.r.Scan(t.def.Space, span) {
			if err != nil {
				return err
			}
			seen++
			item, err := wholeItem(t, row)
			if err != nil {
				return err
			}
			hit := expired(item, t.def.Expiry, now)
			if !hit && seen < sweepRows {
				continue
			}
			at := PositionOf(row)
			full := false
			if hit {
				gone = append(gone, *at)
				full = size.Add(len(row.Value))
			}
			if seen == sweepRows || full {
				last = at
				return nil
			}
		}

		return nil
	})
	return gone, last, err
}

// deleteExpired deletes the items at the addresses in gone, if they still exist and are still expired.
func (db *DB) deleteExpired(ctx context.Context, name string, gone []store.Position, now time.Time) (n int, err error) {
	err = db.Update(ctx, func(tx *Tx) error {
		n, tx.expiring = 0, true
		t, err := tx.Table(name)
		if err != nil {
			return nil // deleted meanwhile
		}
		for _, at := range gone {
			item, err := tx.get(t, at.Partition, at.Sort)
			if err != nil {
				return err
			}
			if !expired(item, t.def.Expiry, now) {
				continue
			}
			if _, err := tx.write(t, at.Partition, at.Sort, nil, nil); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}
