package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var timeOnlyKey = lint{Rule{
	ID: "time-only-key", Title: "A timestamp as the whole sort key", Severity: model.Warning,
	Help: "If the sort key of a table is a timestamp and nothing else, two items of a partition that are written in the same second have the same key, and the second replaces the first without an error. " +
		"The finding is a warning if the model shows that two items can share a moment: they have an id that the key lacks, they belong to something that only an index key names, or there are too many of them for the precision of the type. " +
		"A device that reports once per moment can do without more.",
	Example: []string{`"ROOM#7", "2026-01-05T10:00:00Z" (of Ann)`, `"ROOM#7", "2026-01-05T10:00:00Z" (of Bob)`},
	Cure:    "Add the id after the time, {at:millis}#{message}, or use an id that begins with its time: {message:ulid}. To prevent the loss in any case, write with the condition attribute_not_exists.",
	Source:  sortDesign,
}, func(l *linter) {
	for _, e := range l.entities {
		l.timeOnly(e)
	}
}}

// unitOf returns the precision of a type of times, or 0.
func unitOf(t keys.Type) time.Duration {
	switch t.Name {
	case "time", "epoch":
		return time.Second
	case "millis", "epochms":
		return time.Millisecond
	case "micros":
		return time.Microsecond
	case "nanos":
		return time.Nanosecond
	}
	return 0
}

// sources are names of things that report at most once in a moment.
var sources = []string{
	"device", "sensor", "host", "server", "machine", "meter", "station", "vehicle", "camera", "probe", "symbol",
	"ticker", "user", "author", "sender",
}

func (l *linter) timeOnly(e *model.Entity) {
	if len(e.Table.Sort) == 0 {
		return
	}
	s := l.slotOf(e, e.Table.Sort[0].Name)
	if s == nil || len(s.t.Template.Components()) != 1 {
		return
	}
	at := slices.IndexFunc(s.parts, func(p keys.Part) bool { return p.Name != "" })
	p := s.parts[at]
	unit := unitOf(p.Type)
	if textual(p.Type) {
		for _, one := range l.timestampsOf(s, p) {
			if one.shape.precision == "minutes" || one.shape.precision == "seconds" || one.shape.format == "seconds" {
				unit = time.Second
			}
		}
	}
	if unit == 0 || unit < time.Millisecond {
		return
	}
	f := s.in(model.Finding{Message: fmt.Sprintf("the sort key %s of %s is only a time with a precision of one %s", s.t.Name, e.Name, map[time.Duration]string{time.Second: "second", time.Millisecond: "millisecond"}[unit])})
	f.Table, f.Index = e.Table.Name, ""
	other := l.otherIdentity(e)
	if other != "" {
		f.Message += fmt.Sprintf(
			": two items of one partition with the same %s and different %s replace each other", p.Name, other,
		)
	} else if n, shared := l.shared(e, unit); shared {
		f.Message += fmt.Sprintf(
			": among the %s items of a partition, some have the same %s and replace each other", n, p.Name,
		)
	} else if unit == time.Second && !reportsAlone(e) {
		f.Severity = model.Note
		f.Message += ": two items of one partition in the same moment replace each other"
	} else {
		return
	}
	if other == "" {
		other = strings.ToLower(e.Name)
	}
	f.Advice = "add an id after the time"
	better := s.t.Template.String() + "#{" + other + "}"
	fix := proposal{
		text:  fmt.Sprintf("add an id after the time: write %s: %q", s.t.Name, better),
		edits: []edit{writeTemplate(e.Name, s.t.Name, better)},
	}
	if it := first(l.items[e]); it != nil {
		f.Keys = l.tableView(e.Table).shown(it)
	}
	l.propose(f, fix)
}

// reportsAlone reports whether the partitions of an entity each belong to one
// source of events, or to one item.
func reportsAlone(e *model.Entity) bool {
	for name := range e.ComponentsOf(e.Table.Partition) {
		name = strings.ToLower(name)
		if name == strings.ToLower(e.Name) ||
			slices.ContainsFunc(sources, func(s string) bool { return strings.HasPrefix(name, s) }) {
			return true
		}
	}
	return false
}

// otherIdentity returns a field outside the table key that tells two items of
// one moment apart: an id, or a component of an index key. It says how the
// items differ.
func (l *linter) otherIdentity(e *model.Entity) string {
	inKey := e.ComponentsOf(e.Table.Keys())
	for _, f := range e.Fields {
		if inKey[f.Name] {
			continue
		}
		switch f.Type.Name {
		case "uuid", "ulid", "ksuid":
			return f.Name
		}
		if name := strings.ToLower(f.Name); name == strings.ToLower(e.Name) || name == "id" || strings.HasSuffix(f.Name, "Id") || strings.HasSuffix(f.Name, "_id") {
			return f.Name
		}
	}
	for _, s := range l.slots {
		if s.e != e {
			continue
		}
		for _, p := range s.parts {
			if p.Name != "" && !inKey[p.Name] && textual(p.Type) && !slices.Contains(e.Mutable, p.Name) &&
				!slices.ContainsFunc(s.places, func(at place) bool { return at.v.x == nil }) {
				if f := e.Field(p.Name); f == nil || len(f.Values) == 0 {
					return p.Name
				}
			}
		}
	}
	return ""
}

// shared reports whether a partition has so many items at the declared scale
// that two of them fall into one unit of time by chance, and its number of
// items.
func (l *linter) shared(e *model.Entity, unit time.Duration) (string, bool) {
	at := e.Attribute(e.Table.Sort[0].Name).Template.Components()[0]
	v := l.tableView(e.Table)
	grow := l.w.Growth(v.hash)
	for _, p := range v.Parts {
		n := 0.0
		var low, high time.Time
		for _, r := range v.Rows[p.From:p.To] {
			if r.Item.Entity != e || !r.Item.Generated {
				continue
			}
			n += grow.Of(r.Item)
			moment, err := time.Parse(time.RFC3339Nano, r.Item.Values.Get(at))
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
