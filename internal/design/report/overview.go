package report

import (
	"cmp"
	"strconv"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/markup"
	"github.com/sortkey/sortkey/internal/text"
)

// overview shows the table of patterns with their results and costs.
func (p *page) overview() {
	p.Open("section", markup.ID("overview"))
	p.Leaf("h2", "Access patterns")
	if len(p.r.Patterns) == 0 {
		p.Leaf("p", "The model has no access patterns.", markup.Class("muted"))
		p.Close()
		return
	}
	p.Open(
		"div", markup.Class("scroll"), markup.A("tabindex", "0"), markup.A("role", "group"),
		markup.A("aria-label", "Table of access patterns"),
	)
	p.Open("table", markup.Class("overview"))
	p.Open("thead")
	p.Open("tr")
	for _, h := range []struct {
		text, class, title string
	}{
		{"", "", ""},
		{"pattern", "", ""},
		{"reads", "reads", "the operation and the table or index"},
		{"rows", "n", "rows returned"},
		{"read", "n", "rows read and paid for"},
		{"waste", "", "the share of the bytes read that are not returned"},
		{"bytes", "n", "bytes read"},
		{"RCU", "n", "read units, eventually consistent"},
		{"RCU strong", "n", "read units with ConsistentRead"},
		{"pages", "n", ""},
	} {
		attrs := []markup.Attr{markup.A("scope", "col")}
		if h.class != "" {
			attrs = append(attrs, markup.Class(h.class))
		}
		if h.title != "" {
			attrs = append(attrs, markup.A("title", h.title))
		}
		p.Leaf("th", h.text, attrs...)
	}
	p.Close()
	p.Close()
	p.Open("tbody")
	for i := range p.r.Patterns {
		p.overviewRow(i, &p.r.Patterns[i])
	}
	p.CloseTo(p.Depth() - 4)
}

func (p *page) overviewRow(i int, pr *check.PatternResult) {
	p.Open("tr")
	p.Open("td")
	p.verdict(pr)
	p.Close()
	p.Open("th", markup.A("scope", "row"))
	p.badge(i + 1)
	p.Leaf("a", pr.Pattern.Name, markup.To("pattern-%d", i+1))
	for _, f := range pr.Failures {
		p.Leaf("span", f.Message, markup.Class("failure"))
	}
	for _, s := range severities[:2] {
		for _, f := range p.r.Findings {
			if f.Severity == s.severity && f.Rule != check.Rule && f.Pattern == pr.Pattern.Name {
				p.Leaf(
					"span", cmp.Or(ruleOf(f.Rule).title, f.Rule), markup.Class("failure "+s.kind),
					markup.A("title", f.Message),
				)
			}
		}
	}
	if s := p.slices[i]; s != nil && s.strayed > 0 {
		p.Leaf("span", text.Count(s.strayed, "sibling")+" included", markup.Class("failure warn"))
	}
	p.Close()
	if !read(pr) {
		p.Leaf("td", asked(pr), markup.Class("reads"))
		why := "not one request"
		if pr.Report != nil {
			why = "refused: " + pr.Report.Refused.Code
		}
		p.Leaf("td", why, markup.Class("muted"), markup.A("colspan", "7"))
		p.Close()
		return
	}
	r := pr.Report
	p.Leaf("td", asked(pr), markup.Class("reads"))
	p.Leaf("td", text.Thousands(r.Returned), markup.Class("n"))
	p.Leaf("td", text.Thousands(r.Examined), markup.Class("n"))
	p.Open("td")
	p.wasteBar(pr)
	p.Close()
	p.Leaf("td", text.Thousands(r.Bytes+r.Fetched), markup.Class("n"))
	p.Leaf("td", text.Figure(r.Eventual), markup.Class("n"))
	p.Leaf("td", strong(pr), markup.Class("n"))
	p.Leaf("td", strconv.Itoa(r.Pages), markup.Class("n"))
	p.Close()
}

// strong returns the units of strongly consistent reads as text.
func strong(pr *check.PatternResult) string {
	if pr.Report.Index != "" && pr.Report.Strong == 0 && pr.Report.Eventual > 0 {
		return "–"
	}
	return text.Figure(pr.Report.Strong)
}

// verdict shows whether a pattern meets its expectations.
func (p *page) verdict(pr *check.PatternResult) {
	if pr.OK() {
		p.Leaf("span", "✓", markup.Class("verdict good-text"), markup.A("title", "as expected"))
	} else {
		p.Leaf("span", "✗", markup.Class("verdict bad-text"), markup.A("title", "not as expected"))
	}
}

// badge shows the number of a pattern.
func (p *page) badge(n int) { p.Leaf("span", strconv.Itoa(n), markup.Class("badge")) }

// asked names the operation and the table or index.
func asked(pr *check.PatternResult) string {
	op, table, index := pr.Pattern.Operation, "", ""
	switch {
	case pr.Report != nil:
		op, table, index = pr.Report.Operation, pr.Report.Table, pr.Report.Index
	case pr.Pattern.Table != nil:
		table = pr.Pattern.Table.Name
		if pr.Pattern.Index != nil {
			index = pr.Pattern.Index.Name
		}
	}
	if op == "" {
		op = pr.Pattern.Operation
	}
	if index != "" {
		return op + " " + table + " by " + index
	}
	return op + " " + table
}

// wasteBar draws the share of the bytes read that are not returned.
func (p *page) wasteBar(pr *check.PatternResult) {
	share := pr.Waste()
	p.Open("span", markup.Class("waste"))
	p.Open(
		"svg", markup.A("viewBox", "0 0 60 10"), markup.Num("width", 60), markup.Num("height", 10),
		markup.A("aria-hidden", "true"),
	)
	full := 60.0
	if pr.Report.Examined == 0 {
		full = 0
	}
	p.Void(
		"rect", markup.Num("x", 0), markup.Num("y", 0), markup.Num("width", 60), markup.Num("height", 10),
		markup.Num("rx", 2), markup.Class("track"),
	)
	p.Void(
		"rect", markup.Num("x", 0), markup.Num("y", 0), markup.Num("width", full*(1-share)), markup.Num("height", 10),
		markup.Class("useful"),
	)
	if share > 0 {
		p.Void(
			"rect", markup.Num("x", full*(1-share)), markup.Num("y", 0), markup.Num("width", full*share),
			markup.Num("height", 10), markup.Class("lost-bar"),
		)
		p.Void(
			"rect", markup.Num("x", full*(1-share)), markup.Num("y", 0), markup.Num("width", full*share),
			markup.Num("height", 10), markup.Class("hatch"),
		)
	}
	p.Close()
	if share > 0 {
		p.Leaf("span", " "+text.Percent(share), markup.Class("bad-text"))
	} else {
		p.Leaf("span", " 0%", markup.Class("muted"))
	}
	p.Close()
}
