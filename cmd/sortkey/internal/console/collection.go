package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A collectionPage shows the rows of a partition in order, a part at a time.
type collectionPage struct {
	Table, Index, Partition string
	Form                    report.Asked
	Cells                   []cell
	Items                   []itemRow
	Kinds                   []kindCount
	Bytes                   int
	First, Next             string // addresses, or ""
}

// An itemRow is a row of a collection.
type itemRow struct {
	Kind, Color, Key, Hex, Link string
	Bytes                       int
	Attributes                  []attribute
	More                        int
}

type attribute struct{ Name, Value string }

const (
	maxShown  = 8  // attributes of a row
	maxValue  = 60 // characters of a value
	rowsShown = 200
)

func (s *Server) collection(r *http.Request) (string, any, error) {
	t, index, err := s.open(r)
	if err != nil {
		return "", nil, err
	}

	typed := r.FormValue("partition")
	q := ask.Query{Index: index, Partition: []string{typed}, Limit: rowsShown}
	in, err := q.Input(t)
	if err != nil {
		return "", nil, &badRequest{err}
	}
	if in.ExclusiveStartKey, err = cursor(r.FormValue("after")); err != nil {
		return "", nil, err
	}

	out, _, err := s.opts.Target.Do(r.Context(), in)
	if err != nil {
		return "", nil, &badRequest{err}
	}
	page := out.(*wire.QueryOutput)
	p := &collectionPage{Table: t.Name, Index: index, Partition: typed, Form: form(t, index, typed)}
	var kinds []string
	n := map[string]int{}
	left, last := room(pageBytes), page.LastEvaluatedKey
	for i, it := range page.Items {
		row := s.itemRow(t, index, it)
		if !left.take(row.texts()...) && i > 0 {
			last = cursorOf(t, index, page.Items[i-1])
			break
		}
		kinds = append(kinds, row.Kind)
		p.Bytes += row.Bytes
		p.Items = append(p.Items, row)
		if n[row.Kind]++; n[row.Kind] == 1 {
			p.Kinds = append(p.Kinds, kindCount{Kind: row.Kind, Color: row.Color})
		}
	}

	for i := range p.Kinds {
		p.Kinds[i].N = n[p.Kinds[i].Kind]
	}
	p.Cells = s.cells(kinds, max(len(kinds), 1))
	address := []string{"name", t.Name, "index", index, "partition", typed}
	if in.ExclusiveStartKey != nil {
		p.First = "collection?" + query(address...)
	}
	if last != nil {
		p.Next = "collection?" + query(append(address, "after", cursorText(last))...)
	}
	return "collection", p, nil
}

func (s *Server) itemRow(t *keyschema.Table, index string, it attr.Item) itemRow {
	schema := t.Schema(index)
	kind := s.kind(t, it)
	row := itemRow{Kind: kind, Color: s.color(kind), Bytes: it.Size(), Key: valuesText(it, schema.Sort())}
	if row.Key == "" {
		row.Key = valuesText(it, t.Key.Attributes())
	}
	for _, a := range schema.Sort() {
		row.Hex += text.Hex(it.Get(a.Name).Raw()) + " "
	}
	row.Link = "item?" + query("name", t.Name, "key", cursorText(keyOf(t, it)))
	for name, v := range it.All() {
		name := string(name)
		if slices.ContainsFunc(schema.Attributes(), func(a keycond.Attribute) bool { return a.Name == name }) {
			continue
		}
		if len(row.Attributes) == maxShown {
			row.More++
			continue
		}
		one := attribute{Name: clip(text.Visible(name), maxValue), Value: clip(text.Literal(v), maxValue)}
		row.Attributes = append(row.Attributes, one)
	}
	return row
}

// texts returns the texts of a row.
func (r *itemRow) texts() []string {
	all := []string{r.Kind, r.Key, r.Hex, r.Link}
	for _, a := range r.Attributes {
		all = append(all, a.Name, a.Value)
	}
	return all
}

// keyOf returns the key of an item in its table.
func keyOf(t *keyschema.Table, it attr.Item) attr.Item {
	var b attr.Builder
	for _, a := range t.Key.Attributes() {
		b.Add(a.Name, it.Get(a.Name))
	}
	return b.Item()
}

// clip returns the beginning of a text, of at most n characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// queryTime bounds the time of a typed query.
const queryTime = 10 * time.Second

// query answers a query as a person types it, with its slice.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTime)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, 3*ask.MaxRequest) // values may be escaped
	if err := r.ParseForm(); err != nil {
		fail(w, &badRequest{err})
		return
	}
	pr, err := s.run(r.WithContext(ctx))
	if err != nil {
		fail(w, err)
		return
	}
	s.answer(w, pr)
}

// answer writes what a request reads.
func (s *Server) answer(w http.ResponseWriter, pr *check.PatternResult) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := report.Answer(w, pr, s.colorsOf(pr)); err != nil {
		fail(w, err)
	}
}

// colorsOf returns the classes of the colours of what a request reads.
func (s *Server) colorsOf(pr *check.PatternResult) map[string]string {
	colors := map[string]string{}
	if pr.Report != nil {
		for _, share := range pr.Report.Entities {
			colors[share.Entity] = s.color(share.Entity)
		}
	}
	return colors
}

// run explains a query in the fields of a form, or a whole request.
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

// readPages is the number of pages that an explanation reads.
const readPages = 50

// explain explains a request, and names the kinds of items of any table.
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
	if !limited(q.Input) {
		o.Pages = readPages
	}
	pr, err := check.Explain(ctx, s.opts.Target, q, o)
	return &pr, err
}

// limited reports whether a request has a Limit, so that one page is all that it reads.
func limited(in wire.Request) bool {
	switch in := in.(type) {
	case *wire.QueryInput:
		return in.Limit != nil
	case *wire.ScanInput:
		return in.Limit != nil
	case *wire.ExecuteStatementInput:
		return in.Limit != nil
	}
	return false
}

// question returns the query in the fields of a form, or the whole request in one of them.
func (s *Server) question(r *http.Request) (q explain.Question, err error) {
	if typed := r.FormValue("request"); typed != "" {
		if q, err = new(ask.RequestReader).Read(typed); err != nil {
			err = &badRequest{err}
		}
		return q, err
	}

	t, err := explain.Describe(r.Context(), s.opts.Target, r.FormValue("name"))
	if err != nil {
		return q, &badRequest{err}
	}
	names := append([]string{""}, t.IndexNames()...)
	number, err := strconv.Atoi(r.FormValue("space"))
	if err != nil || number < 1 || number > len(names) {
		return q, bad("there is no table or index of that number: load the page again")
	}

	typed, err := operation.Query.Form(r.FormValue)
	if err != nil {
		return q, &badRequest{err}
	}
	typed.Index = names[number-1]
	in, err := typed.Input(t)
	if err != nil {
		return q, &badRequest{err}
	}
	return explain.Question{Input: in, Text: compile.JSON(in)}, nil
}
