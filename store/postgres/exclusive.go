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

// An Update that keeps losing becomes exclusive. It queues for the exclusive lock of its process, which is a semaphore,
// and for an advisory lock of the database, whose waiters get it in the order in which they came. Then it runs alone in
// its process, and locks the row at which it lost before it reads anything else. An Update that reads a row for which
// others of its process queue joins the queue. Updates of other servers may still win against an exclusive Update while
// nobody queues there.
//
// The lock belongs to a transaction on another connection: the transaction of the Update
// would take its snapshot before it waits for the lock, and that would be too old then. The
// lock saves conflicts and guards nothing, so an Update continues without it if it cannot get it.

// lockTimeout limits how long an Update waits for the lock.
const lockTimeout = 5 * time.Second

// errQueued ends the attempt of an Update that has to queue.
var errQueued = errors.New("postgres: others wait for this row")

// A waitQueue has the Updates of a process that wait for the exclusive lock or hold it.
type waitQueue struct {
	exclusive *semaphore.Weighted // of weight 1, held by the exclusive Update

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

// lockExclusive takes the exclusive lock for an Update that has lost at a row. The caller calls end when it is done.
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

// lockAdvisory takes the advisory lock that stands for a row.
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

// lockNumber returns the number of the lock that stands for a row of the tables of s: locks
// belong to the whole database, which may hold the tables of others.
func (s *Store) lockNumber(row []byte) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte("sortkey\x00" + s.pool.Config().ConnConfig.RuntimeParams["search_path"] + "\x00"))
	_, _ = h.Write(row)
	return h.Sum(nil)
}

// rollback ends a transaction and returns its connection to the pool, which closes it if
// that fails.
func (s *Store) rollback(ctx context.Context, conn *pgxpool.Conn) {
	_, _ = s.send(ctx, conn, []*step{{statement: rollback}})
	conn.Release()
}
