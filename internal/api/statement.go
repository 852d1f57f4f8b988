package api

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// ExecuteStatement, BatchExecuteStatement and ExecuteTransaction share the code in this file. For the sources of the
// texts, see package partiql.

// parseStatement parses a PartiQL statement. It returns errors in the form that clients get.
func parseStatement(statement *string, params []attr.Value) (*partiql.Statement, error) {
	s, err := partiql.Parse(value(statement), params)
	return s, statementError(err)
}

// checkIndex finds an error that the service reports before refused, the error of a statement that calls an
// unsupported function. If the statement selects from an index whose partition key or sort key has several
// attributes, checkIndex returns the error for that index, and otherwise nil. Source of the order: dynoxide and
// others (probable).
func (s *Service) checkIndex(view *table.View, refused error) error {
	e, ok := errors.AsType[*partiql.Error](refused)
	if !ok || e.Index == "" {
		return nil
	}
	t, err := s.lookup(view.Table, &e.Table)
	if err != nil || !t.HasIndex(e.Index) {
		return nil
	}
	if ix, err := view.Index(t, e.Index); err == nil && severalAttributes(ix) {
		return wire.Validation(msgSeveralAttributes)
	}
	return nil
}

const msgSeveralAttributes = "PartiQL statements cannot be executed on tables with multi-attribute HASH " +
	"keys or multi-attribute RANGE keys."

func severalAttributes(ix *table.Index) bool {
	return len(ix.Key().Partition()) > 1 || len(ix.Key().Sort()) > 1
}

// statementError converts an error of package partiql to the error that clients get.
func statementError(err error) error {
	if e, ok := errors.AsType[*partiql.Error](err); ok {
		return wire.Validation(e.Msg)
	}
	return err
}

// statementDigest returns a hash of statements with their parameters.
func statementDigest(statements ...wire.ParameterizedStatement) []byte {
	h := sha256.New()
	var buf []byte
	for _, s := range statements {
		buf = binary.AppendUvarint(buf[:0], uint64(len(value(s.Statement))))
		buf = append(buf, value(s.Statement)...)
		buf = binary.AppendUvarint(buf, uint64(len(s.Parameters)))
		for _, v := range s.Parameters {
			buf = v.AppendJSON(buf)
		}
		h.Write(buf)
	}
	return h.Sum(nil)
}

// returnModes has the ReturnValues for each value of [partiql.Statement.Returning].
var returnModes = map[string]string{
	"ALL OLD": returnAllOld, "ALL NEW": returnAllNew, "MODIFIED OLD": returnUpdatedOld,
	"MODIFIED NEW": returnUpdatedNew,
}

// runWrite runs a statement that writes one item. The output has the attributes for which its RETURNING clause asks.
func (s *Service) runWrite(
	ctx context.Context, st *partiql.Statement, mode, onFailure *string,
) (writeOutput, error) {
	w := writeParams{action: action{table: &st.Table, onFailure: onFailure}, mode: mode, statement: st}
	w.returns = new(returnModes[st.Returning])
	return w.apply(ctx, s)
}

// statementAction converts a statement other than SELECT to an action on an item of t.
//
// An INSERT fails if the item exists. An UPDATE and an EXISTS fail if the item does not exist. A DELETE of an item
// that does not exist succeeds and does nothing, whatever other conditions its WHERE has (conformance
// executeStatement).
func statementAction(t *table.Table, st *partiql.Statement) (action, error) {
	if st.Kind == partiql.Insert {
		cond := expr.NewCondition(onItem(t, ast.AttributeNotExists))
		return action{kind: insertAction, table: &st.Table, key: st.Item, cond: cond}, nil
	}

	a := action{kind: checkAction, table: &st.Table, update: st.Update}
	key, rest, ok, err := st.Key(t.Key())
	switch {
	case err != nil:
		return a, statementError(err)
	case st.Kind == partiql.Exists && (!ok || rest == nil):
		return a, wire.Validation("EXISTS() must contain a single item read with additional condition")
	case !ok:
		return a, wire.Validation("Where clause does not contain a mandatory equality on all key attributes")
	}

	if st.Where != nil {
		if err := t.CheckPaths(expr.Paths(st.Where)); err != nil {
			return a, err
		}
	}
	a.key, a.cond = key, rest
	switch st.Kind {
	case partiql.Delete:
		a.kind = deleteAction
		if rest != nil {
			a.cond = expr.NewCondition(&ast.Or{L: onItem(t, ast.AttributeNotExists), R: expr.Node(rest)})
		}
		return a, nil
	case partiql.Update:
		a.kind = updateAction
	}
	exists := onItem(t, ast.AttributeExists)
	if rest != nil {
		exists = &ast.And{L: exists, R: expr.Node(rest)}
	}
	a.cond = expr.NewCondition(exists)
	return a, nil
}

// onItem returns the condition that an item exists or that it does not exist. fn is the function for that condition.
// Its argument is the first attribute of the partition key, which every item has.
func onItem(t *table.Table, fn ast.Func) ast.Node {
	return &ast.Call{
		Func: fn, Args: []ast.Operand{&ast.PathOperand{Path: ast.Path{{Name: t.Key().Partition()[0].Name}}}},
	}
}

// statementRead returns the table or index that a SELECT reads, and its key schema. If the SELECT names attributes
// that the index does not project, a global index gets an error (conformance indexQualifier). For a local index, the
// read fetches these attributes from the table.
func statementRead(
	view *table.View, t *table.Table, st *partiql.Statement, consistent bool,
) (table.Read, *keycond.Schema, error) {
	read := table.Read{Table: t, Consistent: consistent}
	if err := t.CheckPaths(st.Selected()); err != nil {
		return read, nil, err
	}
	if st.Index == "" {
		return read, t.Key(), nil
	}

	// Sources of the texts: captures of the service, eu-west-2, 2026-08-11 and 15.
	if t.HasVector(st.Index) {
		return read, nil, wire.Validation(msgScanType)
	}
	if !t.HasIndex(st.Index) {
		return read, nil, wire.Validation("The table does not have the specified index")
	}
	ix, err := view.Index(t, st.Index)
	switch {
	case err != nil:
		return read, nil, err
	case severalAttributes(ix):
		return read, nil, wire.Validation(msgSeveralAttributes)
	case !ix.Local() && consistent:
		return read, nil, wire.Validation("Strongly consistent read is not supported on Global Secondary Indexes")
	}

	read.Index = ix
	missing := notProjected(ix, func(yield func(string) bool) {
		for path := range st.Selected() {
			if !yield(path[0].Name) {
				return
			}
		}
	})
	if read.Fetch = len(missing) > 0; read.Fetch && !ix.Local() {
		return read, nil, errNotProjected(ix, missing)
	}
	return read, ix.Key(), nil
}

// pointRead returns the key of the item that a SELECT in a batch or a transaction reads. It returns an error if the
// WHERE is anything but the primary key (conformance partiqlFunctions), or if the SELECT reads an index.
func pointRead(
	view *table.View, t *table.Table, st *partiql.Statement, consistent bool, operation string,
) (attr.Item, error) {
	if _, _, err := statementRead(view, t, st, consistent); err != nil {
		return nil, err
	}
	key, rest, ok, err := st.Key(t.Key())
	if err != nil {
		return nil, statementError(err)
	}
	if !ok || rest != nil || st.Index != "" || st.Order != nil {
		return nil, wire.Validation(
			"Select statements within " + operation + " must specify the primary key in the where clause.",
		)
	}
	return key, nil
}
