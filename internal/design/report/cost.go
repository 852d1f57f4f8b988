package report

import (
	"fmt"
	"strconv"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/markup"
)

// cost is what a pattern costs, in figures.
func (p *page) cost(pr *check.PatternResult) {
	r := pr.Report
	p.Open("dl", markup.Class("cost"))
	fact := func(name, value, class_ string) {
		p.Open("div")
		p.Leaf("dt", name)
		if class_ == "" {
			p.Leaf("dd", value)
		} else {
			p.Leaf("dd", value, markup.Class(class_))
		}
		p.Close()
	}
	fact("rows", fmt.Sprintf("%s of %s read", thousands(r.Returned), thousands(r.Examined)), "")
	p.Open("div")
	p.Leaf("dt", "waste")
	p.Open("dd")
	p.wasteBar(pr)
	p.Close()
	p.Close()
	fact("bytes", thousands(r.Bytes+r.Fetched), "")
	if s := strong(pr); s == "–" {
		fact("read units", figure(r.Eventual)+", eventual only", "")
	} else {
		fact("read units", figure(r.Eventual)+", strong "+s, "")
	}
	pages := strconv.Itoa(r.Pages)
	if r.Last != nil {
		pages += ", more to come"
	}
	fact("pages", pages, "")
	if rate := pr.Pattern.Rate; rate > 0 {
		fact("load", fmt.Sprintf("%s a second: %s units", figure(rate), figure(rate*pr.Units())), "")
	}
	p.Close()
}

// remarks are what there is to say about what a pattern read.
func (p *page) remarks(r *explain.Report) {
	if len(r.Entities) > 1 {
		p.Open("p", markup.Class("legend"))
		for _, s := range r.Entities {
			p.Open("span", markup.Class("key-mark"))
			p.Open("svg", markup.A("viewBox", "0 0 14 14"), markup.Num("width", 14), markup.Num("height", 14), markup.A("aria-hidden", "true"))
			p.Void("rect", markup.Num("width", 14), markup.Num("height", 14), markup.Num("rx", 3), markup.Class("fill "+p.color(s.Entity)))
			p.Close()
			text := " " + named(s.Entity) + " " + thousands(s.Examined)
			if s.Examined != s.Returned {
				text += fmt.Sprintf(", %s returned", thousands(s.Returned))
			}
			p.Text(text)
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

// advice lists better ways to ask.
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
			p.Leaf("pre", a.Operation+" "+string(a.Request))
		}
		p.Close()
	}
	p.Close()
	p.Close()
}
