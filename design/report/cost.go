package report

import (
	"fmt"
	"strconv"

	"github.com/sortkey/sortkey/design/check"
	"github.com/sortkey/sortkey/design/explain"
)

// cost is what a pattern costs, in figures.
func (p *page) cost(pr *check.PatternResult) {
	r := pr.Report
	p.open("dl", class("cost"))
	fact := func(name, value, class_ string) {
		p.open("div")
		p.leaf("dt", name)
		if class_ == "" {
			p.leaf("dd", value)
		} else {
			p.leaf("dd", value, class(class_))
		}
		p.close()
	}
	fact("rows", fmt.Sprintf("%s of %s read", thousands(r.Returned), thousands(r.Examined)), "")
	p.open("div")
	p.leaf("dt", "waste")
	p.open("dd")
	p.wasteBar(pr)
	p.close()
	p.close()
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
	p.close()
}

// remarks are what there is to say about what a pattern read.
func (p *page) remarks(r *explain.Report) {
	if len(r.Entities) > 1 {
		p.open("p", class("legend"))
		for _, s := range r.Entities {
			p.open("span", class("key-mark"))
			p.open("svg", at{"viewBox", "0 0 14 14"}, num("width", 14), num("height", 14), at{"aria-hidden", "true"})
			p.void("rect", num("width", 14), num("height", 14), num("rx", 3), class("fill "+p.color(s.Entity)))
			p.close()
			text := " " + named(s.Entity) + " " + thousands(s.Examined)
			if s.Examined != s.Returned {
				text += fmt.Sprintf(", %s returned", thousands(s.Returned))
			}
			p.text(text)
			p.close()
			p.text(" ")
		}
		p.close()
	}
	for _, note := range r.Notes {
		p.leaf("p", note, class("muted"))
	}
	p.advice("Better", r.Advice)
}

// advice lists better ways to ask.
func (p *page) advice(title string, all []explain.Advice) {
	if len(all) == 0 {
		return
	}
	p.open("details")
	p.leaf("summary", title+": "+all[0].Text)
	p.open("ul")
	for i, a := range all {
		if i == 0 && a.Request == nil {
			continue
		}
		p.open("li")
		if i > 0 {
			p.leaf("p", a.Text)
		}
		if a.Request != nil {
			p.leaf("pre", a.Operation+" "+string(a.Request))
		}
		p.close()
	}
	p.close()
	p.close()
}
