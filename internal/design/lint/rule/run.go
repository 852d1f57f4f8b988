package rule

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

// Run applies rules to a world, whose database must be open, and tries what they
// propose. It returns the findings in file order, the most severe first at each
// place, then in the order of the rules. Run fails if ctx is done or the
// database cannot be read.
func Run(ctx context.Context, w *world.World, rules []Rule) ([]*Finding, error) {
	st, err := newStudy(ctx, w)
	if err != nil {
		return nil, err
	}
	found, err := st.look(rules)
	if err != nil {
		return nil, err
	}
	left := maxTrials
	if n := len(w.Model.Entities); n > 0 {
		left = max(1, min(left, maxPairs/(n*n)))
	}
	t := trials{Study: st, rules: rules, found: found, left: left, before: map[int]*trial{}}
	if err := t.settle(); err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f *Finding) bool { return f.option && f.refuted })
	sayOnce(found)
	slices.SortStableFunc(found, func(a, b *Finding) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(b.Severity, a.Severity),
		)
	})
	return found, nil
}

// sayOnce keeps the advice of the most severe of several findings that one change removes. The advice
// of the others refers to it.
func sayOnce(found []*Finding) {
	byText := map[string][]*Finding{}
	for _, f := range found {
		if len(f.Applied) > 0 && f.Accepted == "" {
			byText[f.Applied[0].Text] = append(byText[f.Applied[0].Text], f)
		}
	}
	for _, alike := range byText {
		slices.SortStableFunc(alike, func(a, b *Finding) int { return cmp.Compare(b.Severity, a.Severity) })
		for i, f := range alike {
			// The same words can be about another attribute or pattern.
			at := slices.IndexFunc(alike[:i], func(o *Finding) bool {
				return len(o.Applied) > 0 && o.Entity == f.Entity && o.removes[subjectOf(f)]
			})
			if at >= 0 {
				f.Advice, f.Applied = "see "+alike[at].about()+": one change removes both", nil
			}
		}
	}
}

// about names a finding and its place, for another.
func (f *Finding) about() string {
	name := f.Rule
	if f.Pattern != "" {
		name += " of " + text.Quote(f.Pattern)
	}
	if f.Pos.Line > 0 {
		name += " on line " + strconv.Itoa(f.Pos.Line)
	}
	return name
}
