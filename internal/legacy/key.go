package legacy

import (
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/keycond"
)

// Compile is [keycond.Compile] for a condition from KeyConditions. If an operator is not allowed in a key condition,
// an error about a missing or an additional attribute takes precedence. Source: dynalite, test/query.js.
func Compile(s *keycond.Schema, c *expr.Condition) (*keycond.Slice, error) {
	clauses, err := keycond.Clauses(c)
	if err == nil {
		return keycond.Of(s, clauses...)
	}

	names := map[string]bool{}
	for name := range expr.TopLevel(c) {
		names[name] = true
	}
	partition, sort := s.Partition(), s.Sort()
	missed := ""
	for i := len(partition) - 1; i >= 0; i-- {
		if !names[partition[i].Name] {
			missed = partition[i].Name
		}
	}
	switch {
	case len(sort) == 0 && len(names) > len(partition):
		return nil, &keycond.Error{Message: "Query key condition not supported"}
	case missed != "":
	case len(names) > len(partition) && !names[sort[0].Name]:
		missed = sort[0].Name
	default:
		return nil, &keycond.Error{Message: "Attempted conditional constraint is not an indexable operation"}
	}
	return nil, &keycond.Error{Message: "Query condition missed key schema element: " + missed}
}
