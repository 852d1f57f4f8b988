package memory

import "github.com/sortkey/sortkey/store"

var (
	_ store.Compactor = (*engine)(nil)
	_ store.Measurer  = (*engine)(nil)
)

// Usage implements [store.Measurer].
func (s *engine) Usage() (versions int, diskBytes int64) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	if s.current.Load() == nil {
		return 0, 0
	}
	for _, v := range s.retired.held {
		if v.readers.Load() > 0 {
			versions++
		}
	}
	return versions, 0
}
