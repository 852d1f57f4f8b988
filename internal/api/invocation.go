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

// An invocation is one run of an operation. Every operation has one, whether
// its input came as JSON or typed, so begin and end are the one place before and
// after all of them.
type invocation struct {
	service *Service
	event   *event.Event // nil without an observer
	own     bool         // the event begins and ends here, not in the server
	extra   []event.Observer
	lose    bool // the answer, because of a fault
}

// refs yields the tables and items that an input names, those in the text of statements
// and iterators included.
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
			if ref, err := ParseARN(arn); err == nil { // a damaged iterator names no table
				named(ref.Name)
			}
		default:
			wire.Refs(in)(yield)
		}
	}
}

// tablesOf returns the names of the tables that an input refers to, sorted. An
// ARN counts as the name in it; text that is neither counts as it is.
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

// nameOf returns the name of a table that a request names, maybe by its ARN.
func nameOf(table string) string {
	if parsed, err := ParseTable(table); err == nil {
		return parsed.Name
	}
	return table
}
