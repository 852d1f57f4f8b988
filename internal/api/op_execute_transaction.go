package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/attr"
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
	out := new(wire.ExecuteTransactionOutput)
	var err error
	if parsed[0].Kind == partiql.Select {
		out.Responses, out.ConsumedCapacity, err = s.readTransaction(ctx, wire.OpExecuteTransaction,
			in.ReturnConsumedCapacity, func(view *table.View) ([]transactRead, error) {
				return s.statementReads(view, parsed)
			})
		return out, err
	}

	same := wire.As[wire.TransactWriteItemsInput](in)
	done, err := s.writeTransaction(ctx, same, statementDigest(in.TransactStatements...),
		func(view *table.View) ([]action, error) { return s.statementActions(view, in, parsed) })
	if err != nil {
		return nil, err
	}
	// Writes have no responses (conformance writeResponses).
	out.ConsumedCapacity, out.Responses = done.ConsumedCapacity, []wire.ItemResponse{}
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
func (s *Service) statementActions(
	view *table.View, in *wire.ExecuteTransactionInput, statements []*partiql.Statement,
) ([]action, error) {
	actions := make([]action, len(statements))
	for i, st := range statements {
		t, err := s.lookup(view.Table, &st.Table)
		if err != nil {
			return nil, err
		}
		if actions[i], err = statementAction(t, st); err != nil {
			return nil, inStatement(i, s.wireError(err))
		}
		actions[i].onFailure = in.TransactStatements[i].ReturnValuesOnConditionCheckFailure
	}
	return actions, nil
}

// statementReads converts SELECT statements to reads of a transaction.
func (s *Service) statementReads(view *table.View, statements []*partiql.Statement) ([]transactRead, error) {
	reads := make([]transactRead, len(statements))
	seen := itemSet{}
	for i, st := range statements {
		t, err := s.lookup(view.Table, &st.Table)
		if err != nil {
			return nil, err
		}
		key, err := pointRead(view, t, st, true, wire.OpExecuteTransaction.String())
		isNew := false
		if err == nil {
			isNew, err = seen.add(t, key)
		}
		switch {
		case err != nil:
			return nil, inStatement(i, s.wireError(err))
		case !isNew:
			return nil, wire.OpExecuteTransaction.Invalid(msgOneItem)
		}
		reads[i] = transactRead{st.Table, t, key, func(it attr.Item) attr.Item { return st.AppendResult(nil, it) }}
	}
	return reads, nil
}
