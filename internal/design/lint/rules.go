package lint

import (
	"cmp"
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// Rules returns all rules in the order of docs/lints.md: order of keys, slices,
// keys by role, sizes and load.
func Rules() []Rule {
	return []Rule{
		naturalOrder, componentOrder, invisibleDifference, delimiterInValue,
		rangeEnd, foreignRows, filterForKey,
		overwrite, timeOnlyKey, mutableKey, noValue, sparseIndex, undeclaredParent, limits,
		loads, fanOut, cost, indexCost,
		unusedAllowance, // last, because it reports the allowances that no other rule used
	}
}

// Run applies all rules to a dataset, whose database must be open, and to the results of its patterns. It sorts
// findings by their place in the file, and at each place by severity, the most severe first. If the model accepts a
// finding, Run makes it a note and adds the reason that the model gives. Run fails if ctx is done or the database
// cannot be read.
func Run(ctx context.Context, w *dataset.Dataset, patterns []check.PatternResult) ([]model.Finding, error) {
	found, err := runRules(ctx, w, patterns, Rules())
	if err != nil {
		return nil, err
	}
	var all []model.Finding
	for _, f := range found {
		all = append(all, f.Finding)
	}
	return all, nil
}

// runRules applies rules to a dataset, as [Run] does, and tries their proposals.
func runRules(
	ctx context.Context, w *dataset.Dataset, patterns []check.PatternResult, rules []Rule,
) ([]*Finding, error) {
	st, err := newStudy(ctx, w, patterns)
	if err != nil {
		return nil, err
	}
	found, err := st.look(rules)
	if err != nil {
		return nil, err
	}
	if err := st.try(found, rules); err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b *Finding) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(b.Severity, a.Severity),
		)
	})
	return found, nil
}
