package api

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Limits of transactions. Source: DG/transaction-apis.html.
const (
	MaxTransactActions = 100
	MaxTransactBytes   = 4 << 20
)

// codeInvalid is the cancellation reason code of an action that fails validation.
const codeInvalid = "ValidationError"

// An action is one write or condition check of a transaction. Its expressions are parsed. A PartiQL statement that
// writes is an action too.
type action struct {
	kind      actionKind
	table     *string
	key       attr.Item // for a put, the whole item
	update    *expr.Update
	cond      *expr.Condition
	onFailure *string
	invalid   error // of a value in the request; it cancels the transaction
}

type actionKind int

const (
	putAction    actionKind = iota
	insertAction            // a put of an item that must not exist
	updateAction
	deleteAction
	checkAction
)

func (a *action) puts() bool { return a.kind <= insertAction }

// check does the checks that do not need stored items.
func (a *action) check(t *table.Table) error {
	var err error
	switch {
	case a.puts():
		err = t.CheckPut(a.key)
	case a.kind == updateAction:
		err = t.CheckUpdate(a.key, a.update)
	default:
		err = t.CheckKey(a.key)
	}
	return cmp.Or(err, a.invalid)
}

func (a *action) run(tx *table.Tx, t *table.Table) (table.Change, error) {
	switch a.kind {
	case updateAction:
		return tx.Update(t, a.key, a.update, a.cond)
	case deleteAction:
		return tx.Delete(t, a.key, a.cond)
	case checkAction:
		return tx.Check(t, a.key, a.cond)
	}
	change, err := tx.Put(t, a.key, a.cond)
	if a.kind == insertAction && isKind(err, table.ConditionFailed) {
		err = wire.NewError(codeDuplicate, "Duplicate primary key exists in table")
	}
	return change, err
}

// itemKey returns the key of an action's item.
func (a *action) itemKey(t *table.Table) (attr.Item, error) {
	if a.puts() {
		return t.KeyOf(a.key)
	}
	return a.key, nil
}

// keysToWrite yields the keys of the items that actions write, with their tables. It skips items without a valid key.
func keysToWrite(tables []*table.Table, actions []action) iter.Seq2[*table.Table, attr.Item] {
	return func(yield func(*table.Table, attr.Item) bool) {
		for i, a := range actions {
			if key, err := a.itemKey(tables[i]); err == nil && !yield(tables[i], key) {
				return
			}
		}
	}
}

// itemID returns the [itemID] of the item that the action writes.
func (a *action) itemID(t *table.Table) (string, error) {
	if !a.puts() {
		return itemID(t, a.key)
	}
	partition, sort, err := t.ItemAddress(a.key)
	if err != nil {
		return "", err
	}
	return idAt(t, partition, sort), nil
}

// cancellation returns the reason that a cancelled transaction gives for err, the error of one of its actions.
// onFailure is the ReturnValuesOnConditionCheckFailure of that action. If err makes the whole request fail, so that
// no action needs a reason, cancellation returns false.
func cancellation(err error, onFailure *string) (r wire.CancellationReason, ok bool) {
	if code := contentionCode(err); code != "" {
		return wire.CancellationReason{Code: &code, Message: new(err.Error())}, true
	}
	e, ok := errors.AsType[*table.Error](err)
	if !ok {
		e, ok := errors.AsType[*wire.Error](err)
		if !ok || e.Code != wire.CodeValidation && e.Code != codeDuplicate {
			return r, false
		}
		return wire.CancellationReason{Code: new(memberCode(e)), Message: new(e.Message)}, true
	}

	switch e.Kind {
	case table.ConditionFailed:
		r.Code, r.Message = new("ConditionalCheckFailed"), new("The conditional request failed")
		if value(onFailure) == returnAllOld {
			r.Item = bytes.Clone(e.Item)
		}
		return r, true
	case table.Validation:
		return wire.CancellationReason{Code: new(codeInvalid), Message: new(e.Msg)}, !e.Whole
	}

	return r, false
}

// checkEmptyKey returns an error if a key attribute has an empty value. With an empty value the whole request fails.
// With any other invalid key, only the action gets a cancellation reason. Source: conformance
// error-messages/transactWriteItems.
func checkEmptyKey(t *table.Table, key attr.Item) error {
	for _, a := range t.Key().Attributes() {
		if v := key.Get(a.Name); v.Kind() == a.Kind && a.Kind != attr.Number && len(v.Raw()) == 0 {
			return t.Key().CheckValue(a, v)
		}
	}
	return nil
}

// contentionCode returns the reason code of a transaction conflict or of a throttling error, or "" for other errors.
func contentionCode(err error) string {
	if isCode(err, codeConflict) {
		return "TransactionConflict"
	}
	return throttleCode(err)
}

// memberCode returns the code with which a batch reports the error e of one of its statements. Source: the service
// model, BatchStatementErrorCodeEnum.
func memberCode(e *wire.Error) string {
	if code := throttleCode(e); code != "" {
		return code
	}
	if e.Code == wire.CodeValidation {
		return codeInvalid
	}
	return strings.TrimSuffix(e.Code, "Exception")
}
