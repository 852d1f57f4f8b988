package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
)

// Values of Select.
const (
	selectAll       = "ALL_ATTRIBUTES"
	selectProjected = "ALL_PROJECTED_ATTRIBUTES"
	selectSpecific  = "SPECIFIC_ATTRIBUTES"
	selectCount     = "COUNT"
)

// reading is what queries and scans have in common.
type reading struct {
	request
	index, sel, projected, mode *string
	attributes                  []string
	consistent                  bool
	limit                       int64
	start                       attr.Item

	filter     *expr.Condition
	projection *expr.Projection
	scratch    []byte
}

// finish reads the filter and the projection and checks what can be checked
// without the table. The order of faults follows dynalite's
// validations/query.js.
func (rd *reading) finish(filter *string, legacyParam expr.Param, legacy map[string]wire.Condition, operator *string) (err error) {
	if filter != nil {
		rd.filter, err = rd.condition(expr.FilterExpression, filter)
	} else {
		rd.filter, err = rd.legacy(legacyParam, legacy, operator)
	}
	if err != nil {
		return err
	}
	if rd.projection, err = rd.request.projection(rd.projected, rd.attributes); err != nil {
		return err
	}
	if err := rd.close(); err != nil {
		return err
	}
	return rd.checkSelect()
}

// openLegacy refuses what is wrong with a query's legacy filter and list of
// attributes, which the service looks at before the key condition.
func (rd *reading) openLegacy(filter map[string]wire.Condition, operator *string) error {
	if filter != nil {
		if _, err := rd.legacy(expr.QueryFilter, filter, operator); err != nil {
			return err
		}
	}
	if rd.attributes != nil {
		if _, err := rd.request.projection(nil, rd.attributes); err != nil {
			return err
		}
	}
	return nil
}

// checkSelect refuses a Select that does not go with the other parameters.
// Source: dynalite, test/query.js and test/scan.js.
func (rd *reading) checkSelect() error {
	if rd.sel == nil {
		return nil
	}
	if rd.projection != nil && *rd.sel != selectSpecific {
		param := "ProjectionExpression"
		if rd.attributes != nil {
			param = "AttributesToGet"
		}
		return rd.op.Invalid(fmt.Sprintf("Cannot specify the %s when choosing to get %s", param, *rd.sel))
	}
	switch {
	case *rd.sel == selectSpecific && rd.projection == nil:
		return rd.op.Invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case *rd.sel == selectProjected && rd.index == nil:
		return rd.op.Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

// resolve finds the table and the index, and decides whether a local index
// has to fetch items from the table.
func (rd *reading) resolve(s *Service, snap *table.Snapshot, name *string) (table.Read, *keycond.Schema, error) {
	read := table.Read{Start: rd.start, Limit: int(rd.limit), Consistent: rd.consistent, Filter: rd.filter}
	t, err := s.lookup(snap.Table, name)
	if err != nil {
		return read, nil, err
	}
	read.Table = t
	if rd.index == nil {
		return read, t.Key(), nil
	}
	ix, err := t.Index(*rd.index)
	if err != nil {
		return read, nil, err
	}
	read.Index = ix
	if !ix.Local() && rd.consistent {
		return read, nil, wire.Validation("Consistent reads are not supported on global secondary indexes")
	}
	missing := rd.notProjected(ix)
	all := value(rd.sel) == selectAll && ix.Definition().Projection.Type != table.ProjectAll
	switch {
	case ix.Local():
		read.Fetch = all || len(missing) > 0
	case all:
		return read, nil, wire.Validation(fmt.Sprintf("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", ix.Name()))
	case len(missing) > 0:
		return read, nil, wire.Validation(fmt.Sprintf("One or more parameter values were invalid: Global secondary index %s does not project [%s]", ix.Name(), strings.Join(missing, ", ")))
	}
	return read, ix.Key(), nil
}

// notProjected returns the attributes asked for that the index does not hold.
func (rd *reading) notProjected(ix *table.Index) (missing []string) {
	note := func(name string) bool {
		if !ix.Projects(name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
		return true
	}
	if rd.projection != nil {
		rd.projection.TopLevel()(note)
	}
	rd.filter.TopLevel()(note)
	return missing
}

// checkPaths refuses paths into key attributes and, for a query of what has
// the schema, a filter on a key attribute of it. A scan has no schema.
// Source: dynalite, test/query.js and test/scan.js.
func (rd *reading) checkPaths(t *table.Table, schema *keycond.Schema) error {
	if err := rd.checkProjection(t); err != nil || rd.filter == nil {
		return err
	}
	if schema != nil {
		if err := rd.checkFilterKeys(schema); err != nil {
			return err
		}
	}
	return t.CheckPaths(rd.filter.Paths())
}

func (rd *reading) checkFilterKeys(schema *keycond.Schema) error {
	for name := range rd.filter.TopLevel() {
		if schema.Has(name) {
			what := "Filter Expression"
			if rd.filter.Param == expr.QueryFilter {
				what = "QueryFilter"
			}
			return wire.Validation(fmt.Sprintf("%s can only contain non-primary key attributes: Primary key attribute: %s", what, name))
		}
	}
	return nil
}

// checkProjection refuses a projection of what is inside a key attribute.
func (rd *reading) checkProjection(t *table.Table) error {
	if rd.projection == nil {
		return nil
	}
	return t.CheckPaths(slices.Values(rd.projection.Paths))
}

// visit returns what to do with each item found: project it and hand it on.
func (rd *reading) visit(to sink) func(attr.Item) error {
	switch {
	case to == nil:
		return func(attr.Item) error { return nil }
	case rd.projection == nil:
		return to.add
	}
	return func(it attr.Item) error { return to.add(rd.project(it)) }
}

// project returns the part of it that was asked for, valid until the next
// call.
func (rd *reading) project(it attr.Item) attr.Item {
	if rd.projection == nil {
		return it
	}
	rd.scratch = rd.projection.AppendItem(rd.scratch[:0], it)
	return attr.Item(rd.scratch)
}
