package lint

import (
	"time"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var timeOnlyKey = Rule{
	ID: "time-only-key", Title: "A time is the whole sort key", Severity: model.Warning,
	Help: "If the sort key of a table is a time and nothing else, two items of a partition that are written in " +
		"the same second have the same key, and the second replaces the first without an error. The rule " +
		"is a warning if two items of a partition fall into one second by chance at the declared scale, or if " +
		"puts come more often than once a second, or once a day for a date. It is a note if nothing is " +
		"declared and samples share a partition.",

	Slot: checkTimeOnly,
}

func checkTimeOnly(p *Pass, s *Slot) {
	e, all := s.Entity, s.Components()
	if len(all) != 1 || len(e.Table.Sort) == 0 || e.Table.Sort[0].Name != s.Name {
		return
	}
	unit := precision(all[0].Type)
	switch {
	case textual(all[0].Type) && all[0].AllWritten(isMoment):
		unit = writtenPrecision(all[0])
	case all[0].Type.Name == "date": // one item a day is usually intended; the declared rates may show otherwise
		unit = 24 * time.Hour
	}
	if unit == 0 || unit < time.Millisecond {
		return
	}

	v := p.TableView(e.Table)
	most, crowded := crowded(p, v, all[0], unit)
	if most < 2 {
		return
	}
	puts := mostPuts(v, e) * unit.Seconds()
	name := map[time.Duration]string{
		time.Millisecond: "millisecond", time.Second: "second", time.Minute: "minute", 24 * time.Hour: "day",
	}[unit]
	f := s.FindingIn(v, "the sort key %s of %s is only a time with a precision of one %s: ", s, e.Name, name)
	switch {
	case puts > 1:
		f.Say("at the declared rates a partition gets %s items each %s, of which one stays", text.Figure(puts), name)
	case unit == 24*time.Hour:
		return
	case crowded:
		f.Say("of the %s items of a partition, some have the same %s, and each of these replaces the one before",
			text.Thousands(int(most)), name)
	case unit >= time.Second && e.Count == 0:
		f.Severity = model.Note
		f.Say("of two items of a partition with the same %s the second replaces the first", name)
	default:
		return
	}
	f.Advice = "add an id after the time, or use an id that begins with its time, such as a ULID"
	p.Report(f)
}

// writtenPrecision returns the finest precision among the times that people wrote for a component.
func writtenPrecision(c Component) time.Duration {
	unit := 24 * time.Hour
	for _, w := range c.Written() {
		if _, layout, ok := momentOf(w.Text); ok {
			unit = min(unit, layoutPrecision(layout))
		}
	}
	return unit
}

// mostPuts returns how many items of an entity the program puts per second into the partition that gets the most.
func mostPuts(v *View, e *model.Entity) (most float64) {
	s := v.Load()
	if s == nil {
		return 0
	}
	for i := range s.Parts {
		puts := 0.0
		for _, one := range s.Sources {
			if one.Entity == e && one.Puts > 0 {
				puts += one.Puts * one.Units[i] / one.Total
			}
		}
		most = max(most, puts)
	}
	return most
}

// crowded looks for a partition in which two items of an entity are likely to have the same time. If it finds one,
// found is true, and most is the number of items there at the declared scale. Otherwise, most is this number for the
// largest partition.
func crowded(p *Pass, v *View, c Component, unit time.Duration) (most float64, found bool) {
	grow := p.Dataset.Growth(v.Space)
	for _, part := range v.Parts {
		n := 0.0
		var low, high time.Time
		rows := v.In(part)
		each := grow.In(rows)
		for _, r := range rows {
			if r.Item.Entity != c.Entity {
				continue
			}
			n += each(r.Item)
			moment, _, ok := momentOf(r.Item.Values.Get(c.Name))
			if !ok || !r.Item.Generated {
				continue
			}
			if low.IsZero() || moment.Before(low) {
				low = moment
			}
			if moment.After(high) {
				high = moment
			}
		}

		most = max(most, n)
		// The birthday problem: n random moments make about n²/2 pairs, and one pair in span coincides.
		if span := high.Sub(low) / unit; n > 1 && span > 0 && n*n/2/float64(span) >= 1 {
			return n, true
		}
	}
	return most, false
}
