package load

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/internal/wire"
)

func (s *spreader) condition(name string) (model.Condition, bool) {
	for _, c := range s.p.Where {
		if c.Field == name {
			return c, true
		}
	}
	return model.Condition{}, false
}

// value returns the value that an item gives a condition. A condition on a day,
// month or year stays one.
func (s *spreader) value(it *world.Item, c model.Condition) string {
	if s.field(c.Field) == nil {
		return model.TextOf(it.Attributes.Get(c.Field))
	}
	text := it.Values.Get(c.Field)
	for _, layout := range layouts[1:] {
		if _, err := time.Parse(layout, c.Args[0]); err == nil && len(text) > len(layout) {
			_, err := time.Parse(layout, text[:len(layout)])
			if err == nil && strings.ContainsAny(text[len(layout):len(layout)+1], "-T") {
				return text[:len(layout)]
			}
		}
	}
	return text
}

// request returns the request of the pattern with the values of a candidate.
func (s *spreader) request(c candidate) (wire.Request, error) {
	if s.p.Request != nil {
		return s.replace(c), nil
	}
	return compile.Pattern(s.w.Model, s.pattern(c))
}

// pattern returns the pattern with the values of a candidate.
func (s *spreader) pattern(c candidate) *model.Pattern {
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

// text returns a request of [spreader.request] as JSON.
func (s *spreader) text(in wire.Request) json.RawMessage {
	if s.p.Request != nil {
		return in.AppendJSON(nil)
	}
	return compile.JSON(in)
}

// placeholders returns the placeholders of the partition key's values in a raw
// request, in the order of the key.
func (s *spreader) placeholders() (names []string) {
	in, ok := s.q.Input.(*wire.QueryInput)
	if !ok || in.KeyConditionExpression == nil {
		return nil
	}
	condition := *in.KeyConditionExpression
	tokens := lex.Lex(nil, condition)
	for _, a := range s.space.Hash {
		for _, c := range s.q.Report.Clauses {
			if c.Attribute != a.Name {
				continue
			}
			for _, token := range tokens {
				name := token.Text(condition)
				v := in.ExpressionAttributeValues.Get(name)
				if token.Kind == lex.TokValue && !v.IsZero() && attr.Equal(v, c.Values[0]) {
					names = append(names, name)
					break
				}
			}
		}
	}
	return names
}

func (s *spreader) replaceable() bool { return len(s.placeholders()) == len(s.space.Hash) }

// replace returns the raw request with the partition key of a candidate.
func (s *spreader) replace(c candidate) wire.Request {
	names, key := s.placeholders(), PartitionKeyOf(s.space, c.row)
	in := *s.q.Input.(*wire.QueryInput) // it has placeholders
	var b attr.Builder
	for name, v := range in.ExpressionAttributeValues.All() {
		if i := slices.Index(names, string(name)); i >= 0 {
			v = key[i]
		}
		b.AddBytes(name, v)
	}
	in.ExpressionAttributeValues = b.Item()
	return &in
}
