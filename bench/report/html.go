package report

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/internal/text"
)

//go:embed page.html page.css
var files embed.FS

// templates returns the templates of the page. It parses them when a program
// makes its first page.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"add":        func(a, b float64) float64 { return a + b },
		"grids":      grids,
		"growth":     growth,
		"growthPlot": growthPlot,
		"join":       strings.Join,
		"legend":     legend,
		"px":         text.Tenth,
		"stores":     stores,
		"summary":    summary,
	}).ParseFS(files, "*"))
})

// HTML writes a report as one page that refers to nothing outside it.
func HTML(w io.Writer, r *bench.Report) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, "page", r); err != nil {
		return err
	}
	_, err := io.WriteString(w, text.VisibleLines(b.String()))
	return err
}

// A layerColor is a layer in a legend, with the class of its colour.
type layerColor struct{ Layer, Color string }

func legend(layers []string) (all []layerColor) {
	colors := classes(layers)
	for _, l := range layers {
		all = append(all, layerColor{l, colors[l]})
	}
	return all
}
