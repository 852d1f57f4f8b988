package api

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
)

const msgScanType = "Scan operation not supported on this index type"

// Values of Select.
const (
	selectAll       = "ALL_ATTRIBUTES"
	selectProjected = "ALL_PROJECTED_ATTRIBUTES"
	selectSpecific  = "SPECIFIC_ATTRIBUTES"
	selectCount     = "COUNT"
)

// readParams are the parameters that reads share. Reads by key use only few of them.
type readParams struct {
	expressions
	table, index, sel, projected, mode *string
	attributes                         []string
	consistent                         bool
	limit                              int64
	start                              attr.Item

	filter       *expr.Condition
	legacyFilter bool // the filter comes from QueryFilter or ScanFilter
	projection   *expr.Projection
	scratch      []byte
	visit        Visit  // of a query or a scan
	answer       answer // what visit has got
}

// parseLegacy parses the legacy filter and AttributesToGet. The service reports errors in these first, and then
// errors in the start key. It reports errors in expressions and in the key condition after that. Source: dynalite,
// validations/query.js and scan.js.
func (r *readParams) parseLegacy(
	p expr.Param, filter map[string]wire.Condition, operator *string, faults wire.Faults,
) (err error) {
	if err := r.op.FaultError(faults, string(p)); err != nil {
		return err
	}
	if r.filter, err = r.legacyCondition(p, filter, operator); err != nil {
		return err
	}
	r.legacyFilter = r.filter != nil
	if r.projection, err = r.expressions.projection(nil, r.attributes); err != nil {
		return err
	}
	return cmp.Or(r.op.FaultError(faults, "ExclusiveStartKey"), r.op.FaultError(faults, "ExpressionAttributeValues"))
}

// parse parses the filter and the projection, and does all checks that do not depend on the table. The order of
// errors follows dynalite, validations/query.js.
func (r *readParams) parse(filter *string) (err error) {
	if filter != nil {
		if r.filter, err = r.condition(expr.FilterExpression, filter); err != nil {
			return err
		}
	}
	if r.projected != nil {
		if r.projection, err = r.expressions.projection(r.projected, nil); err != nil {
			return err
		}
	}
	if err := r.close(); err != nil {
		return err
	}
	return r.checkSelect()
}

// parseProjection parses the projection of a read by key, which has no other expression.
func (r *readParams) parseProjection(src *string, attributes []string) (err error) {
	if err := r.open(); err != nil {
		return err
	}
	if r.projection, err = r.expressions.projection(src, attributes); err != nil {
		return err
	}
	return r.close()
}

// checkSelect returns an error if Select contradicts the other parameters. Sources: for the rules, dynalite,
// test/query.js and test/scan.js; for the texts, authors who ran their requests against the service in 2025 and 2026.
// They saw the prefix "1 validation error detected" for Query only; dynoxide saw the prefix for Scan too, in two
// regions on 2026-10-20.
func (r *readParams) checkSelect() error {
	message := r.contradiction()
	if message == "" {
		return nil
	}
	if r.op == wire.OpQuery {
		message = "1 validation error detected: " + message
	}
	return r.op.Invalid(message)
}

// contradiction returns a text that says how Select contradicts the other parameters. It returns "" if it does not.
func (r *readParams) contradiction() string {
	if r.sel == nil {
		return ""
	}
	if r.projection != nil && *r.sel != selectSpecific {
		param, what := "ProjectionExpression", *r.sel
		if r.attributes != nil {
			param = "AttributesToGet"
		}
		if what == selectCount {
			what = "only the Count"
		}
		return fmt.Sprintf("Cannot specify the %s when choosing to get %s", param, what)
	}

	switch {
	case *r.sel == selectSpecific && r.projection == nil:
		return "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
	case *r.sel == selectProjected && r.index == nil:
		return "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
	}
	return ""
}

// resolve finds the table and the index of the read. It also returns the key schema of the table or index.
func (r *readParams) resolve(s *Service, view *table.View) (table.Read, *keycond.Schema, error) {
	read := table.Read{Start: r.start, Limit: int(r.limit), Consistent: r.consistent, Filter: r.filter}
	t, err := s.lookup(view.Table, r.table)
	if err != nil {
		return read, nil, err
	}
	read.Table = t
	if r.index == nil {
		return read, t.Key(), nil
	}

	// Source: dynoxide, captured in eu-west-2 on 2026-08-19. One text ends with a full stop, the other does not.
	if t.HasVector(*r.index) {
		if r.op == wire.OpQuery {
			return read, nil, wire.Validation("Query operation not supported on this index type.")
		}
		return read, nil, wire.Validation(msgScanType)
	}

	ix, err := view.Index(t, *r.index)
	if err != nil {
		return read, nil, err
	}
	read.Index = ix
	if !ix.Local() && r.consistent {
		return read, nil, wire.Validation("Consistent reads are not supported on global secondary indexes")
	}
	return read, ix.Key(), nil
}

// checkProjected checks that the index projects the attributes that the read needs. If it does not, the result
// depends on the read. A read of a global index that returns other attributes gets an error. A query that filters by
// them gets an error for any index. A scan may filter by them, but they count as missing. For a read of a local index
// that returns other attributes, checkProjected sets read.Fetch, so that the read fetches items from the table.
// Sources: the error of a deployed stack; dynoxide's captures of PartiQL for local indexes.
func (r *readParams) checkProjected(read *table.Read, query bool) error {
	ix := read.Index
	if ix == nil {
		return nil
	}
	all := value(r.sel) == selectAll && ix.Definition().Projection.Type != table.ProjectAll
	if query && r.filter != nil {
		if err := checkFiltered(ix, r.filter); err != nil {
			return err
		}
	}

	var missing []string
	if r.projection != nil {
		missing = notProjected(ix, expr.TopLevel(r.projection))
	}
	switch {
	case ix.Local():
		read.Fetch = all || len(missing) > 0
	case all:
		return wire.Validation(fmt.Sprintf("One or more parameter values were invalid: "+
			"Select type ALL_ATTRIBUTES is not supported for global secondary index %s because "+
			"its projection type is not ALL", ix.Name()))
	case len(missing) > 0:
		return errNotProjected(ix, missing)
	}

	return nil
}

func errNotProjected(ix *table.Index, missing []string) error {
	return wrongValue("Global secondary index " + ix.Name() + " does not project [" + strings.Join(missing, ", ") + "]")
}

// checkFiltered returns an error if the index does not project all attributes of the filter of a query.
func checkFiltered(ix *table.Index, filter *expr.Condition) error {
	missing := notProjected(ix, expr.TopLevel(filter))
	if missing == nil {
		return nil
	}
	return wrongValue("Secondary index " + ix.Name() + " does not project one or more filter attributes: [" +
		strings.Join(missing, ", ") + "]")
}

// notProjected returns those of the names that the index does not project, without duplicates.
func notProjected(ix *table.Index, names iter.Seq[string]) (missing []string) {
	for name := range names {
		if !ix.Projects(name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// checkPaths returns an error for paths into key attributes. If schema is not nil, the read is a query with that key
// schema. checkPaths then also returns an error for a filter on one of its key attributes. Source: dynalite,
// test/query.js and test/scan.js.
func (r *readParams) checkPaths(t *table.Table, schema *keycond.Schema) error {
	if err := r.checkProjection(t); err != nil || r.filter == nil {
		return err
	}
	if schema != nil {
		if err := r.checkFilterKeys(schema); err != nil {
			return err
		}
	}
	return t.CheckPaths(expr.Paths(r.filter))
}

func (r *readParams) checkFilterKeys(schema *keycond.Schema) error {
	for name := range expr.TopLevel(r.filter) {
		if schema.Has(name) {
			what := "Filter Expression"
			if r.legacyFilter {
				what = "QueryFilter"
			}
			return wire.Validation(
				fmt.Sprintf("%s can only contain non-primary key attributes: Primary key attribute: %s", what, name),
			)
		}
	}
	return nil
}

// checkProjection returns an error if the projection has a path into a key attribute.
func (r *readParams) checkProjection(t *table.Table) error {
	if r.projection == nil {
		return nil
	}
	return t.CheckPaths(expr.Paths(r.projection))
}

// A Visit is called with each item that a query or a scan finds. The item is valid until Visit returns. Visit returns
// the length of the item's JSON in bytes, or 0 if it does not know that length.
type Visit func(it attr.Item) (json int, err error)

// take projects and visits an item. It ends the page when the response is full.
func (r *readParams) take(it attr.Item) error {
	if r.sel != nil && *r.sel == selectCount {
		return nil
	}
	it = r.project(it)
	n, err := r.visit(it)
	if err != nil {
		return err
	}
	if r.answer.add(it, n); r.answer.full() {
		return keycond.ErrEndPage
	}
	return nil
}

// project returns the attributes of an item that the request asks for. They are valid until the next call.
func (r *readParams) project(it attr.Item) attr.Item {
	if r.projection == nil {
		return it
	}
	r.scratch = r.projection.Append(r.scratch[:0], it)
	return attr.Item(r.scratch)
}
