package lint

import (
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/design/world"
)

var invisibleDifference = rule.Rule{
	ID: "invisible-difference", Title: "Values that look the same", Severity: model.Warning,
	Help: "Keys are compared byte by byte, so two values that look the same can be two keys: é can be one " +
		"character or e followed by an accent, as macOS writes file names; text copied from a page can contain a " +
		"zero-width space or a byte order mark; and \" ann\" is not \"ann\". A request for one does not find rows " +
		"of the other, and the same name can be taken twice. The rule compares the values in the model with each " +
		"other and with the values that patterns ask for.",
	Example: []string{`"USER#Zo\u00eb" (Zoë)`, `"USER#Zoe\u0308" (Zoë)`},
	Cure: "Before you build a key, normalise text to NFC, remove characters without width, and trim spaces. Keep " +
		"what people typed in a separate attribute.",
	Source: "https://www.unicode.org/reports/tr15/ (normalisation forms); " + guide +
		"HowItWorks.NamingRulesDataTypes.html",

	Whole: invisibleInFields,
	View:  invisibleInKeys,
}

// invisibleInFields compares the values of each component across all entities
// and patterns.
func invisibleInFields(p *rule.Pass) {
	all := spellings(p)
	for _, q := range p.Queries {
		for _, c := range q.Where {
			if c.Op == ast.Equal && len(c.Args) == 1 {
				all = append(all, askedSpelling(p, q, c.Field, c.Args[0])...)
			}
		}
	}
	for _, t := range twins(all, visibleForm) {
		a, b, how := t.a.value.Text, t.b, hiddenDifference(t.a.value.Text, t.b.value.Text)
		f := b.Finding("%s and %s are two values of %s in keys that look the same: they differ in %s",
			escapeText(a), escapeText(b.value.Text), b.Name, how)
		f.Advice = normalAdvice(b.Name, how)
		f.Keys = escapedKeys(t.keys())
		if b.q != nil {
			f.Pattern, f.Pos = b.q.Name, b.q.Pos
			f.Say(", so %q does not find the rows of %s", b.q.Name, escapeText(a))
		}
		p.Report(f)
	}
}

// askedSpelling returns the spelling of a value in a pattern, if a key has the
// field.
func askedSpelling(p *rule.Pass, q *rule.Query, field, value string) []spelling {
	for _, s := range p.Slots {
		for _, c := range s.Components() {
			if s.Entity == q.Entity && c.Name == field {
				return []spelling{{c, rule.Written{Text: value}, q}}
			}
		}
	}
	return nil
}

// invisibleInKeys compares the keys of raw items in a table with those of all
// items of the file.
func invisibleInKeys(p *rule.Pass, v *rule.View) {
	if v.Index != nil || len(p.Items(nil)) == 0 {
		return
	}
	for _, a := range v.Keys {
		if a.Kind == attr.String {
			invisibleInKey(p, v, a.Name)
		}
	}
}

func invisibleInKey(p *rule.Pass, v *rule.View, name string) {
	known := map[string]*world.Item{}
	for _, r := range v.Rows {
		if r.Item.Generated {
			continue
		}
		value := rule.Value(r.Item, name)
		have, ok := known[visibleForm(value)]
		if !ok {
			known[visibleForm(value)] = r.Item
			continue
		}
		other := rule.Value(have, name)
		how := hiddenDifference(other, value)
		if how == "" || have.Entity != nil && r.Item.Entity != nil {
			continue // invisibleInFields reports those
		}
		f := v.Finding("%s and %s are two values of %s that look the same: they differ in %s",
			escapeText(other), escapeText(value), name, how)
		f.Pos = lastPos(p, have, r.Item)
		f.Advice = normalAdvice(name, how)
		f.Keys = escapedKeys(v.Shown(have, r.Item))
		p.Report(f)
		return
	}
}

// lastPos returns the place in the file of the last of the raw items.
func lastPos(p *rule.Pass, items ...*world.Item) (pos model.Pos) {
	for _, raw := range p.Model.Items {
		for _, it := range items {
			if raw.Table == it.Table && raw.Item.Equal(it.Attributes) {
				pos = raw.Pos
			}
		}
	}
	return pos
}

func normalAdvice(name, how string) string {
	switch how {
	case hiddenSpace:
		return "trim spaces from " + name + " before you build the key"
	case hiddenWidth:
		return "remove characters without width from " + name + " before you build the key"
	}
	return "normalise " + name + " to one form, such as NFC, before you build the key"
}

// The invisible differences.
const (
	hiddenSpace = "spaces"
	hiddenWidth = "characters without width"
	hiddenForm  = "their Unicode normalisation form"
)

// hiddenDifference says how two texts that look the same differ, or "".
func hiddenDifference(a, b string) string {
	switch {
	case a == b:
		return ""
	case trimSpaces(a) == trimSpaces(b):
		return hiddenSpace
	case strings.Map(withWidth, a) == strings.Map(withWidth, b):
		return hiddenWidth
	}
	return hiddenForm
}

// escapeText quotes text so that invisible differences show.
func escapeText(s string) string { return terminal.ClipMiddle(strconv.QuoteToASCII(s), 120) }

// escapedKeys escapes what keys have beyond ASCII.
func escapedKeys(shown []string) []string {
	for i, key := range shown {
		if !isPlain(key) {
			key = strconv.QuoteToASCII(key)
			shown[i] = strings.ReplaceAll(key[1:len(key)-1], `\"`, `"`)
		}
	}
	return shown
}
