package api

import (
	"context"
	"sync"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

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

const (
	codeConflict  = "TransactionConflictException"
	msgConflict   = "Transaction is ongoing for the item"
	msgInProgress = "The transaction with the given request token is already in progress."
)

func errConflict() error { return wire.NewError(codeConflict, msgConflict) }

// check refuses a write of an item that a transaction under way writes too. The item may
// be its key alone. If the key is invalid, the write itself says so.
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

// begin adds the items of a transaction, in the order of its actions, and its token,
// unless they conflict.
func (o *ongoing) begin(token *string, ids []string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if token != nil && o.tokens[*token] {
		return wire.NewError("TransactionInProgressException", msgInProgress)
	}
	reasons := make([]wire.CancellationReason, len(ids))
	cancelled := false
	for i, id := range ids {
		reasons[i].Code = new("None")
		if o.items[id] {
			reasons[i], cancelled = cancellation(errConflict(), nil)
		}
	}
	if cancelled {
		return wire.TransactionCanceled(reasons)
	}

	for _, id := range ids {
		o.items[id] = true
	}
	if token != nil {
		o.tokens[*token] = true
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

// transact runs a write transaction: it holds the items for as long as transactions
// take, and then applies it. find returns the items. If it fails, apply will fail too
// and return the error.
func (s *Service) transact(
	ctx context.Context, token *string, find func(*table.View) ([]string, error), apply func(*table.Tx) error,
) error {
	o := s.ongoing
	if o == nil {
		return s.db.Update(ctx, apply)
	}

	// The items are found in a view of their own: an update would keep all others waiting for as long
	// as the transaction takes.
	var ids []string
	if err := s.db.View(ctx, func(view *table.View) (err error) { ids, err = find(view); return err }); err != nil {
		return s.db.Update(ctx, apply)
	}
	if err := o.begin(token, ids); err != nil {
		return err
	}
	defer o.end(token, ids)
	if err := pause(ctx, s.opts.TransactionDelay); err != nil {
		return err
	}
	return s.db.Update(ctx, apply)
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// itemsOf returns the items of the actions of a transaction.
func (s *Service) itemsOf(view *table.View, actions []action) ([]string, error) {
	ids := make([]string, len(actions))
	for i := range actions {
		t, err := s.lookup(view.Table, actions[i].table)
		if err != nil {
			return nil, err
		}
		key, err := actions[i].itemKey(t)
		if err != nil {
			return nil, err
		}
		if ids[i], err = itemID(t, key); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
