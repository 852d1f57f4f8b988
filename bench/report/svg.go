package report

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/markup"
)

func (p *page) plots(plots ...*plot) {
	p.Open("div", markup.Class("plots"))
	for _, pl := range plots {
		p.plot(pl)
	}
	p.Close()
}

func (p *page) plot(pl *plot) {
	left, right, top, bottom := float64(pl.Left), float64(pl.Right), float64(pl.Top), float64(pl.Bottom)
	x := func(at float64) markup.Attr { return markup.Num("x", at) }
	y := func(at float64) markup.Attr { return markup.Num("y", at) }
	grid := func(x1, y1, x2, y2 float64) {
		p.Void("line", markup.Class("grid"), markup.Num("x1", x1), markup.Num("y1", y1), markup.Num("x2", x2), markup.Num("y2", y2))
	}
	end, middle := markup.A("text-anchor", "end"), markup.A("text-anchor", "middle")

	p.Open("svg", markup.Num("width", float64(pl.Width)), markup.Num("height", float64(pl.Height)),
		markup.A("viewBox", fmt.Sprintf("0 0 %d %d", pl.Width, pl.Height)), markup.A("role", "img"), markup.A("aria-label", pl.Title+" "+pl.XLabel))
	if pl.Title != "" {
		p.Leaf("text", pl.Title, markup.Class("title"), x(left), y(16))
	}
	for _, t := range pl.YTicks {
		grid(left, t.At, right, t.At)
		p.Leaf("text", t.Text, x(left-6), y(t.At), markup.Num("dy", 4), end)
	}
	for _, t := range pl.XTicks {
		grid(t.At, top, t.At, bottom)
		p.Leaf("text", t.Text, x(t.At), y(bottom+15), middle)
	}
	if pl.XLabel != "" {
		p.Leaf("text", pl.XLabel, x(right), y(bottom+32), end)
	}
	for _, l := range pl.Lines {
		p.Open("path", markup.Class("line "+l.Class), markup.A("d", l.D))
		p.Leaf("title", l.Title)
		p.Close()
	}
	for _, d := range pl.Dots {
		p.Open("circle", markup.Class("dot "+d.Class), markup.Num("cx", d.X), markup.Num("cy", d.Y), markup.Num("r", 4.5))
		p.Leaf("title", d.Title)
		p.Close()
	}
	p.Close()
}
