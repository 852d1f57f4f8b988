package metrics

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table"
)

// A Request is what is known of a request that has been answered.
type Request struct {
	// Operation is the one asked for, as PutItem, whether or not there is one
	// of that name. It is "" for a request that names none.
	Operation string
	// Method and Path are those of HTTP.
	Method, Path string
	// Tables are the tables named in the body, as they are named there, no
	// more than [MaxTables]. Nil unless [WatchOptions].Tables is set.
	Tables []string
	// Status is that of HTTP, and Code the error's, as ValidationException;
	// "" for success and for errors without one.
	Status int
	Code   string
	// Start is when the request came, and Duration the time until its answer
	// was handed to the connection.
	Start    time.Time
	Duration time.Duration
	// In and Out are the bytes of the two bodies as they were sent.
	In, Out int64
	// Examined and Returned are the sums of those of the traces of its queries
	// and scans; see [table.Trace].
	Examined, Returned int
	// Used is what it consumed, of each table and index.
	Used []Used
	// ID is the request id of the answer, and From the address of the client.
	ID, From string
}

// Used is what a request consumed of a table or of an index.
type Used struct {
	Table string
	Index string // "" for the table itself
	Write bool   // they are write units
	Units float64
}

// Units are the read and the write units that a request consumed.
func (r *Request) Units() (read, write float64) {
	for i := range r.Used {
		if r.Used[i].Write {
			write += r.Used[i].Units
		} else {
			read += r.Used[i].Units
		}
	}
	return read, write
}

// WatchOptions configure [Watch]. The zero value is ready to use.
type WatchOptions struct {
	// Clock tells the time. Default: time.Now.
	Clock func() time.Time
	// Tables asks for [Request].Tables, for which bodies are looked through.
	Tables bool
}

// Watch returns a handler that has next answer and then calls report, in the
// goroutine of the request. The request is report's to keep. Nothing is
// reported of a request that next panics on.
func Watch(next http.Handler, opts WatchOptions, report func(context.Context, *Request)) http.Handler {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		rec := &recorder{ResponseWriter: w, Request: Request{
			Operation: operation(r), Method: r.Method, Path: r.URL.Path, Start: opts.Clock(), In: max(r.ContentLength, 0), From: r.RemoteAddr,
		}}
		in := r
		if rec.Operation != "" {
			inner := api.WithUse(ctx, rec.use)
			if reads(rec.Operation) {
				inner = table.WithTrace(inner, rec.trace)
			}
			in = r.WithContext(inner)
		}
		var seen *body
		if r.Body != nil && (r.ContentLength < 0 || opts.Tables && r.ContentLength > 0) {
			if in == r {
				in = r.WithContext(ctx) // a copy
			}
			seen = &body{ReadCloser: r.Body}
			if opts.Tables && r.Header["Content-Encoding"] == nil {
				seen.names = new(nameScanner)
			}
			in.Body = seen
		}
		next.ServeHTTP(rec, in)

		if rec.Status == 0 {
			rec.Status = http.StatusOK // nothing was written
		}
		if seen != nil {
			rec.In = seen.n
			if seen.names != nil {
				rec.Tables = seen.names.names
			}
		}
		if id := w.Header()["X-Amzn-Requestid"]; len(id) > 0 {
			rec.ID = id[0]
		}
		rec.Duration = opts.Clock().Sub(rec.Start)
		done := rec.Request // not the recorder, which holds the connection
		report(ctx, &done)
	})
}

// operation returns the name after the dot of the target.
func operation(r *http.Request) string {
	target := ""
	if h := r.Header["X-Amz-Target"]; len(h) > 0 {
		target = h[0]
	} else if r.URL.RawQuery != "" { // a presigned request
		target = r.URL.Query().Get("X-Amz-Target")
	}
	_, op, _ := strings.Cut(target, ".")
	return op
}

// reads reports whether an operation may run queries or scans.
func reads(op string) bool {
	switch op {
	case "GetItem", "PutItem", "UpdateItem", "DeleteItem", "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems":
		return false
	}
	return true
}

// A recorder keeps what there is to say of an answer.
type recorder struct {
	http.ResponseWriter
	Request
	mu sync.Mutex // of what is reported to it
}

func (rec *recorder) trace(tr table.Trace) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.Examined += tr.Examined
	rec.Returned += tr.Returned
}

func (rec *recorder) use(u *api.Use) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if u.Capacity.Table > 0 { // reads of an index have no part of the table
		rec.Used = append(rec.Used, Used{Table: u.Table, Write: u.Write, Units: u.Capacity.Table})
	}
	for _, ix := range u.Indexes {
		rec.Used = append(rec.Used, Used{Table: u.Table, Index: ix.Name, Write: u.Write, Units: ix.Units})
	}
}

// WriteHeader implements [http.ResponseWriter].
func (rec *recorder) WriteHeader(status int) {
	if rec.Status == 0 && status >= http.StatusOK {
		rec.Status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (rec *recorder) Write(p []byte) (int, error) {
	if rec.Status == 0 {
		rec.Status = http.StatusOK
	}
	if rec.Status >= http.StatusBadRequest && rec.Out == 0 {
		rec.Code = errorCode(p, rec.Header().Get("Content-Encoding"))
	}
	n, err := rec.ResponseWriter.Write(p)
	rec.Out += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }
