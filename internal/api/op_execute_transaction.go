package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// executeTransaction runs up to 100 PartiQL statements, all or none of them. The statements must all read or all
// write. Source: API_ExecuteTransaction.
func (s *Service) executeTransaction(
	ctx context.Context, in *wire.ExecuteTransactionInput,
) (*wire.ExecuteTransactionOutput, error) {
	if err := wire.OpExecuteTransaction.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	parsed := make([]*partiql.Statement, len(in.TransactStatements))
	for i, m := range in.TransactStatements {
		st, err := parseStatement(m.Statement, m.Parameters)
		if err == nil {
			err = checkTransactStatement(st)
		}
		if err != nil {
			return nil, inStatement(i, err)
		}
		parsed[i] = st
	}

	if mixed(parsed) {
		return nil, wire.Validation(
			"ExecuteTransaction API does not support both read and write operations in the same request.",
		)
	}
	var out *wire.ExecuteTransactionOutput
	var used *transactUse
	var err error
	b := s.budget(ctx, parsed[0].Kind != partiql.Select)
	if parsed[0].Kind == partiql.Select {
		err = s.db.View(ctx, func(view *table.View) (err error) {
			used = newTransactUse(in.ReturnConsumedCapacity, true)
			out, err = s.readStatements(ctx, view, parsed, used, b)
			return err
		})
	} else {
		items := func(view *table.View) ([]string, error) {
			actions, err := s.statementActions(view, parsed)
			if err != nil {
				return nil, err
			}
			return s.itemsOf(view, actions)
		}
		err = s.transact(ctx, in.ClientRequestToken, items, func(tx *table.Tx) (err error) {
			used = newTransactUse(in.ReturnConsumedCapacity, false)
			out, err = s.writeStatements(tx, in, parsed, used, b)
			return err
		})
	}
	if err != nil {
		return nil, err
	}

	b.spend()
	used.record(ctx)
	if parsed[0].Kind == partiql.Select {
		got(ctx, out.Responses)
	}
	return out, nil
}

// inStatement adds the index i of the statement to the message of a ValidationException. It does not change other
// errors. Source: conformance partiqlFunctions.
func inStatement(i int, err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Code == wire.CodeValidation {
		return wire.Validation(fmt.Sprintf("Validation failed in TransactStatements[%d]: %s", i, e.Message))
	}
	return err
}

// checkTransactStatement returns an error for clauses that a statement in a transaction cannot have. Source:
// conformance executeTransaction; for EXISTS, DynamoDB Local.
func checkTransactStatement(st *partiql.Statement) error {
	switch {
	case st.Returning != "":
		return wire.Validation("RETURNING clause is not supported in ExecuteTransaction.")
	case st.Kind == partiql.Select && st.Index != "":
		return wire.Validation("Reads on indices are not supported within transactions.")
	case st.Index != "":
		return wire.Validation("Operations on indices are not supported in transactions")
	}
	return nil
}

// statementActions converts statements other than SELECT to actions of a transaction.
func (s *Service) statementActions(view *table.View, statements []*partiql.Statement) ([]action, error) {
	actions := make([]action, len(statements))
	for i, st := range statements {
		t, err := s.lookup(view.Table, &st.Table)
		if err != nil {
			return nil, err
		}
		if actions[i], err = statementAction(t, st); err != nil {
			return nil, inStatement(i, s.wireError(err))
		}
	}
	return actions, nil
}

// writeStatements runs the statements in tx like the actions of a TransactWriteItems.
func (s *Service) writeStatements(
	tx *table.Tx, in *wire.ExecuteTransactionInput, statements []*partiql.Statement, used *transactUse, b *budget,
) (*wire.ExecuteTransactionOutput, error) {
	actions, err := s.statementActions(&tx.View, statements)
	if err != nil {
		return nil, err
	}
	for i := range actions {
		actions[i].onFailure = in.TransactStatements[i].ReturnValuesOnConditionCheckFailure
	}
	same := &wire.TransactWriteItemsInput{
		ClientRequestToken: in.ClientRequestToken, ReturnConsumedCapacity: in.ReturnConsumedCapacity,
	}
	done, err := s.runTransact(tx, same, actions, statementDigest(in.TransactStatements...), used, b)
	if err != nil {
		return nil, err
	}
	// Writes have no responses (conformance writeResponses).
	return &wire.ExecuteTransactionOutput{
		ConsumedCapacity: done.ConsumedCapacity, Responses: []wire.ItemResponse{},
	}, nil
}

// readStatements reads the item of each statement.
func (s *Service) readStatements(
	ctx context.Context, view *table.View, statements []*partiql.Statement, used *transactUse, b *budget,
) (*wire.ExecuteTransactionOutput, error) {
	out := &wire.ExecuteTransactionOutput{Responses: make([]wire.ItemResponse, len(statements))}
	seen := itemSet{}
	total := 0
	var a answer
	reasons := make([]wire.CancellationReason, len(statements))
	cancelled := false
	for i, st := range statements {
		reasons[i].Code = new("None")
		t, err := s.lookup(view.Table, &st.Table)
		if err != nil {
			return nil, err
		}
		key, err := pointRead(view, t, st, true, wire.OpExecuteTransaction.String())
		if err != nil {
			return nil, inStatement(i, s.wireError(err))
		}
		if ok, err := seen.add(t, key); err != nil {
			return nil, inStatement(i, s.wireError(err))
		} else if !ok {
			return nil, wire.OpExecuteTransaction.Invalid(msgOneItem)
		}
		item, err := view.Get(t, key)
		if err != nil {
			return nil, err
		}
		if total += item.Size(); total > MaxTransactBytes {
			return nil, wire.OpExecuteTransaction.Invalid(msgTransactBytes)
		}
		if item != nil {
			out.Responses[i].Item = st.AppendResult(nil, item)
			if !a.fits(out.Responses[i].Item) {
				return nil, wire.OpExecuteTransaction.Invalid(msgTransactJSON)
			}
		}

		c := table.Capacity{Table: table.ReadUnits(t.BilledSize(item), true)}
		if err := s.admitRead(t, key, &c, b); err != nil {
			reasons[i], cancelled = cancellation(err, nil)
		}
		used.add(st.Table, t, c)
	}
	if cancelled {
		return nil, wire.TransactionCanceled(reasons)
	}

	out.ConsumedCapacity = used.consumed()
	return out, a.reserve(ctx)
}
