package load

import (
	"slices"
	"strings"
	"time"

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

// value returns the value of an item for a condition. If the condition has a day, a month or a year, value cuts a
// time to the same precision.
func (s *spreader) value(it *dataset.Item, c model.Condition) string {
	if s.field(c.Field) == nil {
		return model.TextOf(it.Attributes.Get(c.Field))
	}
	text := it.Values.Get(c.Field)
	n := len(c.Args[0])
	if n >= len(text) || !strings.ContainsAny(text[n:n+1], "-T") {
		return text
	}
	for _, layout := range layouts[1:] {
		_, err1 := time.Parse(layout, c.Args[0])
		if _, err2 := time.Parse(layout, text[:n]); err1 == nil && err2 == nil {
			return text[:n]
		}
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
