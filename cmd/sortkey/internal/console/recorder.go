package console

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/internal/text"
)

// A Recorder is an observer that keeps the last requests of a program, and the total of each [Shape] of requests. The
// bodies of requests take at most ([maxRequests] + [maxShapes]) × [keptBytes] of memory.
type Recorder struct {
	mu     sync.Mutex
	last   []Request // a ring
	n      int       // requests so far
	shapes map[string]*Shape
	list   []*Shape // by number
	other  int      // number of requests that have no shape, because there are already maxShapes
}

// A Request is a request of the program.
type Request struct {
	N         int     `json:"n"` // from 1
	At        string  `json:"at"`
	Operation string  `json:"operation"`
	Table     string  `json:"table"`
	Slice     string  `json:"slice"` // what the request read, or which items it names
	Examined  int     `json:"examined"`
	Returned  int     `json:"returned"`
	Units     float64 `json:"units"`
	Millis    float64 `json:"ms"`
	Error     string  `json:"error,omitempty"`
	Message   string  `json:"message,omitempty"`
	Mark      string  `json:"mark,omitempty"` // scan or waste

	body []byte // in JSON, or nil if it is longer than keptBytes
}

// A Shape is the total of all requests with the same operation, table, index and expressions.
type Shape struct {
	N          int     `json:"n"` // from 1
	Operation  string  `json:"operation"`
	Table      string  `json:"table"`
	Conditions string  `json:"conditions"` // the expressions, with ? for each value
	Requests   int     `json:"requests"`
	Errors     int     `json:"errors"`
	Examined   int     `json:"examined"`
	Returned   int     `json:"returned"`
	Units      float64 `json:"units"`
	Millis     float64 `json:"ms"`
	Message    string  `json:"message,omitempty"` // of the last error
	Mark       string  `json:"mark,omitempty"`    // scan or waste
	Advice     string  `json:"advice,omitempty"`  // how the requests could read less, if Mark is set

	body    []byte // of the last request that had a body and no error
	scanned bool
}

const (
	maxRequests   = 2000
	maxShapes     = 200
	keptBytes     = 8 << 10 // of the body of a request
	maxConditions = 300     // bytes of the text of a shape
	maxMessage    = 500     // bytes of the text of an error
)

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder {
	return &Recorder{shapes: map[string]*Shape{}}
}

// RequestBytes implements [sortkey.RequestKeeper].
func (*Recorder) RequestBytes() int { return keptBytes }

// Begin implements [sortkey.Observer].
func (*Recorder) Begin(context.Context, *sortkey.Event) {}

// wasted is a share of the rows that a request examines. If a request drops more than this share, the recorder marks
// it as waste.
const wasted = 0.5

// markOf returns the mark of requests with these numbers of examined and returned rows: "scan", "waste" or "".
// Scanned is set if one of the requests scanned, as a PartiQL statement may do too.
func markOf(operation string, scanned bool, examined, returned int) string {
	switch {
	case scanned:
		return "scan"
	// a key whose item does not exist counts as examined, but the request dropped no row
	case strings.Contains(operation, "GetItem"):
		return ""
	case examined >= 10 && float64(examined-returned) > wasted*float64(examined):
		return "waste"
	}
	return ""
}

// End implements [sortkey.Observer].
func (r *Recorder) End(_ context.Context, e *sortkey.Event) {
	one := Request{
		At: e.Start.Format("15:04:05.000"), Operation: seen(e.Operation, maxName),
		Table:    seen(strings.Join(e.Tables, ", "), maxConditions),
		Examined: e.Examined, Returned: e.Returned, Millis: float64(e.Duration.Microseconds()) / 1000,
		Error: seen(e.Error, maxName), Message: seen(e.Message, maxMessage), body: e.Request,
	}
	one.Examined += e.Asked
	one.Returned += e.Found
	for _, u := range e.Units {
		one.Units += u.Units
	}
	scanned := e.Operation == "Scan"
	for i, t := range e.Traces() {
		scanned = scanned || t.Operation == "Scan"
		if t.Index != "" && !strings.Contains(one.Table, " by ") {
			one.Table += " by " + t.Index
		}
		if i == 0 {
			one.Slice = t.Slice()
		}
	}
	one.Mark = markOf(one.Operation, scanned, one.Examined, one.Returned)
	conditions := seen(conditionsOf(e.Operation, one.body), maxConditions)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	one.N = r.n
	if len(r.last) < maxRequests {
		r.last = append(r.last, one)
	} else {
		r.last[(r.n-1)%maxRequests] = one
	}
	shape := r.shape(&one, conditions)
	if shape == nil {
		r.other++
		return
	}
	shape.Requests++
	shape.scanned = shape.scanned || scanned
	shape.Examined += one.Examined
	shape.Returned += one.Returned
	shape.Units += one.Units
	shape.Millis += one.Millis
	switch {
	case one.Error != "":
		shape.Errors++
		shape.Message = one.Error
		if one.Message != "" {
			shape.Message += ": " + one.Message
		}
	case one.body != nil:
		shape.body = one.body
	}
}

// shape returns the shape of a request, and creates it if it is new. If there are already maxShapes, shape returns
// nil for a new one.
func (r *Recorder) shape(one *Request, conditions string) *Shape {
	key := one.Operation + "\x00" + one.Table + "\x00" + conditions
	shape := r.shapes[key]
	if shape == nil && len(r.list) < maxShapes {
		shape = &Shape{N: len(r.list) + 1, Operation: one.Operation, Table: one.Table, Conditions: conditions}
		r.shapes[key] = shape
		r.list = append(r.list, shape)
	}
	return shape
}

// since returns the requests after request n, but at most the last most of them, and the number of the last request.
// It also returns all shapes, in descending order of their capacity units, and the number of requests that have no
// shape.
func (r *Recorder) since(n, most int) (all []Request, last int, shapes []Shape, other int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := max(n, r.n-min(most, len(r.last))); i < r.n; i++ {
		all = append(all, r.last[i%maxRequests])
	}
	for _, s := range r.list {
		one := *s
		one.Mark = markOf(s.Operation, s.scanned, s.Examined, s.Returned)
		shapes = append(shapes, one)
	}
	slices.SortStableFunc(shapes, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.Units, a.Units), cmp.Compare(b.Requests, a.Requests))
	})
	return all, r.n, shapes, r.other
}

// request returns the request with the number n. It returns false if the recorder does not have the request any more.
func (r *Recorder) request(n int) (one Request, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n <= r.n-len(r.last) || n > r.n || n < 1 {
		return one, false
	}
	return r.last[(n-1)%maxRequests], true
}

// shaped are the operations whose requests have expressions.
var shaped = []string{"Query", "Scan", "GetItem", "PutItem", "UpdateItem", "DeleteItem", "ExecuteStatement"}

// literals matches the literal values in a PartiQL statement.
var literals = text.Pattern(`'(?:[^']|'')*'|-?\b[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\b`)

// conditionsOf joins the expressions of a request. In place of placeholders they have the names of attributes, and
// "?" for each value.
func conditionsOf(operation string, body []byte) string {
	if body == nil || !slices.Contains(shaped, operation) {
		return ""
	}
	var e ask.Texts
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	if e.Statement != "" {
		return literals().ReplaceAllString(e.Statement, "?")
	}
	var parts []string
	for _, one := range []struct{ word, text string }{
		{"", e.KeyConditionExpression}, {"filter ", e.FilterExpression}, {"only ", e.ProjectionExpression},
		{"", e.UpdateExpression}, {"if ", e.ConditionExpression},
	} {
		if one.text != "" {
			parts = append(parts, one.word+spell(one.text, e.ExpressionAttributeNames))
		}
	}
	return strings.Join(parts, "; ")
}

// spell rewrites an expression with names in place of placeholders and "?" in place of values.
func spell(src string, names map[string]string) string {
	tokens := lex.LexLiterals(nil, src)
	return lex.Rewrite(src, tokens, func(i int) string {
		word := tokens[i].Text(src)
		switch tokens[i].Kind {
		case lex.TokValue:
			return "?"
		case lex.TokName:
			if name, ok := names[word]; ok {
				return name
			}
		}
		return word
	})
}

// seen makes invisible characters of a text visible, and cuts it to about n bytes.
func seen(s string, n int) string { return cut(text.Visible(cut(s, n)), n) }

// cut cuts a text after at most n bytes, and marks the cut with an ellipsis.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
