package sortkey_test

import (
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/tests/apitest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/memory"
)

// TestMatrix runs apitest.Matrix in memory.
func TestMatrix(t *testing.T) {
	t.Parallel()
	apitest.Matrix(t, 5*time.Millisecond, func(*testing.T) store.Store { return nil })
}

func TestHazards(t *testing.T) {
	t.Parallel()
	apitest.Hazards(t, func(*testing.T) store.Store { return nil })
}

func TestWaits(t *testing.T) {
	apitest.Waits(t, "memory", "docs/embedded.md", func(*testing.T) store.Store { return nil })
}

func TestOpposite(t *testing.T) {
	apitest.Opposite(t, proptest.Cases(4000), func(*testing.T) store.Store { return memory.Open() }, nil)
}

func TestUpkeep(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		apitest.Upkeep(t, func() store.Store { return memory.Open() })
	})
	t.Run("btree", func(t *testing.T) { apitest.Upkeep(t, btree.Open) })
}

func TestEndings(t *testing.T) { apitest.Endings(t, func(*testing.T) store.Store { return nil }) }
