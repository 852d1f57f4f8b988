package table

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/store"
)

// ErrNoVersions means that the store cannot keep earlier versions. [errors.Is] reports that it is an
// [errors.ErrUnsupported].
var ErrNoVersions error = noVersions{}

type noVersions struct{}

func (noVersions) Error() string { return "store cannot keep earlier versions of its rows" }

func (noVersions) Is(target error) bool { return target == errors.ErrUnsupported }

// Staleness decides which earlier versions eventually consistent reads may see.
type Staleness struct {
	// Window is the time after a change during which reads may miss that change. If Window is 0, reads see every
	// change.
	Window time.Duration
	// Seed seeds the random choice of a version for each read.
	Seed uint64
	// Oldest makes each read see the oldest version in the window instead of a random one.
	Oldest bool
}

// A lag holds the earlier versions that eventually consistent reads may see.
type lag struct {
	Staleness
	held atomic.Pointer[version] // the version that all reads of indexes see, or nil

	mu   sync.Mutex
	rng  *rand.Rand
	list []version // oldest first
}

// A version is a snapshot of the rows. Its rows were current until the time until.
type version struct {
	store store.Store
	until time.Time
	// last is the last space that was assigned in this version. The version has no rows of later spaces, so reads of
	// those spaces use the current rows.
	last store.Space
}

// maxVersions limits the number of versions. Once there are so many, a new version is kept only if the last one was
// kept at least 1/maxVersions of the window earlier. So there are never more than twice as many. A version takes
// memory for the rows that were replaced since, and for the tree nodes above them.
const maxVersions = 256

// SetStaleness sets what eventually consistent reads may see from now on. The error is [ErrNoVersions].
func (db *DB) SetStaleness(s Staleness) error {
	if forker, ok := db.Store.(store.Forker); !ok || !forker.ForksInstantly() {
		return ErrNoVersions
	}
	db.lag.Store(&lag{Staleness: s, rng: rand.New(rand.NewPCG(s.Seed, 1))}) //nolint:gosec // reproducible by design
	return nil
}

// ForgetVersions drops the earlier versions, so that all reads see the current rows. Only the effect of HoldIndexes
// remains.
func (db *DB) ForgetVersions() {
	if l := db.lag.Load(); l != nil {
		l.forget()
	}
}

// Settle makes all reads see the changes so far. It also ends the effect of [DB.HoldIndexes].
func (db *DB) Settle() {
	if l := db.lag.Load(); l != nil {
		l.held.Store(nil)
		l.forget()
	}
}

// version returns a snapshot of the current rows.
func (db *DB) version(ctx context.Context, now time.Time) (*version, error) {
	st, err := db.Store.(store.Forker).Fork()
	if err != nil {
		return nil, err
	}
	v := &version{store: st, until: now}
	err = st.View(ctx, func(r store.Reader) (err error) {
		v.last, err = LastSpace(r)
		return err
	})
	return v, err
}

// keepVersion keeps a snapshot of the current rows, if reads may still see them after the next change. Call it before
// each change.
func (db *DB) keepVersion(ctx context.Context, l *lag) error {
	if l.Window <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := db.Clock()
	l.trim(now)
	if n := len(l.list); n >= maxVersions && now.Sub(l.list[n-1].until) < l.Window/maxVersions {
		return nil
	}
	v, err := db.version(ctx, now)
	if err == nil {
		l.list = append(l.list, *v)
	}
	return err
}

// trim drops the versions that had already been replaced when the window began. The caller holds l.mu.
func (l *lag) trim(now time.Time) {
	since := now.Add(-l.Window)
	n := 0
	for n < len(l.list) && !l.list[n].until.After(since) {
		n++
	}
	l.list = slices.Delete(l.list, 0, n)
}

// forget drops all versions.
func (l *lag) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// choose returns the version that an eventually consistent read sees, or nil for the current rows. index is true for
// a read of an index.
func (l *lag) choose(now time.Time, index bool) *version {
	if index {
		if v := l.held.Load(); v != nil {
			return v
		}
	}
	if l.Window <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim(now)
	i := 0
	if !l.Oldest {
		i = l.rng.IntN(len(l.list) + 1)
	}
	if i == len(l.list) {
		return nil
	}
	v := l.list[i]
	return &v
}

// Lags reports whether eventually consistent reads may see earlier versions.
func (s *View) Lags() bool { return s.db.lag.Load() != nil && !s.fixed && !IsSettled(s.ctx) }

// Eventually calls read with a View of a version that an eventually consistent read may see. read may read index ix
// of t, or t itself if ix is nil.
func (s *View) Eventually(t *Table, ix *Index, read func(*View) error) error {
	space := t.space(ix)
	v := s.db.lag.Load().choose(s.db.Clock(), ix != nil)
	if v == nil || space > v.last {
		return read(s)
	}
	return v.store.View(s.ctx, func(r store.Reader) error {
		return read(&View{ctx: s.ctx, db: s.db, tables: s.tables, r: r})
	})
}

// HoldIndexes makes eventually consistent reads of indexes see the rows as they are now, until [DB.Settle] is called.
// While it runs, the caller must not let an index be filled. The error is [ErrNoVersions].
func (db *DB) HoldIndexes(ctx context.Context) error {
	if db.lag.Load() == nil {
		if err := db.SetStaleness(Staleness{}); err != nil {
			return err
		}
	}
	v, err := db.version(ctx, time.Time{})
	if err == nil {
		db.lag.Load().held.Store(v)
	}
	return err
}
