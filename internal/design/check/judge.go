package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
)

// A judge compares what a pattern did with what is expected of it.
type judge struct {
	p  *design.Pattern
	pr *PatternResult
}

// Judge compares what the pattern did with what is expected of it and sets
// Failures. Of Report it reads what was returned, counted and refused, so that
// the answer of any client can be judged.
func (p *PatternResult) Judge() {
	p.Failures = nil
	j := judge{p: p.Pattern, pr: p}
	if p.Compile != nil {
		j.uncompiled()
		return
	}
	j.judge()
}

func (j *judge) fail(keys []string, advice, format string, args ...any) {
	f := design.Finding{
		Rule: Rule, Severity: design.Error, Pos: j.p.Expect.Pos, Pattern: j.p.Name,
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
	case design.NotARange:
	case "":
		j.fail(nil, e.Advice, "it is not one request: %s", e.Msg)
		j.pr.Failures[0].Pos = e.Pos
	default:
		j.fail(nil, e.Advice, "expected %s, got %s: %s", want, design.NotARange, e.Msg)
	}
}

func (j *judge) judge() {
	r, x := j.pr.Report, j.p.Expect
	if r.Refused != nil {
		j.refused()
		return
	}
	if x.Error != "" {
		j.fail(j.some(""), "", "expected %s, got an answer of %s", x.Error, rows(r.Returned))
		return
	}
	advice := ""
	if len(r.Advice) > 0 {
		advice = r.Advice[0].Text
	}
	if x.Rows != nil && r.Returned != *x.Rows {
		j.fail(j.some(""), "", "expected %s, got %d", rows(*x.Rows), r.Returned)
	}
	if x.MaxRows != nil && r.Returned > *x.MaxRows {
		j.fail(j.some(""), "give it a limit, or a narrower range", "expected at most %s, got %d", rows(*x.MaxRows), r.Returned)
	}
	if x.Pages != nil && r.Pages > *x.Pages {
		j.fail(nil, "a page ends at 1 MB or at the limit, before the filter: read less, or expect more", "expected at most %s, got %d", count(*x.Pages, "page"), r.Pages)
	}
	if x.Units != nil && j.pr.Units() > *x.Units {
		j.fail(nil, advice, "expected at most %v read units, got %v for %s", *x.Units, j.pr.Units(), count(r.Bytes+r.Fetched, "byte"))
	}
	if x.Waste != nil && j.pr.Waste() > *x.Waste {
		j.fail(j.wasted(), advice, "expected a waste of at most %s of the bytes read, got %s: %d of %s were read and dropped",
			percent(*x.Waste), percent(j.pr.Waste()), r.Examined-r.Returned, rows(r.Examined))
	}
	if len(x.Entities) > 0 {
		for _, s := range r.Entities {
			if s.Returned > 0 && !slices.Contains(x.Entities, s.Entity) {
				name := s.Entity
				if name == "" {
					name = "items of no entity"
				}
				j.fail(j.some(s.Entity, true), "narrow the range to "+strings.Join(x.Entities, ", ")+", or expect "+name+" too",
					"expected only %s, got %s of %s", strings.Join(x.Entities, ", "), rows(s.Returned), name)
			}
		}
	}
	if x.Keys != nil {
		j.keys()
	}
	j.item()
}

func (j *judge) refused() {
	r, want := j.pr.Report.Refused, j.p.Expect.Error
	if want == r.Code {
		return
	}
	advice := ""
	if len(r.Advice) > 0 {
		advice = r.Advice[0].Text
	}
	text := r.Code + ": " + r.Message
	if r.Rule != "" {
		text += " (" + r.Rule + ")"
	}
	if want != "" {
		j.fail(nil, advice, "expected %s, got %s", want, text)
		return
	}
	j.fail(nil, advice, "the service refuses it: %s", text)
}

// item compares what a GetItem returned.
func (j *judge) item() {
	r, x := j.pr.Report, j.p.Expect
	switch {
	case x.NoItem && r.Returned > 0:
		j.fail(j.some(""), "", "expected no item, got one")
	case x.Item != nil && len(r.Items) == 0:
		j.fail(nil, "look at the key: it is built of the values in where", "expected an item, got none")
	case x.Item != nil && !r.Items[0].Equal(x.Item):
		j.fail([]string{string(r.Items[0].AppendJSON(nil))}, "", "expected the item %s, got another: %s", x.Item.AppendJSON(nil), difference(x.Item, r.Items[0]))
	}
}

// difference says where two items differ first.
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
			return "it has " + string(name) + " too"
		}
	}
	return "they are equal"
}

// keys compares the keys of the rows returned, in order.
func (j *judge) keys() {
	want := j.p.Expect.Keys
	got, complete := j.returned()
	if !complete {
		j.fail(nil, "raise the limit of rows kept, or expect rows only", "expected %s, got %d, too many to compare", count(len(want), "key"), j.pr.Report.Returned)
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
			switch {
			case i >= len(got):
				j.fail(j.some(""), "", "expected %s, got %d: %s is missing", count(len(want), "key"), len(got), keyText(want[i]))
				return
			case i >= len(want):
				j.fail([]string{rowText(t, got[i].Key)}, "", "expected %s, got %d: %s is not expected", count(len(want), "key"), len(got), rowText(t, got[i].Key))
				return
			case !slices.ContainsFunc(want[start:min(end, len(want))], func(k design.Key) bool { return same(t, got[i].Key, k) }):
				j.fail([]string{rowText(t, got[i].Key), keyText(want[i])}, "", "row %d is %s, expected %s", i+1, rowText(t, got[i].Key), keyText(want[i]))
				return
			}
		}
		start = end
	}
}

// returned are the rows returned, and whether the report has kept all of them.
func (j *judge) returned() ([]explain.Row, bool) {
	var got []explain.Row
	for _, row := range slices.Concat(j.pr.Report.Rows, j.pr.Report.Tail) {
		if row.Returned {
			got = append(got, row)
		}
	}
	return got, len(got) == j.pr.Report.Returned
}

// tied reports whether two rows have equal keys in the index that was read.
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

func same(t *design.Table, row attr.Item, key design.Key) bool {
	for i, a := range t.Keys() {
		if !attr.Equal(row.Get(a.Name), key[i]) {
			return false
		}
	}
	return true
}

// some returns the first keys returned, of one entity if entity is given.
func (j *judge) some(entity string, of ...bool) []string {
	return j.first(func(row explain.Row) bool {
		return row.Returned && (len(of) == 0 || row.Entity == entity)
	})
}

// wasted returns the first keys read and not returned.
func (j *judge) wasted() []string {
	return j.first(func(row explain.Row) bool { return !row.Returned })
}

func (j *judge) first(is func(explain.Row) bool) (keys []string) {
	if j.p.Table == nil {
		return nil
	}
	for _, row := range j.pr.Report.Rows {
		if is(row) {
			if keys = append(keys, rowText(j.p.Table, row.Key)); len(keys) == 2 {
				break
			}
		}
	}
	return keys
}

// rowText writes the table key of a row.
func rowText(t *design.Table, row attr.Item) string {
	var k design.Key
	for _, a := range t.Keys() {
		k = append(k, row.Get(a.Name))
	}
	return keyText(k)
}

func keyText(k design.Key) string {
	parts := make([]string, len(k))
	for i, v := range k {
		parts[i] = text.Literal(v)
	}
	return strings.Join(parts, ", ")
}

func rows(n int) string { return count(n, "row") }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(1000*share)/10, 'f', -1, 64) + "%"
}
