package lint

import (
	"cmp"
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/design"
)

// A Rule is a hazard that [Run] looks for.
type Rule struct {
	// ID is lower-case words joined by hyphens.
	ID    string
	Title string
	// Help says what the hazard is and why it is one.
	Help string
	// Severity is the usual one; findings can be more or less severe.
	Severity design.Severity
	// Example are keys in byte order that show it, Cure is what to do, and
	// Source where it is written.
	Example []string
	Cure    string
	Source  string
}

// A lint is a rule and what finds it.
type lint struct {
	Rule
	run func(*linter)
}

// lints are in the order of docs/lints.md: the order of keys, slices, keys by
// role, sizes and load.
func lints() []lint {
	return []lint{
		unpaddedNumber, negativeNumber, mixedCase, utf16Order, mixedTime, mixedEpoch, lowByte,
		randomOrder, componentOrder, partitionPrefix,
		openPrefix, delimiterInValue, highSentinel, foreignRows, sameShape, filterForKey,
		mutableKey, sparseIndex, mixedPartition, unreadIndex, writeAmplification, multiAttribute,
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

// Run looks for all hazards in a world, whose database must be open. Findings
// are in the order of the file, the more severe first in each place. Those that
// the model accepts are notes and have a reason. An error is that of ctx or of
// a database that cannot be asked.
func Run(ctx context.Context, w *design.World) ([]design.Finding, error) {
	l := newLinter(ctx, w)
	if err := l.prepare(); err != nil {
		return nil, err
	}
	all := lints()
	for _, rule := range all {
		l.rules = append(l.rules, rule.ID)
	}
	for _, rule := range all {
		if err := context.Cause(ctx); err != nil {
			return nil, err
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
			l.topUp(f)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.found, func(a, b design.Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(b.Severity, a.Severity))
	})
	return l.found, nil
}
