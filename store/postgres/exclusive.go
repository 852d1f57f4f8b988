package postgres

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"
)

// An Update that keeps losing becomes exclusive. It waits for the exclusive lock of its process, a semaphore, and
// then for an advisory lock of the database, which waiters get in the order in which they asked. Then it runs alone
// in its process. Before it reads anything else, it locks the row at which it lost.
//
// If Updates of a process queue for a row, any other Update of that process queues before it reads the row. In a
// process where no Update queues for the row, Updates may still win against an exclusive Update.
//
// Another connection holds the advisory lock in a transaction of its own. The transaction of the Update itself would
// take its snapshot before it waits for the lock, and the snapshot would be too old afterwards. The lock only saves
// conflicts, so an Update that cannot get it continues without it.

// lockTimeout limits how long an Update waits for the advisory lock.
const lockTimeout = 5 * time.Second

// errQueued ends an attempt of an Update that must queue.
var errQueued = errors.New("postgres: others wait for this row")

// A waitQueue counts the Updates of a process that wait for the exclusive lock or hold it.
type waitQueue struct {
	exclusive *semaphore.Weighted // of weight 1; the exclusive Update holds it

	mu   sync.Mutex
	rows map[string]int // how many wait for a row
	len  atomic.Int64
}

func newWaitQueue() *waitQueue {
	return &waitQueue{exclusive: semaphore.NewWeighted(1), rows: map[string]int{}}
}

// waits reports whether Updates wait for a row.
func (l *waitQueue) waits(row []byte) bool {
	if l.len.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows[string(row)] > 0
}

func (l *waitQueue) join(row []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[string(row)]++
	l.len.Add(1)
}

func (l *waitQueue) leave(row []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows[string(row)]--; l.rows[string(row)] == 0 {
		delete(l.rows, string(row))
	}
	l.len.Add(-1)
}

// lockExclusive takes the exclusive lock for an Update that has lost at a row. The caller must call end when the
// Update is done.
func (s *Store) lockExclusive(ctx context.Context, row []byte) (end func(), err error) {
	s.waitQueue.join(row)
	if s.waitQueue.exclusive.Acquire(ctx, 1) != nil {
		s.waitQueue.leave(row)
		return nil, context.Cause(ctx)
	}
	unlock := s.lockAdvisory(ctx, row)
	alone := s.free.Acquire(ctx, s.most) == nil
	end = sync.OnceFunc(func() {
		if alone {
			s.free.Release(s.most)
		}
		unlock()
		s.waitQueue.exclusive.Release(1)
		s.waitQueue.leave(row)
	})
	if !alone {
		end()
		return nil, context.Cause(ctx)
	}
	return end, nil
}

// lockAdvisory takes the advisory lock for a row. If that fails, the Update continues without the lock.
func (s *Store) lockAdvisory(ctx context.Context, row []byte) (unlock func()) {
	limited, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	conn, err := s.acquire(limited)
	if err == nil {
		lock := &step{statement: lockAdvisory, params: [][]byte{s.lockNumber(row)}}
		_, err = s.send(limited, conn, []*step{{statement: beginAdvisory}, {statement: limitIdle}, lock})
	}
	if err != nil {
		s.opts.Logger.Debug("cannot queue with other servers", "err", err)
	}
	return func() {
		if conn != nil {
			s.background.Go(func() { s.rollback(context.WithoutCancel(ctx), conn) })
		}
	}
}

// lockNumber returns the number of the advisory lock for a row of the tables of s. It hashes search_path too, because
// the database may contain several sets of tables, which share the numbers.
func (s *Store) lockNumber(row []byte) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte("sortkey\x00" + s.pool.Config().ConnConfig.RuntimeParams["search_path"] + "\x00"))
	_, _ = h.Write(row)
	return h.Sum(nil)
}

// rollback ends a transaction and returns its connection to the pool. If the rollback fails, the pool closes the
// connection.
func (s *Store) rollback(ctx context.Context, conn *pgxpool.Conn) {
	_, _ = s.send(ctx, conn, []*step{{statement: rollback}})
	conn.Release()
}
