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

// An Update that keeps losing to others takes turns with those that have lost at the same
// row. In its process it stands in line for the only turn, and in the database for an
// advisory lock, whose waiters get it in the order in which they came. Then it runs alone in
// its process, and locks the row before it reads anything else. An Update that reads a row
// for which others of its process stand in line joins them. Updates of other servers may
// still win against it while nobody stands in line there.
//
// The lock belongs to a transaction on another connection: the transaction of the Update
// would take its snapshot before it waits for the lock, and that would be too old then. The
// lock saves conflicts and guards nothing, so an Update continues without it if it cannot get it.

// turnPatience limits how long an Update waits for the lock.
const turnPatience = 5 * time.Second

// errLine ends the try of an Update that has to stand in line.
var errLine = errors.New("postgres: others wait for this row")

// A line is the Updates of a process that wait for their turn or have it.
type line struct {
	turn *semaphore.Weighted // of weight 1, held by the Update that has its turn

	mu   sync.Mutex
	rows map[string]int // how many wait for a row
	len  atomic.Int64
}

func newLine() *line { return &line{turn: semaphore.NewWeighted(1), rows: map[string]int{}} }

// waits reports whether Updates wait for a row.
func (l *line) waits(row []byte) bool {
	if l.len.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows[string(row)] > 0
}

func (l *line) join(row []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[string(row)]++
	l.len.Add(1)
}

func (l *line) leave(row []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows[string(row)]--; l.rows[string(row)] == 0 {
		delete(l.rows, string(row))
	}
	l.len.Add(-1)
}

// takeTurn waits until it is the turn of an Update that has lost at a row. The caller calls
// end when it is done.
func (s *Store) takeTurn(ctx context.Context, row []byte) (end func(), err error) {
	s.line.join(row)
	if s.line.turn.Acquire(ctx, 1) != nil {
		s.line.leave(row)
		return nil, context.Cause(ctx)
	}
	unlock := s.lockTurn(ctx, row)
	alone := s.free.Acquire(ctx, s.most) == nil
	end = sync.OnceFunc(func() {
		if alone {
			s.free.Release(s.most)
		}
		unlock()
		s.line.turn.Release(1)
		s.line.leave(row)
	})
	if !alone {
		end()
		return nil, context.Cause(ctx)
	}
	return end, nil
}

// lockTurn takes the lock that stands for a row.
func (s *Store) lockTurn(ctx context.Context, row []byte) (unlock func()) {
	limited, cancel := context.WithTimeout(ctx, turnPatience)
	defer cancel()
	conn, err := s.acquire(limited)
	if err == nil {
		lock := &step{statement: lockTurn, params: [][]byte{s.turnOf(row)}}
		_, err = s.send(limited, conn, []*step{{statement: beginTurn}, {statement: limitIdle}, lock})
	}
	if err != nil {
		s.opts.Logger.Debug("cannot wait in line with other servers", "err", err)
	}
	return func() {
		if conn != nil {
			s.background.Go(func() { s.rollback(context.WithoutCancel(ctx), conn) })
		}
	}
}

// turnOf returns the number of the lock that stands for a row of the tables of s: locks
// belong to the whole database, which may hold the tables of others.
func (s *Store) turnOf(row []byte) []byte {
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
