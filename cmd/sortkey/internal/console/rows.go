package console

import (
	"context"
	"net/http"
	"slices"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/wire"
)

// A rowsPage shows rows of a table or an index in a grid. The rows are from a scan or from one partition.
type rowsPage struct {
	*grid
	Table, Index, Keys string
	Indexes            []string
	Form               report.Asked
	Box                keyBox
	Sorted             bool   // the table or index has a sort key
	Filter             string // filter expression, or ""
	Problem            string // why there are no rows, or ""

	// Addresses, or "".

	First, Next, NextPartition string

	Branches bool // a person can try changes on a branch
	Undo     []undoRow

	// Of a partition.

	InPartition bool
	Partition   string // as a person types it
	Condition   string // on the sort key, or ""
	Turned      string // address of the rows in the opposite order
	Descending  bool
}

// rowsPage returns the page for the rows that place determines. The page does not have the rows yet: fill adds them.
func (s *Server) rowsPage(r *http.Request, place *gridPlace) *rowsPage {
	schema := place.t.Schema(place.index)
	p := &rowsPage{
		grid: &grid{}, Table: place.t.Name, Index: place.index, Keys: schema.String(), Indexes: place.t.IndexNames(),
		Form: form(place.t, place.index, place.partition), Box: boxOf(place.t, place.index, place.partition),
		Sorted: len(schema.Sort()) > 0, Filter: r.FormValue("filter"),
		InPartition: place.path == "collection?", Partition: place.partition,
		Branches: s.forks(), Undo: s.undoRows(place.t, nil),
	}
	if r.FormValue("after") != "" {
		p.First = place.address()
	}
	return p
}

// rows shows a page of rows of a table or an index. If the address names a partition, the rows are those of the
// partition in sorted order. Otherwise they are from a scan.
func (s *Server) rows(r *http.Request) (string, any, error) {
	t, index, err := s.open(r)
	if err != nil {
		return "", nil, err
	}
	start, err := cursor(r.FormValue("after"))
	if err != nil {
		return "", nil, err
	}

	place := &gridPlace{t: t, index: index, rows: most(r), path: "table?"}
	place.filter = r.FormValue("filter")
	place.pairs = place.table()
	q := ask.Query{Index: index, Filter: r.FormValue("filter")}
	if q.Filter == "" {
		q.Limit = gridRows + 1 // one more row than a page has, to see whether there is a next page
	}
	var in wire.Request
	var p *rowsPage
	if r.URL.Path == "/collection" {
		condition := r.FormValue("sort")
		place.partition, place.path = r.FormValue("partition"), "collection?"
		place.pairs = append(place.pairs, "partition", place.partition, "sort", condition)
		turned := slices.Clone(place.pairs)
		if q.Backwards = r.FormValue("order") == "descending"; q.Backwards {
			place.pairs = append(place.pairs, "order", "descending")
		} else {
			turned = append(turned, "order", "descending")
		}
		p = s.rowsPage(r, place)
		p.Condition, p.Descending, p.Turned = condition, q.Backwards, place.path+query(turned...)
		q.Partition = []string{place.partition}
		if condition != "" {
			q.Sort = []string{condition}
		}
		var query *wire.QueryInput
		if query, err = q.Input(t); err == nil {
			query.ReturnConsumedCapacity, query.ExclusiveStartKey = new("TOTAL"), start
			in = query
		}
	} else {
		p = s.rowsPage(r, place)
		var scan *wire.ScanInput
		if scan, err = q.ScanInput(t); err == nil {
			scan.ReturnConsumedCapacity, scan.ExclusiveStartKey = new("TOTAL"), start
			in = scan
		}
	}
	if err == nil {
		err = s.fill(r.Context(), p, place, in)
	}
	return p.done(err)
}

// done returns the page. If the page has a filter or a condition, the user may have caused err by it, so the page
// shows err. Otherwise done returns err.
func (p *rowsPage) done(err error) (string, any, error) {
	if err == nil {
		return "rows", p, nil
	}
	if p.Filter == "" && p.Condition == "" {
		return "", nil, &badRequest{err}
	}
	p.Problem = message(err)
	return "rows", p, nil
}

// fill sends a request, puts the rows of its response into the grid, and sets the addresses of the next page and of
// the next partition.
func (s *Server) fill(ctx context.Context, p *rowsPage, place *gridPlace, in wire.Request) error {
	page, err := operation.Send(ctx, s.opts.Target, in)
	if err != nil {
		return err
	}

	items, after := page.Items[:min(len(page.Items), place.rows)], page.Last
	p.grid = s.gridOf(place, items)
	if len(items) < len(page.Items) {
		after = cursorOf(place.t, place.index, items[len(items)-1])
	}
	p.Examined, p.Met, p.Units = len(page.Items), len(page.Items), page.Units
	if page.Examined != nil {
		p.Examined = int(*page.Examined)
	}

	if after != nil {
		p.Next = place.address("after", cursorText(after))
	}
	if len(items) > 0 && (p.InPartition || p.Sorted && after != nil) {
		last := cursorOf(place.t, place.index, items[len(items)-1])
		end := ask.EndOfPartition(last, place.t.Schema(place.index))
		p.NextPartition = "table?" + query(append(place.table(), "after", cursorText(end))...)
	}
	return nil
}
