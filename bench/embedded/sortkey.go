package main

import (
	"context"
	"errors"
	"iter"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/contest"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"

	engine "github.com/sortkey/sortkey/store"
)

const tableName = "Readings"

type sortkeyStore struct {
	db       *sortkey.DB
	readings *sortkey.TableOf[Reading]
	byPlace  *sortkey.TableOf[Reading]
	tables   *life.DB // what lies below db
}

var sortkeyContender = contender{
	name:    "sortkey",
	version: func() (string, error) { return "this checkout", nil },
	open: func(mode contest.Mode, dir string) (store, error) {
		st := engine.Store(memory.Open())
		if mode == contest.Disk {
			var err error
			if st, err = disk.Open(dir, disk.Options{}); err != nil {
				return nil, err
			}
		}
		db, err := sortkey.Open(sortkey.Options{Store: st})
		if err != nil {
			return nil, err
		}
		readings := sortkey.Table[Reading](db, tableName)
		s := &sortkeyStore{db: db, readings: readings, byPlace: readings.Index("ByPlace")}
		ctx := context.Background()
		err = db.CreateTable(ctx, tableName, "sensor / at", sortkey.Global("ByPlace", "place / at").Only())
		if err == nil {
			s.tables, err = life.Open(ctx, st)
		}
		return s, err
	},
}

func (s *sortkeyStore) close() error { return s.db.Close() }

func (s *sortkeyStore) load(ctx context.Context, all []Reading) error { return s.putAll(ctx, all) }

func (s *sortkeyStore) get(ctx context.Context, sensor, at string) (Reading, error) {
	r, err := s.readings.Get(ctx, sensor, at)
	if errors.Is(err, sortkey.ErrNotFound) {
		err = errMissing
	}
	return r, err
}

// tableGet reads an item with internal/table, the layer below the operations.
func (s *sortkeyStore) tableGet(ctx context.Context, sensor, at string, see func(attr.Item) error) error {
	return s.tables.ViewItem(ctx, func(view *table.View) error {
		t, err := view.Table(tableName)
		if err != nil {
			return err
		}
		var key attr.Builder
		key.Add("sensor", attr.NewString(sensor))
		key.Add("at", attr.NewString(at))
		it, err := view.Get(t, key.Item())
		if err != nil {
			return err
		}
		return see(it)
	})
}

func each(all iter.Seq2[Reading, error], see func(Reading)) error {
	for r, err := range all {
		if err != nil {
			return err
		}
		see(r)
	}
	return nil
}

func (s *sortkeyStore) prefix(ctx context.Context, sensor, prefix string, see func(Reading)) error {
	return each(s.readings.Query(ctx, sensor, sortkey.BeginsWith(prefix)), see)
}

func (s *sortkeyStore) between(ctx context.Context, sensor, low, high string, see func(Reading)) error {
	return each(s.readings.Query(ctx, sensor, sortkey.Between(low, high)), see)
}

func (s *sortkeyStore) index(ctx context.Context, place, from string, n int, see func(Reading)) error {
	return each(s.byPlace.Query(ctx, place, sortkey.Compare(">=", from), sortkey.Limit(n)), see)
}

func (s *sortkeyStore) filter(ctx context.Context, low, high int, see func(Reading)) error {
	return each(s.readings.Scan(ctx, sortkey.Where("value BETWEEN :low AND :high", low, high)), see)
}

func (s *sortkeyStore) put(ctx context.Context, r Reading) error { return s.readings.Put(ctx, r) }

func (s *sortkeyStore) putIf(ctx context.Context, r Reading, below int) (bool, error) {
	err := s.readings.Put(ctx, r, sortkey.If("value < :below", below))
	if errors.Is(err, sortkey.ErrConditionFailed) {
		return false, nil
	}
	return err == nil, err
}

func (s *sortkeyStore) add(ctx context.Context, sensor, at string, n int) (Reading, error) {
	return s.readings.Update(ctx, sortkey.Key{sensor, at}, "SET value = value + :n", n)
}

func (s *sortkeyStore) putAll(ctx context.Context, all []Reading) error {
	return s.db.Update(ctx, func(ctx context.Context) error {
		for _, r := range all {
			if err := s.readings.Put(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}
