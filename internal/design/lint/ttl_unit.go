package lint

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var ttlUnit = rule.Rule{
	ID: "ttl-unit", Title: "A time to live that is not in seconds", Severity: model.Warning,
	Help: "The service deletes an item some time after the moment in its time-to-live attribute, which must be a " +
		"number of seconds since 1970. Milliseconds are a moment some 50,000 years ahead, and text or a date is " +
		"ignored: the item is never deleted, and no error says so. The rule looks at attributes with names such as " +
		"ttl and expiresAt. If only its name says so, text is a note: it may be a date for people.",
	Example: []string{`ttl: 1767607200120`, `ttl: "2026-01-05T10:00:00Z"`},
	Cure:    "Store seconds, as a number: {template: \"{expires:epoch}\", type: N}.",
	Source:  guide + "time-to-live-ttl-before-you-start.html",

	TableKeys: true,
	Entity: func(p *rule.Pass, e *model.Entity) {
		for _, t := range e.Attributes {
			if certain, ok := isTTL(e.Table, t.Name); ok {
				checkTTL(p, e, t, certain)
			}
		}
	},
}

// isTTL reports whether an attribute of a table is its time to live, as the table says or by its name,
// and whether that is certain.
func isTTL(t *model.Table, attribute string) (certain, ok bool) {
	if t.TTL != "" {
		return attribute == t.TTL, attribute == t.TTL
	}
	switch name := strings.Join(wordsOf(attribute), ""); name {
	case "ttl", "timetolive":
		return true, true
	case "expires", "expiresat", "expireat", "expireson", "expiry", "expiration", "expirationtime", "expirytime",
		"expirationdate", "expirydate", "expiretime", "deleteat", "deleteafter":
		return false, true
	}
	return false, false
}

func checkTTL(p *rule.Pass, e *model.Entity, t *model.Template, certain bool) {
	wrong, value := "", ""
	severity := model.Severity(0)
	for _, it := range p.Items(e) {
		v := it.Attributes.Get(t.Name)
		if v.Kind() == 0 {
			continue
		}
		value = model.TextOf(v)
		shape, _ := rule.ShapeOf(value)
		switch {
		case v.Kind() == attr.Number && shape.Format == rule.Milliseconds, v.Kind() == attr.Number && len(value) > 11:
			wrong = "in milliseconds"
		case v.Kind() != attr.Number && (certain || shape.Epoch()):
			wrong = "text"
		case v.Kind() != attr.Number:
			wrong, severity = "text", model.Note
		}
		if wrong != "" {
			break
		}
	}
	if wrong == "" {
		return
	}

	f := p.TableView(e.Table).Finding("%s of %s is %s, such as %s, and ", t.Name, e.Name, wrong, rule.Quoted(value))
	if severity == model.Note {
		f.Say("if it is a time to live, it ")
	} else {
		f.Say("a time to live ")
	}

	f.Say("must be a number of seconds: these items are never deleted")
	f.Pos, f.Entity, f.Severity = t.Pos, e.Name, severity
	f.Advice = "store a number of seconds since 1970"
	if t.Template != nil && len(t.Template.Parts()) == 1 {
		better := "{" + t.Template.Components()[0] + ":epoch}"
		change := f.Advice + ": " + t.Name + ": {template: " + `"` + better + `", type: N}`
		f.Propose(change, rule.WriteNumber(e.Name, t.Name, better))
	}

	p.Report(f)
}
