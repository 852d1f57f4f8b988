package diff

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/keys"
)

// A Name is a name in the new version that the plan changes, because the old version needs the name until the program
// has switched. The plan renames a table, an index or an attribute, or it gives the template of an entity's key
// another first word.
type Name struct {
	// Table is the renamed table. If Index or Attribute is set, the plan renames that index or attribute of Table
	// instead. If Entity is also set, Now is the new template of its Attribute.
	Table     string `json:"table"`
	Entity    string `json:"entity,omitempty"`
	Index     string `json:"index,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	Now       string `json:"now"`
	Why       string `json:"why"`
}

// Subject returns what is renamed, such as: index ByDay of table Shop.
func (n Name) Subject() string {
	switch {
	case n.Entity != "":
		return "attribute " + n.Attribute + " of " + n.Entity
	case n.Index != "":
		return "index " + n.Index + " of table " + n.Table
	case n.Attribute != "":
		return "attribute " + n.Attribute + " of table " + n.Table
	}
	return "table " + n.Table
}

// names collects the names that the plan changes.
type names struct {
	was, is    *model.Model
	tables     map[*model.Table]string
	attributes map[*model.Table]map[string]string
	words      map[key]*keys.Template // new templates of keys that get another first word
	why        map[string]string      // reasons, by Name.Subject
	all        []Name                 // what the last call of target changed
}

// A key is a key attribute of an entity.
type key struct {
	entity    *model.Entity
	attribute string
}

func newNames(was, is *model.Model) *names {
	return &names{
		was: was, is: is, why: map[string]string{},
		tables: map[*model.Table]string{}, attributes: map[*model.Table]map[string]string{},
		words: map[key]*keys.Template{},
	}
}

// spare appends to name the first number, from 2, for which taken returns false.
func spare(name string, taken func(name string) bool) string {
	if last := name[len(name)-1]; '0' <= last && last <= '9' {
		name += "_"
	}
	for i := 2; ; i++ {
		if s := fmt.Sprint(name, i); !taken(s) {
			return s
		}
	}
}

// renew renames a table of the new version, so that the plan puts its items into a new table. It returns false if the
// table already has a new name or the old version has no table of its name.
func (n *names) renew(t *model.Table, format string, args ...any) bool {
	if n.tables[t] != "" || n.was.Table(t.Name) == nil {
		return false
	}
	n.tables[t] = spare(t.Name, func(s string) bool { return n.was.Table(s) != nil || n.is.Table(s) != nil })
	n.why[Name{Table: t.Name}.Subject()] = fmt.Sprintf(format, args...)
	delete(n.attributes, t)
	maps.DeleteFunc(n.words, func(k key, _ *keys.Template) bool { return k.entity.Table == t })
	return true
}

// firstWord matches the word at the beginning of a template.
var firstWord = regexp.MustCompile(`^[\pL\pN_-]+`)

// renewWord gives a key of an entity another first word, so that its new items sort apart from the old ones. It
// returns false if the key has no first word, already has a new one, or is the table's partition key.
func (n *names) renewWord(e *model.Entity, name, why string) bool {
	t := e.Attribute(name)
	if n.words[key{e, name}] != nil || t == nil || t.Template == nil || e.Table.Partition[0].Name == name {
		return false
	}
	source := t.Template.Explicit()
	word := firstWord.FindString(source)
	if word == "" {
		return false
	}

	now := spare(word, func(s string) bool {
		return slices.ContainsFunc(slices.Concat(n.was.Entities, n.is.Entities), func(other *model.Entity) bool {
			t := other.Attribute(name)
			return t != nil && t.Template != nil && strings.HasPrefix(t.Template.String(), s)
		})
	})
	made, err := keys.Parse(now + strings.TrimPrefix(source, word))
	if err != nil {
		return false
	}
	n.words[key{e, name}] = made
	n.why[Name{Table: e.Table.Name, Entity: e.Name, Attribute: name}.Subject()] = why
	return true
}

// renewAttribute renames an attribute of a table. name is its name in the target. If the attribute was renamed
// already or is in the table's key, renewAttribute renames the table instead. It returns false if it renames nothing.
func (n *names) renewAttribute(t *model.Table, name, format string, args ...any) bool {
	renewed := false
	for _, now := range n.attributes[t] {
		renewed = renewed || now == name
	}
	if renewed || t.Has(name) {
		return n.renew(t, format, args...)
	}
	if n.attributes[t] == nil {
		n.attributes[t] = map[string]string{}
	}
	maps.DeleteFunc(n.words, func(k key, _ *keys.Template) bool { return k.attribute == name && k.entity.Table == t })
	n.attributes[t][name] = spare(name, func(s string) bool {
		for _, m := range []*model.Model{n.was, n.is} {
			if m.Table(t.Name) != nil && m.Table(t.Name).IsKey(s) {
				return true
			}
			for _, e := range m.Entities {
				if e.Table.Name == t.Name && e.Attribute(s) != nil {
					return true
				}
			}
		}
		return false
	})
	n.why[Name{Table: t.Name, Attribute: name}.Subject()] = fmt.Sprintf(format, args...)
	return true
}

// target returns a copy of the new version with the changed names, and lists the changes in n.all.
func (n *names) target() (*model.Model, error) {
	var text bytes.Buffer
	if err := modelfile.Write(&text, n.is); err != nil {
		return nil, err
	}
	m, err := modelfile.Parse("", text.Bytes())
	if err != nil {
		return nil, err
	}

	n.all = nil
	add := func(one Name) {
		if one.Why == "" {
			one.Why = n.why[one.Subject()]
		}
		n.all = append(n.all, one)
	}
	for i, t := range n.is.Tables {
		made := m.Tables[i]
		if now := n.tables[t]; now != "" {
			made.Name = now
			add(Name{Table: t.Name, Now: now})
		}
		for _, a := range slices.Sorted(maps.Keys(n.attributes[t])) {
			add(Name{Table: t.Name, Attribute: a, Now: n.attributes[t][a]})
		}
		made.TTL = n.attribute(t, t.TTL)
		for _, x := range made.Indexes {
			x.Partition, x.Sort = n.keys(t, x.Partition), n.keys(t, x.Sort)
			for k, a := range x.Include {
				x.Include[k] = n.attribute(t, a)
			}
			old := n.was.Table(made.Name)
			if old != nil && old.Index(x.Name) != nil && indexText(old.Index(x.Name)) != indexText(x) {
				name := x.Name
				x.Name = spare(name, func(s string) bool { return old.Index(s) != nil || t.Index(s) != nil })
				add(Name{Table: t.Name, Index: name, Now: x.Name, Why: "an index cannot change"})
			}
		}
	}
	for i, e := range n.is.Entities {
		for k, t := range e.Attributes {
			made := m.Entities[i].Attributes[k]
			made.Name = n.attribute(e.Table, t.Name)
			if other := n.words[key{e, t.Name}]; other != nil {
				made.Template = other
				add(Name{Table: e.Table.Name, Entity: e.Name, Attribute: t.Name, Now: other.String()})
			}
		}
	}
	for i, p := range n.is.Patterns {
		n.expressions(p, m.Patterns[i])
	}
	return m, nil
}

// expressions replaces the renamed attributes in the expressions of a pattern: p has the old names, made gets the
// new.
func (n *names) expressions(p, made *model.Pattern) {
	for old, now := range n.attributes[p.Table] {
		if p.Entity != nil && p.Entity.Attribute(old) == nil {
			continue // here, old is the name of a field
		}
		word := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|:?[\pL\pN_]+`)
		replace := func(text string) string {
			return word.ReplaceAllStringFunc(text, func(s string) string {
				if s == old {
					return now
				}
				return s
			})
		}
		made.Filter = replace(made.Filter)
		for i, path := range made.Project {
			if path == old || strings.HasPrefix(path, old+".") || strings.HasPrefix(path, old+"[") {
				made.Project[i] = now + strings.TrimPrefix(path, old)
			}
		}
		for i, w := range made.Where {
			if w.Field == old && (p.Entity == nil || p.Entity.Field(old) == nil) {
				made.Where[i].Field = now
			}
		}
	}
}

func (n *names) attribute(t *model.Table, name string) string {
	if now := n.attributes[t][name]; now != "" {
		return now
	}
	return name
}

func (n *names) keys(t *model.Table, list []model.Attribute) []model.Attribute {
	list = slices.Clone(list)
	for i := range list {
		list[i].Name = n.attribute(t, list[i].Name)
	}
	return list
}
