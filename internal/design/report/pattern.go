package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A pattern is the data of an access pattern, for its row in the table of patterns and for its card.
type pattern struct {
	*check.PatternResult
	N int // from 1
	// Hazards are the findings about the pattern, except its failures. The most severe comes first.
	Hazards []finding
	Lines   lines      // what it reads or writes
	Slices  []*picture // pictures of the worst and the median slice that the pattern reads

	model *model.Model
	bill  *bill.Bill // nil without prices
	space *space     // nil if the request was not run
}

// pattern returns the pattern with the number n on the page.
func (p *Page) pattern(pr *check.PatternResult, n int) *pattern {
	out := &pattern{PatternResult: pr, N: n, Lines: linesOf(pr), model: p.Model, bill: p.Bill}
	for _, g := range p.Groups {
		for _, f := range g.Findings {
			if f.Rule != check.Rule && f.Pattern == pr.Pattern.Name {
				out.Hazards = append(out.Hazards, f)
			}
		}
	}
	if !out.Read() {
		return out
	}
	for _, s := range p.Spaces {
		if s.Table.Name == pr.Report.Table && s.Stats.IndexName() == pr.Report.Index {
			out.space = s
			s.Patterns = append(s.Patterns, out)
		}
	}
	return out
}

// Open reports whether the pattern needs attention: either it fails, or there is an error or a warning about it.
func (p *pattern) Open() bool {
	return !p.OK() || slices.ContainsFunc(p.Hazards, func(f finding) bool { return f.Severity != model.Note })
}

// Read reports whether the service accepted the request, so that there is a slice to draw.
func (p *pattern) Read() bool { return p.Report != nil && p.Report.Refused == nil }

// Priced reports whether the page has prices.
func (p *pattern) Priced() bool { return p.bill != nil }

// A jump is a link inside the page.
type jump struct{ To, Text string }

// Links returns links to the pattern's entities and to its table or index.
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
	return all
}

// Asked returns the pattern's operation, and the table or index to which it sends its request.
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

// entities returns the entities that the pattern reads or writes.
func (p *pattern) entities() (all []*model.Entity) {
	if p.Pattern.Entity != nil {
		all = append(all, p.Pattern.Entity)
	}
	for i := range p.Pattern.Writes {
		all = append(all, p.Pattern.Writes[i].Entity)
	}
	if p.Pattern.Then != nil {
		all = append(all, p.Pattern.Then)
	}
	if p.Pattern.Entity == nil && p.Report != nil {
		for _, share := range p.Report.Entities {
			if e := p.model.Entity(share.Entity); e != nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// figures is a row of figures on the page: the median, the 95th percentile and the maximum over all values that a
// pattern can be given.
type figures struct{ Name, Unit, P50, P95, Worst string }

// readings returns what the pattern reads for the median, the 95th percentile and the worst of its values. If the check
// did not estimate other values, all three are for the values in the model.
func (p *pattern) readings() (p50, p95, worst *load.Reading) {
	if s := p.Spread; s != nil {
		return &s.P50, &s.P95, &s.Worst
	}
	own := p.Own()
	return own, own, own
}

// Rows returns figures about the number of rows that the pattern returns at the declared scale.
func (p *pattern) Rows() figures {
	rows := func(r *load.Reading) string { return text.Thousands(int(r.DeclaredRows() + 0.5)) }
	p50, p95, worst := p.readings()
	return figures{"rows", "", rows(p50), rows(p95), rows(worst)}
}

// Costs returns figures about the units that the pattern consumes at the declared scale.
func (p *pattern) Costs() figures {
	of := text.Figure
	if w := p.Writes; w != nil {
		return figures{"write units", "W", of(w.P50), of(w.P95), of(w.Worst)}
	}
	p50, p95, worst := p.readings()
	return figures{"read units", "R", of(p50.DeclaredUnits()), of(p95.DeclaredUnits()), of(worst.DeclaredUnits())}
}

// MostWaste returns the largest fraction of the bytes read that the pattern does not return, over all values.
func (p *pattern) MostWaste() float64 {
	waste := p.Waste()
	if p.Spread != nil {
		for i := range p.Spread.Readings {
			waste = max(waste, p.Spread.Readings[i].Waste)
		}
	}
	return waste
}

// Code returns the request in several languages. A refused request has none.
func (p *pattern) Code() []Code { return InCode(p.Input) }

// Loaded reports whether the pattern has a rate and a request that the service accepts.
func (p *pattern) Loaded() bool { return p.Pattern.Rate > 0 && (p.Read() || p.Writes != nil) }

// Load returns the units per second that the pattern consumes at its declared rate.
func (p *pattern) Load() float64 { return p.Pattern.Rate * p.MeanUnits() }

// Month returns what the pattern costs a month with on-demand capacity.
func (p *pattern) Month() string {
	if p.Writes != nil {
		return p.bill.Money(p.bill.OnDemand(0, p.Load()))
	}
	return p.bill.Money(p.bill.OnDemand(p.Load(), 0))
}
