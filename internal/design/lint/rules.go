package lint

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// Rules returns all rules in the order of docs/lints.md: order of keys, slices,
// keys by role, sizes and load.
func Rules() []rule.Rule {
	return []rule.Rule{
		naturalOrder, componentOrder, invisibleDifference, delimiterInValue,
		rangeEnd, foreignRows, filterForKey,
		overwrite, timeOnlyKey, mutableKey, noValue, sparseIndex, undeclaredParent, limits,
		loads, fanOut, cost, indexCost,
		unusedAllowance,
	}
}

// replacedBy names the rule that has taken the place of one which is no more; "" says that none has.
var replacedBy = map[string]string{
	"unpadded-number": "natural-order", "negative-number": "natural-order", "version-order": "natural-order",
	"address-order": "natural-order", "word-order": "natural-order", "mixed-time": "natural-order",
	"mixed-epoch": "natural-order", "lost-fraction": "natural-order", "random-order": "natural-order",
	"tied-order": "natural-order", "number-order": "natural-order", "low-byte": "natural-order",
	"wrong-direction": "natural-order",
	"mixed-case":      "invisible-difference",
	"lost-last-day":   "range-end", "high-sentinel": "range-end",
	"open-prefix": "foreign-rows",
	"key-length":  "limits", "item-size": "limits", "collection-size": "limits",
	"ttl-unit": "no-value", "expired-rows": "no-value",
	"limit-with-filter": "filter-for-key",
	"empty-index":       "sparse-index",
	"hot-partition":     "loads", "partition-skew": "loads", "constant-partition": "loads", "contended-item": "loads",
	"unread-shards": "loads",
	"unread-index":  "index-cost", "wide-projection": "index-cost", "late-projection": "index-cost",
	"write-amplification": "index-cost",
	"counted-rows":        "cost", "scan-rate": "cost", "large-read": "cost",
	"same-shape": "overwrite", "mixed-partition": "overwrite", "overwriting-put": "overwrite",
}

// Run applies all rules to a world, whose database must be open. It returns
// findings in file order, the most severe first at each place. Findings that
// the model accepts are notes with a reason. Run fails if ctx is done or the
// database cannot be read.
func Run(ctx context.Context, w *world.World) ([]model.Finding, error) {
	found, err := rule.Run(ctx, w, Rules())
	if err != nil {
		return nil, err
	}
	var all []model.Finding
	for _, f := range found {
		all = append(all, f.Finding)
	}
	return all, nil
}
