package memory

import "github.com/sortkey/sortkey/store"

var (
	_ store.Compactor = (*engine)(nil)
	_ store.Measurer  = (*engine)(nil)
)

// Usage implements [store.Measurer].
func (s *engine) Usage() (versions int, diskBytes int64) {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	return len(s.history.held), 0
}
