package rule

import (
	"context"
	"math"

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
	filtered bool // a filter drops rows of those that are read
	own      int  // rows returned for its own values
	// rows are read and units consumed in one partition on average, at the declared scale.
	rows, units float64
}

// readingOf runs a pattern with its own values, and computes what it reads in all partitions.
func (st *Study) readingOf(ctx context.Context, q *Query) (r reading, err error) {
	o := explain.Options{Pages: maxPages, Items: maxRows, Classify: st.Dataset.EntityName}
	result, err := check.Through(ctx, st.Dataset.Target(), st.Model, q.Pattern, o)
	if err != nil {
		return r, context.Cause(ctx) // package check reports a request that cannot be run
	}
	r.accepted, r.met = q.Answered(), result.OK() || result.FoundNothing() || q.Expect.Error != ""
	if result.Report == nil {
		return r, nil
	}
	r.own, r.units, r.filtered = result.Report.Returned, result.Units(), result.Report.Filter != ""

	rows, units := 0, 0.0
	all := q.Slices()
	for _, s := range all {
		rows += s.Rows
		units += s.Units(q.Consistent || result.Report.Consistent)
	}
	if n := float64(len(all)); n > 0 {
		r.rows, r.units = float64(rows)/n, units/n
	}
	return r, nil
}

// breaks reports whether a change that made before into r breaks the pattern: it is refused, fails its
// expectations, or returns fewer rows.
func (r reading) breaks(before reading) bool {
	switch {
	case before.accepted && !r.accepted, before.met && !r.met:
		return true
	case r.own < before.own:
		return true
	}
	return !before.filtered && r.rows > 0 && r.rows < before.rows/2
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
			if size, ok := v.Size(it.Attributes); ok && v.Table == e.Table {
				units += table.WriteUnits(size)
			}
		}
	}
	return units / float64(max(len(st.items[e]), 1))
}
