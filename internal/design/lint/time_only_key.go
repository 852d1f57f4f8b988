package lint

import (
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var timeOnlyKey = rule.Rule{
	ID: "time-only-key", Title: "A timestamp as the whole sort key", Severity: model.Warning,
	Help: "If the sort key of a table is a timestamp and nothing else, two items of a partition that are written " +
		"in the same second have the same key, and the second replaces the first without an error. The finding is " +
		"a warning if the model shows that two items can share a moment: they have an id that the key lacks, they " +
		"belong to something that only an index key names, or there are too many of them for the precision of the " +
		"type. A device that reports once per moment can do without more.",
	Example: []string{`"ROOM#7", "2026-01-05T10:00:00Z" (of Ann)`, `"ROOM#7", "2026-01-05T10:00:00Z" (of Bob)`},
	Cure: "Add the id after the time, {at:millis}#{message}, or use an id that begins with its time: " +
		"{message:ulid}. To prevent the loss in any case, write with the condition attribute_not_exists.",
	Source: guide + "bp-sort-keys.html",

	Slot: checkTimeOnlyKey,
}

// eventSources are names of things that report at most once in a moment.
var eventSources = []string{
	"device", "sensor", "host", "server", "machine", "meter", "station", "vehicle", "camera", "probe", "symbol",
	"ticker", "user", "author", "sender",
}

func checkTimeOnlyKey(p *rule.Pass, s *rule.Slot) {
	e, all := s.Entity, s.Components()
	if len(all) != 1 || len(e.Table.Sort) == 0 || e.Table.Sort[0].Name != s.Name {
		return
	}

	at := all[0]
	unit := rule.Precision(at.Type)
	if rule.Textual(at.Type) {
		for _, t := range at.Timestamps() {
			if t.Shape.Precision == "minutes" || t.Shape.Precision == "seconds" || t.Shape.Format == rule.Seconds {
				unit = time.Second
			}
		}
	}

	name := map[time.Duration]string{time.Second: "second", time.Millisecond: "millisecond"}[unit]
	if name == "" {
		return
	}
	v := p.TableView(e.Table)
	f := s.FindingIn(v, "the sort key %s of %s is only a time with a precision of one %s", s, e.Name, name)
	other := otherIdentity(p, e)
	if other != "" {
		f.Say(": two items of one partition with the same %s and different %s replace each other", at.Name, other)
	} else if n, crowded := crowdedPartition(p, at, unit); crowded {
		f.Say(": among the %s items of a partition, some have the same %s and replace each other", n, at.Name)
	} else if unit == time.Second && !reportsAlone(e) {
		f.Severity = model.Note
		f.Say(": two items of one partition in the same moment replace each other")
	} else {
		return
	}

	f.Keys = v.Shown(p.First(e))
	f.Advice = "add an id after the time"
	if other == "" {
		other = strings.ToLower(e.Name)
	}

	s.Propose(f, f.Advice+": ", s.Template.String()+"#{"+other+"}", "")
	p.Report(f)
}

// reportsAlone reports whether the partitions of an entity each belong to one
// source of events, or to one item.
func reportsAlone(e *model.Entity) bool {
	for name := range e.ComponentsOf(e.Table.Partition) {
		name = strings.ToLower(name)
		if name == strings.ToLower(e.Name) ||
			slices.ContainsFunc(eventSources, func(s string) bool { return strings.HasPrefix(name, s) }) {
			return true
		}
	}
	return false
}

// otherIdentity returns a field outside the table key that tells two items of
// one moment apart, or "": an id, or a component of an index key.
func otherIdentity(p *rule.Pass, e *model.Entity) string {
	inKey := e.ComponentsOf(e.Table.Keys())
	for _, f := range e.Fields {
		name := strings.ToLower(f.Name)
		if !inKey[f.Name] && (slices.Contains([]string{"uuid", "ulid", "ksuid"}, f.Type.Name) ||
			name == strings.ToLower(e.Name) || name == "id" ||
			strings.HasSuffix(f.Name, "Id") || strings.HasSuffix(f.Name, "_id")) {
			return f.Name
		}
	}
	for _, s := range p.Slots {
		if s.Entity != e || s.InTable() {
			continue
		}
		for _, c := range s.Components() {
			if inKey[c.Name] || !rule.Textual(c.Type) || slices.Contains(p.Model.ChangingFields(e), c.Name) {
				continue
			}
			if f := e.Field(c.Name); f == nil || len(f.Values) == 0 {
				return c.Name
			}
		}
	}
	return ""
}

// crowdedPartition reports whether a partition has so many items at the
// declared scale that two of them fall into one unit of time by chance, and its
// number of items.
func crowdedPartition(p *rule.Pass, c rule.Component, unit time.Duration) (string, bool) {
	v := p.TableView(c.Entity.Table)
	grow := p.World.Growth(v.Space)
	for _, part := range v.Parts {
		n := 0.0
		var low, high time.Time
		rows := v.In(part)
		each := grow.In(rows)
		for _, r := range rows {
			if r.Item.Entity != c.Entity || !r.Item.Generated {
				continue
			}
			n += each(r.Item)
			moment, err := time.Parse(time.RFC3339Nano, r.Item.Values.Get(c.Name))
			if err != nil {
				continue
			}
			if low.IsZero() || moment.Before(low) {
				low = moment
			}
			if moment.After(high) {
				high = moment
			}
		}

		// The expected number of pairs among n random moments.
		if span := high.Sub(low) / unit; n > 1 && span > 0 && n*n/2/float64(span) >= 1 {
			return text.Thousands(int(n)), true
		}
	}
	return "", false
}
