package server

import (
	"context"

	"github.com/sortkey/sortkey/internal/wire"
)

// A slot holds the slots of the server that one request takes. It implements [event.Slot].
type slot struct {
	s           *service
	want, taken int
}

// slotFor returns the slot of a request; the caller must call Enter. An operation whose answer may have tens of
// megabytes takes a quarter of all slots, so that the server builds few such answers at a time.
func (s *service) slotFor(target string) *slot {
	want := 1
	if op, _ := wire.Lookup(target); op.Collects() {
		want = max(1, cap(s.slots)/4)
	}
	return &slot{s: s, want: want}
}

// Enter waits until the request has its slots. It returns false if ctx ends first.
func (p *slot) Enter(ctx context.Context) bool {
	if p.want > 1 {
		select { // one request at a time: two that each hold some of their slots would deadlock
		case p.s.many <- struct{}{}:
			defer func() { <-p.s.many }()
		case <-ctx.Done():
			return false
		}
	}

	for ; p.taken < p.want; p.taken++ {
		select {
		case p.s.slots <- struct{}{}:
		case <-ctx.Done():
			p.Leave()
			return false
		}
	}
	return true
}

// Leave frees the slots for other requests. It does nothing if the request holds none.
func (p *slot) Leave() {
	for ; p.taken > 0; p.taken-- {
		<-p.s.slots
	}
}
