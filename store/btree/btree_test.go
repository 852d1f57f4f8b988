package btree_test

import (
	"testing"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return btree.Open() })
}
