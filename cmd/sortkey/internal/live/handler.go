package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
)

// Handler returns the handler for the page and its requests. It answers everybody: use it behind package web, which
// restricts access.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.reading("text/html; charset=utf-8", func(w io.Writer) error {
		return s.page.Live(w, s.file.name(), s.now().Text)
	}))
	mux.HandleFunc("GET /main", s.reading("text/html; charset=utf-8", func(w io.Writer) error {
		return s.page.Main(w)
	}))
	mux.HandleFunc("GET /page.css", s.reading("text/css; charset=utf-8", func(w io.Writer) error {
		_, err := io.WriteString(w, s.page.Style())
		return err
	}))

	mux.HandleFunc("GET /page.js", s.reading("text/javascript; charset=utf-8", func(w io.Writer) error {
		_, err := io.WriteString(w, report.Script())
		return err
	}))
	mux.HandleFunc("GET /spaces", s.spaces)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /query", s.query)
	mux.HandleFunc("POST /query", s.query)
	mux.HandleFunc("GET /source", s.source)
	mux.HandleFunc("POST /source", s.replace)
	mux.HandleFunc("POST /check", s.draft)
	mux.HandleFunc("GET /events", s.events)
	return mux
}

// reading returns a handler that answers with the output of the function write.
func (s *Server) reading(kind string, write func(io.Writer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { s.write(w, kind, write) }
}

// write answers with the output of the function write. It calls the function with s.mu locked for reading, but
// unlocks s.mu before it sends the output, so that a slow browser does not block the next check.
func (s *Server) write(w http.ResponseWriter, kind string, write func(io.Writer) error) {
	var b bytes.Buffer
	err := func() error {
		s.mu.RLock()
		defer s.mu.RUnlock()
		return write(&b)
	}()
	if err != nil {
		message := err.Error()
		if hint := advice.Of(err); hint != "" {
			message += "\nTo do: " + hint
		}
		http.Error(w, message, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b.Bytes())
}

// queryTime bounds the time of a query from the page.
const queryTime = 10 * time.Second

// query answers a query that a person types.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTime)
	defer cancel()
	s.write(w, "text/html; charset=utf-8", func(w io.Writer) error {
		pr, err := s.run(ctx, r)
		if err != nil {
			return err
		}
		return s.page.Answer(w, pr)
	})
}

func (s *Server) run(ctx context.Context, r *http.Request) (*check.PatternResult, error) {
	var spaces []operation.Space
	for _, space := range s.page.Spaces {
		one := operation.Space{Table: space.Table.Name}
		if space.Index != nil {
			one.Index = space.Index.Name
		}
		spaces = append(spaces, one)
	}
	target := explain.InProcess(s.dataset.DB)
	q, err := operation.Asked(ctx, target, r.FormValue, spaces)
	if err != nil {
		return nil, err
	}
	pr, err := check.Explain(ctx, target, q, explain.Options{Classify: s.dataset.Model.EntityName})
	return &pr, err
}

// spaces answers with the tables and indexes that a query can read.
func (s *Server) spaces(w http.ResponseWriter, _ *http.Request) {
	s.writeJSON(w, func() any { return s.page.Asked().Spaces })
}

// writeJSON answers with the JSON of the value that the function of returns. It calls the function with s.mu locked
// for reading.
func (s *Server) writeJSON(w http.ResponseWriter, of func() any) {
	s.write(w, "application/json", func(w io.Writer) error { return json.NewEncoder(w).Encode(of()) })
}

// A Source is the text of the model file with its findings.
type Source struct {
	Text     string    `json:"text"`
	Version  string    `json:"version"`
	Findings []Finding `json:"findings"`
}

func (s *Server) source(w http.ResponseWriter, _ *http.Request) {
	s.writeJSON(w, func() any { return s.now() })
}

// problems returns the findings of the text, or the reason why the file cannot be read.
func (s *Server) problems() []Finding {
	if s.missing != nil {
		return []Finding{*s.missing}
	}
	return s.findings
}

// body reads the body of a request. If it is too large, body answers the request and returns false.
func body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxFile))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return nil, false
	}
	return data, true
}

// draft checks a text that the page has not saved, and answers with its errors. If the text equals that of the file,
// draft answers with the findings of the file instead.
func (s *Server) draft(w http.ResponseWriter, r *http.Request) {
	data, ok := body(w, r)
	if !ok {
		return
	}
	s.mu.RLock()
	same := versionOf(data) == s.version
	findings := s.problems()
	s.mu.RUnlock()
	if !same {
		findings = []Finding{}
		if _, err := modelfile.Parse(s.file.name(), data); err != nil {
			findings = problems(err)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(findings)
}

func (s *Server) replace(w http.ResponseWriter, r *http.Request) {
	data, ok := body(w, r)
	if !ok {
		return
	}
	version, err := s.save(r.URL.Query().Get("version"), data)
	switch {
	case errors.Is(err, errChanged), errors.Is(err, errReadOnly), errors.Is(err, errNotText):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		_, _ = io.WriteString(w, version)
	}
}

// events sends a page each event that [Server.Event] returns. Source: WHATWG HTML, server-sent events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	_, next := s.Event()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	if _, err := io.WriteString(w, ": listening\n\n"); err != nil || control.Flush() != nil {
		return
	}
	alive := time.NewTicker(20 * time.Second) // finds pages that are gone
	defer alive.Stop()
	for {
		line := ": alive\n\n"
		select {
		case <-r.Context().Done():
			return
		case <-next:
			var event string
			event, next = s.Event()
			line = "event: " + event + "\ndata: \n\n"
		case <-alive.C:
		}
		_ = control.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(w, line); err != nil || control.Flush() != nil {
			return
		}
	}
}
