package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var overwritingPut = rule.Rule{
	ID: "overwriting-put", Title: "A put that can replace what somebody else has put", Severity: model.Warning,
	Help: "A put writes whether or not the key is taken. Two people who sign up with one name, or book one " +
		"seat, both succeed, and the second replaces the first. The rule looks at puts without a condition whose " +
		"pattern says that the item is new (create, register, sign up, book, reserve, claim, lock), if the last " +
		"component of the key is a name that people choose or a thing that they share: email, username, slug, " +
		"seat, slot.",
	Example: []string{`"SHOW#s1", "SEAT#A1" (booked by Ann, then by Bob)`},
	Cure: "Put with the condition attribute_not_exists(PK). The second request then fails, and the program " +
		"says so.",
	Source: guide + "Expressions.ConditionExpressions.html (preventing overwrites of an existing item)",

	Whole: func(p *rule.Pass) { eachWrite(p, checkOverwritingPut) },
}

var revivingUpdate = rule.Rule{
	ID: "reviving-update", Title: "An update that can bring back a deleted item", Severity: model.Note,
	Help: "An update of an item that does not exist creates it, with its key and the attributes that the " +
		"update sets. If the item was deleted or has expired in the meantime, what is left is a fragment: " +
		"without the keys of indexes, and without the time at which it expires. The rule looks at updates " +
		"without a condition, of entities whose items a pattern deletes or that have a time to live, but not at " +
		"counters.",
	Example: []string{`"USER#u1", "SESSION#s1": {seen: …} and nothing else`},
	Cure: "Update with the condition attribute_exists(PK). If the update is meant to create the item, say " +
		"so in allow.",
	Source: "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html",

	Whole: func(p *rule.Pass) { eachWrite(p, checkRevivingUpdate) },
}

// eachWrite calls a function with the writes of all patterns that have no condition. A transaction with
// a condition fails as a whole, so none of its writes counts.
func eachWrite(p *rule.Pass, check func(*rule.Pass, *model.Pattern, int)) {
	for _, q := range p.Model.Patterns {
		if slices.ContainsFunc(q.Writes, func(w model.Write) bool { return w.If != "" }) {
			continue
		}
		for i := range q.Writes {
			if slices.Contains(p.Entities, q.Writes[i].Entity) {
				check(p, q, i)
			}
		}
	}
}

var (
	// aboutNew matches the names of patterns whose item is new.
	aboutNew = text.Pattern(`(?i)\b(creates?|registers?|registration|sign(s|ing)?[ -]?up|books?|booking|reserves?|` +
		`claims?|takes?|locks?|acquires?|joins?|new)\b`)

	// sharedWords are the last words of the names of fields that people choose or share.
	sharedWords = []string{
		"email", "mail", "username", "handle", "nickname", "nick", "login", "slug", "alias", "phone", "domain",
		"subdomain", "hostname", "seat", "slot", "lock", "resource", "table", "desk", "license", "plate",
	}
)

func checkOverwritingPut(p *rule.Pass, q *model.Pattern, i int) {
	w := q.Writes[i]
	fields := w.Entity.KeyFields()
	if w.Operation != model.Put || len(fields) == 0 || !aboutNew().MatchString(q.Name) ||
		!slices.Contains(sharedWords, lastWord(fields[len(fields)-1].Name)) {
		return
	}
	last := fields[len(fields)-1].Name
	f := writeFinding(p, q, w.Entity, "%q puts %s without a condition: an item with the same %s is replaced",
		q.Name, w.Entity.Name, last)
	proposeCondition(f, q, i, "attribute_not_exists")
	p.Report(f)
}

func checkRevivingUpdate(p *rule.Pass, q *model.Pattern, i int) {
	w := q.Writes[i]
	if w.Operation != model.Update || hasWord(w.Entity.Name, namesOfCounts...) {
		return
	}
	how := ""
	switch ttl := w.Entity.Table.TTL; {
	case ttl != "" && w.Entity.Attribute(ttl) != nil:
		how = "has expired"
	case slices.ContainsFunc(p.Model.Patterns, func(o *model.Pattern) bool {
		return slices.ContainsFunc(o.Writes, func(d model.Write) bool {
			return d.Operation == model.Delete && d.Entity == w.Entity
		})
	}):
		how = "was deleted"
	default:
		return
	}
	f := writeFinding(p, q, w.Entity, "%q updates %s without a condition: if the item %s, a fragment of it comes back",
		q.Name, w.Entity.Name, how)
	proposeCondition(f, q, i, "attribute_exists")
	p.Report(f)
}

// writeFinding returns a finding about a write of a pattern.
func writeFinding(p *rule.Pass, q *model.Pattern, e *model.Entity, format string, args ...any) *rule.Finding {
	v := p.TableView(e.Table)
	f := v.Finding(format, args...)
	f.Pos, f.Pattern, f.Entity = q.Pos, q.Name, e.Name
	f.Keys = v.Example(e)
	return f
}

// proposeCondition proposes a condition on the existence of the item of a write.
func proposeCondition(f *rule.Finding, q *model.Pattern, i int, function string) {
	condition := function + "(" + text.Name(q.Writes[i].Entity.Table.Partition[0].Name) + ")"
	f.Advice = "add the condition " + condition
	f.Propose(f.Advice, rule.OnPattern(q.Name, func(_ *model.Model, o *model.Pattern) bool {
		o.Writes[i].If = condition
		return true
	}))
}
