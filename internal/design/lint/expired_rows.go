package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var expiredRows = rule.Rule{
	ID: "expired-rows", Title: "A pattern that reads expired items as live ones", Severity: model.Warning,
	Help: "The service deletes an item within a few days after its time to live, not at once. Until then, " +
		"queries and indexes return it. A pattern whose name or about asks for live items (active, valid, " +
		"current, not expired) needs a filter on the time. It is a note if only the name of the entity says that " +
		"its items end, as that of sessions, tokens, carts, locks or offers. The rule looks at tables that " +
		"declare a ttl.",
	Example: []string{`"USER#u1", "SESSION#s1" (expires 1767607200)`, `"USER#u1", "SESSION#s2" (expired yesterday)`},
	Cure: "Filter by the time: filter: expires > :now. Or put the time into a sort key, and read from now " +
		"on. A program that gets one item compares the time itself.",
	Source: guide + "ttl-expired-items.html",

	Query: checkExpiredRows,
}

// aboutLive matches what patterns that want live items say, and namesOfEnding are the last words of the
// names of entities whose items are of no use after their time.
var (
	aboutLive = text.Pattern(
		`(?i)\b(live|alive|active|valid|current(ly)?|unexpired|(not|un)[ -](yet )?expired|still)\b`,
	)

	namesOfEnding = []string{
		"session", "token", "cart", "basket", "reservation", "hold", "lock", "lease", "otp", "invitation", "invite",
		"coupon", "offer", "cache", "challenge", "nonce", "verification",
	}
)

func checkExpiredRows(p *rule.Pass, q *rule.Query) {
	if q.Operation == "GetItem" || q.Failed != nil || q.Entity == nil || q.View == nil || q.Expect.Error != "" {
		return
	}
	t := q.Entity.Attribute(q.View.Table.TTL)
	if t == nil || t.Kind != attr.Number || looksAtTime(q, t) {
		return
	}
	asked := aboutLive().MatchString(q.Name + " " + q.About)
	ending := slices.Contains(namesOfEnding, lastWord(q.Entity.Name))
	if !asked && !ending {
		return
	}

	f := q.Finding("%q also reads %s items whose %s has passed: the service deletes them only within a few days",
		q.Name, q.Entity.Name, t.Name)
	if !asked {
		f.Severity = model.Note
	}
	f.Keys = q.View.Example(q.Entity)

	filter := text.Name(t.Name) + " > "
	change := "add the filter " + filter + ":now"
	edits := []rule.Edit{rule.OnPattern(q.Name, func(_ *model.Model, o *model.Pattern) bool {
		o.Filter = strings.TrimPrefix(o.Filter+" AND "+filter+"0", " AND ")
		return o.Request == nil
	})}
	f.Advice = change
	if x := q.View.Index; x != nil && x.Projection != "ALL" && !slices.Contains(x.Include, t.Name) {
		wider := *x
		wider.Projection, wider.Include = "INCLUDE", append(slices.Clone(x.Include), t.Name)
		f.Advice += ", and project " + t.Name + " into " + q.View.String()
		edits = append(edits, rule.WriteIndex(q.View.Table.Name, wider))
	}
	f.Propose(f.Advice, edits...)
	p.Report(f)
}

// looksAtTime reports whether a pattern has a condition on a time to live, or on a field in it.
func looksAtTime(q *rule.Query, ttl *model.Template) bool {
	names := append(componentsOf(ttl), ttl.Name)
	return slices.ContainsFunc(names, func(name string) bool {
		_, given := q.Given(name)
		return given || strings.Contains(q.Filter, name) || strings.Contains(string(q.Request), name)
	})
}
