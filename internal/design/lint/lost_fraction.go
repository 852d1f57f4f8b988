package lint

import (
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var lostFraction = rule.Rule{
	ID: "lost-fraction", Title: "A time format that drops a fraction", Severity: model.Warning,
	Help: "A type of times writes its own precision and drops the rest: {at:time} and {at:epoch} drop " +
		"milliseconds, {at:millis} drops microseconds. Two moments of one second then have equal text: their rows " +
		"are not in order of time, and if nothing else in the key differs, one replaces the other. A range that " +
		"begins at a fraction begins too early. Types of periods, such as {at:date}, drop the rest on purpose.",
	Example: []string{`"AT#2026-01-05T10:00:00Z" (of 10:00:00.900)`, `"AT#2026-01-05T10:00:00Z" (of 10:00:00.120)`},
	Cure: "Use the type with the precision of the data: {at:millis} in text, {at:epochms} as a number, {at:micros} " +
		"or {at:nanos} for more.",
	Source: datesPage,

	Component: checkLostFraction,
}

// droppedBy says what types drop, by their precision; finerType has the type in
// text of each precision.
var (
	droppedBy = map[time.Duration]string{
		time.Second:      "the fraction of the second",
		time.Millisecond: "what is finer than a millisecond",
		time.Microsecond: "what is finer than a microsecond",
	}
	finerType = map[time.Duration]string{
		time.Millisecond: "millis",
		time.Microsecond: "micros",
		time.Nanosecond:  "nanos",
	}
)

// checkLostFraction reports a component that drops a fraction of a value.
func checkLostFraction(p *rule.Pass, c rule.Component) {
	unit := rule.Precision(c.Type)
	if unit <= time.Nanosecond || keptElsewhere(p, c, unit) {
		return
	}

	finest := unit
	var lost []rule.Written
	for _, w := range momentsOf(p, c) {
		moment, err := time.Parse(time.RFC3339Nano, w.Text)
		if err != nil || moment.Nanosecond()%int(unit) == 0 {
			continue
		}
		lost = append(lost, w)
		for moment.Nanosecond()%int(finest) != 0 {
			finest /= 1000
		}
	}
	if len(lost) == 0 {
		return
	}

	f := c.Finding("%s in %s of %s drops %s: %s%s", c, c.Slot, c.View(), droppedBy[unit],
		lost[0], rule.AndMore(len(lost)-1))
	f.Keys = c.KeyWith(lost[0])
	f.Advice = "use a type with the precision of the values"
	typ := finerType[finest]
	if strings.HasPrefix(c.Type.Name, "epoch") && typ == "millis" {
		typ = "epochms"
	}
	if c.Type.Desc {
		typ += ":desc"
	}

	better := c.As(typ) // a range that begins within a second then leaves out what came before
	f.ProposeFewer(rule.Writing(c.Slot.Name, better), c.Write(better))
	p.Report(f)
}

// keptElsewhere reports whether another key of the entity in the same view keeps
// more of the time.
func keptElsewhere(p *rule.Pass, c rule.Component, unit time.Duration) bool {
	for _, s := range p.Slots {
		if s.Entity != c.Entity ||
			!slices.ContainsFunc(s.Places, func(at rule.Place) bool { return slices.Contains(c.Places, at) }) {
			continue
		}
		for _, o := range s.Components() {
			if u := rule.Precision(o.Type); o.Name == c.Name && u > 0 && u < unit {
				return true
			}
		}
	}
	return false
}

// momentsOf returns the values that people wrote for a component, in the data and
// in patterns. The ends of the periods into which a pattern is split are not theirs.
func momentsOf(p *rule.Pass, c rule.Component) []rule.Written {
	all := slices.Clone(c.Written())
	for _, declared := range p.Model.Patterns {
		for _, given := range declared.Where {
			if declared.Entity != c.Entity || given.Field != c.Name || given.Op == ast.OpBeginsWith {
				continue
			}
			for _, arg := range given.Args {
				all = append(all, rule.Written{Text: arg})
			}
		}
	}
	return all
}
