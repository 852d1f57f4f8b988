package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sortkey/sortkey"
)

// A Recorder is an observer that keeps the last requests of a program, and totals by shape.
type Recorder struct {
	mu     sync.Mutex
	last   []Request // a ring
	n      int       // requests so far
	shapes map[string]*Shape
}

// A Request is a request of the program.
type Request struct {
	N         int     `json:"n"` // from 1
	At        string  `json:"at"`
	Operation string  `json:"operation"`
	Table     string  `json:"table"`
	Slice     string  `json:"slice"` // what it read, in words
	Examined  int     `json:"examined"`
	Returned  int     `json:"returned"`
	Units     float64 `json:"units"`
	Millis    float64 `json:"ms"`
	Error     string  `json:"error,omitempty"`
	Mark      string  `json:"mark,omitempty"` // scan or waste
}

// A Shape is the total of requests of one operation on the same tables and indexes.
type Shape struct {
	Operation string  `json:"operation"`
	Table     string  `json:"table"`
	N         int     `json:"n"`
	Errors    int     `json:"errors"`
	Examined  int     `json:"examined"`
	Returned  int     `json:"returned"`
	Units     float64 `json:"units"`
	Millis    float64 `json:"ms"`
}

const (
	maxRequests = 500
	maxShapes   = 1000
)

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder { return &Recorder{shapes: map[string]*Shape{}} }

// Begin implements [sortkey.Observer].
func (*Recorder) Begin(context.Context, *sortkey.Event) {}

// wasted is the share of rows dropped from which a request is marked.
const wasted = 0.5

// End implements [sortkey.Observer].
func (r *Recorder) End(_ context.Context, e *sortkey.Event) {
	one := Request{
		At: e.Start.Format("15:04:05.000"), Operation: e.Operation, Table: strings.Join(e.Tables, ", "),
		Examined: e.Examined, Returned: e.Returned, Millis: float64(e.Duration.Microseconds()) / 1000, Error: e.Error,
	}
	for _, u := range e.Units {
		one.Units += u.Units
	}
	for _, t := range e.Traces() {
		if t.Index != "" && !strings.Contains(one.Table, " by ") {
			one.Table += " by " + t.Index
		}
		if one.Slice == "" {
			one.Slice = t.String()
		}
	}
	switch {
	case e.Operation == "Scan":
		one.Mark = "scan"
	case e.Examined >= 10 && float64(e.Examined-e.Returned) > wasted*float64(e.Examined):
		one.Mark = "waste"
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	one.N = r.n
	if len(r.last) < maxRequests {
		r.last = append(r.last, one)
	} else {
		r.last[(r.n-1)%maxRequests] = one
	}
	key := one.Operation + "\x00" + one.Table
	shape := r.shapes[key]
	if shape == nil {
		if len(r.shapes) == maxShapes {
			return
		}
		shape = &Shape{Operation: one.Operation, Table: one.Table}
		r.shapes[key] = shape
	}
	shape.N++
	shape.Examined += one.Examined
	shape.Returned += one.Returned
	shape.Units += one.Units
	shape.Millis += one.Millis
	if one.Error != "" {
		shape.Errors++
	}
}

// since returns the requests after the n-th that are still kept, the number of those so far, and the
// totals, those with the most units first.
func (r *Recorder) since(n int) (all []Request, last int, shapes []Shape) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := max(n, r.n-len(r.last)); i < r.n; i++ {
		all = append(all, r.last[i%maxRequests])
	}
	for _, s := range r.shapes {
		shapes = append(shapes, *s)
	}
	slices.SortFunc(shapes, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.Units, a.Units), cmp.Compare(b.N, a.N), cmp.Compare(a.Operation+a.Table, b.Operation+b.Table))
	})
	return all, r.n, shapes
}

func (s *Server) requests(*http.Request) (string, any, error) {
	return "requests", s.opts.Requests != nil, nil
}

// beat is the time between two messages to a page, and perBeat the most requests in one: a page shows no
// more, and says how many it leaves out.
const (
	beat    = 250 * time.Millisecond
	perBeat = 50
)

// A batch is what a page gets at a beat.
type batch struct {
	Requests []Request `json:"requests"`
	Left     int       `json:"left"` // requests left out since the last beat
	Total    int       `json:"total"`
	Shapes   []Shape   `json:"shapes"`
}

// events sends the requests of the program as they happen, a sample of them if they are too many.
// Source: WHATWG HTML, server-sent events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if s.opts.Requests == nil {
		http.Error(w, "the requests of this server cannot be seen", http.StatusNotFound)
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	seen, idle := 0, 0
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		all, last, shapes := s.opts.Requests.since(seen)
		line := ": alive\n\n"
		if last > seen || seen == 0 && idle == 0 {
			b := batch{Requests: all, Total: last, Shapes: shapes[:min(len(shapes), perBeat)]}
			if len(all) > perBeat {
				b.Requests = all[len(all)-perBeat:]
			}
			b.Left = last - seen - len(b.Requests)
			data, err := json.Marshal(b)
			if err != nil {
				return
			}
			line, seen, idle = fmt.Sprintf("data: %s\n\n", data), last, 0
		} else if idle++; idle%80 != 1 {
			line = ""
		}
		if line != "" {
			_ = control.SetWriteDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.WriteString(w, line); err != nil || control.Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}
