// Package console serves pages about running tables. They show the tables, their rows, item collections in order,
// items to edit, and the requests of the running program. While a person types a query, they draw the slice of rows
// that it reads. The page of a design (package internal/design/report) has the same style, query box and drawing.
// Package web restricts access to the pages.
package console

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
)

//go:embed templates
var files embed.FS

// templates are the templates of this package and of package report.
var templates = sync.OnceValue(func() *template.Template { return report.Extend(files, "templates/*.html") })

// Options configure a [Server].
type Options struct {
	Target explain.Target // the database
	// Name is what the pages call the database, such as the address of a server.
	Name string
	// Models are the design models that describe the items. From a model, the pages take the entity of an item, and
	// the links to the items that it refers to.
	Models []*model.Model
	// DB is the database if it is in this process, or nil. Branches require it.
	DB *sortkey.DB
	// Branch is the name of the branch that the pages show, or "".
	Branch string
	// Requests records the requests of the running program. It is nil if nothing records them.
	Requests *Recorder
}

// A Server serves the pages. It is safe for concurrent use.
type Server struct {
	opts Options

	mu     sync.Mutex
	colors map[string]string // classes by the kinds of items

	undos   []*undo // changes that can be undone, the oldest first
	changes int     // so far

	branches map[int]*branch
	begun    int // branches so far
}

// New returns a server. Close discards its branches.
func New(o Options) *Server {
	return &Server{opts: o, colors: map[string]string{}, branches: map[int]*branch{}}
}

// maxColors is the number of kinds of items that have their own colour. Further kinds have none.
const maxColors = 64

// color returns the CSS class for the colour of a kind of items.
func (s *Server) color(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	class, ok := s.colors[kind]
	if !ok {
		class = "en"
		if n := len(s.colors); n < maxColors {
			class = fmt.Sprintf("e%d", n)
			s.colors[kind] = class
		}
	}
	return class
}

// Handler returns the handler for the pages and their requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range map[string]handler{
		"GET /{$}":        s.page(s.tables),
		"GET /table":      s.page(s.rows),
		"GET /collection": s.page(s.rows),
		"GET /item":       s.page(s.item),
		"GET /requests":   s.page(s.requests),
		"GET /request":    s.page(s.request),

		"GET /keys":      s.keys,
		"GET /query":     s.query,
		"POST /query":    s.query,
		"GET /events":    s.events,
		"GET /recording": s.recording,

		"POST /preview":     s.preview,
		"POST /put":         s.put,
		"POST /bulk-delete": s.bulkDelete,
		"POST /undo":        s.undo,
	} {
		mux.Handle(pattern, h)
	}
	if s.opts.DB != nil {
		s.handleBranches(mux)
	}

	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	asset := func(name, kind string, text func() string) {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) { reply(w, kind, text()) })
	}
	asset("page.css", "text/css", func() string { return report.Style(maxColors) + own("console.css") })
	asset("page.js", "text/javascript", report.Script)
	for _, name := range []string{
		"shared.js", "console.js", "grid.js", "undo.js", "keys.js", "requests.js", "buttons.js",
	} {
		asset(name, "text/javascript", func() string { return own(name) })
	}
	return handler(func(w http.ResponseWriter, r *http.Request) error {
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil { // FormValue would silently drop what it cannot parse
			return damaged(err)
		}
		mux.ServeHTTP(w, r)
		return nil
	})
}

// A handler answers a request. If it returns an error, it has not sent an answer.
type handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP implements [http.Handler]. If h returns an error, it answers with the error and its advice.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	if err == nil {
		return
	}
	status := http.StatusBadGateway
	switch {
	case errors.Is(err, errMoved), errors.Is(err, errTaken):
		status = http.StatusConflict
	case errors.As(err, new(*badRequest)):
		status = http.StatusBadRequest
	}
	http.Error(w, text.VisibleLines(message(err)), status)
}

// reply answers with a text.
func reply(w http.ResponseWriter, kind, text string) {
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = io.WriteString(w, text) // the browser may have gone
}

// replyJSON answers with v as JSON.
func replyJSON(w http.ResponseWriter, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		reply(w, "application/json", string(raw))
	}
	return err
}

// act returns the handler of a button. The handler calls do and answers with the address of the next page, which do
// returns.
func act(do func(*http.Request) (next string, err error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		next, err := do(r)
		if err == nil {
			reply(w, "text/plain", next)
		}
		return err
	}
}

// own returns the contents of an embedded file of this package.
func own(name string) string {
	b, err := files.ReadFile("templates/" + name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// pageTime bounds the time for reading the data of a page.
const pageTime = 30 * time.Second

// page returns the handler of a page. Show returns the name of the page's template, and the data for the template.
func (s *Server) page(show func(*http.Request) (name string, data any, err error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), pageTime)
		defer cancel()
		name, data, err := show(r.WithContext(ctx))
		if err != nil {
			return err
		}
		names, err := s.names(ctx)
		if err != nil {
			return err
		}
		p := &frame{Body: name, Data: data}
		s.place(p, r, names)
		return replyTemplate(w, "console", p)
	}
}

// replyTemplate answers with the output of a template.
func replyTemplate(w http.ResponseWriter, name string, data any) error {
	var b strings.Builder
	err := templates().ExecuteTemplate(&b, name, data)
	if err == nil {
		reply(w, "text/html", text.VisibleLines(b.String()))
	}
	return err
}

// message returns the text of an error and its advice.
func message(err error) string {
	if hint := advice.Of(err); hint != "" {
		return err.Error() + "\nTo do: " + hint
	}
	return err.Error()
}

// A badRequest is an error in what the browser has sent.
type badRequest struct{ error }

// Unwrap returns the wrapped error. ServeHTTP finds the advice in it.
func (b *badRequest) Unwrap() error { return b.error }

func bad(format string, args ...any) error { return &badRequest{fmt.Errorf(format, args...)} }

// damaged returns the error for a request whose address cannot be a link of the console.
func damaged(err error) error {
	return bad("the address is damaged: %v; go back to the table and follow its links", err)
}

// readChange decodes the JSON of a change that a page sends.
func readChange(w http.ResponseWriter, r *http.Request, to any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return bad("the change is larger than %s; change less at once", text.Size(maxBody))
	case err != nil:
		return bad("the change did not arrive: %v; send it again", err)
	case len(body) == 0:
		return bad("the change is empty; send an object")
	case !utf8.Valid(body): // the decoder would replace invalid characters, even in keys
		return bad("the change is not UTF-8")
	}

	err = json.Unmarshal(body, to)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return bad("the change is a JSON %s; send an object", wrong.Value)
		}
		return bad("the change has a %s as its member %s", wrong.Value, wrong.Field)
	}
	if err != nil {
		return bad("the change cannot be read: %v", err)
	}
	return nil
}

// maxTables bounds the list of tables.
const maxTables = 500

// names returns the names of the tables, sorted, at most maxTables.
func (s *Server) names(ctx context.Context) ([]string, error) {
	all, err := models.Tables(ctx, s.opts.Target)
	sort.Strings(all)
	return all[:min(len(all), maxTables)], err
}

// kind returns the name of an item's kind. If a model knows the entity of the item, this is the entity. Otherwise it
// is the part before the first # in a key attribute; the last key attribute with such a part counts. If there is
// none, the kind is "items".
func (s *Server) kind(t *keyschema.Table, it attr.Item) string {
	if _, e := s.entityOf(t.Name, it); e != nil {
		return e.Name
	}
	keys := t.Key.Attributes()
	for i := len(keys) - 1; i >= 0; i-- {
		v := it.Get(keys[i].Name)
		if v.Kind() != attr.String {
			continue
		}
		if head, _, ok := strings.Cut(string(v.Raw()), "#"); ok && head != "" && len(head) <= 40 {
			return head
		}
	}
	return "items"
}
