package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var mutableKey = rule.Rule{
	ID: "mutable-key", Title: "Mutable components in a key", Severity: model.Note,
	Help: "The key of an item cannot be updated: UpdateItem refuses it. The item must be deleted and written again " +
		"under another key, in a transaction if readers must never miss it. In an index, the service does that " +
		"itself and charges a delete and a write for each change. All attributes that contain the value must be " +
		"set in the same update. A field in a key of the table that the model does not declare mutable gets a " +
		"warning if its name says that it changes: status, orderStatus, priority, score, price, updatedAt, lastSeen.",
	Example: []string{`"PROJECT#P1", "STATUS#Open#TASK#T1"`, `"PROJECT#P1", "STATUS#Done#TASK#T1"`},
	Cure:    "Build table keys from values that never change, SK: TASK#{task}, and query the status through an index.",
	Source:  guide + "WorkingWithItems.html; " + guide + "GSI.html (writes to indexes)",

	Entity: func(p *rule.Pass, e *model.Entity) {
		for _, c := range changesOf(p, e) {
			reportChange(p, c)
		}
		for _, s := range p.Slots {
			if s.Entity == e && s.InTable() {
				checkUndeclared(p, s)
			}
		}
	},
}

// A keyChange lists the mutable fields in one key attribute of the table, or in
// the key of one index.
type keyChange struct {
	s     *rule.Slot
	v     *rule.View
	names []string
}

// changesOf returns the changes of an entity. A slot in the key of the table is
// not reported for indexes.
func changesOf(p *rule.Pass, e *model.Entity) (all []*keyChange) {
	for _, name := range p.Model.ChangingFields(e) {
		for _, s := range p.Slots {
			if s.Entity != e || !s.Has(name) {
				continue
			}
			for _, at := range s.Places {
				if s.InTable() && at.Index != nil {
					continue
				}
				i := slices.IndexFunc(all, func(c *keyChange) bool {
					return c.v == at.View && (c.s == s || !s.InTable())
				})
				if i < 0 {
					all = append(all, &keyChange{s, at.View, []string{name}})
				} else if !slices.Contains(all[i].names, name) {
					all[i].names = append(all[i].names, name)
				}
			}
		}
	}
	return all
}

func reportChange(p *rule.Pass, c *keyChange) {
	n := len(c.names)
	f := c.s.FindingIn(c.v, "%s %s and %s in ", c.names, text.Agree(n, "changes", "change"), text.Agree(n, "is", "are"))
	f.Keys = keysAroundChange(p, c.s, c.v, c.names[0])
	if c.v.Index == nil {
		f.Severity = model.Error
		f.Say("%s, a key of %s: an update cannot change a key", c.s.Name, c.v)
		proposeLeavingOut(f, p, c.s, c.names)
		p.Report(f)
		return
	}
	f.Say("the key of %s: each change deletes a row of it and writes another", c.v)
	f.Advise("plan for two writes to %s for each change of %s", c.v.Index.Name, c.names)
	if derived := derivedFrom(c.s.Entity, c.names); len(derived) > 1 {
		f.Advice += ", and set all attributes that contain " + text.Agree(n, "it", "them") + " in one update: " +
			rule.List(derived)
	}
	p.Report(f)
}

// derivedFrom returns the attributes that contain the fields, or that exist
// depending on their values.
func derivedFrom(e *model.Entity, fields []string) (all []string) {
	for _, t := range e.Attributes {
		if slices.ContainsFunc(fields, t.DependsOn) {
			all = append(all, t.Name)
		}
	}
	return all
}

// checkUndeclared reports a field in a key of the table that changes by its name,
// though the model does not say so. A field after a time in the same key belongs
// to an event, which does not change.
func checkUndeclared(p *rule.Pass, s *rule.Slot) {
	for _, c := range s.Components() {
		changing := looksMutable(c)
		if model.Moment(c.Type) && !changing {
			return
		}
		if !changing || c.Single() || slices.Contains(p.Model.ChangingFields(s.Entity), c.Name) {
			continue
		}
		v := p.TableView(s.Entity.Table)
		f := s.FindingIn(v, "%s in %s, a key of %s, looks like a value that changes, and an update cannot change a key",
			c.Name, s.Name, v)
		f.Severity = model.Warning
		f.Keys = keysAroundChange(p, s, v, c.Name)
		proposeLeavingOut(f, p, s, []string{c.Name})
		p.Report(f)
		return
	}
}

// lifeStates are values of a field that changes during the life of an item.
var lifeStates = []string{
	"open", "opened", "closed", "new", "pending", "active", "inactive", "done", "paid", "shipped", "delivered",
	"cancelled", "canceled", "draft", "published", "archived", "approved", "rejected", "todo", "doing", "in progress",
	"in_progress", "failed", "completed", "blocked", "enabled", "disabled",
}

// changingWords end the names of fields that usually change during the life of an
// item.
var changingWords = []string{
	"status", "stage", "phase", "priority", "severity", "score", "price", "rating", "balance", "quantity", "qty",
	"stock", "progress", "assignee", "points", "likes", "votes", "views", "popularity",
	"reputation", "rank", "ranking", "salary", "age", "availability", "title",
}

// looksMutable reports whether a field changes during the life of an item, by its
// name or by its values. The field that is the entity itself, such as the price
// of a Price, does not.
func looksMutable(c rule.Component) bool {
	last := lastWord(c.Name)
	if slices.Contains(changingWords, last) && !hasWord(c.Entity.Name, last) {
		return true
	}
	switch strings.ToLower(strings.ReplaceAll(c.Name, "_", "")) {
	case "updated", "updatedat", "updatedon", "modified", "modifiedat", "modifiedon",
		"lastmodified", "lastupdated", "lastchanged", "changedat",
		"lastseen", "lastseenat", "lastlogin", "lastloginat", "lastactive", "lastactivity":
		return true
	case "state":
		return inLife(c)
	}
	return false
}

// inLife reports whether values of a field are states of a life.
func inLife(c rule.Component) bool {
	n := 0
	for _, w := range c.Written() {
		if slices.Contains(lifeStates, strings.ToLower(w.Text)) {
			n++
		}
	}
	return n > 1
}

// keysAroundChange returns the key of an item before and after a change of a
// field.
func keysAroundChange(p *rule.Pass, s *rule.Slot, v *rule.View, name string) []string {
	it := p.First(s.Entity)
	for _, o := range p.Items(s.Entity) {
		if v.Holds(o) {
			it = o
			break
		}
	}
	other := "changed"
	for _, w := range p.Written(s.Entity, name) {
		if it == nil || w.Text != it.Values.Get(name) {
			other = w.Text
			break
		}
	}
	return append(v.Shown(it), v.SuchAs(s.Entity, it, map[string]string{name: other})...)
}

// proposeLeavingOut proposes to leave fields out of a key of the table. The
// patterns that give one of them query an index.
func proposeLeavingOut(f *rule.Finding, p *rule.Pass, s *rule.Slot, names []string) {
	f.Advise("leave %s out of %s, and add an index that has it", names, s.Name)
	better := s.Template.Parts()
	for _, name := range names {
		better = withoutPart(better, name)
	}

	fix := rule.Proposal{
		Text:  "leave " + rule.List(names) + " out: " + rule.Writing(s.Name, rule.Source(better)),
		Edits: []rule.Edit{s.Write(rule.Source(better))},
	}
	var patterns []string
	for _, q := range p.Queries {
		if q.Entity == s.Entity && q.View != nil && q.View.Index == nil &&
			slices.ContainsFunc(names, func(name string) bool { _, ok := q.Given(name); return ok }) {
			patterns = append(patterns, q.Name)
		}
	}

	if len(patterns) > 0 {
		index, name := p.TableView(s.Entity.Table).ByFields(s.Entity, nil, names, patterns...)
		if name == "" {
			return
		}
		fix.Text += ", and " + index.Text
		fix.Edits = append(fix.Edits, index.Edits...)
	}

	f.Proposals = append(f.Proposals, fix)
}

// withoutPart returns parts without a component, its delimiter, and the word
// before it if that is its name.
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
