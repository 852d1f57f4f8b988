package api

import (
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

const (
	codeConflict  = "TransactionConflictException"
	msgConflict   = "Transaction is ongoing for the item"
	msgInProgress = "The transaction with the given request token is already in progress."
)

func errConflict() error { return wire.NewError(codeConflict, msgConflict) }

// An ongoing set has the items and tokens of the write transactions under way. Other
// writes of these items, and transactions that read them, are refused. A nil set is
// empty.
//
// Updates of the store are serial, so without [Options.TransactionDelay] nothing ever
// conflicts. Source of the rules: DG/transaction-apis.html, transaction conflict
// handling.
type ongoing struct {
	mu     sync.Mutex
	items  itemSet
	tokens map[string]bool
}

// check refuses a write of an item that a transaction under way writes too. The item may
// be its key alone. If the key is invalid, check returns nil and the write is refused later.
func (o *ongoing) check(t *table.Table, it attr.Item) error {
	if o == nil {
		return nil
	}
	key, err := t.KeyOf(it)
	if err != nil {
		return nil //nolint:nilerr // the write itself is refused
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if id, err := itemID(t, key); err == nil && o.items[id] {
		return errConflict()
	}
	return nil
}

func (o *ongoing) end(token *string, ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		delete(o.items, id)
	}
	if token != nil {
		delete(o.tokens, *token)
	}
}
