package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

var tiedOrder = rule.Rule{
	ID: "tied-order", Title: "An order of time in too large units", Severity: model.Warning,
	Help: "Rows of one minute or day are ordered by what follows in the key, or in no order at all if an index has " +
		"nothing more. A pattern that wants the newest row gets any of the last day. The rule applies where the " +
		"field has a more precise type than the key, where it has only months or minutes, and where items of the " +
		"model share a day.",
	Example: []string{`"2026-01-05#b" (at 10:00)`, `"2026-01-05#c" (at 09:00)`},
	Cure: "Write the time with more precision, {at:millis}, or put an id after it that begins with its time: " +
		"{id:ulid}.",
	Source: guide + "bp-sort-keys.html; " + guide + "GSI.html (key values need not be unique)",

	Query: checkTiedOrder,
}

// recently matches words for the last rows that name no end.
var recently = text.Pattern(`(?i)\b(recent|recently|lately|timeline)\b`)

func checkTiedOrder(p *rule.Pass, q *rule.Query) {
	word, _ := endOfOrder(q.Name, false)
	for c := range q.Orders {
		unit := unitOf(c)
		if word == "" && !recently().MatchString(q.Name) || unit == "" || timedAfter(q, c) {
			return
		}

		f := c.Entity.Field(c.Name)
		finer := f != nil && model.Finer(f.Type, c.Type)
		a, b := tiedItems(q, c)
		if a == nil && !finer && unit == "day" {
			return
		}

		found := q.Finding(
			"%q wants rows in order of time, but rows of %s with the same %s of %s have no such order in %s",
			q.Name, c.Entity.Name, unit, c, c.Slot,
		)
		found.Entity = c.Entity.Name
		if a != nil {
			found.Keys = q.View.Shown(a, b)
		}

		found.Advice = "write the time with more precision, or put an id after it that begins with its time"
		if finer {
			typ := f.Type.String()
			if c.Type.Desc && !f.Type.Desc {
				typ += ":desc"
			}
			c.Propose(found, "", c.As(typ), "")
		}

		p.Report(found)
		return
	}
}

// unitOf returns the unit of a component with a time that is not as precise as a
// second, or "".
func unitOf(c rule.Component) string {
	switch c.Type.Name {
	case "date":
		return "day"
	case "month", "year":
		return c.Type.Name
	}
	all := c.Timestamps()
	if len(all) == 0 || !rule.Textual(c.Type) {
		return ""
	}
	unit := ""
	for _, t := range all {
		switch {
		case t.Shape.Precision == "minutes":
			unit = "minute"
		case t.Shape.Format == rule.Day:
			unit = "day"
		default:
			return ""
		}
	}
	return unit
}

// timedAfter reports whether something after a component gives rows with the same
// value an order of time.
func timedAfter(q *rule.Query, c rule.Component) bool {
	attributes := rule.Names(q.View.Sort)
	for _, o := range q.SlotsOf(c.Entity) {
		at := slices.Index(attributes, o.Name)
		if at < slices.Index(attributes, c.Slot.Name) {
			continue
		}
		for _, next := range o.Components() {
			if (o.Name != c.Slot.Name || next.At > c.At) && (rule.Timed(next.Type) || len(next.Timestamps()) > 0 ||
				rule.Numeric(next.Type) || next.AllWritten(isTimedID)) {
				return true
			}
		}
	}
	return false
}

// isTimedID reports whether text is an id that begins with its time.
func isTimedID(id string) bool {
	return len(id) == 36 && id[14] == '7' || len(id) == 26 && id[0] == '0' || isNumber(id)
}

// tiedItems returns two items of the model that share a partition of the query
// and the value of a component, or nil.
func tiedItems(q *rule.Query, c rule.Component) (a, b *world.Item) {
	part, ok := q.Partition()
	if !ok {
		return nil, nil
	}
	for _, r := range q.View.In(part) {
		if r.Item.Entity != c.Entity || r.Item.Generated {
			continue
		}
		if a != nil && a.Values.Get(c.Name) == r.Item.Values.Get(c.Name) {
			return a, r.Item
		}
		a = r.Item
	}
	return nil, nil
}
