package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

const (
	// maxUpload is the number of bytes of a file to import, maxUnpacked that of its contents, and maxLine that of
	// a line: an item has at most 400 KB, and JSON writes a byte with up to 6.
	maxUpload   = 1 << 30
	maxUnpacked = 8 << 30
	maxLine     = 4 << 20
	// transferTime bounds an import or an export, and stallTime a pause of the browser in it.
	transferTime = time.Hour
	stallTime    = time.Minute
	// importWorkers is the number of requests of an import at once.
	importWorkers = 4
	// settleEvery is the number of items after which an import forgets what was rejected, except for the count.
	settleEvery = 2000
)

// transferring begins an import or export, of which one of each runs at a time.
func transferring(
	slot chan struct{}, r *http.Request,
) (ctx context.Context, end func(), err error) {
	select {
	case slot <- struct{}{}:
	default:
		return nil, nil, bad("another one is running: try again when it has ended")
	}
	ctx, cancel := context.WithTimeout(r.Context(), transferTime)
	return ctx, func() {
		cancel()
		<-slot
	}, nil
}

// A patient is the body of a request or its answer, which may take long but not stand still.
type patient struct {
	in      io.Reader
	out     io.Writer
	control *http.ResponseController
	written bool
}

// Read implements [io.Reader].
func (p *patient) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(stallTime))
	return p.in.Read(b)
}

// Write implements [io.Writer].
func (p *patient) Write(b []byte) (int, error) {
	p.written = true
	_ = p.control.SetWriteDeadline(time.Now().Add(stallTime))
	return p.out.Write(b)
}

// export sends the items of a table, or those that a query returns, as lines of DynamoDB JSON.
func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	ctx, end, err := transferring(s.exports, r)
	if err != nil {
		fail(w, err)
		return
	}
	defer end()
	t, _, err := s.open(r)
	if err != nil {
		fail(w, err)
		return
	}
	name, send := t.Name, func(out io.Writer) error {
		_, err := transfer.ExportTo(ctx, s.opts.Client, t.Name, out, transfer.ExportOptions{})
		return err
	}
	if r.FormValue("request") != "" || r.FormValue("partition") != "" {
		q, err := s.question(r)
		if err != nil {
			fail(w, err)
			return
		}
		in, err := s.readOf(ctx, q)
		if err != nil {
			fail(w, &badRequest{err})
			return
		}
		name, send = t.Name+"-selection", func(out io.Writer) error { return s.exportSelection(ctx, in, out) }
	}

	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	out := &patient{out: w, control: control}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.json"`, name))

	err = send(out)
	switch {
	case err != nil && !out.written:
		w.Header().Del("Content-Disposition")
		fail(w, &badRequest{err})
	case err != nil:
		panic(http.ErrAbortHandler) // so that the browser does not take the file for complete
	}
}

// exportSelection writes the items that a request returns, page by page; of one with a Limit, one page.
func (s *Server) exportSelection(ctx context.Context, in wire.Request, w io.Writer) error {
	out := s3files.NewWriter(w, false)
	for {
		items, after, err := s.pageOf(ctx, in)
		if err != nil {
			return err
		}
		for _, it := range items {
			if err := out.WriteItem(it); err != nil {
				return err
			}
		}
		switch in := in.(type) {
		case *wire.QueryInput:
			in.ExclusiveStartKey = after
		case *wire.ScanInput:
			in.ExclusiveStartKey = after
		}
		if after == nil || limited(in) {
			return out.Close()
		}
	}
}

// pageOf returns the items of a page, and the key after which the next begins.
func (s *Server) pageOf(ctx context.Context, in wire.Request) (items []attr.Item, after attr.Item, err error) {
	answer, _, err := s.opts.Target.Do(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	switch out := answer.(type) {
	case *wire.QueryOutput:
		return out.Items, out.LastEvaluatedKey, nil
	case *wire.ScanOutput:
		return out.Items, out.LastEvaluatedKey, nil
	case *wire.GetItemOutput:
		if out.Item != nil {
			items = append(items, out.Item)
		}
		return items, nil, nil
	}
	return nil, nil, fmt.Errorf("%v returns no items", in.Op())
}

// readOf returns the Query, GetItem or Scan that a question asks: a SELECT is one of them.
func (s *Server) readOf(ctx context.Context, q explain.Question) (wire.Request, error) {
	if _, ok := q.Input.(*wire.ExecuteStatementInput); !ok && q.Input != nil {
		return q.Input, nil
	}
	report, err := explain.Run(ctx, s.opts.Target, q, explain.Options{Pages: 1, Items: -1, Brief: true})
	if err != nil {
		return nil, err
	}
	if f := report.Refused; f != nil {
		return nil, errors.New(strings.TrimPrefix(f.Code+": "+f.Message, ": "))
	}
	same, err := explain.Parse(report.Operation, report.Request)
	return same.Input, err
}

// importing writes the items of a file, which is the body, into a table, and answers with a report.
func (s *Server) importing(w http.ResponseWriter, r *http.Request) {
	ctx, end, err := transferring(s.imports, r)
	if err != nil {
		fail(w, err)
		return
	}
	defer end()
	t, err := explain.Describe(ctx, s.opts.Target, r.URL.Query().Get("name"))
	if err != nil {
		fail(w, &badRequest{err})
		return
	}
	body := &patient{in: http.MaxBytesReader(w, r.Body, maxUpload), control: http.NewResponseController(w)}
	name := filepath.Base(cut(r.URL.Query().Get("file"), 200))
	result, err := transfer.ImportFrom(ctx, s.opts.Client, t.Name, name, body, maxUnpacked, transfer.ImportOptions{
		ReadOptions: transfer.ReadOptions{MaxLine: maxLine}, Workers: importWorkers, Every: settleEvery,
	})
	report := importReport(result)
	if err != nil {
		fail(w, &badRequest{fmt.Errorf("%w\n%s", err, report)})
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text.VisibleLines(report))
}

// importReport says what an import did.
func importReport(r *transfer.ImportResult) string {
	sum := r.Sum()
	var b strings.Builder
	fmt.Fprintf(&b, "%s read, %s written", text.Count(int(sum.Read), "item"), text.Thousands(int(sum.Written)))
	if sum.Deleted > 0 {
		fmt.Fprintf(&b, ", %s deleted", text.Thousands(int(sum.Deleted)))
	}
	if sum.Rejected > 0 {
		fmt.Fprintf(&b, ", %s rejected; the first:", text.Thousands(int(sum.Rejected)))
	}
	for _, x := range r.First {
		fmt.Fprintf(&b, "\nline %d: %s", x.Line, x.Reason)
	}
	for _, x := range r.Broken {
		fmt.Fprintf(&b, "\nThe file could not be read to its end; line %d: %s", x.Line, x.Reason)
	}
	return b.String()
}
