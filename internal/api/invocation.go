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
		for _, st := range statementsOf(in) {
			if !yield(wire.Ref{Table: partiql.TableOf(st)}) {
				return
			}
		}
		if in, ok := in.(*wire.GetRecordsInput); ok {
			arn, _, _ := strings.Cut(value(in.ShardIterator), "|")
			if ref, err := ParseARN(arn); err == nil { // skip a damaged iterator
				yield(wire.Ref{Table: ref.Name})
			}
			return
		}
		wire.Refs(in)(yield)
	}
}

// statementsOf returns the PartiQL statements of an input.
func statementsOf(in wire.Input) (list []string) {
	switch in := in.(type) {
	case *wire.ExecuteStatementInput:
		list = append(list, value(in.Statement))
	case *wire.BatchExecuteStatementInput:
		for _, st := range in.Statements {
			list = append(list, value(st.Statement))
		}
	case *wire.ExecuteTransactionInput:
		for _, st := range in.TransactStatements {
			list = append(list, value(st.Statement))
		}
	}
	return list
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
