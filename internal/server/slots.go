package server

import (
	"context"

	"github.com/sortkey/sortkey/internal/wire"
)

// A slot is the place of one request among the slots of the server. It implements [event.Slot].
type slot struct {
	s           *service
	want, taken int
}

// slotFor returns the slot of a request, which it has yet to enter. An operation whose answer may
// have tens of megabytes takes a quarter of all slots, so that few such answers are in the making
// at a time.
func (s *service) slotFor(target string) *slot {
	want := 1
	if op, _ := wire.Lookup(target); op.Collects() {
		want = max(1, cap(s.slots)/4)
	}
	return &slot{s: s, want: want}
}

// Enter waits for the slot. It returns false if ctx ends first.
func (p *slot) Enter(ctx context.Context) bool {
	if p.want > 1 {
		select { // two that wait for several slots each could wait for one another
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

// Leave gives the slot to other requests. It does nothing if the request has none.
func (p *slot) Leave() {
	for ; p.taken > 0; p.taken-- {
		<-p.s.slots
	}
}
