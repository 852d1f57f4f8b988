package explain

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A page is the response to one request. It has a trace if the endpoint sent one.
type page struct {
	items           []attr.Item // of a GetItem, at most one
	count, examined int
	last            attr.Item
	units           *float64
	trace           *sortkey.Trace
}

// ask sends a request.
func (e *explainer) ask(r request) (*page, error) {
	out, traces, err := e.target.Do(e.ctx, r.input())
	if err != nil {
		return nil, err
	}
	p := new(page)
	var used *wire.ConsumedCapacity
	switch out := out.(type) {
	case *wire.QueryOutput:
		p.items, p.last, used = out.Items, out.LastEvaluatedKey, out.ConsumedCapacity
		p.count, p.examined = int(value(out.Count)), int(value(out.ScannedCount))
	case *wire.ScanOutput:
		p.items, p.last, used = out.Items, out.LastEvaluatedKey, out.ConsumedCapacity
		p.count, p.examined = int(value(out.Count)), int(value(out.ScannedCount))
	case *wire.GetItemOutput:
		if used = out.ConsumedCapacity; out.Item != nil {
			p.items, p.count, p.examined = []attr.Item{out.Item}, 1, 1
		}
	}
	if used != nil {
		p.units = used.CapacityUnits
	}
	if len(traces) > 0 {
		p.trace = &traces[len(traces)-1]
	}
	return p, nil
}

// pages reads all pages of a query or a scan and adds them to the report. first is the page that the caller has read.
func (e *explainer) pages(asked request, first *page) error {
	r := e.report
	most := e.opts.Pages
	if most <= 0 {
		most = MaxPages
		if r.Limit > 0 {
			most = 1
		}
	}

	fetch := e.fetches()
	for p := first; ; {
		if err := e.page(asked, p, fetch); err != nil {
			return err
		}

		r.Last = p.last
		if p.last == nil {
			break
		}
		if r.Pages == most {
			if most == MaxPages {
				e.note(fmt.Sprintf("only the first %d pages were read", most))
			}
			break
		}

		asked.ExclusiveStartKey = p.last
		var err error
		if p, err = e.ask(asked); err != nil {
			return err
		}
	}
	return e.next(asked)
}

// page adds one page to the report. If fetch is true, it also reads the items in the table behind the rows of a local
// index.
func (e *explainer) page(asked request, p *page, fetch bool) error {
	r := e.report
	rows := p.items
	if asked.hasFilter() || fetch {
		w, err := e.ask(asked.whole())
		if err != nil {
			return err
		}
		if w.examined != p.examined {
			e.note("the rows changed while they were being read")
		}
		rows = w.items
	}

	full := rows
	if fetch {
		all := asked.whole()
		all.Select = new("ALL_ATTRIBUTES")
		f, err := e.ask(all)
		if err != nil {
			return err
		}
		if len(f.items) == len(rows) {
			full = f.items
		} else {
			e.note("the rows changed while they were being read")
		}
	}

	size, fetched, strong := 0, 0, 0.0
	for i, row := range rows {
		n, whole := row.Size(), full[i]
		size += n
		if fetch {
			f := whole.Size()
			fetched += f
			n += f
			strong += table.ReadUnits(f, true)
		}
		kept := e.q.filter.Match(whole)
		if !kept {
			r.Wasted += n
		}
		e.row(row, whole, n, kept)
	}

	strong += table.ReadUnits(size, true)
	r.Pages++
	r.Examined += p.examined
	r.Returned += p.count
	r.Bytes += size
	r.Fetched += fetched
	r.Strong += strong
	for _, item := range p.items {
		if len(r.Items) < e.opts.Items {
			r.Items = append(r.Items, item)
		}
	}

	switch {
	case p.last == nil:
		r.Stop = keycond.StopEnd.String()
	case p.examined == r.Limit:
		r.Stop = keycond.StopLimit.String()
	default:
		r.Stop = keycond.StopSize.String()
	}

	e.compare(p, size, strong)
	return nil
}

// compare adds a note if the endpoint reports other read units than the explainer counted.
func (e *explainer) compare(p *page, size int, strong float64) {
	r := e.report
	units := strong
	if !r.Consistent {
		units /= 2
	}
	if p.units != nil {
		r.Consumed += *p.units
		if *p.units != units {
			e.note(
				fmt.Sprintf("the endpoint consumed %s for a page of %s; expected %v",
					text.Amount(fmt.Sprint(*p.units), "unit"), text.Count(size, "byte"), units),
			)
		}
	}

	if p.trace != nil {
		r.Traces = append(r.Traces, *p.trace)
	}
}

func (e *explainer) note(n string) {
	if !slices.Contains(e.report.Notes, n) {
		e.report.Notes = append(e.report.Notes, n)
	}
}

// row counts an examined row. whole is the row's item in the table. If that item is not known, whole is the row
// itself.
func (e *explainer) row(item, whole attr.Item, size int, returned bool) {
	r := e.report
	entity := e.classify(whole)
	s := e.shares[entity]
	if s == nil {
		s = &Share{Entity: entity}
		e.shares[entity] = s
	}

	s.Examined++
	s.Bytes += size
	if returned {
		s.Returned++
	} else {
		s.Wasted += size
	}

	if e.opts.Items < 0 {
		return
	}
	row := Row{Key: keyOf(r.Schema, item), Item: item, Entity: entity, Bytes: size, Returned: returned}
	if len(r.Rows) < e.opts.Items {
		r.Rows = append(r.Rows, row)
		return
	}
	if len(r.Tail) == tailRows {
		r.Tail = append(r.Tail[:0], r.Tail[1:]...)
	}
	r.Tail = append(r.Tail, row)
}

// tailRows is the number of rows that Report.Tail keeps.
const tailRows = 10

func (e *explainer) classify(it attr.Item) string {
	if e.opts.Classify == nil || it == nil {
		return ""
	}
	return e.opts.Classify(e.report.Table, it)
}

// total completes the figures of the report after the last page.
func (e *explainer) total() {
	r := e.report
	r.Eventual = r.Strong / 2
	if e.index != nil && !e.index.Local {
		r.Strong = 0
	}
	for _, entity := range slices.Sorted(maps.Keys(e.shares)) {
		r.Entities = append(r.Entities, *e.shares[entity])
	}
}

// fetches reports whether the request makes a local index fetch items from the table.
func (e *explainer) fetches() bool {
	if e.index == nil || !e.index.Local || e.index.Projection == table.ProjectAll {
		return false
	}
	if value(e.asked.Select) == "ALL_ATTRIBUTES" {
		return true
	}
	return lacking(e.index, e.q.projection) != nil
}

// keyOf returns the key attributes of an item, or nil for nil.
func keyOf(s *keycond.Schema, it attr.Item) attr.Item {
	if it == nil {
		return nil
	}
	var b attr.Builder
	for _, a := range s.Attributes() {
		if v := it.Get(a.Name); !v.IsZero() {
			b.Add(a.Name, v)
		}
	}
	return b.Item()
}
