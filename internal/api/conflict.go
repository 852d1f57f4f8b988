package api

import (
	"context"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// transact runs a write transaction. It calls find for the actions and marks their items as busy. After
// [Options.TransactionDelay] it calls apply in an update. If find fails, transact does not wait, as apply fails with
// the same error. Without a TransactionDelay, transact only calls apply.
func (s *Service) transact(
	ctx context.Context, token *string, find func(*table.View) ([]action, error), apply func(*table.Tx) error,
) error {
	o := s.ongoing
	if o == nil {
		return s.db.Update(ctx, apply)
	}

	// Call find in a view, as an update would block all other writers during the whole delay.
	var ids []string
	if err := s.db.View(ctx, func(view *table.View) error {
		actions, err := find(view)
		if err == nil {
			ids, err = s.itemsOf(view, actions)
		}
		return err
	}); err != nil {
		return s.db.Update(ctx, apply)
	}
	if err := o.begin(token, ids); err != nil {
		return err
	}
	defer o.end(token, ids)
	if err := table.Sleep(ctx, s.opts.TransactionDelay); err != nil {
		return err
	}
	return s.db.Update(ctx, apply)
}

// itemsOf returns the [itemID] of the item of each action of a transaction.
func (s *Service) itemsOf(view *table.View, actions []action) ([]string, error) {
	ids := make([]string, len(actions))
	for i := range actions {
		t, err := s.lookup(view.Table, actions[i].table)
		if err != nil {
			return nil, err
		}
		if ids[i], err = actions[i].itemID(t); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// begin adds to the set the token of a transaction and the ids of its items, in the order of its actions. If the
// token or an item is already in the set, begin adds nothing and returns an error.
func (o *ongoing) begin(token *string, ids []string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if token != nil && o.tokens[*token] {
		return wire.NewError("TransactionInProgressException", msgInProgress)
	}
	reasons, cancelled := noReasons(len(ids)), false
	for i, id := range ids {
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
