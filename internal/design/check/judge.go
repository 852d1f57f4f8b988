package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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

// judge compares the result of the pattern with its expectations, and sets Failures to those that it does not meet.
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

	if x.Rows != nil && r.Returned != *x.Rows {
		j.fail(j.some(""), "", "expected %s, got %d", rows(*x.Rows), r.Returned)
	}
	for _, b := range j.budgets() {
		j.budget(b)
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

// A budget is an upper limit on rows, pages, units or waste that a pattern declares. By default, it holds for all
// values that the pattern can be given. The pattern can restrict it to the values in the model, or to the 95th
// percentile.
type budget struct {
	most   *float64
	words  string // most, in words
	own    float64
	got    string // own, in words
	of     func(*load.Reading) float64
	where  func(*load.Reading) string // describes the reading that exceeds the budget
	keys   []string
	advice string
}

// budgets returns an entry for each budget that a pattern can declare. If the pattern does not declare it, most is
// nil.
func (j *judge) budgets() []budget {
	r, x := j.pr.Total, j.p.Expect
	const (
		narrow = "add a limit, or narrow the range"
		pages  = "a page ends at 1 MB or at the limit, before the filter: read less, or expect more pages"
	)
	hint := ""
	if len(r.Hints) > 0 {
		hint = r.Hints[0]
	}
	return []budget{
		{
			of64(x.MaxRows), rows(value(x.MaxRows)), float64(r.Returned), strconv.Itoa(r.Returned),
			(*load.Reading).DeclaredRows, func(w *load.Reading) string {
				return grown(float64(w.Rows), w.DeclaredRows(), count) + inPartition(w)
			}, j.some(""), narrow,
		},
		{
			of64(x.Pages), text.Count(value(x.Pages), "page"), float64(r.Pages), strconv.Itoa(r.Pages),
			(*load.Reading).DeclaredPages, func(w *load.Reading) string {
				return grown(float64(w.Pages), w.DeclaredPages(), count) + inPartition(w)
			}, nil, pages,
		},
		{
			x.Units, units(value(x.Units)), j.pr.Units(),
			fmt.Sprintf("%v for %s", j.pr.Units(), text.Count(r.Bytes+r.Fetched, "byte")),
			(*load.Reading).DeclaredUnits, func(w *load.Reading) string {
				return grown(w.Units, w.DeclaredUnits(), text.Figure) + " for " + rows(w.Examined) + inPartition(w)
			}, nil, cmp.Or(hint, narrow),
		},
		{
			x.Waste, text.Percent(value(x.Waste)) + " of the bytes wasted", j.pr.Waste(),
			text.Percent(j.pr.Waste()) + dropped(r.Returned, r.Examined),
			func(w *load.Reading) float64 { return w.Waste }, func(w *load.Reading) string {
				return text.Percent(w.Waste) + inPartition(w) + dropped(w.Rows, w.Examined)
			}, j.wasted(), hint,
		},
	}
}

// budget adds a failure if the request with the values in the model exceeds b. If it does not, budget adds a failure
// if the reading of another partition exceeds b.
func (j *judge) budget(b budget) {
	if b.most == nil {
		return
	}
	if b.own > *b.most {
		j.fail(b.keys, b.advice, "expected at most %s, got %s", b.words, b.got)
	} else if w := j.over(*b.most, b.of); w != nil {
		if b.advice != "" {
			b.advice += "; "
		}
		j.fail(nil, b.advice+"if the budget is only for the values in where, write budget: sample",
			"expected at most %s, got %s", b.words, strings.TrimSuffix(b.where(w), ",")) // if no partition follows
	}
}

func of64(n *int) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func dropped(returned, examined int) string {
	return fmt.Sprintf(": %d of %s were read and dropped", examined-returned, rows(examined))
}

// over returns the reading that exceeds the budget most, or nil if none does. It compares the readings for which the
// pattern's budget holds. If the check did not estimate other partitions, there is only the reading with the values
// in the model, which has no Key.
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

// inPartition returns a phrase for a message that names the partition of a reading, or "" if the reading has no Key.
func inPartition(r *load.Reading) string {
	if r.Key == nil {
		return ""
	}
	if r.Sort != "" {
		return " at " + r.Place()
	}
	return " in partition " + r.Key.Text()
}

// grown formats v with figure. If the value at the declared scale is at least 10 % higher than v, grown adds it.
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

// item compares the result of a GetItem with the expected item.
func (j *judge) item() {
	r, x := j.pr.Total, j.p.Expect
	switch {
	case x.NoItem && r.Returned > 0:
		j.fail(j.some(""), "", "expected no item, got one")
	case x.Item != nil && len(r.Items) == 0:
		j.fail(nil, "check the key: it is built from the values in where", "expected an item, got none")
	case x.Item != nil && !r.Items[0].Equal(x.Item):
		j.fail(nil, "", "expected the item %s, got %s", x.Item.AppendJSON(nil), r.Items[0].AppendJSON(nil))
	}
}

// keys compares the keys of the returned rows, in order, with the expected keys.
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

// returned returns the rows that the pattern returned. It returns true if the report kept all of them.
func (j *judge) returned() ([]explain.Row, bool) {
	var got []explain.Row
	for _, row := range slices.Concat(j.pr.Total.Rows, j.pr.Total.Tail) {
		if row.Returned {
			got = append(got, row)
		}
	}
	return got, len(got) == j.pr.Total.Returned
}

// tied reports whether two rows have equal keys in the pattern's index. DynamoDB does not define the order of such
// rows.
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

// some returns the keys of the first two rows that the pattern returned. If the caller passes an argument for of,
// some skips rows of entities other than entity.
func (j *judge) some(entity string, of ...bool) []string {
	return j.first(func(row explain.Row) bool {
		return row.Returned && (len(of) == 0 || row.Entity == entity)
	})
}

// wasted returns the keys of the first two rows that the filter dropped.
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
	return keyText(row, t.Keys())
}

func rows(n int) string { return text.Count(n, "row") }

func units(f float64) string { return text.Amount(text.Figure(f), "read unit") }
