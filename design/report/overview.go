package report

import (
	"cmp"
	"strconv"

	"github.com/sortkey/sortkey/design/check"
)

// overview is the table of patterns: what each did, and what it cost.
func (p *page) overview() {
	p.open("section", id("overview"))
	p.leaf("h2", "Access patterns")
	if len(p.r.Patterns) == 0 {
		p.leaf("p", "The model has no access patterns.", class("muted"))
		p.close()
		return
	}
	p.open("div", class("scroll"), at{"tabindex", "0"}, at{"role", "group"}, at{"aria-label", "Table of access patterns"})
	p.open("table", class("overview"))
	p.open("thead")
	p.open("tr")
	for _, h := range []struct {
		text, class, title string
	}{
		{"", "", ""}, {"pattern", "", ""}, {"reads", "reads", "the operation and the table or index"}, {"rows", "n", "rows returned"},
		{"read", "n", "rows read and paid for"}, {"waste", "", "the share of the bytes read that were not returned"}, {"bytes", "n", "bytes read"},
		{"RCU", "n", "read units, eventually consistent"}, {"RCU strong", "n", "read units with ConsistentRead"}, {"pages", "n", ""},
	} {
		attrs := []at{{"scope", "col"}}
		if h.class != "" {
			attrs = append(attrs, class(h.class))
		}
		if h.title != "" {
			attrs = append(attrs, at{"title", h.title})
		}
		p.leaf("th", h.text, attrs...)
	}
	p.close()
	p.close()
	p.open("tbody")
	for i := range p.r.Patterns {
		p.overviewRow(i, &p.r.Patterns[i])
	}
	p.closeTo(len(p.stack) - 4)
}

func (p *page) overviewRow(i int, pr *check.PatternResult) {
	p.open("tr")
	p.verdict("td", pr)
	p.open("th", at{"scope", "row"})
	p.badge(i + 1)
	p.leaf("a", pr.Pattern.Name, to("pattern-%d", i+1))
	for _, f := range pr.Failures {
		p.leaf("span", f.Message, class("failure"))
	}
	for _, s := range severities[:2] {
		for _, f := range p.r.Findings {
			if f.Severity == s.severity && f.Rule != check.Rule && f.Pattern == pr.Pattern.Name {
				p.leaf("span", cmp.Or(ruleOf(f.Rule).title, f.Rule), class("failure "+s.kind), at{"title", f.Message})
			}
		}
	}
	if s := p.slices[i]; s != nil && s.strayed > 0 {
		p.leaf("span", count(s.strayed, "sibling")+" in it", class("failure warn"))
	}
	p.close()
	if !read(pr) {
		p.leaf("td", asked(pr), class("reads"))
		why := "not one request"
		if pr.Report != nil {
			why = "refused: " + pr.Report.Refused.Code
		}
		p.leaf("td", why, class("muted"), at{"colspan", "7"})
		p.close()
		return
	}
	r := pr.Report
	p.leaf("td", asked(pr), class("reads"))
	p.leaf("td", thousands(r.Returned), class("n"))
	p.leaf("td", thousands(r.Examined), class("n"))
	p.open("td")
	p.wasteBar(pr)
	p.close()
	p.leaf("td", thousands(r.Bytes+r.Fetched), class("n"))
	p.leaf("td", figure(r.Eventual), class("n"))
	p.leaf("td", strong(pr), class("n"))
	p.leaf("td", strconv.Itoa(r.Pages), class("n"))
	p.close()
}

// strong writes the units of a strongly consistent read.
func strong(pr *check.PatternResult) string {
	if pr.Report.Index != "" && pr.Report.Strong == 0 && pr.Report.Eventual > 0 {
		return "–"
	}
	return figure(pr.Report.Strong)
}

// verdict says whether a pattern did what is expected.
func (p *page) verdict(tag word, pr *check.PatternResult) {
	if pr.OK() {
		p.leaf(tag, "✓", class("verdict good-text"), at{"title", "as expected"})
	} else {
		p.leaf(tag, "✗", class("verdict bad-text"), at{"title", "not as expected"})
	}
}

// badge is the number of a pattern.
func (p *page) badge(n int) { p.leaf("span", strconv.Itoa(n), class("badge")) }

// asked names the operation and what it reads.
func asked(pr *check.PatternResult) string {
	op, table, index := pr.Op, "", ""
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

// wasteBar draws the share of bytes that were read and not returned.
func (p *page) wasteBar(pr *check.PatternResult) {
	share := pr.Waste()
	p.open("span", class("waste"))
	p.open("svg", at{"viewBox", "0 0 60 10"}, num("width", 60), num("height", 10), at{"aria-hidden", "true"})
	full := 60.0
	if pr.Report.Examined == 0 {
		full = 0
	}
	p.void("rect", num("x", 0), num("y", 0), num("width", 60), num("height", 10), num("rx", 2), class("track"))
	p.void("rect", num("x", 0), num("y", 0), num("width", full*(1-share)), num("height", 10), class("useful"))
	if share > 0 {
		p.void("rect", num("x", full*(1-share)), num("y", 0), num("width", full*share), num("height", 10), class("lost-bar"))
		p.void("rect", num("x", full*(1-share)), num("y", 0), num("width", full*share), num("height", 10), class("hatch"))
	}
	p.close()
	if share > 0 {
		p.leaf("span", " "+percent(share), class("bad-text"))
	} else {
		p.leaf("span", " 0%", class("muted"))
	}
	p.close()
}
