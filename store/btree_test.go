package store_test

import (
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/tests/apitest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/storetest"
)

func open(*testing.T) store.Store { return btree.Open() }

func TestStore(t *testing.T) { storetest.Run(t, open) }

func TestMatrix(t *testing.T) {
	proptest.NeedLong(t)
	apitest.Matrix(t, 5*time.Millisecond, open)
}

func TestHazards(t *testing.T) { apitest.Hazards(t, open) }

func TestWaits(t *testing.T) { apitest.Waits(t, "btree", "../docs/embedded.md", open) }

func TestOpposite(t *testing.T) { apitest.Opposite(t, 1000, open, nil) }
