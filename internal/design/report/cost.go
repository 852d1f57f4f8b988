package report

import (
	"fmt"
	"strconv"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/markup"
	"github.com/sortkey/sortkey/internal/text"
)

// cost shows the cost of a pattern.
func (p *page) cost(pr *check.PatternResult) {
	r := pr.Report
	p.Open("dl", markup.Class("cost"))
	fact := func(name, value, class string) {
		p.Open("div")
		p.Leaf("dt", name)
		if class == "" {
			p.Leaf("dd", value)
		} else {
			p.Leaf("dd", value, markup.Class(class))
		}
		p.Close()
	}
	fact("rows", fmt.Sprintf("%s of %s read", text.Thousands(r.Returned), text.Thousands(r.Examined)), "")
	p.Open("div")
	p.Leaf("dt", "waste")
	p.Open("dd")
	p.wasteBar(pr)
	p.Close()
	p.Close()
	fact("bytes", text.Thousands(r.Bytes+r.Fetched), "")
	if s := strong(pr); s == "–" {
		fact("read units", text.Figure(r.Eventual)+", eventual only", "")
	} else {
		fact("read units", text.Figure(r.Eventual)+", strong "+s, "")
	}
	pages := strconv.Itoa(r.Pages)
	if r.Last != nil {
		pages += " so far"
	}
	fact("pages", pages, "")
	if rate := pr.Pattern.Rate; rate > 0 {
		fact("load", fmt.Sprintf("%s per second: %s units", text.Figure(rate), text.Figure(rate*pr.Units())), "")
	}
	p.Close()
}

// spread shows what a pattern reads in other partitions.
func (p *page) spread(s *check.Spread) {
	p.Open(
		"div", markup.Class("scroll"), markup.A("tabindex", "0"), markup.A("role", "group"),
		markup.A("aria-label", "The same request in other partitions"),
	)
	p.Open("table", markup.Class("overview"))
	p.Leaf(
		"caption", fmt.Sprintf("The same request in %s, by cost", text.Count(s.Partitions, "partition")),
		markup.Class("muted"),
	)
	p.Open("thead")
	p.Open("tr")
	for _, h := range []string{"", "rows", "read", "RCU", "pages", "growth", "partition"} {
		p.Leaf("th", h, markup.A("scope", "col"))
	}
	p.Close()
	p.Close()
	p.Open("tbody")
	for _, row := range []struct {
		name string
		r    *check.Reading
	}{{"p50", &s.P50}, {"p95", &s.P95}, {"worst", &s.Worst}} {
		p.Open("tr")
		p.Leaf("td", row.name)
		for _, figure := range []string{text.Thousands(row.r.Rows), text.Thousands(row.r.Examined), text.Figure(row.r.Units), text.Thousands(row.r.Pages), "× " + text.Figure(row.r.Growth)} {
			p.Leaf("td", figure, markup.Class("n"))
		}
		p.Open("td")
		p.Leaf("code", short(row.r.Text(), 60), markup.Class("key"), markup.A("title", row.r.Text()))
		p.Close()
		p.Close()
	}
	p.CloseTo(p.Depth() - 3)
}

// remarks shows the entities, notes and advice of a pattern.
func (p *page) remarks(r *explain.Report) {
	if len(r.Entities) > 1 {
		p.Open("p", markup.Class("legend"))
		for _, s := range r.Entities {
			p.Open("span", markup.Class("key-mark"))
			p.Open(
				"svg", markup.A("viewBox", "0 0 14 14"), markup.Num("width", 14), markup.Num("height", 14),
				markup.A("aria-hidden", "true"),
			)
			p.Void(
				"rect", markup.Num("width", 14), markup.Num("height", 14), markup.Num("rx", 3),
				markup.Class("fill "+p.color(s.Entity)),
			)
			p.Close()
			label := " " + named(s.Entity) + " " + text.Thousands(s.Examined)
			if s.Examined != s.Returned {
				label += fmt.Sprintf(", %s returned", text.Thousands(s.Returned))
			}
			p.Text(label)
			p.Close()
			p.Text(" ")
		}
		p.Close()
	}
	for _, note := range r.Notes {
		p.Leaf("p", note, markup.Class("muted"))
	}
	p.advice("Better", r.Advice)
}

// advice lists advice with its requests.
func (p *page) advice(title string, all []explain.Advice) {
	if len(all) == 0 {
		return
	}
	p.Open("details")
	p.Leaf("summary", title+": "+all[0].Text)
	p.Open("ul")
	for i, a := range all {
		if i == 0 && a.Request == nil {
			continue
		}
		p.Open("li")
		if i > 0 {
			p.Leaf("p", a.Text)
		}
		if a.Request != nil {
			p.Leaf("pre", a.Request.Op().String()+" "+string(a.Request.AppendJSON(nil)))
		}
		p.Close()
	}
	p.Close()
	p.Close()
}
