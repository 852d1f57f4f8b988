package table

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// expiryHorizon is how far in the past an expiry may lie: items that expired
// earlier are kept. Source: DG/time-to-live-ttl-before-you-start.html.
const expiryHorizon = 5 * 365 * 24 * time.Hour

// expired reports whether item has expired at now. The attribute must be a
// number of seconds since 1970; what it has after the point does not count.
func expired(item attr.Item, attribute string, now time.Time) bool {
	v := item.Get(attribute)
	if v.Kind() != attr.Number {
		return false
	}
	var room [64]byte
	whole, _, _ := strings.Cut(string(v.AppendNumber(room[:0])), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return false // beyond any clock
	}
	at := now.Unix()
	return seconds <= at && seconds > at-int64(expiryHorizon/time.Second)
}

// sweepRows is how many items a sweep looks at in one update.
const sweepRows = 1000

// Sweep deletes the items of all tables that have expired at now, with their
// index entries, and returns how many it deleted. Until a sweep comes by,
// expired items are there as any other; the service, too, deletes them late.
// Source: DG/howitworks-ttl.html.
func (db *DB) Sweep(ctx context.Context, now time.Time) (deleted int, err error) {
	for _, name := range db.Names() {
		n, err := db.sweepTable(ctx, name, now)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

func (db *DB) sweepTable(ctx context.Context, name string, now time.Time) (deleted int, err error) {
	span := store.Everything()
	for {
		var after *store.Position
		n := 0
		err := db.Update(ctx, func(tx *Tx) error {
			after, n = nil, 0
			t, err := tx.Table(name)
			if err != nil || t.def.Expiry == "" {
				return nil // deleted or disabled meanwhile
			}
			seen := 0
			for row, err := range tx.w.Scan(t.def.Space, span) {
				if err != nil {
					return err
				}
				item := itemOf(row.Value)
				if expired(item, t.def.Expiry, now) {
					if _, err := tx.write(t, slices.Clone(row.Partition), slices.Clone(row.Sort), nil, nil); err != nil {
						return err
					}
					n++
				}
				if seen++; seen == sweepRows {
					after = &store.Position{Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort)}
					break
				}
			}
			return nil
		})
		if err != nil {
			return deleted, err
		}
		deleted += n
		if after == nil {
			return deleted, nil
		}
		span.After = after
	}
}
