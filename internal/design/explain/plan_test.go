package explain

import (
	"testing"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/keycond"
)

// TestPlanCost ranks pairs of plans that differ in two properties, so that each
// weight decides a pair.
func TestPlanCost(t *testing.T) {
	const asked = "GSI1"
	of := func(index string, clauses, filter, partial, dropped int) *plan {
		return &plan{
			schema: keycond.NewSchema(nil, nil).NewIndex(index, nil, nil), clauses: make([]keycond.Clause, clauses),
			filter: make([]ast.Node, filter), partial: partial, dropped: make([]ast.Node, dropped),
		}
	}
	for _, tt := range []struct {
		name          string
		better, worse *plan
	}{
		{"less to check in the program, before more key conditions", of("", 1, 9, 2, 0), of(asked, 4, 0, 0, 1)},
		{"more key conditions, before a shorter filter", of(asked, 2, 9, 0, 0), of(asked, 1, 0, 0, 0)},
		{"a shorter filter", of(asked, 1, 1, 0, 0), of(asked, 1, 2, 0, 0)},
		{"the whole answer, before one more key condition", of(asked, 1, 0, 0, 0), of(asked, 2, 0, 1, 0)},
		{"two more key conditions, before the whole answer", of(asked, 3, 0, 1, 0), of(asked, 1, 0, 0, 0)},
		{"the place that was asked, before a filter a little shorter", of(asked, 1, 4, 0, 0), of("", 1, 0, 0, 0)},
		{"one more key condition, before the place that was asked", of("", 2, 0, 0, 0), of(asked, 1, 0, 0, 0)},
	} {
		if tt.better.cost(asked) >= tt.worse.cost(asked) {
			t.Errorf("%s: %d, want less than %d", tt.name, tt.better.cost(asked), tt.worse.cost(asked))
		}
	}
}
