package layer

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// OpenPebble opens Pebble alone, set as store/disk sets it.
func OpenPebble(dir string) (*pebble.DB, error) {
	o := &pebble.Options{
		CacheSize:          64 << 20,
		MemTableSize:       16 << 20,
		FormatMajorVersion: pebble.FormatValueSeparation,
		Logger:             quiet{},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return pebble.Open(dir, o)
}

// quiet is a logger that says nothing.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}
