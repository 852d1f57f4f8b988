package api

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/wire"
)

// An invocation is one call of an operation, whether its input came as JSON or as a Go value. begin and end surround
// every operation, so code that is for all operations belongs there.
type invocation struct {
	service *Service
	event   *event.Event // nil without an observer
	own     bool         // the invocation, rather than the server, begins and ends the event
	extra   []event.Observer
	lose    bool // a fault discards the response
}

// refs yields the tables and items that an input names, including tables named in PartiQL statements and shard
// iterators.
func refs(in wire.Input) iter.Seq[wire.Ref] {
	return func(yield func(wire.Ref) bool) {
		named := func(table string) bool { return yield(wire.Ref{Table: table}) }
		switch in := in.(type) {
		case *wire.ExecuteStatementInput:
			named(partiql.TableOf(value(in.Statement)))
		case *wire.BatchExecuteStatementInput:
			for _, st := range in.Statements {
				if !named(partiql.TableOf(value(st.Statement))) {
					return
				}
			}
		case *wire.ExecuteTransactionInput:
			for _, st := range in.TransactStatements {
				if !named(partiql.TableOf(value(st.Statement))) {
					return
				}
			}
		case *wire.GetRecordsInput:
			arn, _, _ := strings.Cut(value(in.ShardIterator), "|")
			if ref, err := ParseARN(arn); err == nil { // skip a damaged iterator
				named(ref.Name)
			}
		default:
			wire.Refs(in)(yield)
		}
	}
}

// tablesOf returns the sorted names of the tables to which an input refers. For an ARN it returns the table name in
// the ARN. It keeps text that is neither a name nor an ARN.
func tablesOf(in wire.Input) []string {
	names := map[string]bool{}
	for ref := range refs(in) {
		if ref.Table == "" {
			continue
		}
		names[nameOf(ref.Table)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// nameOf returns the name of a table, given its name or ARN.
func nameOf(table string) string {
	if parsed, err := ParseTable(table); err == nil {
		return parsed.Name
	}
	return table
}
