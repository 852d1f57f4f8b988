package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/keycond"
)

const (
	maxShown = 8  // differences of a changed item
	maxValue = 60 // characters of a value
)

// keyOf returns the attributes of an item that are the key of its table.
func keyOf(t *keyschema.Table, it attr.Item) attr.Item {
	var b attr.Builder
	for _, a := range t.Key.Attributes() {
		b.Add(a.Name, it.Get(a.Name))
	}
	return b.Item()
}

// hasKey reports whether an item has the key attributes of a table. An item may lack them if it was read before
// somebody deleted the table and created it again with another key.
func hasKey(t *keyschema.Table, it attr.Item) bool {
	return !slices.ContainsFunc(t.Key.Attributes(), func(a keycond.Attribute) bool {
		return it.Get(a.Name).Kind() != a.Kind
	})
}

// itemLink returns the address of the page of an item, or "" if the item lacks the key of the table.
func itemLink(t *keyschema.Table, it attr.Item) string {
	if !hasKey(t, it) {
		return ""
	}
	return "item?" + query("name", t.Name, "key", cursorText(keyOf(t, it)))
}

// clip returns s, cut to at most n characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// queryTime bounds the time of a query that a person types.
const queryTime = 10 * time.Second

// query runs the query that a person types, and answers with a drawing of the rows that it reads.
func (s *Server) query(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), queryTime)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, 3*ask.MaxRequest) // values may be escaped
	if err := r.ParseForm(); err != nil {
		return &badRequest{err}
	}
	pr, err := s.run(r.WithContext(ctx))
	if err != nil {
		return err
	}
	var b strings.Builder
	err = report.Answer(&b, pr, s.colorsOf(pr), s.linkOf(ctx, pr))
	if err == nil {
		reply(w, "text/html", b.String())
	}
	return err
}

// colorsOf returns the CSS classes for the colours of the entities that a request reads.
func (s *Server) colorsOf(pr *check.PatternResult) map[string]string {
	colors := map[string]string{}
	if pr.Report != nil {
		for _, share := range pr.Report.Entities {
			colors[share.Entity] = s.color(share.Entity)
		}
	}
	return colors
}

// linkOf returns a function for the links in the result of a request. For a row of the result, the function returns
// the address of the page about its item.
func (s *Server) linkOf(ctx context.Context, pr *check.PatternResult) func(row attr.Item) string {
	if pr.Report == nil {
		return nil
	}
	t, err := explain.Describe(ctx, s.opts.Target, pr.Report.Table)
	if err != nil { // the table may have been deleted since
		return nil
	}
	return func(row attr.Item) string { return itemLink(t, row) }
}

// run explains the request that a person has entered in a form. The form has the fields of a query, and a field for a
// whole request.
func (s *Server) run(r *http.Request) (*check.PatternResult, error) {
	q, err := s.question(r)
	if err != nil {
		return nil, err
	}
	pr, err := s.explain(r.Context(), q)
	if err != nil && r.Context().Err() == nil {
		err = &badRequest{err}
	}
	return pr, err
}

// readPages is the maximum number of pages that an explanation reads.
const readPages = 50

// explain explains a request, and names the kind of each item that it reads.
func (s *Server) explain(ctx context.Context, q explain.Question) (*check.PatternResult, error) {
	tables := map[string]*keyschema.Table{}
	o := explain.Options{Classify: func(name string, it attr.Item) string {
		t, ok := tables[name]
		if !ok {
			t, _ = explain.Describe(ctx, s.opts.Target, name)
			tables[name] = t
		}
		if t == nil {
			return ""
		}
		return s.kind(t, it)
	}}
	if ask.TextsOf(q.Input).Limit == nil { // with a Limit, explain reads one page
		o.Pages = readPages
	}
	pr, err := check.Explain(ctx, s.opts.Target, q, o)
	return &pr, err
}

// question returns the request that a person has entered in a form. If the field "request" is empty, the other fields
// describe a query.
func (s *Server) question(r *http.Request) (q explain.Question, err error) {
	var spaces []operation.Space
	if r.FormValue("request") == "" {
		t, err := explain.Describe(r.Context(), s.opts.Target, r.FormValue("name"))
		if err != nil {
			return q, &badRequest{err}
		}
		for _, index := range append([]string{""}, t.IndexNames()...) {
			spaces = append(spaces, operation.Space{Table: t.Name, Index: index})
		}
	}
	q, err = operation.Asked(r.Context(), s.opts.Target, r.FormValue, spaces)
	if err != nil {
		err = &badRequest{err}
	}
	return q, err
}
