package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
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
	for _, it := range page.Items {
		row := s.itemRow(t, index, it)
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
	if last := page.LastEvaluatedKey; last != nil {
		p.Next = "collection?" + query(append(address, "after", cursorText(last))...)
	}
	return "collection", p, nil
}

func (s *Server) itemRow(t *keyschema.Table, index string, it attr.Item) itemRow {
	schema := t.Schema(index)
	kind := s.kind(t, it)
	row := itemRow{Kind: kind, Color: s.color(kind), Bytes: it.Size(), Key: valuesText(it, schema.Range)}
	if row.Key == "" {
		row.Key = valuesText(it, t.Key.Attributes())
	}
	for _, a := range schema.Range {
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
		row.Attributes = append(row.Attributes, attribute{name, clip(text.Literal(v))})
	}
	return row
}

// keyOf returns the key of an item in its table.
func keyOf(t *keyschema.Table, it attr.Item) attr.Item {
	var b attr.Builder
	for _, a := range t.Key.Attributes() {
		b.Add(a.Name, it.Get(a.Name))
	}
	return b.Item()
}

func clip(s string) string {
	if r := []rune(s); len(r) > maxValue {
		return string(r[:maxValue-1]) + "…"
	}
	return s
}

// queryTime bounds the time of a typed query.
const queryTime = 10 * time.Second

// query answers a query as a person types it, with its slice.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTime)
	defer cancel()
	pr, err := s.run(r.WithContext(ctx))
	if err != nil {
		fail(w, err)
		return
	}
	colors := map[string]string{}
	if pr.Report != nil {
		for _, share := range pr.Report.Entities {
			colors[share.Entity] = s.color(share.Entity)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := report.Answer(w, pr, colors); err != nil {
		fail(w, err)
	}
}

func (s *Server) run(r *http.Request) (*check.PatternResult, error) {
	t, err := explain.Describe(r.Context(), s.opts.Target, r.FormValue("name"))
	if err != nil {
		return nil, &badRequest{err}
	}
	names := append([]string{""}, t.IndexNames()...)
	number, err := strconv.Atoi(r.FormValue("space"))
	if err != nil || number < 1 || number > len(names) {
		return nil, bad("there is no table or index of that number: load the page again")
	}
	q, err := ask.Form(r.FormValue)
	if err != nil {
		return nil, &badRequest{err}
	}
	q.Index = names[number-1]
	in, err := q.Input(t)
	if err != nil {
		return nil, &badRequest{err}
	}
	p := &model.Pattern{Name: "the query", Operation: in.Op().String(), Request: compile.JSON(in)}
	pr, err := check.Through(r.Context(), s.opts.Target, &model.Model{}, p, explain.Options{
		Classify: func(_ string, it attr.Item) string { return s.kind(t, it) },
	})
	return &pr, err
}
