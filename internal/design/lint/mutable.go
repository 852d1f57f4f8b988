package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

var mutableKey = lint{Rule{
	ID: "mutable-key", Title: "Mutable components in a key", Severity: model.Note,
	Help: "The key of an item cannot be updated: UpdateItem refuses it. The item must be deleted and written again under another key, in a transaction if readers must never miss it. " +
		"In an index, the service does that itself and charges a delete and a write for each change. All attributes that contain the value must be set in the same update. " +
		"A field in a key of the table that the model does not declare mutable gets a warning if its name says that it changes: status, updatedAt, lastSeen.",
	Example: []string{`"PROJECT#P1", "STATUS#Open#TASK#T1"`, `"PROJECT#P1", "STATUS#Done#TASK#T1"`},
	Cure:    "Build table keys from values that never change, SK: TASK#{task}, and query the status through an index.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/WorkingWithItems.html; https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html (writes to indexes)",
}, func(l *linter) {
	for _, e := range l.entities {
		l.mutable(e)
		l.undeclared(e)
	}
}}

// A change lists the mutable fields of one key attribute.
type change struct {
	s     *slot
	v     *view
	names []string
}

// mutable reports mutable table keys one by one, and mutable index keys by
// index.
func (l *linter) mutable(e *model.Entity) {
	var changes []*change
	for _, name := range e.Mutable {
		for _, s := range l.slots {
			if s.e != e || !slices.Contains(s.t.Template.Components(), name) {
				continue
			}
			inTable := slices.ContainsFunc(s.places, func(p place) bool { return p.v.x == nil })
			for _, p := range s.places {
				if inTable && p.v.x != nil {
					continue
				}
				at := slices.IndexFunc(changes, func(c *change) bool { return c.v == p.v && (!inTable || c.s == s) })
				switch {
				case at < 0:
					changes = append(changes, &change{s, p.v, []string{name}})
				case !slices.Contains(changes[at].names, name):
					changes[at].names = append(changes[at].names, name)
				}
			}
		}
	}
	for _, c := range changes {
		name := c.names[0]
		f := c.v.in(model.Finding{Pos: c.s.t.Pos, Entity: e.Name, Keys: l.keysAroundChange(c.s, c.v, name)})
		if c.v.x == nil {
			f.Severity = model.Error
			f.Message = fmt.Sprintf(
				"%s and %s in %s, a key of table %s: an update cannot change a key", changing(c.names),
				are(len(c.names)), c.s.t.Name, c.v.t.Name,
			)
			f.Advice = fmt.Sprintf("leave %s out of %s, and add an index that has it", list(c.names), c.s.t.Name)
			l.propose(f, l.leftOut(c.s, c.names)...)
			continue
		} else {
			f.Message = fmt.Sprintf(
				"%s and %s in the key of index %s: each change deletes a row of it and writes another",
				changing(c.names), are(len(c.names)), c.v.x.Name,
			)
			f.Advice = fmt.Sprintf("plan for two writes to %s for each change of %s", c.v.x.Name, list(c.names))
			if derived := derivedFrom(e, c.names); len(derived) > 1 {
				f.Advice += fmt.Sprintf(
					", and set all attributes that contain %s in one update: %s", them(len(c.names)), list(derived),
				)
			}
		}
		l.add(f)
	}
}

// states are values of a field that changes during the life of an item.
var states = []string{
	"open", "opened", "closed", "new", "pending", "active", "inactive", "done", "paid", "shipped", "delivered",
	"cancelled", "canceled",
	"draft", "published", "archived", "approved", "rejected", "todo", "doing", "in progress", "in_progress", "failed",
	"completed", "blocked", "enabled", "disabled",
}

// changes reports whether a field changes during the life of an item, by its
// name or by its values.
func (l *linter) changes(e *model.Entity, field string) bool {
	name := strings.ToLower(strings.ReplaceAll(field, "_", ""))
	switch name {
	case "status", "updated", "updatedat", "updatedon", "modified", "modifiedat", "modifiedon", "lastmodified", "lastupdated", "lastchanged", "changedat",
		"lastseen", "lastseenat", "lastlogin", "lastloginat", "lastactive", "lastactivity":
		return true
	case "state", "stage", "phase":
		n := 0
		for _, w := range l.authored(e, field) {
			if slices.Contains(states, strings.ToLower(w.text)) {
				n++
			}
		}
		return n > 1
	}
	return false
}

// undeclared reports fields in keys of the table that change by their names,
// though the model does not say so. A field after a time in the same key belongs
// to an event, which does not change.
func (l *linter) undeclared(e *model.Entity) {
	for _, s := range l.slots {
		if s.e != e || !slices.ContainsFunc(s.places, func(p place) bool { return p.v.x == nil }) {
			continue
		}
		for _, p := range s.parts {
			if p.Name != "" && moment(p.Type) && !l.changes(e, p.Name) {
				break
			}
			if p.Name == "" || slices.Contains(e.Mutable, p.Name) || !l.changes(e, p.Name) || l.single(e, p.Name) {
				continue
			}
			v := l.tableView(e.Table)
			f := v.in(model.Finding{
				Severity: model.Warning, Pos: s.t.Pos, Entity: e.Name, Keys: l.keysAroundChange(s, v, p.Name),
				Message: fmt.Sprintf("%s in %s, a key of table %s, looks like a value that changes, and an update cannot change a key", p.Name, s.t.Name, v.t.Name),
				Advice:  fmt.Sprintf("leave %s out of %s, and add an index that has it", p.Name, s.t.Name),
			})
			l.propose(f, l.leftOut(s, []string{p.Name})...)
			break
		}
	}
}

func changing(names []string) string {
	if len(names) == 1 {
		return names[0] + " changes"
	}
	return list(names) + " change"
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// derivedFrom returns the attributes that contain the fields, or that exist
// depending on their values.
func derivedFrom(e *model.Entity, fields []string) (all []string) {
	for _, t := range e.Attributes {
		for _, name := range fields {
			if t.Template != nil && slices.Contains(t.Template.Components(), name) || len(t.When[name]) > 0 {
				all = append(all, t.Name)
				break
			}
		}
	}
	return all
}

// keysAroundChange returns the key of an item before and after a change of a
// field.
func (l *linter) keysAroundChange(s *slot, v *view, name string) []string {
	it := first(l.items[s.e])
	for _, o := range l.items[s.e] {
		if _, ok := v.size(o.Attributes); ok {
			it = o
			break
		}
	}
	shown := v.shown(it)
	other := "changed"
	for _, w := range l.authored(s.e, name) {
		if it == nil || w.text != it.Values.Get(name) {
			other = w.text
			break
		}
	}
	return append(shown, nonEmpty(l.suchAs(v, s.e, it, map[string]string{name: other}))...)
}

// leftOut returns the proposals to leave fields out of a key of the table. The
// patterns that give one of them query an index.
func (l *linter) leftOut(s *slot, names []string) []proposal {
	better := s.without(names...)
	p := proposal{
		text:  fmt.Sprintf("leave %s out: write %s: %q", list(names), s.t.Name, better),
		edits: []edit{writeTemplate(s.e.Name, s.t.Name, better)},
	}
	var patterns []string
	for _, q := range l.queries {
		if q.p.Entity == s.e && q.v != nil && q.v.x == nil && slices.ContainsFunc(names, func(name string) bool { _, ok := q.given(name); return ok }) {
			patterns = append(patterns, q.p.Name)
		}
	}
	if len(patterns) == 0 {
		return []proposal{p}
	}
	fix, ok := l.byFields(l.tableView(s.e.Table), s.e, nil, names, patterns...)
	if !ok {
		return nil
	}
	p.text += ", and " + fix.text
	p.edits = append(p.edits, fix.edits...)
	return []proposal{p}
}

// without returns the template without components, their delimiters, and the
// words before them if those are their names.
func (s *slot) without(names ...string) string {
	parts := s.t.Template.Parts()
	for _, name := range names {
		parts = withoutOne(parts, name)
	}
	return source(parts, "", "")
}

func withoutOne(parts []keys.Part, name string) []keys.Part {
	i := slices.IndexFunc(parts, func(p keys.Part) bool { return p.Name == name })
	if i < 0 {
		return parts
	}
	rest := parts[i+1:]
	if i > 0 {
		before := &parts[i-1].Literal
		if word := strings.Trim(*before, delimiters); strings.EqualFold(word, name) {
			*before = delimiterAfter(*before)
		}
		if len(rest) == 0 {
			*before = strings.TrimRight(*before, delimiters)
		}
	}
	if len(rest) > 0 && rest[0].Name == "" {
		rest[0].Literal = strings.TrimPrefix(rest[0].Literal, delimiterAfter(rest[0].Literal))
	}
	return slices.Concat(parts[:i], rest)
}

// delimiters are the characters that people use to join keys.
const delimiters = "#/|:_-.~ "
