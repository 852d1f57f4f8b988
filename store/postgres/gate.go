package postgres

import (
	"context"
	"slices"
	"sync"
)

// A gate admits up to limit Updates, or one alone, in the order in which they came. An
// Update that keeps losing to others runs alone when it has its turn. Those that want to
// be alone come first.
type gate struct {
	limit int

	mu      sync.Mutex
	running int
	alone   bool
	queues  [2][]chan struct{} // those that wait to be alone, and the others; closed when admitted
}

func newGate(limit int) *gate { return &gate{limit: limit} }

// enter waits until the Update may run, or until ctx ends. The caller calls leave
// at the end.
func (g *gate) enter(ctx context.Context, alone bool) (leave func(), err error) {
	queue := &g.queues[1]
	if alone {
		queue = &g.queues[0]
	}
	mine := make(chan struct{})
	g.mu.Lock()
	*queue = append(*queue, mine)
	g.admit()
	g.mu.Unlock()
	select {
	case <-mine:
		return g.leave, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(*queue, mine)
	if i < 0 { // admitted at the same time
		return g.leave, nil
	}
	*queue = slices.Delete(*queue, i, i+1)
	g.admit() // others may have waited for this one
	return nil, context.Cause(ctx)
}

// admit lets in those that may run now.
func (g *gate) admit() {
	first := func(queue *[]chan struct{}) {
		close((*queue)[0])
		*queue = slices.Delete(*queue, 0, 1)
		g.running++
	}
	alone, others := &g.queues[0], &g.queues[1]
	switch {
	case g.alone:
	case len(*alone) > 0:
		if g.running == 0 {
			g.alone = true
			first(alone)
		}
	default:
		for len(*others) > 0 && g.running < g.limit {
			first(others)
		}
	}
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.alone = false
	g.admit()
}
