package report

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A slice is the range that an access pattern reads in a space.
type slice struct {
	n     int // number of the pattern, from 1
	pr    *check.PatternResult
	space *space
	part  *part // nil for a scan, and for a partition without rows
	// The rows of the range are lo to hi, and the rows read are from to to.
	lo, hi, from, to int
	// fate reports whether a row was returned; rows in the middle of a large
	// slice are missing.
	fate map[int]bool
	// stray reports whether the named row is a sibling that only shares the
	// prefix; nil if there are none.
	stray func(name string) bool
	// strayed is the number of siblings read.
	strayed int
}

// report returns the report of the pattern.
func (s *slice) report() *explain.Report { return s.pr.Report }

// read reports whether the service accepted the request, so that there is a
// picture to draw.
func read(pr *check.PatternResult) bool { return pr.Report != nil && pr.Report.Refused == nil }

// findSlices finds the slices of the patterns in the spaces.
func findSlices(all []*space, result *check.Result) []*slice {
	out := make([]*slice, len(result.Patterns))
	for i := range result.Patterns {
		pr := &result.Patterns[i]
		if !read(pr) {
			continue
		}
		r := pr.Report
		for _, s := range all {
			if s.t.Name != r.Table || (s.x == nil) != (r.Index == "") || s.x != nil && s.x.Name != r.Index {
				continue
			}
			sl := &slice{n: i + 1, pr: pr, space: s, fate: map[int]bool{}}
			if r.Operation != "Scan" {
				sl.place()
				sl.strays(result.Findings)
			}
			s.slices = append(s.slices, sl)
			out[i] = sl
		}
	}
	return out
}

// place finds the rows of a slice in its partition.
func (s *slice) place() {
	r := s.report()
	p := s.space.byKey[string(r.Partition.Bytes)]
	if p == nil {
		return
	}
	s.part = p
	p.slices = append(p.slices, s)
	rows := p.rows
	s.hi = len(rows)
	if r.Low.Bytes != nil {
		s.lo, _ = s.space.find(p, r.Low.Bytes)
	}
	if r.High.Bytes != nil {
		high, _ := s.space.find(p, r.High.Bytes)
		s.hi = max(s.lo, high)
	}
	s.from, s.to = s.lo, s.lo
	first := true
	for _, list := range [][]explain.Row{r.Rows, r.Tail} {
		for _, row := range list {
			i, ok := s.at(row.Key)
			if !ok {
				continue
			}
			s.fate[i] = row.Returned
			if first {
				s.from, s.to, first = i, i+1, false
			}
			s.from, s.to = min(s.from, i), max(s.to, i+1)
		}
	}
}

// openPrefix is the rule that finds siblings in a slice. The first key of its
// findings is wanted, the second is not.
const openPrefix = "open-prefix"

// strays looks for a finding about siblings in the slice.
func (s *slice) strays(findings []model.Finding) {
	begin := prefix(s.report())
	if begin == "" || s.part == nil {
		return
	}
	for _, f := range findings {
		if f.Rule != openPrefix || f.Pattern != s.pr.Pattern.Name || len(f.Keys) < 2 {
			continue
		}
		mark := "" // follows the prefix in wanted keys
		if i := strings.LastIndex(f.Keys[0], begin); i >= 0 {
			mark = strings.Trim(f.Keys[0][i+len(begin):], `"`)
		}
		if r := []rune(mark); len(r) > 1 {
			mark = string(r[:1])
		}
		s.stray = func(name string) bool {
			rest, ok := strings.CutPrefix(name, begin)
			return ok && rest != "" && (mark == "" || !strings.HasPrefix(rest, mark))
		}
		for _, r := range s.part.rows[s.from:s.to] {
			if s.stray(s.space.label(r.Item.Attributes)) {
				s.strayed++
			}
		}
		return
	}
}

// at returns the index of the row with a key.
func (s *slice) at(key attr.Item) (int, bool) {
	schema := s.space.t.Schema(s.space.x)
	place, ok := schema.AppendSort(nil, key)
	if !ok {
		return 0, false
	}
	return s.space.find(s.part, place)
}

// dropped returns the number of dropped rows among some rows. It estimates rows
// whose fate is unknown.
func (s *slice) dropped(from, to int) float64 {
	from, to = max(from, s.from), min(to, s.to)
	if from >= to {
		return 0
	}
	known, lost := 0, 0.0
	for i := from; i < to; i++ {
		if returned, ok := s.fate[i]; ok {
			known++
			if !returned {
				lost++
			}
		}
	}
	r := s.report()
	if known < to-from && r.Examined > 0 {
		lost += float64(to-from-known) * float64(r.Examined-r.Returned) / float64(r.Examined)
	}
	return lost
}

// describe describes the slice in a sentence, for screen readers.
func (s *slice) describe() string {
	r := s.report()
	words := fmt.Sprintf("%s: reads %s", s.pr.Pattern.Name, text.Count(r.Examined, "row"))
	if n := r.Examined - r.Returned; n > 0 {
		words += fmt.Sprintf(" and drops %s", text.Thousands(n))
	}
	return words + ", " + rcu(s.pr)
}

// rcu returns the read units of a pattern as text.
func rcu(pr *check.PatternResult) string { return text.Figure(pr.Units()) + " RCU" }
