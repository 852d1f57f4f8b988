package report

import (
	_ "embed"
	"io"
	"slices"
	"sync"
	"text/template"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

//go:embed markdown.tmpl
var markdown string

// markdownTemplate returns the template of [Markdown]. The first call parses it.
var markdownTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"code": text.MarkdownCode, "error": severe, "figure": text.Figure,
		"looked": looked, "markdown": text.Markdown, "open": open, "thousands": text.Thousands[int],
	}).Parse(markdown))
})

// Markdown writes a result for a pull request: the patterns that fail, the cost of each pattern, and the findings. If
// the model declares rates, it adds the bill. b can be nil.
func Markdown(w io.Writer, r *check.Result, b *bill.Bill) error {
	return markdownTemplate().Execute(w, struct {
		*check.Result
		Bill *bill.Bill
	}{r, b})
}

// open returns the findings to list: those that the model does not accept. It leaves out findings about expectations,
// because the report shows them with their patterns.
func open(all []model.Finding) []model.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f model.Finding) bool {
		return f.Rule == check.Rule || f.Accepted != ""
	})
}
