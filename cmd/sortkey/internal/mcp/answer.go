package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// shown returns the plain JSON of an item. If that is too large for an answer, shown returns the JSON of only the
// key, and a note that says so.
func (s *Server) shown(it attr.Item, schema *keycond.Schema) ([]byte, string) {
	raw := item.AppendPlain(nil, it)
	if len(raw) <= s.o.MaxAnswer {
		return raw, ""
	}
	var names []string
	for name, v := range it.All() {
		if !schema.Has(string(name)) {
			names = append(names, fmt.Sprintf("%s (%s)", text.Name(string(name)), text.Size(v.Size())))
		}
	}
	note, _ := s.cut("the item is too large for an answer, so only its key is shown; get it with project and the "+
		"names of some attributes: "+strings.Join(names, ", "), 0)
	return item.AppendPlain(nil, some(it, schema.Has)), note
}

// some returns an item with only those attributes for which keep returns true.
func some(it attr.Item, keep func(name string) bool) attr.Item {
	var b attr.Builder
	for name, v := range it.All() {
		if keep(string(name)) {
			b.Add(string(name), v)
		}
	}
	return b.Item()
}

// withKeys adds the key attributes to a projection, so that each item of the response has its key. If the server has
// to cut an answer, it uses the key of the last item there as the cursor.
func withKeys(project []string, schema *keycond.Schema) []string {
	if len(project) == 0 || schema == nil {
		return project
	}
	project = slices.Clone(project)
	for _, a := range schema.Attributes() {
		if name := text.Name(a.Name); !slices.Contains(project, a.Name) && !slices.Contains(project, name) {
			project = append(project, name)
		}
	}
	return project
}

// reading is the part of an answer that says what a request has read.
type reading struct {
	Slice    string  `json:"slice,omitempty"`
	Examined int     `json:"examined"`
	Returned int     `json:"returned"`
	Bytes    int     `json:"bytes,omitempty"`
	Units    float64 `json:"units"`
	Waste    float64 `json:"waste"`
	Stop     string  `json:"stop"`
}

// readingOf describes what a request has read. It uses the last trace. If the service reports no traces, it uses the
// counts in the page.
func readingOf(p *operation.Page, limit int32) reading {
	r := reading{Examined: len(p.Items), Returned: len(p.Items), Units: p.Units, Stop: keycond.StopEnd.String()}
	if p.Examined != nil {
		r.Examined = int(*p.Examined)
	}
	switch {
	case len(p.Traces) > 0:
		tr := p.Traces[len(p.Traces)-1]
		r.Slice, r.Bytes, r.Stop = tr.Slice(), tr.Bytes+tr.Fetched, tr.Stop.String()
	case p.Last != nil && limit > 0 && r.Examined >= int(limit):
		r.Stop = keycond.StopLimit.String()
	case p.Last != nil:
		r.Stop = keycond.StopSize.String()
	}
	if r.Examined > r.Returned {
		r.Waste = math.Round(100*float64(r.Examined-r.Returned)/float64(r.Examined)) / 100
	}
	return r
}

// addRows adds a page of rows to an answer. If not all rows fit into the answer, it omits the rest, and adds a note
// and the cursor with which the language model can get them.
func (s *Server) addRows(
	o *object, op *operation.Operation, v *operation.Values, schema *keycond.Schema, p *operation.Page,
) {
	r := readingOf(p, v.Limit)
	var items list
	size, last, notes := 0, p.Last, []string(nil)
	for i, it := range p.Items {
		raw, note := s.shown(it, schema)
		if note != "" {
			notes = append(notes, note)
		}
		if size += len(raw); size > s.o.MaxAnswer && i > 0 {
			last = some(p.Items[i-1], func(name string) bool {
				return schema.Has(name) || schema.Table() != nil && schema.Table().Has(name)
			})
			notes = append(notes, fmt.Sprintf(
				"these are the first %d of %d items; for the others call %s again with lastEvaluatedKey as cursor",
				i, len(p.Items), op.Name,
			))
			break
		}
		items = append(items, raw)
	}
	if len(items) == len(p.Items) && last.Len() > 0 {
		notes = append(notes, fmt.Sprintf(
			"reading stopped at %s; to go on call %s again with lastEvaluatedKey as cursor", r.Stop, op.Name,
		))
	}
	o.add("read", r)
	o.add("items", items)
	if last.Len() > 0 {
		o.add("lastEvaluatedKey", json.RawMessage(last.AppendJSON(nil)))
	}
	if len(notes) > 0 {
		o.add("note", strings.Join(notes, ". "))
	}
}
