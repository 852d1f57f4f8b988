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

// An ongoing set holds the items and client tokens of the write transactions in progress. Like the service, the
// database refuses other writes of these items, and transactions that read them. A nil set is empty.
//
// Without [Options.TransactionDelay] transactions never conflict, as the store runs one update at a time. Source of
// the rules: DG/transaction-apis.html, transaction conflict handling.
type ongoing struct {
	mu     sync.Mutex
	items  itemSet
	tokens map[string]bool
}

// check returns an error if a transaction in progress writes an item. it is the whole item or only its key. If the
// key is invalid, check returns nil, as the write itself will fail.
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
