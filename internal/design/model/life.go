package model

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// LifeUnits are the units of the life of an item, the longest first.
var LifeUnits = []struct {
	Name string
	time.Duration
}{
	{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
}

// LifeText returns a life in the longest unit of which it is a multiple, such as 30d.
func LifeText(life time.Duration) string {
	for _, u := range LifeUnits {
		if life%u.Duration == 0 {
			return strconv.Itoa(int(life/u.Duration)) + u.Name
		}
	}
	return life.String()
}

// settleLives checks the times to live of a model, and sets the counts that follow from them: items
// that are put at a rate and live for a time are steadily as many as are put in that time.
func (m *Model) settleLives() Errors {
	var errs Errors
	for _, e := range m.Entities {
		if err := m.settleLife(e); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (m *Model) settleLife(e *Entity) *ParseError {
	ttl := e.Table.TTL
	switch {
	case e.Life == 0:
		return nil
	case ttl == "":
		return e.invalid(
			"add ttl: expires to the table", "entity %s has a life, but table %s no ttl", e.Name, e.Table.Name,
		)
	case e.Attribute(ttl) == nil || e.Attribute(ttl).Kind != attr.Number:
		return e.invalid(
			`add `+ttl+`: {template: "{`+ttl+`:epoch}", type: N}`,
			"entity %s has a life, but no attribute %s of type N, the ttl of table %s", e.Name, ttl, e.Table.Name,
		)
	}
	rate := m.putRate(e)
	if rate == 0 {
		return nil
	}

	put := math.Round(rate * e.Life.Seconds())
	steady, count := put, float64(e.Count)
	keys, limited := e.distinctKeys()
	if limited {
		steady = min(put, keys) // the other puts replace items
	}
	switch {
	case steady > maxCount:
		return e.invalid(
			"lower the rate or the life", "%s of %s a second that live %s are more than %s items", text.Figure(rate),
			e.Name, LifeText(e.Life), text.Thousands(maxCount),
		)
	case e.Count == 0:
		e.Count = int(max(steady, 1))
	case limited && count < put:
		// A put may replace an item, so fewer items are alive than were put.
	case math.Abs(put-count) > max(1, perTolerance*put):
		hint := "remove count, which follows from the others"
		if slices.ContainsFunc(e.Parents, Parent.counts) {
			hint = "change the rate, the life, or the number per " + e.Parents[0].Entity.Name
		}
		return e.invalid(
			hint, "entity %s has %s, but %s puts a second that live %s are %s",
			e.Name, text.Count(e.Count, "item"), text.Figure(rate), LifeText(e.Life), text.Thousands(int(put)),
		)
	}
	return nil
}

// distinctKeys returns how many keys the items of e can have, or false if nothing in the model limits them.
func (e *Entity) distinctKeys() (n float64, limited bool) {
	n = 1
	var parents []*Entity
	for _, f := range e.KeyFields() {
		p := e.CarriedFrom(f)
		values := max(len(f.Values), f.Distinct, len(f.Type.Values))
		switch {
		case p != nil && p.Count > 0:
			if !slices.Contains(parents, p) {
				parents = append(parents, p)
				n *= float64(p.Count)
			}
		case p == nil && values > 0:
			n *= float64(values)
		default:
			return 0, false
		}
	}
	return n, true
}

// counts reports whether the number of children follows from that of the parent.
func (p Parent) counts() bool {
	_, ok := p.Per.Mean()
	return ok
}

// Expiries returns how many items of an entity expire each second at its declared scale: each of its items once
// in its life. An item that was never written, or that a pattern deletes first, does not expire.
func (m *Model) Expiries(e *Entity) float64 {
	if e.Life == 0 {
		return 0
	}
	deletes := m.patternWrites(e, func(_ *Pattern, w *Write) float64 {
		if w.Operation == Delete {
			return 1
		}
		return 0
	})
	each := float64(e.Count+len(e.Samples)) / e.Life.Seconds()
	return max(min(each, m.ItemWrites(e)-deletes)-deletes, 0)
}

// putRate returns how many items of an entity the patterns put each second.
func (m *Model) putRate(e *Entity) float64 {
	return m.patternWrites(e, func(_ *Pattern, w *Write) float64 {
		if w.Operation == Put {
			return 1
		}
		return 0
	})
}
