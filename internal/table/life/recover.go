package life

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// Recovered reports whether [DB.Recover] would find nothing to do.
func (db *DB) Recovered() bool {
	return db.exact.Load() && !db.garbage.Load() && len(db.unbuilt()) == 0
}

// Recover completes work that a crash or the end of the process has interrupted. It deletes the rows of removed
// indexes. It fills the indexes that are being built and opens them for reading. If the counters are not exact, it
// counts the items of tables. Reads, writes and changes of tables continue meanwhile. If Recover is interrupted, call
// it again.
//
// On a read-only store it only counts, so indexes that are being built stay unreadable.
//
// In a shared store, Recover skips work that another server is doing. It does not count there, as [DB.Tend] counts.
func (db *DB) Recover(ctx context.Context) error {
	unlock, err := db.recovering.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	err = db.clearGarbage(ctx)
	if err == nil {
		err = db.resume(ctx)
	}
	if err != nil && !errors.Is(err, store.ErrReadOnly) {
		return err
	}
	if db.sharing != nil {
		return nil
	}
	return db.recount(ctx)
}

// An unbuilt is an index being built.
type unbuilt struct {
	table string
	space store.Space
}

// unbuilt returns the indexes being built, in the order of their spaces.
func (db *DB) unbuilt() (list []unbuilt) {
	for name, t := range db.Current().ByName {
		for _, ix := range t.Indexes() {
			if ix.Definition().Building {
				list = append(list, unbuilt{name, ix.Definition().Space})
			}
		}
	}
	slices.SortFunc(list, func(a, b unbuilt) int { return cmp.Compare(a.space, b.space) })
	return list
}

// resume builds the indexes whose build was interrupted. Meanwhile tables can be created, changed and deleted.
func (db *DB) resume(ctx context.Context) error {
	for _, u := range db.unbuilt() {
		_, err := db.alone(ctx, u.space, func(ctx context.Context) error {
			if err := db.build(ctx, u.table, u.space); err != nil {
				return err
			}
			return db.exclusively(ctx, func() error { return db.finish(ctx, u.table, u.space) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// complete builds the index that has the given space. If another server is building it, complete waits until that
// server has finished or the table is gone. The end of ctx ends this wait, but not a build. If the store is not
// shared, the caller holds db.alter.
func (db *DB) complete(ctx context.Context, name string, space store.Space) error {
	for {
		done, err := db.alone(context.WithoutCancel(ctx), space, func(ctx context.Context) error {
			if err := db.build(ctx, name, space); err != nil {
				return err
			}
			return db.finish(ctx, name, space)
		})
		if done || err != nil {
			return err
		}

		if err := db.Refresh(ctx); err != nil {
			return err
		}
		if _, ix := db.Current().Building(name, space); ix == nil {
			return nil
		}
		if err := table.Sleep(ctx, completeWait); err != nil {
			return err
		}
	}
}

// completeWait is the interval at which complete checks an index that another server builds.
const completeWait = 50 * time.Millisecond

// build fills the index that has the given space. The published definition has the index, so every write maintains
// it. build adds entries for the older items of the table, except those that an interrupted build has already added.
func (db *DB) build(ctx context.Context, name string, space store.Space) error {
	span := store.Everything()
	for {
		after, err := db.FillIndex(ctx, name, space, span)
		again, err := db.Outdated(ctx, err)
		switch {
		case again:
			continue
		case err != nil || after == nil:
			return err
		}
		span.After = after
	}
}

// finish opens a filled index for reading, if the index still exists. If the store is not shared, the caller holds
// db.alter.
func (db *DB) finish(ctx context.Context, name string, space store.Space) error {
	return db.Retry(ctx, func() error {
		t, err := db.Describe(ctx, name)
		if err != nil {
			return nil //nolint:nilerr // deleted meanwhile
		}
		def := t.Definition().Clone()
		for _, ix := range def.Online() {
			if ix.Space == space && ix.Building {
				ix.Building = false
				_, err := db.redefine(ctx, def, t, nothing)
				return err
			}
		}
		return nil
	})
}
