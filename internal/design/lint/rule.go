package lint

import (
	"cmp"
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// A Rule is a hazard that [Run] looks for.
type Rule struct {
	// ID consists of lower-case words joined by hyphens.
	ID    string
	Title string
	// Help describes the hazard and why it matters.
	Help string
	// Severity is the usual severity; findings can be more or less severe.
	Severity model.Severity
	// Example lists keys in byte order that show the hazard. Cure says what to
	// do. Source is the reference.
	Example []string
	Cure    string
	Source  string
}

// A lint is a rule and the function that applies it.
type lint struct {
	Rule
	run func(*linter)
}

// lints returns all rules in the order of docs/lints.md: order of keys, slices,
// keys by role, sizes and load.
func lints() []lint {
	return []lint{
		unpaddedNumber, negativeNumber, mixedCase, utf16Order, mixedTime, mixedEpoch, lostFraction, lowByte,
		invisibleDifference,
		randomOrder, componentOrder, wrongDirection, partitionPrefix,
		openPrefix, delimiterInValue, highSentinel, foreignRows, sameShape, filterForKey,
		mutableKey, timeOnlyKey, sparseIndex, emptyIndex, mixedPartition, unreadIndex, writeAmplification,
		multiAttribute,
		keyLength, itemSize, collectionSize, partitionSkew, hotPartition,
		unusedAllowance,
	}
}

// Rules returns all rules.
func Rules() []Rule {
	all := lints()
	rules := make([]Rule, len(all))
	for i := range all {
		rules[i] = all[i].Rule
	}
	return rules
}

// Run applies all rules to a world, whose database must be open. It returns
// findings in file order, the most severe first at each place. Findings that
// the model accepts are notes with a reason. Run fails if ctx is done or the
// database cannot be read.
func Run(ctx context.Context, w *world.World) ([]model.Finding, error) {
	l := newLinter(ctx, w)
	if err := l.run(); err != nil {
		return nil, err
	}
	if err := l.settle(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.found, func(a, b model.Finding) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(b.Severity, a.Severity),
		)
	})
	return l.found, nil
}

// run applies all rules.
func (l *linter) run() error {
	if err := l.prepare(); err != nil {
		return err
	}
	all := lints()
	for _, rule := range all {
		l.rules = append(l.rules, rule.ID)
	}
	for _, rule := range all {
		if err := context.Cause(l.ctx); err != nil {
			return err
		}
		if rule.ID == unusedAllowance.ID {
			l.accept()
		}
		before := len(l.found)
		rule.run(l)
		for i := range l.found[before:] {
			f := &l.found[before+i]
			f.Rule = rule.ID
			if f.Severity == 0 {
				f.Severity = rule.Severity
			}
			l.addKeys(f)
		}
	}
	return context.Cause(l.ctx)
}
