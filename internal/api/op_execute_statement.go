package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// executeStatement runs one PartiQL statement. Source: API_ExecuteStatement.
func (s *Service) executeStatement(
	ctx context.Context, in *wire.ExecuteStatementInput,
) (*wire.ExecuteStatementOutput, error) {
	if err := wire.OpExecuteStatement.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	st, err := partiql.Parse(value(in.Statement), in.Parameters)
	if err != nil {
		refused := s.db.View(ctx, func(view *table.View) error { return s.checkIndex(view, err) })
		return nil, cmp.Or(refused, statementError(err))
	}
	switch st.Kind {
	case partiql.Exists:
		return nil, wire.Validation(msgExists)
	case partiql.Select:
		return s.runSelect(ctx, in, st)
	}

	written, err := s.runWrite(ctx, st, in.ReturnConsumedCapacity, in.ReturnValuesOnConditionCheckFailure)
	if err != nil {
		return nil, err
	}
	out := &wire.ExecuteStatementOutput{Items: []attr.Item{}, ConsumedCapacity: written.ConsumedCapacity}
	if written.Attributes != nil {
		out.Items = append(out.Items, written.Attributes)
	}
	return out, nil
}

const msgExists = "EXISTS can only be used in ExecuteTransaction write requests."

// runSelect reads one page of the result of a SELECT.
func (s *Service) runSelect(
	ctx context.Context, in *wire.ExecuteStatementInput, st *partiql.Statement,
) (*wire.ExecuteStatementOutput, error) {
	digest := statementDigest(wire.ParameterizedStatement{Statement: in.Statement, Parameters: in.Parameters})
	at, err := parseNextToken(in.NextToken, digest)
	if err != nil {
		return nil, err
	}
	var out *wire.ExecuteStatementOutput
	err = s.db.View(ctx, func(view *table.View) error {
		out = &wire.ExecuteStatementOutput{Items: []attr.Item{}}
		t, err := s.lookup(view.Table, &st.Table)
		if err != nil {
			return err
		}
		read, plan, err := planSelect(view, t, st, value(in.ConsistentRead))
		if err != nil {
			return err
		}
		read.Limit = int(value(in.Limit))
		var a answer
		used, next, err := readPlan(view, read, plan, at, s.budget(ctx, false), func(it attr.Item) error {
			result := st.AppendResult(nil, it)
			out.Items = append(out.Items, result)
			if a.add(result, 0); a.full() {
				return keycond.ErrEndPage
			}
			return nil
		})
		if err != nil {
			return err
		}

		if next != nil {
			out.LastEvaluatedKey, out.NextToken = next.Key, new(next.token(digest))
		}
		consume(ctx, t.Name(), false, used)
		out.ConsumedCapacity = consumed(in.ReturnConsumedCapacity, st.Table, used)
		return a.reserve(ctx)
	})

	return out, err
}

// planSelect checks a SELECT and plans the queries or the scan that read it.
func planSelect(
	view *table.View, t *table.Table, st *partiql.Statement, consistent bool,
) (table.Read, *partiql.Plan, error) {
	read, schema, err := statementRead(view, t, st, consistent)
	if err != nil {
		return read, nil, err
	}
	if st.Where != nil {
		if err := t.CheckPaths(expr.Paths(st.Where)); err != nil {
			return read, nil, err
		}
	}
	plan, err := st.Plan(schema)
	if err != nil {
		return read, nil, statementError(err)
	}
	read.Filter = plan.Filter
	if read.Index == nil || !plan.Keyed {
		// A scan may filter by attributes that the index does not project. Such attributes count as missing.
		return read, plan, nil
	}
	return read, plan, checkFiltered(read.Index, plan.Filter)
}

// A pagePlace is the place at which a page of a SELECT begins: in slice number Slice of the plan, after Key. If Key
// is nil, the page begins at the start of the slice.
type pagePlace struct {
	Slice int
	Key   attr.Item
}

// readPlan reads the page that begins at the given place. It reads the slices of the plan one after the other. It
// returns the consumed capacity and the place of the next page, which is nil after the last page.
func readPlan(
	view *table.View, read table.Read, plan *partiql.Plan, at pagePlace, b *budget, visit func(attr.Item) error,
) (*table.Capacity, *pagePlace, error) {
	used, examined, size := new(table.Capacity), 0, 0
	if at.Slice > 0 && at.Slice >= len(plan.Slices) {
		return nil, nil, wire.Validation(msgToken)
	}
	for ; ; at = (pagePlace{Slice: at.Slice + 1}) {
		var page table.Page
		var err error
		r := read
		if r.Start = at.Key; read.Limit > 0 {
			r.Limit -= examined
		}
		var partition []byte
		if len(plan.Slices) > 0 {
			partition = plan.Slices[at.Slice].Partition
		}
		if err := b.page(&r, partition); err != nil {
			return nil, nil, err
		}
		if len(plan.Slices) == 0 {
			page, err = view.Scan(&table.Scan{Read: r}, visit)
		} else {
			page, err = view.Query(&table.Query{Read: r, Slice: plan.Slices[at.Slice], Reverse: plan.Reverse}, visit)
		}
		if err != nil {
			return nil, nil, err
		}
		b.spent(&r, partition, &page.Capacity)
		used.Add(page.Capacity)
		examined += page.Examined
		size += page.Bytes
		switch {
		case page.Last != nil:
			return used, &pagePlace{at.Slice, page.Last}, nil
		case at.Slice+1 >= len(plan.Slices):
			return used, nil, nil
		case read.Limit > 0 && examined >= read.Limit || size >= keycond.PageBytes:
			return used, &pagePlace{Slice: at.Slice + 1}, nil
		}
	}
}

// Messages about a NextToken. The service's own texts are not known.
const (
	msgToken      = "Invalid NextToken"
	msgTokenOther = "NextToken does not match request"
)

// tokenDigest is the number of bytes of the statement's digest at the start of a NextToken. The number of the slice
// follows and, after a space, the key.
const tokenDigest = 16

// token returns the NextToken for the page that begins at p, in base64.
func (p pagePlace) token(digest []byte) string {
	raw := strconv.AppendInt(slices.Clone(digest[:tokenDigest]), int64(p.Slice), 10)
	if p.Key != nil {
		raw = p.Key.AppendJSON(append(raw, ' '))
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseNextToken returns the place at which the page of a NextToken begins. It returns an error if another statement
// returned the token.
func parseNextToken(token *string, digest []byte) (p pagePlace, err error) {
	if token == nil {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(*token)
	if err != nil || len(raw) < tokenDigest {
		return p, wire.Validation(msgToken)
	}
	if !bytes.Equal(raw[:tokenDigest], digest[:tokenDigest]) {
		return p, wire.Validation(msgTokenOther)
	}

	number, key, hasKey := bytes.Cut(raw[tokenDigest:], []byte(" "))
	if p.Slice, err = strconv.Atoi(string(number)); err != nil || p.Slice < 0 {
		return p, wire.Validation(msgToken)
	}
	if hasKey {
		if p.Key, err = attr.ParseItem(key); err != nil {
			return p, wire.Validation(msgToken)
		}
	}
	return p, nil
}
