package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A judge compares the result of a pattern with its expectations.
type judge struct {
	p  *model.Pattern
	pr *PatternResult
}

// judge compares the result of the pattern with its expectations and sets
// Failures.
func (p *PatternResult) judge() {
	p.Failures, p.nothing = nil, false
	j := judge{p: p.Pattern, pr: p}
	if p.Compile != nil {
		j.uncompiled()
		return
	}
	j.judge()
}

func (j *judge) fail(keys []string, advice, format string, args ...any) {
	f := model.Finding{
		Rule: Rule, Severity: model.Error, Pos: j.p.Expect.Pos, Pattern: j.p.Name,
		Message: fmt.Sprintf(format, args...), Keys: keys, Advice: advice,
	}
	if f.Pos.Line == 0 {
		f.Pos = j.p.Pos
	}
	if j.p.Table != nil {
		f.Table = j.p.Table.Name
	}
	if j.p.Index != nil {
		f.Index = j.p.Index.Name
	}
	if j.p.Entity != nil {
		f.Entity = j.p.Entity.Name
	}
	j.pr.Failures = append(j.pr.Failures, f)
}

func (j *judge) uncompiled() {
	e := j.pr.Compile
	switch want := j.p.Expect.Error; want {
	case compile.NotARange:
	case "":
		j.fail(nil, e.Advice, "the pattern is not one request: %s", e.Msg)
		j.pr.Failures[0].Pos = e.Pos
	default:
		j.fail(nil, e.Advice, "expected %s, got %s: %s", want, compile.NotARange, e.Msg)
	}
}

func (j *judge) judge() {
	r, x := j.pr.Total, j.p.Expect
	if r.Refused != nil {
		j.refused()
		return
	}
	if x.Error != "" {
		j.fail(j.some(""), "", "expected %s, got %s", x.Error, rows(r.Returned))
		return
	}

	advice := ""
	if len(r.Hints) > 0 {
		advice = r.Hints[0]
	}
	if x.Rows != nil && r.Returned != *x.Rows {
		j.fail(j.some(""), "", "expected %s, got %d", rows(*x.Rows), r.Returned)
	}

	const narrow = "add a limit, or narrow the range"
	if x.MaxRows != nil {
		if r.Returned > *x.MaxRows {
			j.fail(j.some(""), narrow, "expected at most %s, got %d", rows(*x.MaxRows), r.Returned)
		} else if w := j.over(float64(*x.MaxRows), (*load.Reading).DeclaredRows); w != nil {
			j.elsewhere(
				narrow, "expected at most %s, got %s%s", rows(*x.MaxRows),
				grown(float64(w.Rows), w.DeclaredRows(), count), inPartition(w),
			)
		}
	}

	const pages = "a page ends at 1 MB or at the limit, before the filter: read less, or expect more pages"
	if x.Pages != nil {
		if r.Pages > *x.Pages {
			j.fail(nil, pages, "expected at most %s, got %d", text.Count(*x.Pages, "page"), r.Pages)
		} else if w := j.over(float64(*x.Pages), (*load.Reading).DeclaredPages); w != nil {
			j.elsewhere(
				pages, "expected at most %s, got %s%s", text.Count(*x.Pages, "page"),
				grown(float64(w.Pages), w.DeclaredPages(), count), inPartition(w),
			)
		}
	}

	if x.Units != nil {
		if j.pr.Units() > *x.Units {
			j.fail(
				nil, advice, "expected at most %s, got %v for %s", units(*x.Units), j.pr.Units(),
				text.Count(r.Bytes+r.Fetched, "byte"),
			)
		} else if w := j.over(*x.Units, (*load.Reading).DeclaredUnits); w != nil {
			j.elsewhere(
				cmp.Or(advice, narrow), "expected at most %s, got %s for %s%s", units(*x.Units),
				grown(w.Units, w.DeclaredUnits(), text.Figure), rows(w.Examined), inPartition(w),
			)
		}
	}

	if x.Waste != nil {
		if j.pr.Waste() > *x.Waste {
			j.fail(
				j.wasted(), advice,
				"expected at most %s of the bytes wasted, got %s: %d of %s were read and dropped",
				text.Percent(*x.Waste), text.Percent(j.pr.Waste()), r.Examined-r.Returned, rows(r.Examined),
			)
		} else if w := j.over(*x.Waste, func(r *load.Reading) float64 { return r.Waste }); w != nil {
			j.elsewhere(advice, "expected at most %s of the bytes wasted, got %s%s: %d of %s were read and dropped",
				text.Percent(*x.Waste), text.Percent(w.Waste), inPartition(w), w.Examined-w.Rows, rows(w.Examined))
		}
	}

	if len(x.Entities) > 0 {
		for _, s := range r.Entities {
			if s.Returned > 0 && !slices.Contains(x.Entities, s.Entity) {
				name := s.Entity
				if name == "" {
					name = "items of no entity"
				}
				expected := strings.Join(x.Entities, ", ")
				j.fail(
					j.some(s.Entity, true), "narrow the range to "+expected+", or expect "+name+" too",
					"expected only %s, got %s of %s", expected, rows(s.Returned), name,
				)
			}
		}
	}

	if x.Keys != nil {
		j.keys()
	}
	j.item()
	j.batch()
	j.nothing()
}

// over returns the partition that exceeds a budget most, among those in which
// the budget holds, or nil. It has no key if the pattern does not read one partition of several.
func (j *judge) over(budget float64, of func(*load.Reading) float64) (most *load.Reading) {
	var all []load.Reading
	s := j.pr.Spread
	switch {
	case j.p.Expect.Budget == model.BudgetSample:
		return nil
	case s == nil:
		all = []load.Reading{*j.pr.Own()}
	case j.p.Expect.Budget == model.BudgetP95:
		all = []load.Reading{s.P50, s.P95}
	default:
		all = s.Readings
	}
	for i := range all {
		if v := of(&all[i]); v > budget*(1+1e-9) && (most == nil || v > of(most)) {
			most = &all[i]
		}
	}
	return most
}

// inPartition names the partition of a reading that has one.
func inPartition(r *load.Reading) string {
	if r.Key == nil {
		return ""
	}
	if r.Sort != "" {
		return " at " + r.Place()
	}
	return " in partition " + r.Key.Text()
}

// elsewhere adds a failure in another partition than that of the sample, or at the declared scale.
func (j *judge) elsewhere(advice, format string, args ...any) {
	if advice != "" {
		advice += "; "
	}
	msg := strings.TrimSuffix(fmt.Sprintf(format, args...), ",") // of a reading without a partition
	j.fail(nil, advice+"if the budget is only for the values in where, write budget: sample", "%s", msg)
}

// grown returns a figure, and that at the declared scale if it differs.
func grown(v, declared float64, figure func(float64) string) string {
	if declared < v*1.1 {
		return figure(v)
	}
	return fmt.Sprintf("%s, about %s at the declared scale,", figure(v), figure(declared))
}

func count(v float64) string { return text.Thousands(int(v)) }

func (j *judge) refused() {
	r, want := j.pr.Total.Refused, j.p.Expect.Error
	if want == r.Code {
		return
	}
	advice := ""
	if hints := j.pr.Total.Hints; len(hints) > 0 {
		advice = hints[0]
	}
	refusal := r.Code + ": " + r.Message
	if r.Rule != "" {
		refusal += " (" + r.Rule + ")"
	}
	if want != "" {
		j.fail(nil, advice, "expected %s, got %s", want, refusal)
		return
	}
	j.fail(nil, advice, "the service refuses the request: %s", refusal)
}

// item compares the result of a GetItem.
func (j *judge) item() {
	r, x := j.pr.Total, j.p.Expect
	switch {
	case x.NoItem && r.Returned > 0:
		j.fail(j.some(""), "", "expected no item, got one")
	case x.Item != nil && len(r.Items) == 0:
		j.fail(nil, "check the key: it is built from the values in where", "expected an item, got none")
	case x.Item != nil && !r.Items[0].Equal(x.Item):
		j.fail(
			[]string{string(r.Items[0].AppendJSON(nil))}, "", "expected the item %s, but %s", x.Item.AppendJSON(nil),
			difference(x.Item, r.Items[0]),
		)
	}
}

// difference describes the first difference between two items.
func difference(want, got attr.Item) string {
	for name, v := range want.All() {
		if have := got.Get(string(name)); have.Kind() == 0 {
			return "it has no " + string(name)
		} else if !attr.Equal(have, v) {
			return fmt.Sprintf("%s is %s", name, text.Literal(have))
		}
	}
	for name := range got.All() {
		if want.Get(string(name)).Kind() == 0 {
			return "it also has " + string(name)
		}
	}
	return "they are equal"
}

// keys compares the keys of the returned rows, in order.
func (j *judge) keys() {
	want := j.p.Expect.Keys
	got, complete := j.returned()
	if !complete {
		j.fail(
			nil, "expect rows instead of keys", "expected %s, got %d, too many to compare",
			text.Count(len(want), "key"), j.pr.Total.Returned,
		)
		return
	}

	t := j.p.Table
	if t == nil {
		return
	}
	for start := 0; start < max(len(got), len(want)); {
		end := start + 1
		for j.p.Expect.Ties && end < len(got) && j.tied(got[start].Key, got[end].Key) {
			end++
		}

		for i := start; i < end; i++ {
			isGot := func(k model.Key) bool { return sameKey(t, got[i].Key, k) }
			switch {
			case i >= len(got):
				j.fail(
					j.some(""), "", "expected %s, got %d: %s is missing", text.Count(len(want), "key"), len(got),
					want[i].Text(),
				)
				return
			case i >= len(want):
				j.fail(
					[]string{rowText(t, got[i].Key)}, "", "expected %s, got %d: %s is unexpected",
					text.Count(len(want), "key"), len(got), rowText(t, got[i].Key),
				)
				return
			case !slices.ContainsFunc(want[start:min(end, len(want))], isGot):
				j.fail(
					[]string{rowText(t, got[i].Key), want[i].Text()}, "", "row %d is %s, expected %s", i+1,
					rowText(t, got[i].Key), want[i].Text(),
				)
				return
			}
		}

		start = end
	}
}

// returned returns the returned rows, and whether the report has all of them.
func (j *judge) returned() ([]explain.Row, bool) {
	var got []explain.Row
	for _, row := range slices.Concat(j.pr.Total.Rows, j.pr.Total.Tail) {
		if row.Returned {
			got = append(got, row)
		}
	}
	return got, len(got) == j.pr.Total.Returned
}

// tied reports whether two rows have equal keys in the index.
func (j *judge) tied(a, b attr.Item) bool {
	if j.p.Index == nil {
		return false
	}
	for _, k := range j.p.Index.Keys() {
		if !attr.Equal(a.Get(k.Name), b.Get(k.Name)) {
			return false
		}
	}
	return true
}

func sameKey(t *model.Table, row attr.Item, key model.Key) bool {
	for i, a := range t.Keys() {
		if !attr.Equal(row.Get(a.Name), key[i]) {
			return false
		}
	}
	return true
}

// some returns the keys of the first returned rows, of one entity if of is
// given.
func (j *judge) some(entity string, of ...bool) []string {
	return j.first(func(row explain.Row) bool {
		return row.Returned && (len(of) == 0 || row.Entity == entity)
	})
}

// wasted returns the keys of the first dropped rows.
func (j *judge) wasted() []string {
	return j.first(func(row explain.Row) bool { return !row.Returned })
}

func (j *judge) first(is func(explain.Row) bool) (keys []string) {
	if j.p.Table == nil {
		return nil
	}
	for _, row := range j.pr.Total.Rows {
		if is(row) {
			if keys = append(keys, rowText(j.p.Table, row.Key)); len(keys) == 2 {
				break
			}
		}
	}
	return keys
}

// rowText returns the table key of a row as text.
func rowText(t *model.Table, row attr.Item) string {
	var k model.Key
	for _, a := range t.Keys() {
		k = append(k, row.Get(a.Name))
	}
	return k.Text()
}

func rows(n int) string { return text.Count(n, "row") }

func units(f float64) string { return text.Amount(text.Figure(f), "read unit") }
