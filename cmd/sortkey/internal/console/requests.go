package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// A requestsPage shows the requests of the running program.
type requestsPage struct {
	Recorded bool
	Kept     int // requests that a recording has
}

func (s *Server) requests(*http.Request) (string, any, error) {
	return "requests", requestsPage{s.opts.Requests != nil, maxRequests}, nil
}

// errUnseen is the error of pages about requests if the server does not record requests.
var errUnseen = &badRequest{errors.New("the requests of this server cannot be seen")}

// A requestPage shows one request of the running program. If the request does not write, the page also has a query
// box with the request, in which a person can send it again.
type requestPage struct {
	Request
	JSON  string // the request, indented, or "" if it was not kept
	Table string
	Form  *report.Asked
	Note  string // why there is no form, or ""
}

func (s *Server) request(r *http.Request) (string, any, error) {
	if s.opts.Requests == nil {
		return "", nil, errUnseen
	}
	n, _ := strconv.Atoi(r.FormValue("n"))
	one, ok := s.opts.Requests.request(n)
	if !ok {
		return "", nil, bad(
			"request %s is not kept any more: the last %d are", text.Quote(r.FormValue("n")), maxRequests,
		)
	}
	named := []Request{one}
	s.nameItems(r.Context(), named)
	one = named[0]
	p := &requestPage{Request: one}
	if one.body == nil {
		p.Note = fmt.Sprintf(
			"The request itself was not kept: it is longer than %d KB, or was not understood.", keptBytes>>10,
		)
		return "request", p, nil
	}
	var b bytes.Buffer
	if json.Indent(&b, one.body, "", "  ") != nil {
		b.Reset()
		b.Write(one.body)
	}
	p.JSON = text.VisibleJSON(b.String())

	in := inputOf(one.Operation, one.body)
	if !reads(one.Operation, in) {
		p.Note = "A request that writes, or that reads items by their keys in a batch, is not run again."
		return "request", p, nil
	}
	p.Form = &report.Asked{Request: again(one.Operation, p.JSON, in)}
	if place := ask.TextsOf(in); place.TableName != "" {
		if t, err := explain.Describe(r.Context(), s.opts.Target, place.TableName); err == nil {
			p.Table, p.Form.Spaces = t.Name, form(t, place.IndexName, "").Spaces
		}
	}
	return "request", p, nil
}

// reads reports whether a request only reads, so that the query box may send it again. For a malformed request, in is
// nil.
func reads(operation string, in wire.Request) bool {
	switch operation {
	case "Query", "Scan", "GetItem":
		return true
	case "ExecuteStatement":
		st, ok := in.(*wire.ExecuteStatementInput)
		return ok && st.Statement != nil && partiql.IsSelect(*st.Statement)
	}
	return false
}

// again returns a request in the form that the query box takes. A SELECT statement without parameters and options is
// the text of the statement. Any other request is JSON, with the name of the operation as a member.
func again(operation, body string, in wire.Request) string {
	st, ok := in.(*wire.ExecuteStatementInput)
	if ok && st.Parameters == nil && st.Limit == nil && st.NextToken == nil &&
		text.Visible(*st.Statement) == *st.Statement {
		return *st.Statement
	}
	if rest, ok := strings.CutPrefix(body, "{\n"); ok {
		return "{\n  \"operation\": \"" + operation + "\",\n" + rest
	}
	return body
}

// inputOf decodes the body of a request. It returns nil if it cannot, or if the operation is not a [wire.Request].
func inputOf(operation string, body []byte) wire.Request {
	in, ok := decodeInput(operation, body)
	if !ok {
		return nil
	}
	request, _ := in.(wire.Request)
	return request
}

// decodeInput decodes the body of a request.
func decodeInput(operation string, body []byte) (in wire.Input, ok bool) {
	op, ok := wire.Lookup("DynamoDB_20120810." + operation)
	if !ok {
		return nil, false
	}
	in = op.NewInput()
	return in, wire.Decode(body, in) == nil
}

// maxItems is the number of items of a batch whose keys a page shows.
const maxItems = 3

// nameItems sets the Slice of requests that read no slice, such as writes, to the keys of their items.
func (s *Server) nameItems(ctx context.Context, all []Request) {
	tables := map[string]*keyschema.Table{}
	for i := range all {
		one := &all[i]
		if one.Slice != "" || one.body == nil {
			continue
		}
		in, ok := decodeInput(one.Operation, one.body)
		if !ok {
			continue
		}
		named := itemsOf(in)
		var words []string
		for _, ref := range named[:min(len(named), maxItems)] {
			t, ok := tables[ref.Table]
			if !ok {
				t, _ = explain.Describe(ctx, s.opts.Target, ref.Table)
				tables[ref.Table] = t
			}
			if key := refText(ref, t); key != "" {
				words = append(words, key)
			}
		}
		one.Slice = seen(strings.Join(words, "; "), maxConditions)
		if more := len(named) - maxItems; more > 0 && len(words) > 0 {
			one.Slice += "; and " + text.Count(more, "item") + " more"
		}
	}
}

// itemsOf returns the items that a request names, sorted by table.
func itemsOf(in wire.Input) (all []wire.Ref) {
	for ref := range wire.Refs(in) {
		if ref.Key != nil || ref.Item != nil {
			all = append(all, ref)
		}
	}
	slices.SortStableFunc(all, func(a, b wire.Ref) int { return cmp.Compare(a.Table, b.Table) })
	return all
}

// refText returns the key of an item that a request names, as in "id = 1". T is nil if the table is unknown.
func refText(ref wire.Ref, t *keyschema.Table) string {
	var words []string
	add := func(name string, v attr.Value) { words = append(words, text.Name(name)+" = "+text.Literal(v)) }
	if t == nil {
		for name, v := range ref.Key.All() {
			add(string(name), v)
		}
		return strings.Join(words, ", ")
	}
	it := ref.Key
	if it == nil {
		it = ref.Item
	}
	for _, a := range t.Key.Attributes() {
		add(a.Name, it.Get(a.Name))
	}
	return strings.Join(words, ", ")
}

// recording answers with a text file of the recorded requests, the oldest first. Each line has the operation and the
// JSON of one request. It omits requests whose JSON the recorder has not kept.
func (s *Server) recording(w http.ResponseWriter, _ *http.Request) error {
	if s.opts.Requests == nil {
		return errUnseen
	}
	all, _, _, _ := s.opts.Requests.since(0, maxRequests)
	var out bytes.Buffer
	for _, one := range all {
		var line bytes.Buffer
		if json.Compact(&line, one.body) == nil {
			fmt.Fprintf(&out, "%s %s\n", one.Operation, line.Bytes())
		}
	}
	w.Header().Set("Content-Disposition", `attachment; filename="requests.txt"`)
	reply(w, "text/plain", out.String())
	return nil
}

// beat is the time between two messages to a page. perBeat is the maximum number of requests in a message, because a
// page cannot show more in that time. A message says how many requests it omits.
const (
	beat    = 250 * time.Millisecond
	perBeat = 50
)

// A batch is a message to a page.
type batch struct {
	Requests []Request `json:"requests"`
	Left     int       `json:"left"` // requests left out since the last message
	Total    int       `json:"total"`
	Shapes   []Shape   `json:"shapes"`
	Other    int       `json:"other"` // requests without a shape, because there are too many shapes
}

// events sends the requests of the program to a page as they happen, with a message each beat. If there are more than
// perBeat requests in a beat, it sends only the last of them. Source: WHATWG HTML, server-sent events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Requests == nil {
		return errUnseen
	}

	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	seen, idle := 0, 0
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		all, last, shapes, other := s.opts.Requests.since(seen, perBeat)
		line := ": alive\n\n"
		if last > seen {
			s.nameItems(r.Context(), all)
			s.advise(r.Context(), shapes)
			b := batch{
				Requests: all, Left: last - seen - len(all), Total: last,
				Shapes: shapes, Other: other,
			}
			data, err := json.Marshal(b)
			if err != nil {
				return err
			}
			line, seen, idle = fmt.Sprintf("data: %s\n\n", data), last, 0
		} else if idle++; idle%80 != 1 {
			line = ""
		}

		if line != "" {
			_ = control.SetWriteDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.WriteString(w, line); err != nil || control.Flush() != nil {
				return nil
			}
		}

		select {
		case <-r.Context().Done():
			return nil
		case <-ticker.C:
		}
	}
}
