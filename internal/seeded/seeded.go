// Package seeded makes reproducible random bytes.
package seeded

import (
	"math/rand/v2"
	"sync"
)

// A Reader reads random bytes. Equal seeds give equal bytes. It is safe for
// concurrent use.
type Reader struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

// NewReader returns a Reader.
func NewReader(seed [32]byte) *Reader { return &Reader{source: rand.NewChaCha8(seed)} }

// Read implements [io.Reader]. It never fails.
func (r *Reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Read(p)
}
