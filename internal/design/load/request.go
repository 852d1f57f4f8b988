package load

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

func (s *spreader) condition(name string) (model.Condition, bool) {
	for _, c := range s.p.Where {
		if c.Field == name {
			return c, true
		}
	}
	return model.Condition{}, false
}

// value returns an item's value of the field of a condition, in the form that the condition compares. If the
// condition names a period, such as a day or an hour, this is the day or the hour of the item's time.
func (s *spreader) value(it *dataset.Item, c model.Condition) string {
	if s.field(c.Field) == nil {
		return model.TextOf(it.Attributes.Get(c.Field))
	}
	text := it.Values.Get(c.Field)
	if period, ok := model.Period(c.Args[0]); ok {
		return model.InPeriod(period, text)
	}
	return text
}

// pattern returns a copy of the pattern with the candidate's values.
func (s *spreader) pattern(c *candidate) *model.Pattern {
	q := *s.p
	q.Where = slices.Clone(q.Where)
	for i, w := range q.Where {
		if w.Op == ast.Equal && (slices.Contains(s.hash, w.Field) || slices.Contains(s.free, w.Field)) {
			q.Where[i].Args = []string{s.value(c.row.Item, w)}
		}
		if c.args != nil && w.Field == s.moved.Field && w.Op == s.moved.Op {
			q.Where[i].Args = c.args
		}
	}
	return &q
}

// valuesOf returns the candidate's values of the fields that are not fixed, as one string.
func (s *spreader) valuesOf(c *candidate) string {
	var id strings.Builder
	for _, name := range slices.Concat(s.hash, s.free) {
		w, _ := s.condition(name)
		id.WriteString(s.value(c.row.Item, w) + "\x00")
	}
	return id.String()
}
