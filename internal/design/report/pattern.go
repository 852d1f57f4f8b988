package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
)

// A pattern is an access pattern with the slice of a space that it reads. The
// overview, the cards and the pictures of the space show it.
type pattern struct {
	*check.PatternResult
	N int // from 1
	// Hazards are the findings about the pattern other than its failures, most
	// severe first.
	Hazards []finding
	// Strayed is the number of siblings read.
	Strayed int

	model  *model.Model
	bill   *bill.Bill // nil without prices
	colors palette
	space  *space // nil if the request was not run
	part   *part  // nil for a scan, and for a partition without rows
	// The rows of the range are lo to hi, and the rows read are from to to.
	lo, hi, from, to int
	// fate reports whether a row was returned; rows in the middle of a large
	// slice are missing.
	fate map[int]bool
	// stray reports whether the named row is a sibling that only shares the
	// prefix.
	stray func(name string) bool
	// link returns the address of a row of the table or index, or "". It can be nil.
	link func(row attr.Item) string
}

// patterns returns the patterns of a result, with their slices in the spaces.
func (p *Page) patterns() []*pattern {
	r, found := p.Result, p.Groups
	out := make([]*pattern, len(r.Patterns))
	for i := range r.Patterns {
		p := p.pattern(&r.Patterns[i], i+1)
		out[i] = p
		for _, g := range found {
			for _, f := range g.Findings {
				if f.Rule != check.Rule && f.Pattern == p.Pattern.Name {
					p.Hazards = append(p.Hazards, f)
				}
			}
		}
		if p.space == nil {
			continue
		}
		p.space.Patterns = append(p.space.Patterns, p)
		if p.part != nil {
			p.part.Patterns = append(p.part.Patterns, p)
		}
		if p.Report.Operation != "Scan" {
			p.strays(r.Findings)
		}
	}
	return out
}

// pattern returns a pattern with its slice in a space of the page.
func (p *Page) pattern(pr *check.PatternResult, n int) *pattern {
	out := &pattern{
		PatternResult: pr, N: n, model: p.Model, bill: p.Bill, colors: p.colors, fate: map[int]bool{},
		stray: func(string) bool { return false },
	}
	if !out.Read() {
		return out
	}
	for _, s := range p.Spaces {
		if s.Table.Name == pr.Report.Table && s.index() == pr.Report.Index {
			out.space = s
		}
	}
	if out.space != nil {
		out.link = out.space.anchor
		if pr.Report.Operation != "Scan" {
			out.place()
		}
	}
	return out
}

// Open reports whether the pattern has something to mend: it fails, or there are errors or warnings about it.
func (p *pattern) Open() bool {
	return !p.OK() || slices.ContainsFunc(p.Hazards, func(f finding) bool { return f.Severity != model.Note })
}

// Space is the table or index that the pattern reads, or nil.
func (p *pattern) Space() *space { return p.space }

// Read reports whether the service accepted the request, so that there is a
// picture to draw.
func (p *pattern) Read() bool { return p.Report != nil && p.Report.Refused == nil }

// Priced reports whether the page has prices.
func (p *pattern) Priced() bool { return p.bill != nil }

// A jump is a link inside the page.
type jump struct{ To, Text string }

// Links lead to the entities, the space and the picture of the pattern.
func (p *pattern) Links() (all []jump) {
	for _, e := range p.entities() {
		to := jump{fmt.Sprintf("entity-%d", 1+slices.Index(p.model.Entities, e)), e.Name}
		if !slices.Contains(all, to) {
			all = append(all, to)
		}
	}
	if p.space != nil {
		all = append(all, jump{fmt.Sprintf("space-%d", p.space.N), p.space.Title()})
	}
	if p.space != nil && p.part != nil && slices.Contains(p.part.Patterns, p) {
		all = append(all, jump{fmt.Sprintf("lane-%d", p.N), "among the rows"})
	}
	return all
}

// Asked names the operation and the table or index.
func (p *pattern) Asked() string {
	op, table, index := p.Pattern.Operation, "", ""
	switch {
	case p.Report != nil:
		op, table, index = cmp.Or(p.Report.Operation, op), p.Report.Table, p.Report.Index
	case p.Pattern.Table != nil:
		table = p.Pattern.Table.Name
		if p.Pattern.Index != nil {
			index = p.Pattern.Index.Name
		}
	}
	if index != "" {
		table += " by " + index
	}
	return op + " " + table
}

// EventualOnly reports whether the request cannot be strongly consistent.
func (p *pattern) EventualOnly() bool {
	return p.Report.Index != "" && p.Report.Strong == 0 && p.Report.Eventual > 0
}

// BytesRead returns the size of all that the pattern read.
func (p *pattern) BytesRead() int { return p.Total.Bytes + p.Total.Fetched }

// WasteBar draws the share of the bytes read that are not returned, as long as it is. Without waste there is no bar.
func (p *pattern) WasteBar() []box {
	waste := wasteWidth * p.Waste()
	if waste == 0 {
		return nil
	}
	return []box{{0.5, 0.5, wasteWidth, 9, 2, "track"}, {0.5, 0.5, waste, 9, 0, "hatch"}}
}

// wasteWidth is the length of the bar if nothing is returned.
const wasteWidth = 59

// Describe describes the slice in a sentence, for screen readers.
func (p *pattern) Describe() string {
	if p.Total == nil {
		return p.Pattern.Name
	}
	words := fmt.Sprintf("%s: reads %s", p.Pattern.Name, text.Count(p.Total.Examined, "row"))
	if n := p.Total.Examined - p.Total.Returned; n > 0 {
		words += fmt.Sprintf(" and drops %s", text.Thousands(n))
	}
	return words + ", " + p.RCU()
}

// RCU returns the read units of the pattern as text.
func (p *pattern) RCU() string { return text.Figure(p.Units()) + " RCU" }

// place finds the rows of the slice in its partition.
func (p *pattern) place() {
	r := p.Report
	p.part = p.space.byKey[string(r.Partition.Bytes)]
	if p.part == nil {
		return
	}
	p.hi = len(p.part.Rows)
	if r.Low.Bytes != nil {
		p.lo, _ = p.space.find(p.part, r.Low.Bytes)
	}
	if r.High.Bytes != nil {
		high, _ := p.space.find(p.part, r.High.Bytes)
		p.hi = max(p.lo, high)
	}

	p.from, p.to = p.lo, p.lo
	first := true
	for _, list := range [][]explain.Row{r.Rows, r.Tail} {
		for _, row := range list {
			i, ok := p.at(row.Key)
			if !ok {
				continue
			}
			p.fate[i] = row.Returned
			if first {
				p.from, p.to, first = i, i+1, false
			}
			p.from, p.to = min(p.from, i), max(p.to, i+1)
		}
	}
}

// foreignRows is the rule that finds siblings in a slice, in findings that begin with
// aboutPrefix. Their first key is wanted, the second is not.
const (
	foreignRows = "foreign-rows"
	aboutPrefix = "the prefix "
)

// strays looks for a finding about siblings in the slice.
func (p *pattern) strays(findings []model.Finding) {
	begin := p.prefix()
	if begin == "" || p.part == nil {
		return
	}

	for _, f := range findings {
		if f.Rule != foreignRows || !strings.HasPrefix(f.Message, aboutPrefix) || f.Pattern != p.Pattern.Name ||
			len(f.Keys) < 2 {
			continue
		}

		mark := "" // follows the prefix in wanted keys
		if i := strings.LastIndex(f.Keys[0], begin); i >= 0 {
			mark = strings.Trim(f.Keys[0][i+len(begin):], `"`)
		}
		if r := []rune(mark); len(r) > 1 {
			mark = string(r[:1])
		}

		p.stray = func(name string) bool {
			rest, ok := strings.CutPrefix(name, begin)
			return ok && rest != "" && (mark == "" || !strings.HasPrefix(rest, mark))
		}
		for _, r := range p.part.Rows[p.from:p.to] {
			if p.stray(p.space.label(r.Item.Attributes)) {
				p.Strayed++
			}
		}
		return
	}
}

// prefix returns the prefix of a begins_with condition, or "".
func (p *pattern) prefix() string {
	r := p.Report
	if len(r.Clauses) == 0 || len(r.Schema.Sort()) != 1 {
		return ""
	}
	last := r.Clauses[len(r.Clauses)-1]
	begin := string(last.Values[0].Raw())
	if last.Op != ast.OpBeginsWith || last.Values[0].Kind() != attr.String || text.Visible(begin) != begin {
		return ""
	}
	return begin
}

// at returns the index of the row with a key.
func (p *pattern) at(key attr.Item) (int, bool) {
	place, ok := p.space.Schema.AppendSort(nil, key)
	if !ok {
		return 0, false
	}
	return p.space.find(p.part, place)
}

// lost returns the share of the rows from from to to that were dropped. It
// estimates rows whose fate is unknown.
func (p *pattern) lost(from, to int) float64 {
	rows := float64(to - from)
	from, to = max(from, p.from), min(to, p.to)
	known, lost := 0, 0.0
	for i := from; i < to; i++ {
		if returned, ok := p.fate[i]; ok {
			known++
			if !returned {
				lost++
			}
		}
	}
	if r := p.Report; known < to-from && r.Examined > 0 {
		lost += float64(to-from-known) * float64(r.Examined-r.Returned) / float64(r.Examined)
	}
	return lost / rows
}
