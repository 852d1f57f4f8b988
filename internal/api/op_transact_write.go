package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/internal/table"
)

// msgTokenMismatch is a text of our own, as no capture of the service's text is known.
const msgTokenMismatch = "The ClientRequestToken was used by another transaction in the last 10 minutes. " +
	"Take a new token for each transaction, and the same one only to send it again."

const msgOneItem = "Transaction request cannot include multiple operations on one item"

// transactWriteItems applies up to 100 writes of any tables, either all of them or none.
func (s *Service) transactWriteItems(
	ctx context.Context, in *wire.TransactWriteItemsInput,
) (*wire.TransactWriteItemsOutput, error) {
	if len(in.TransactItems) > MaxTransactActions {
		return nil, wire.OpTransactWriteItems.Invalid("Member must have length less than or equal to 100")
	}
	actions, err := transactActions(in)
	if err != nil {
		return nil, err
	}
	var digest []byte
	if in.ClientRequestToken != nil {
		digest = transactDigest(in)
	}
	return s.writeTransaction(ctx, in, digest, func(*table.View) ([]action, error) { return actions, nil })
}

// writeTransaction applies a transaction to the items that its actions write. find returns the actions, given the
// tables. The members of in other than the actions count, and digest is a hash of the actions.
func (s *Service) writeTransaction(
	ctx context.Context, in *wire.TransactWriteItemsInput, digest []byte, find func(*table.View) ([]action, error),
) (out *wire.TransactWriteItemsOutput, err error) {
	var used *transactUse
	b := s.budget(ctx, true)
	err = s.transact(ctx, in.ClientRequestToken, find, func(tx *table.Tx) error {
		used = &transactUse{mode: in.ReturnConsumedCapacity}
		actions, err := find(&tx.View)
		if err == nil {
			out, err = s.runTransact(tx, in, actions, digest, used, b)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	b.spend()
	used.record(ctx)
	return out, nil
}

// runTransact applies the actions in tx, unless a transaction with the same token was applied before. It adds the
// capacity that they consume to used.
func (s *Service) runTransact(
	tx *table.Tx, in *wire.TransactWriteItemsInput, actions []action, digest []byte, used *transactUse, b *budget,
) (*wire.TransactWriteItemsOutput, error) {
	b.reset()
	tables := make([]*table.Table, len(actions))
	for i := range actions {
		t, err := s.lookup(tx.Table, actions[i].table)
		if err != nil {
			return nil, err
		}
		tables[i] = t
	}

	// Prefetch all items at once, which saves a round trip for each item in a remote store.
	if err := tx.Prefetch(keysToWrite(tables, actions)); err != nil {
		return nil, err
	}

	// If the token is known, only compare the digests, write nothing, and consume read capacity.
	tok := table.Token{Digest: digest, Time: s.opts.Clock()}
	if in.ClientRequestToken != nil {
		known, replay, err := tx.Remember(*in.ClientRequestToken, tok)
		if err != nil {
			return nil, err
		}
		if replay {
			return replayed(tables, actions, known, digest, used)
		}
	}

	// The transaction is new. If one action fails, no action is applied.
	changes, err := applyActions(tx, tables, actions, b)
	if err != nil {
		return nil, err
	}
	out := new(wire.TransactWriteItemsOutput)
	read := map[string][]int{}
	for i, c := range changes {
		t := tables[i]
		if in.ClientRequestToken != nil {
			read[t.Name()] = append(read[t.Name()], max(t.BilledSize(c.Old), t.BilledSize(c.New)))
		}
		used.add(value(actions[i].table), t, c.Capacity)
		err := addCollection(
			&out.ItemCollectionMetrics, value(actions[i].table), in.ReturnItemCollectionMetrics, tx, t, actions[i].key,
		)
		if err != nil {
			return nil, err
		}
	}

	// A repeated request consumes capacity for the larger size of each item before and after this transaction, so
	// store these sizes with the token.
	out.ConsumedCapacity = used.consumed()
	if in.ClientRequestToken != nil {
		return out, tx.SetRead(*in.ClientRequestToken, tok, read)
	}
	return out, nil
}

// transactDigest returns a hash of the actions of a transaction. The token and the Return… members of the request
// itself do not change the hash.
func transactDigest(in *wire.TransactWriteItemsInput) []byte {
	body := &wire.TransactWriteItemsInput{TransactItems: in.TransactItems}
	sum := sha256.Sum256(wire.AppendJSON(nil, body))
	return sum[:]
}

// replayed returns the output of a transaction that was applied before. The repeated request consumes read capacity
// for the items that the transaction wrote.
func replayed(
	tables []*table.Table, actions []action, known table.Token, digest []byte, used *transactUse,
) (*wire.TransactWriteItemsOutput, error) {
	if !bytes.Equal(known.Digest, digest) {
		return nil, wire.NewError("IdempotentParameterMismatchException", msgTokenMismatch)
	}
	used.reads = true
	seen := map[string]bool{}
	for i, t := range tables { // in the order of the actions, as in the first response
		if seen[t.Name()] {
			continue
		}
		seen[t.Name()] = true
		for _, size := range known.Read[t.Name()] {
			used.add(value(actions[i].table), t, table.Capacity{Table: table.ReadUnits(size, true)})
		}
	}
	return &wire.TransactWriteItemsOutput{ConsumedCapacity: used.consumed()}, nil
}

// applyActions runs all actions. If an action fails, it still runs the others, as the error has a reason for each
// action. It then cancels the transaction.
func applyActions(tx *table.Tx, tables []*table.Table, actions []action, b *budget) ([]table.Change, error) {
	reasons := noReasons(len(actions))
	if err := checkActions(tables, actions, reasons); err != nil {
		return nil, err
	}
	changes := make([]table.Change, len(actions))
	cancelled, invalid := false, false
	var a answer // the items of the reasons
	for i, act := range actions {
		change, err := act.run(tx, tables[i])
		if err == nil {
			err = b.change(tables[i], &change, transactFactor)
		}
		if err == nil {
			changes[i] = change
			continue
		}
		reason, ok := cancellation(err, act.onFailure)
		if !ok {
			return nil, err
		}
		if *reason.Code == codeInvalid {
			if invalid {
				continue // only the first is reported
			}
			invalid = true
		}

		if !a.fits(reason.Item) {
			reason.Item = nil
		}
		reasons[i], cancelled = reason, true
	}
	if cancelled {
		return nil, wire.TransactionCanceled(reasons)
	}

	return changes, nil
}

// checkActions checks the actions before any of them runs. If two actions have the same item, the whole request
// fails. If a key, an item or an update does not fit its table, the transaction is cancelled. Only the first such
// action gets a reason. The others get None, even if their conditions fail. Source: alternator, test_transact.py.
func checkActions(tables []*table.Table, actions []action, reasons []wire.CancellationReason) error {
	for i, a := range actions {
		if err := checkEmptyKey(tables[i], a.key); err != nil {
			return err
		}
	}
	seen := itemSet{}
	for i, a := range actions {
		id, err := a.itemID(tables[i])
		if err != nil {
			continue // reported below
		}
		if seen[id] {
			return wire.OpTransactWriteItems.Invalid(msgOneItem)
		}
		seen[id] = true
	}

	for i, a := range actions {
		err := a.check(tables[i])
		if err == nil {
			continue
		}
		reason, ok := cancellation(err, nil)
		if !ok {
			return err
		}
		reasons[i] = reason
		return wire.TransactionCanceled(reasons)
	}

	return nil
}

// transactActions parses the expressions of all actions. After an error the whole request fails; the transaction is
// not cancelled with reasons. Source: conformance validation-ordering/deepRequests.
func transactActions(in *wire.TransactWriteItemsInput) ([]action, error) {
	actions := make([]action, len(in.TransactItems))
	bytes := 0
	for i := range in.TransactItems {
		it := &in.TransactItems[i]
		n := 0
		for _, present := range []bool{it.ConditionCheck != nil, it.Delete != nil, it.Put != nil, it.Update != nil} {
			if present {
				n++
			}
		}
		if n == 0 {
			return nil, wire.OpTransactWriteItems.Invalid(
				"Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
			)
		}
		if n > 1 {
			return nil, wire.OpTransactWriteItems.Invalid(
				"TransactItems can only contain one of Check, Put, Update or Delete",
			)
		}
	}

	whole, deep := splitFaults(in.Faults)
	for i := range in.TransactItems {
		var err error
		at := "TransactItems." + strconv.Itoa(i)
		faults := func(member string) error { return wire.OpTransactWriteItems.FaultError(whole, at+member) }
		if actions[i], err = parseAction(&in.TransactItems[i], faults); err != nil {
			return nil, err
		}
		if f := deep.At(at + updateValues); f != nil {
			actions[i].invalid = wire.Validation(f.Msg)
		}
		if it := &in.TransactItems[i]; it.Put != nil {
			bytes += it.Put.Item.Size()
		} else if it.Update != nil {
			bytes += it.Update.Key.Size() + it.Update.ExpressionAttributeValues.Size()
		}
	}

	if bytes > MaxTransactBytes {
		return nil, wire.OpTransactWriteItems.Invalid("Transaction payload size cannot exceed 4194304 bytes")
	}
	return actions, nil
}

const (
	updateValues = ".Update.ExpressionAttributeValues"
	checkValues  = ".ConditionCheck.ExpressionAttributeValues"
)

// splitFaults splits the faults of a request. deep has the expression values of an Update or a ConditionCheck that
// are nested too deep. whole has all other faults. Each fault in whole makes the whole request fail. A deep value of
// an Update cancels the transaction, and a deep value of a ConditionCheck has no effect. Source (probable): row 17 of
// a list of differences of 2026-11-26, which is not in this repository.
func splitFaults(all wire.Faults) (whole, deep wire.Faults) {
	for _, f := range all {
		if f.Nesting() && (strings.Contains(f.Path, updateValues+".") || strings.Contains(f.Path, checkValues+".")) {
			deep = append(deep, f)
		} else {
			whole = append(whole, f)
		}
	}
	return whole, deep
}

// parseAction parses one action. The function faults returns the first error of the values in a member of the action,
// or in the whole action if member is "". The service reports errors of expressions before those of a key. Source:
// conformance validation-ordering/deepRequests, for a Delete.
func parseAction(it *wire.TransactWriteItem, faults func(member string) error) (action, error) {
	u, kind, values := it.Update, updateAction, updateValues
	switch {
	case it.Put != nil:
		u, kind, values = wire.As[wire.Update](it.Put), putAction, ""
		u.Key = it.Put.Item
	case it.Delete != nil:
		u, kind, values = wire.As[wire.Update](it.Delete), deleteAction, ".Delete.ExpressionAttributeValues"
	case it.ConditionCheck != nil:
		u, kind, values = wire.As[wire.Update](it.ConditionCheck), checkAction, checkValues
	}
	w := writeParams{
		expressions: expressions{
			op: wire.OpTransactWriteItems, names: u.ExpressionAttributeNames, values: u.ExpressionAttributeValues,
		},
		action: action{kind: kind, table: u.TableName, key: u.Key, onFailure: u.ReturnValuesOnConditionCheckFailure},
		unused: kind == putAction || kind == deleteAction,
	}
	err := faults(values)
	if err == nil && kind == putAction && u.Key.Size() > table.MaxItemBytes {
		err = w.op.Invalid(msgItemSize)
	}
	if err == nil {
		w.update, err = w.parseUpdate(u.UpdateExpression, u.ConditionExpression)
	}
	return w.action, cmp.Or(err, faults(""))
}
