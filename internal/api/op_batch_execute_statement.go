package api

import (
	"context"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// batchExecuteStatement runs up to 25 PartiQL statements independently. If a statement fails, its response has the
// error, and the other statements run all the same. Source: API_BatchExecuteStatement.
func (s *Service) batchExecuteStatement(
	ctx context.Context, in *wire.BatchExecuteStatementInput,
) (*wire.BatchExecuteStatementOutput, error) {
	parsed := make([]*partiql.Statement, len(in.Statements))
	failed := make([]error, len(in.Statements))
	for i, m := range in.Statements {
		if failed[i] = wire.OpBatchExecuteStatement.FaultError(
			in.Faults, "Statements."+strconv.Itoa(i),
		); failed[i] == nil {
			parsed[i], failed[i] = parseStatement(m.Statement, m.Parameters)
		}
	}

	if mixed(parsed) {
		return nil, wire.Validation("Read and write requests together in the same batch is not supported.")
	}
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	if s.repeated(ctx, parsed) {
		return nil, wire.Validation(msgDuplicateKeys)
	}

	out := &wire.BatchExecuteStatementOutput{Responses: make([]wire.BatchStatementResponse, len(parsed))}
	var uses []use
	var a answer
	succeeded := false
	for i, st := range parsed {
		r := &out.Responses[i]
		err := failed[i]
		if err == nil && a.full() {
			err = errAnswerFull
		}
		ran := false // the statement has reached its table
		if err == nil {
			var u use
			r.Item, u, err = s.runMember(ctx, st, value(in.Statements[i].ConsistentRead))
			if r.Item != nil {
				a.add(r.Item, 0)
			}
			if ran = u.table != ""; ran {
				uses = addUse(uses, u)
			}
		}
		if ran { // conformance batchExecuteStatement: only then does the response name the table
			r.TableName = &st.Table
		}
		if err == nil {
			succeeded = true
			continue
		}
		e := s.wireError(err)
		if e.Code == wire.CodeUnavailable {
			return nil, e
		}
		r.Error = &wire.BatchStatementError{Code: new(memberCode(e)), Message: &e.Message}
	}

	if succeeded { // if no statement succeeds, the batch reports no units
		out.ConsumedCapacity = consumedBy(in.ReturnConsumedCapacity, uses)
	}
	return out, a.reserve(ctx)
}

// errAnswerFull is the error of a statement that does not run because the response may have no space left for its
// item. It is not documented what the service does in this case. The code is one of BatchStatementErrorCodeEnum.
var errAnswerFull = wire.NewError("RequestLimitExceeded",
	"The response of the batch is full and this statement did not run; run it in another batch")

// mixed reports whether some statements read and others write. It skips nil statements.
func mixed(statements []*partiql.Statement) bool {
	var reads, writes bool
	for _, st := range statements {
		if st != nil {
			reads = reads || st.Kind == partiql.Select
			writes = writes || st.Kind != partiql.Select
		}
	}
	return reads && writes
}

// repeated reports whether two statements name the same item. It skips invalid statements, which are nil. Source:
// dynoxide's captures of 2026-10-09.
func (s *Service) repeated(ctx context.Context, statements []*partiql.Statement) bool {
	items := itemSet{}
	for _, st := range statements {
		if st == nil {
			continue
		}
		t, err := s.lookup(s.defined(ctx), &st.Table)
		if err != nil {
			continue
		}
		var key attr.Item
		if st.Kind == partiql.Insert {
			key, err = t.KeyOf(st.Item)
		} else {
			key, _, _, err = st.Key(t.Key())
		}
		if err != nil {
			continue
		}
		if isNew, err := items.add(t, key); err == nil && !isNew {
			return true
		}
	}
	return false
}

// runMember runs one statement of a batch. If the statement fails before it reads or writes the table, u has no
// table. ReturnValuesOnConditionCheckFailure has no effect in a batch (conformance batchExecuteStatement).
func (s *Service) runMember(
	ctx context.Context, st *partiql.Statement, consistent bool,
) (item attr.Item, u use, err error) {
	switch st.Kind {
	case partiql.Exists:
		return nil, use{}, wire.Validation(msgExists)
	case partiql.Select:
		err = s.db.View(ctx, func(view *table.View) error {
			t, err := s.lookup(view.Table, &st.Table)
			if err != nil {
				return err
			}
			key, err := pointRead(view, t, st, consistent, wire.OpBatchExecuteStatement.String())
			if err != nil {
				return err
			}
			found, err := readItem(view, t, key, consistent)
			if err != nil {
				return err
			}

			units := table.ReadUnits(t.BilledSize(found), consistent)
			b := s.budget(ctx, false)
			if err := b.item(t, key, units); err != nil {
				return err
			}
			b.spend()
			event.Of(ctx).Got(1, 0)
			if found != nil {
				item = st.AppendResult(nil, found)
				event.Of(ctx).Got(0, 1)
			}
			u = use{t.Name(), t.Name(), table.Capacity{Table: units}}
			consume(ctx, t.Name(), false, &u.Capacity)
			return nil
		})
		return item, u, err
	}

	out, err := s.runWrite(ctx, st, nil, nil)
	if err == nil || out.refused {
		u = out.use
	}
	return out.Attributes, u, err
}

// addUse adds u to the element of uses for the same table. If there is none, it appends u.
func addUse(uses []use, u use) []use {
	for i := range uses {
		if uses[i].table == u.table {
			uses[i].Add(u.Capacity)
			return uses
		}
	}
	return append(uses, u)
}
