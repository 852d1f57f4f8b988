package lint

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

var keyLength = rule.Rule{
	ID: "key-length", Title: "Keys near their limit", Severity: model.Warning,
	Help: "A partition key has at most 2,048 bytes and a sort key 1,024, in tables and in indexes. A write with a " +
		"longer key is refused. Lengths are in bytes of UTF-8: a Chinese character takes three, an emoji four.",
	Example: []string{`"FILE#" and a path of 1,020 bytes`},
	Cure: "Limit the length of values in the key, or put a hash there, {digest:hex(32)}, and the text into a " +
		"separate attribute.",
	Source: guide + "Constraints.html",

	Slot: checkKeyLength,
}

func checkKeyLength(p *rule.Pass, s *rule.Slot) {
	if s.Kind == attr.Number {
		return
	}

	limit, role := keycond.MaxPartitionKeyBytes, "partition key"
	if s.SortView() != nil {
		limit, role = keycond.MaxSortKeyBytes, "sort key"
	}
	longest, at := 0, (*world.Item)(nil)
	for _, it := range p.Items(s.Entity) {
		if n := len(it.Attributes.Get(s.Name).Raw()); n > longest {
			longest, at = n, it
		}
	}

	f := s.Finding("")
	f.Keys = s.View().Shown(at)
	f.Advise("limit the length of the values in %s, or put a hash there and the text into another attribute", s.Name)
	if most := rule.Longest(s.Entity, s.Parts); most > limit {
		f.Severity = model.Error
		f.Keys = append(f.Keys, longKey(s, at)...)
		f.Say("%s can have %s bytes, and the limit of a %s is %s: writes will be refused",
			s.Name, text.Thousands(most), role, text.Thousands(limit))
	} else if longest > limit*3/4 {
		f.Say("%s has up to %s bytes, and the limit of a %s is %s",
			s.Name, text.Thousands(longest), role, text.Thousands(limit))
	} else {
		return
	}

	p.Report(f)
}

// longKey returns a key of the greatest possible length.
func longKey(s *rule.Slot, at *world.Item) []string {
	for _, c := range s.Components() {
		if f := s.Entity.Field(c.Name); f != nil && f.MaxSize > 0 && rule.Textual(c.Type) {
			return c.SuchAs(at, strings.Repeat("x", f.MaxSize))
		}
	}
	return nil
}
