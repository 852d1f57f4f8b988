package rule

import (
	"context"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

// A reading is what a pattern reads in a trial.
type reading struct {
	accepted bool // its request compiles, and the service accepts it
	met      bool // its expectations are met for its own values, or it expects an error
	metRows  bool // so are those that are not written with keys
	own      int  // rows returned for its own values
	filtered bool // a filter drops rows of those that are read
	// Rows are read in all partitions together, and shares are the partitions. Units are consumed in one
	// partition on average, at the declared scale.
	rows, shares int
	units        float64
}

// readingOf runs a pattern with its own values, and computes what it reads in all partitions.
func (st *Study) readingOf(ctx context.Context, q *Query) (r reading, err error) {
	o := explain.Options{Pages: maxPages, Items: maxRows, Classify: st.Model.EntityName}
	result, err := check.Through(ctx, st.World.Target(), st.Model, q.Pattern, o)
	if err != nil {
		return r, context.Cause(ctx) // package check reports a request that cannot be run
	}
	r.accepted, r.met = q.Answered(), result.OK() || result.FoundNothing() || q.Expect.Error != ""
	if r.metRows = r.met; !r.met && (q.Expect.Keys != nil || q.Expect.Item != nil) {
		rows := *q.Pattern
		rows.Expect.Keys, rows.Expect.Item = nil, nil
		if other, err := check.Through(ctx, st.World.Target(), st.Model, &rows, o); err == nil {
			r.metRows = other.OK() || other.FoundNothing()
		}
	}
	if result.Report == nil {
		return r, nil
	}
	r.own, r.units = result.Report.Returned, result.Units()
	r.filtered = result.Report.Filter != ""

	units := 0.0
	for _, s := range q.Slices() {
		r.shares++
		r.rows += s.Rows
		units += table.ReadUnits(int(s.DeclaredBytes()), q.Consistent || result.Report.Consistent)
	}
	if r.shares > 0 {
		r.units = units / float64(r.shares)
	}
	return r, nil
}

// each returns the rows that the pattern reads in one partition, on average.
func (r reading) each() float64 { return float64(r.rows) / float64(max(r.shares, 1)) }

// breaks reports whether a change that made before into r breaks the pattern: it is refused, fails its
// expectations, or returns fewer rows. Expected keys count only if keys are as they were. If fewer rows
// are the aim of the change, only none are too few.
func (r reading) breaks(before reading, fewer, rekeyed bool) bool {
	met := r.met || rekeyed && r.metRows
	switch {
	case before.accepted && !r.accepted, before.met && !met:
		return true
	case fewer:
		return before.own+before.rows > 0 && r.own+r.rows == 0
	case r.own < before.own:
		return true
	}
	// Generated values differ a little where the change adds a field.
	return !before.filtered && r.shares > 0 && r.each() < before.each()/2
}

// unitsGained says how units change, or returns "" if they hardly do.
func unitsGained(before, after float64) string {
	if math.Abs(after-before) < max(0.5, before/20) {
		return ""
	}
	return text.Figure(before) + " → " + text.Figure(after)
}

// writesOf returns the write units of one item of an entity on average, with those of its indexes.
func (st *Study) writesOf(e *model.Entity) float64 {
	units := 0.0
	for _, it := range st.items[e] {
		for _, v := range st.Views {
			if v.Table != e.Table {
				continue
			}
			if size, ok := v.Size(it.Attributes); ok {
				units += table.WriteUnits(size)
			}
		}
	}
	return units / float64(max(len(st.items[e]), 1))
}

// gains says what a change brings besides the end of a finding: fewer or more units, and rows that an
// index loses.
func (t *trial) gains(before *trial, f *Finding, fewer bool) (all []string) {
	for _, name := range t.patterns {
		was, known := before.reads[name]
		units := unitsGained(was.units, t.reads[name].units)
		if !known || !was.accepted || fewer || units == "" || len(all) > 1 {
			continue
		}
		of := ""
		if name != f.Pattern {
			of = " of " + text.Quote(name)
		}
		all = append(all, "read units"+of+" "+units)
	}
	for _, name := range t.entities {
		if units := unitsGained(before.writes[name], t.writes[name]); units != "" {
			all = append(all, "write units of "+name+" "+units)
			break // others change in the same way
		}
	}
	for _, x := range t.views {
		if was, ok := before.held[x]; ok && t.held[x] < was {
			all = append(all, "index "+x.index+" loses "+text.Percent(1-float64(t.held[x])/float64(was))+" of its rows")
		}
	}
	return all
}

// keeps reports whether the changed model answers all patterns that the model answered, and its tables
// and indexes hold their items.
func (t *trial) keeps(before *trial, fewer bool) bool {
	broken := func(name string) bool {
		after, known := t.reads[name]
		return !known || after.breaks(before.reads[name], fewer, t.keys != before.keys)
	}
	lost := func(x place) bool {
		after, there := t.held[x]
		if x.index == "" {
			return after < before.held[x]
		}
		return there && 2*after < before.held[x]
	}
	return !slices.ContainsFunc(before.patterns, broken) && !slices.ContainsFunc(before.views, lost)
}
