package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

var mutableKey = rule.Rule{
	ID: "mutable-key", Title: "A field that changes in the key of a table", Severity: model.Error,
	Help: "The key of an item cannot be updated: UpdateItem refuses it. The item must be deleted and written again under " +
		"another key, in a transaction if readers must never miss it. Build table keys from values that never change, " +
		"and query the others through an index, which the service keeps up to date. The rule looks at fields that the " +
		"model declares mutable, and at those that its patterns update.",

	Slot: checkMutable,
}

// checkMutable reports the fields in a key of a table that change. A pattern that moves its items knows.
func checkMutable(p *rule.Pass, s *rule.Slot) {
	if !s.InTable() {
		return
	}
	changing := p.Model.ChangingFields(s.Entity)
	names := slices.DeleteFunc(s.Template.Components(), func(name string) bool { return !slices.Contains(changing, name) })
	if len(names) == 0 {
		return
	}

	v := p.TableView(s.Entity.Table)
	f := s.FindingIn(v, "%s can change and is in %s, a key of %s: an update cannot change a key", names, s.Name, v)
	it := p.First(s.Entity)
	other := "changed"
	for _, w := range p.Written(s.Entity, names[0]) {
		if it == nil || w.Text != it.Values.Get(names[0]) {
			other = w.Text
			break
		}
	}
	f.Keys = append(v.Shown(it), v.SuchAs(s.Entity, it, map[string]string{names[0]: other})...)

	better := s.Template.Parts()
	for _, name := range names {
		better = withoutPart(better, name)
	}
	f.Advise("leave %s out: %s, and add an index that has it for the patterns that give it", names,
		rule.Writing(s.Name, rule.Source(better)))
	p.Report(f)
}

// withoutPart returns parts without a component, its delimiter, and the word before it if that is its name.
func withoutPart(parts []keys.Part, name string) []keys.Part {
	i := slices.IndexFunc(parts, func(p keys.Part) bool { return p.Name == name })
	if i < 0 {
		return parts
	}
	rest := parts[i+1:]
	if i > 0 {
		before := &parts[i-1].Literal
		if word := strings.Trim(*before, rule.Delimiters); strings.EqualFold(word, name) {
			*before = rule.DelimiterAfter(*before)
		}
		if len(rest) == 0 {
			*before = strings.TrimRight(*before, rule.Delimiters)
		}
	}
	if len(rest) > 0 && rest[0].Name == "" {
		rest[0].Literal = strings.TrimPrefix(rest[0].Literal, rule.DelimiterAfter(rest[0].Literal))
	}
	return slices.Concat(parts[:i], rest)
}
