package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var mixedTime = rule.Rule{
	ID: "mixed-time", Title: "Timestamps of mixed zone, precision or format", Severity: model.Warning,
	Help: "Timestamps in text sort by time only if all have the same format: one zone, one precision, large units " +
		"first. 10:00:00.120Z sorts before 10:00:00Z, because the point sorts below Z; 09:00:00+02:00 sorts after " +
		"08:30:00Z although it is earlier; 05/01/2026 sorts by its day. Week W10 sorts before W9, and 01:00 PM " +
		"before 09:00 AM.",
	Example: []string{`"AT#2026-01-05T10:00:00.120Z"`, `"AT#2026-01-05T10:00:00Z"`},
	Cure: "Give the component a type that writes UTC in one precision, and the same type in all entities that " +
		"share the key: {at:millis}.",
	Source: datesPage,

	Whole: func(p *rule.Pass) { compareTimes(p, false) },
}

var mixedEpoch = rule.Rule{
	ID: "mixed-epoch", Title: "Epoch seconds beside milliseconds", Severity: model.Warning,
	Help: "1767607200 and 1767607200120 are the same moment in seconds and in milliseconds. As numbers, all " +
		"milliseconds sort after all seconds; as text, they are mixed. Either way the rows are not in order of " +
		"time, and a range finds only one kind. This happens when two programs write the key, one with Date.now() " +
		"and one with time.time().",
	Example: []string{`"AT#1767607200"`, `"AT#1767607200120"`, `"AT#1767607201"`},
	Cure:    "Choose one unit and convert the rest: {at:epochms} in all templates that share the key.",
	Source:  datesPage,

	Whole: func(p *rule.Pass) { compareTimes(p, true) },
}

// compareTimes compares the shapes of the timestamps at each place of a key,
// epochs or others. It reports a slot once.
func compareTimes(p *rule.Pass, epoch bool) {
	reported := map[*rule.Slot]bool{}
	for _, all := range timesByPlace(p) {
		for i, b := range all {
			if reported[b.Slot] {
				continue
			}
			var f *rule.Finding
			if !epoch {
				f = disorderedTime(b)
			}
			if f == nil {
				f = firstMixed(all[:i], b, epoch)
			}
			if f != nil {
				reported[b.Slot] = true
				p.Report(f)
			}
		}
	}
}

// timesByPlace returns the timestamps whose order is compared: those at the same
// place of keys that lie in the same partitions.
func timesByPlace(p *rule.Pass) (all [][]rule.Timestamp) {
	at := map[[5]string]int{}
	for _, s := range p.Slots {
		for _, v := range s.Places {
			for _, c := range s.Components() {
				found := c.Timestamps()
				if len(found) == 0 {
					continue
				}
				before := rule.Skeleton(s.Parts[:c.At])
				place := [5]string{v.Table.Name, v.String(), s.Name, partitionShape(s, v), before}
				if _, ok := at[place]; !ok {
					at[place] = len(all)
					all = append(all, nil)
				}
				all[at[place]] = append(all[at[place]], found...)
			}
		}
	}
	return all
}

// partitionShape returns the skeleton of the partition key for a slot of a sort
// key, because only rows of one partition are compared.
func partitionShape(s *rule.Slot, v rule.Place) string {
	if !v.Sort {
		return ""
	}
	var b strings.Builder
	for _, a := range v.Hash {
		if t := s.Entity.Attribute(a.Name); t != nil && t.Template != nil {
			b.WriteString(rule.Skeleton(t.Template.Parts()))
		}
		b.WriteByte(2)
	}
	return b.String()
}

// disorderedTime returns a finding about a timestamp whose own format has no
// chronological order, or nil.
func disorderedTime(t rule.Timestamp) *rule.Finding {
	if t.Shape.Disorder == "" || t.SortView() == nil {
		return nil
	}
	f := t.Finding("%s in %s of %s is a %s written %s, so its byte order is not chronological",
		t.Name, t.Slot, t.View(), cmp.Or(t.Shape.Kind, "date"), t.Shape.Disorder)
	for _, w := range t.Written()[:min(2, len(t.Written()))] {
		f.Keys = append(f.Keys, t.KeyWith(w)...)
	}
	if f.Advice = t.Shape.Cure; f.Advice != "" {
		return f // no type writes those
	}
	f.Advice = "write the year first, then the month, then the day, all with leading zeros"
	t.Propose(f, "", t.As("date"), "")
	return f
}

// firstMixed returns a finding about a timestamp and the first one before it
// with another order, or nil.
func firstMixed(before []rule.Timestamp, b rule.Timestamp, epoch bool) *rule.Finding {
	for _, a := range before {
		how, x, y := differenceOf(a, b)
		if how == "" || epoch != (a.Shape.Epoch() && b.Shape.Epoch()) {
			continue
		}

		f := b.Finding("timestamps in %s of %s are written %s: ", b.Slot, b.View(), how)
		if a.Slot == b.Slot {
			f.Say("%s and %s", x, y)
		} else {
			f.Say("%s in %s, %s in %s", x, a.Entity.Name, y, b.Entity.Name)
		}

		f.Keys = append(a.KeyWith(a.Value), b.KeyWith(b.Value)...)
		if q := b.NeededBy(true); epoch && q != nil {
			f.Severity = model.Error
			f.Say("; %q needs the order of time", q.Name)
		}
		if b.Kind == attr.Number {
			f.Advise("write %s in one unit everywhere: multiply the seconds by 1,000", b.Name)
			return f // it is the program that must convert
		}

		f.Advice = "write all of them in one format: in UTC, with one precision"
		for _, typ := range commonTypes(a, b) {
			proposeType(f, a, b, typ)
		}
		return f
	}
	return nil
}

// differenceOf says how two timestamps differ in a way that changes their
// order, and describes each of them. It returns "" if they do not.
func differenceOf(a, b rule.Timestamp) (how, first, second string) {
	x, y := a.Shape, b.Shape
	switch {
	case x == y:
	case x.Desc != y.Desc:
		return "in two directions", rule.Direction(x.Desc), rule.Direction(y.Desc)
	case a.Declared && b.Declared && (x.Format == rule.Day || y.Format == rule.Day) && !x.Epoch() && !y.Epoch():
		// A day is a prefix of its points in time.
	case x.Format != y.Format:
		return "in different formats", x.Format.Name, y.Format.Name
	case x.Zone != y.Zone:
		return "in different zones", x.Zone, y.Zone
	case x.Precision != y.Precision:
		return "with different precisions", x.Precision, y.Precision
	}
	return "", "", ""
}

// commonTypes returns the types in which two timestamps can be written, the best
// first.
func commonTypes(a, b rule.Timestamp) []string {
	typ := "time"
	for _, t := range []rule.Timestamp{a, b} {
		digits, fraction := strings.CutSuffix(t.Shape.Precision, " decimals")
		switch {
		case t.Shape.Format == rule.Milliseconds:
			typ = "epochms"
		case fraction && typ == "time" && slices.Contains([]string{"1", "2", "3"}, digits):
			typ = "millis"
		case fraction && typ == "time":
			typ = "micros"
		}
	}
	if a.Shape.Format == rule.Day && b.Shape.Format != rule.DayTime {
		typ = "date"
	}
	switch {
	case a.Shape.Desc || b.Shape.Desc:
		return []string{typ + ":desc"}
	case typ == "date":
		return []string{typ, "time"} // for times of one day
	}
	return []string{typ}
}

// proposeType proposes to write two timestamps as a type.
func proposeType(f *rule.Finding, a, b rule.Timestamp, typ string) {
	change := rule.Writing(b.Slot.Name, b.As(typ))
	all := []rule.Timestamp{b}
	if a.Slot != b.Slot {
		change += fmt.Sprintf(" here, and %q in %s", a.As(typ), a.Entity.Name)
		all = append(all, a)
	}
	var edits []rule.Edit
	for _, t := range all {
		if better := t.As(typ); better != t.Template.String() {
			edits = append(edits, t.Write(better))
		}
	}
	f.Propose(change, edits...)
}
