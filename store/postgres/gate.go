package postgres

import (
	"context"
	"sync"
)

// A gate admits up to limit Updates, or one alone. An Update that keeps losing to
// others runs alone when it has its turn. Those that want to be alone come first.
type gate struct {
	limit int

	mu      sync.Mutex
	running int
	alone   bool
	waiting int           // to be alone
	changed chan struct{} // closed when somebody leaves
}

func newGate(limit int) *gate { return &gate{limit: limit, changed: make(chan struct{})} }

// enter waits until the Update may run, or until ctx ends. The caller calls leave
// at the end.
func (g *gate) enter(ctx context.Context, alone bool) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if alone {
		g.waiting++
		defer func() {
			if g.waiting--; err != nil {
				g.signal()
			}
		}()
	}
	for !g.open(alone) {
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		g.mu.Lock()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	g.running++
	g.alone = alone
	return g.leave, nil
}

func (g *gate) open(alone bool) bool {
	if alone {
		return g.running == 0
	}
	return g.running < g.limit && !g.alone && g.waiting == 0
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.alone = false
	g.signal()
}

func (g *gate) signal() {
	close(g.changed)
	g.changed = make(chan struct{})
}
