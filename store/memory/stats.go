package memory

import (
	"github.com/sortkey/sortkey/internal/capability"
)

var (
	_ capability.Compactor = (*engine)(nil)
	_ capability.Measurer  = (*engine)(nil)
)

// Usage implements [capability.Measurer].
func (s *engine) Usage() (versions int, diskBytes int64) {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	return len(s.history.held), 0
}
