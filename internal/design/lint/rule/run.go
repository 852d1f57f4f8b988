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
	t := trials{Study: st, rules: rules, found: found, left: maxTrials, before: map[int]*trial{}}
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
	worst := map[subject]*Finding{}
	cure := func(f *Finding) (subject, bool) {
		if len(f.Applied) == 0 || f.Accepted != "" {
			return subject{}, false
		}
		// A change without a name in it, such as "remove it", is of its index.
		return subject{f.Applied[0].Text, f.Table, f.Index, f.Entity, ""}, true
	}
	for _, f := range found {
		if c, ok := cure(f); ok && (worst[c] == nil || worst[c].Severity < f.Severity) {
			worst[c] = f
		}
	}
	for _, f := range found {
		c, ok := cure(f)
		if first := worst[c]; ok && first != f {
			f.Advice = "see " + first.about() + ": one change removes both"
			f.Applied = nil
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
