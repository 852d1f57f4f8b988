package report

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"io"
	"sync"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

//go:embed templates
var files embed.FS

// templates returns the templates of the page. It parses them when a program
// makes its first page.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"attributes": attributes,
		"count":      text.Count[int],
		"figure":     text.Figure,
		"named":      named,
		"percent":    text.Percent,
		"px":         text.Tenth,
		"short":      short,
		"size":       text.Size[int],
		"thousands":  text.Thousands[int],
	}).ParseFS(files, "templates/*"))
})

// HTML writes a result as a self-contained page: the key space of each table
// and index with the slices of its patterns, the reads and the cost of each
// pattern, the skew of partitions, and the findings. W is the checked world; it
// may be closed, but must not change.
func HTML(out io.Writer, w *world.World, r *check.Result) error {
	p, err := newPage(context.Background(), w, r)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, "page", p); err != nil {
		return err
	}
	_, err = io.WriteString(out, text.VisibleLines(b.String()))
	return err
}

// A page is what the template "page" shows.
type page struct {
	*check.Result
	Access []*pattern
	Spaces []*space
	Groups []group
	// Missed is the number of patterns that do not meet their expectations.
	Missed int
	// Size is the size of all items.
	Size int
}

func newPage(ctx context.Context, w *world.World, r *check.Result) (*page, error) {
	colors := newPalette(w.Model)
	all, err := spaces(ctx, w, colors)
	if err != nil {
		return nil, err
	}
	found := groups(r)
	p := &page{Result: r, Access: patterns(r, found, all, colors), Spaces: all, Groups: found}
	for _, pattern := range p.Access {
		if !pattern.OK() {
			p.Missed++
		}
	}
	for _, s := range all {
		if s.Index == nil {
			p.Size += s.Bytes
		}
	}
	return p, nil
}
