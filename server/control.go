package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
)

// A controlled holds what tests in other languages control in a database: its clock, its faults and its log of
// requests.
type controlled struct {
	offset *atomic.Int64 // of the clock, in nanoseconds

	mu     sync.Mutex
	faults map[int]activeFault
	begun  int // number of faults so far, for ids
	log    []controlRequest
	lost   int // requests not logged because the log was full
	stop   func()
}

// An activeFault is a fault in force. Calling lift ends it.
type activeFault struct {
	rule *fault.Rule
	lift func()
}

// A controlRequest is a logged request, as GET /databases/KEY/requests returns it.
type controlRequest struct {
	Operation string   `json:"operation"`
	Tables    []string `json:"tables"`
	Examined  int      `json:"examined"`
	Returned  int      `json:"returned"`
	Units     float64  `json:"units"`
	Error     string   `json:"error,omitempty"`
	// Slices has a text for each page of a query or scan: what it has read and what it cost.
	Slices []string `json:"slices,omitempty"`
}

// These limits bound the memory and the clock that clients of [Server.Control] can use.
const (
	maxFaults   = 100
	maxLogged   = 10_000
	maxControl  = 64 << 10 // bytes of a body
	maxAdvanced = 50 * 365 * 24 * time.Hour
)

// Begin implements [sortkey.Observer].
func (*controlled) Begin(context.Context, *sortkey.Event) {}

// End implements [sortkey.Observer].
func (c *controlled) End(_ context.Context, e *sortkey.Event) {
	one := controlRequest{
		Operation: e.Operation, Tables: e.Tables, Examined: e.Examined, Returned: e.Returned, Error: e.Error,
	}
	for _, u := range e.Units {
		one.Units += u.Units
	}
	for _, t := range e.Traces() {
		one.Slices = append(one.Slices, t.String())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.log) == maxLogged {
		c.lost++
		return
	}
	c.log = append(c.log, one)
}

// newControlled returns the control of a database, and begins to log its requests.
func newControlled(db *isolatedDB) *controlled {
	c := &controlled{offset: db.offset, faults: map[int]activeFault{}}
	c.stop = db.Observe(c)
	return c
}

// Control returns a handler with which tests in other languages control the databases of [Options.Isolate]. KEY and
// OTHER are names of databases, such as access keys. The handler checks neither signatures nor hosts, so only these
// tests must be able to reach it.
//
//	DELETE /databases/KEY               the next request of KEY gets a new copy of the loaded data
//	PUT    /databases/KEY?from=OTHER    the database of KEY becomes a copy of that of OTHER as it is now;
//	                                    OTHER must have one
//	POST   /databases/KEY/clock         {"advance": "1h30m"}; deletes expired items before it answers
//	POST   /databases/KEY/faults        the fields of a Fault of package sortkeytest; answers {"id": 1}
//	GET    /databases/KEY/faults        each fault with its id, its calls in words, and how many have failed
//	DELETE /databases/KEY/faults        lifts all faults or, with /ID at the end, the fault with this id
//	GET    /databases/KEY/requests      the requests since the database was made or the last DELETE
//	DELETE /databases/KEY/requests      forgets them
//
// The handler answers errors with a JSON object that has the member error.
func (s *Server) Control() http.Handler {
	if s.isolated != nil {
		s.isolated.mu.Lock()
		s.isolated.watched = true
		s.isolated.mu.Unlock()
	}
	mux := http.NewServeMux()
	handle := func(pattern string, do controlFunc) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if s.isolated == nil {
				controlError(w, http.StatusConflict,
					errors.New("the server has one database for all (--isolate)"))
				return
			}
			out, err := do(&controlCall{Request: r, key: r.PathValue("key")})
			if err != nil {
				controlError(w, http.StatusBadRequest, err)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(out)
		})
	}

	// with returns a function that calls do with the database of the key. It holds the lock of c.controlled while do
	// runs.
	with := func(do controlFunc) controlFunc {
		return func(c *controlCall) (any, error) {
			// Read the body before the lock is taken, so that a client that sends no body does not block the
			// database.
			var err error
			if c.body, err = io.ReadAll(http.MaxBytesReader(nil, c.Body, maxControl)); err != nil {
				return nil, fmt.Errorf("the body: %w", err)
			}
			if c.db, err = s.isolated.enter(c.key); err != nil {
				return nil, err
			}
			defer s.isolated.leave(c.db)
			c.controlled = c.db.controlled()
			c.mu.Lock()
			defer c.mu.Unlock()
			return do(c)
		}
	}

	handle("DELETE /databases/{key}", func(c *controlCall) (any, error) {
		return done{}, s.isolated.replace(c.key, nil)
	})
	handle("PUT /databases/{key}", func(c *controlCall) (any, error) {
		from := c.URL.Query().Get("from")
		if from == "" || from == c.key {
			return nil, errors.New("name the database to copy from: ?from=OTHER")
		}
		db, err := s.isolated.enterKnown(from)
		if err != nil {
			return nil, err
		}
		defer s.isolated.leave(db)
		return done{}, s.isolated.replace(c.key, db)
	})

	handle("POST /databases/{key}/clock", with(func(c *controlCall) (any, error) {
		var in struct{ Advance string }
		if err := readControl(c.body, &in); err != nil {
			return nil, err
		}
		d, err := time.ParseDuration(in.Advance)
		if err != nil || d < 0 || d > maxAdvanced || time.Duration(c.offset.Load())+d > maxAdvanced {
			return nil, fmt.Errorf(`advance is a time such as "1h30m", of at most %v in all, not %q`, maxAdvanced,
				in.Advance)
		}
		c.offset.Add(int64(d))
		_, err = c.db.Sweep(event.Quiet(c.Context()))
		return done{}, err
	}))

	handle("POST /databases/{key}/faults", with(func(c *controlCall) (any, error) {
		var in struct {
			fault.Fault
			Delay string // instead of nanoseconds
		}
		if err := readControl(c.body, &in); err != nil {
			return nil, err
		}
		if in.Delay != "" {
			d, err := time.ParseDuration(in.Delay)
			if err != nil || d < 0 {
				return nil, fmt.Errorf(`the delay is a time such as "200ms", not %q`, in.Delay)
			}
			in.Fault.Delay = d
		}

		if len(c.faults) == maxFaults {
			return nil, fmt.Errorf("there are %d faults: lift some", maxFaults)
		}
		if problem := api.FaultProblem(in.Fault); problem != "" {
			return nil, errors.New(problem)
		}
		c.begun++
		rule, lift := engine.Of(c.db).Fail(in.Fault)
		c.faults[c.begun] = activeFault{rule, lift}
		return map[string]int{"id": c.begun}, nil
	}))

	handle("GET /databases/{key}/faults", with(func(c *controlCall) (any, error) {
		type row struct {
			ID    int    `json:"id"`
			Calls string `json:"calls"`
			Count int    `json:"count"`
		}
		rows := []row{}
		for _, id := range slices.Sorted(maps.Keys(c.faults)) {
			rows = append(rows, row{id, c.faults[id].rule.Describe(), c.faults[id].rule.Met()})
		}
		return rows, nil
	}))

	handle("DELETE /databases/{key}/faults", with(func(c *controlCall) (any, error) {
		c.lift()
		return done{}, nil
	}))
	handle("DELETE /databases/{key}/faults/{id}", with(func(c *controlCall) (any, error) {
		id, err := strconv.Atoi(c.PathValue("id"))
		if err != nil || c.faults[id].rule == nil {
			return nil, fmt.Errorf("there is no fault %s", c.PathValue("id"))
		}
		c.faults[id].lift()
		delete(c.faults, id)
		return done{}, nil
	}))

	handle("GET /databases/{key}/requests", with(func(c *controlCall) (any, error) {
		return map[string]any{"requests": append([]controlRequest{}, c.log...), "lost": c.lost}, nil
	}))
	handle("DELETE /databases/{key}/requests", with(func(c *controlCall) (any, error) {
		c.log, c.lost = nil, 0
		return done{}, nil
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		controlError(w, http.StatusNotFound,
			fmt.Errorf("there is no %s %s: see the recipes for other languages", r.Method, r.URL.Path))
	})
	return mux
}

// A controlCall is a request to the handler of [Server.Control], with the database that it is for.
type controlCall struct {
	*http.Request
	key  string
	body []byte
	db   *isolatedDB
	*controlled
}

type controlFunc func(*controlCall) (any, error)

// done is the answer to requests that return nothing: an empty JSON object.
type done struct{}

func (c *controlled) lift() {
	for id, f := range c.faults {
		f.lift()
		delete(c.faults, id)
	}
}

// readControl decodes the body into the struct that v points to. It refuses members that the struct does not have.
func readControl(body []byte, v any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return fmt.Errorf("the body is not a JSON object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		to := reflect.ValueOf(v).Elem().FieldByNameFunc(func(field string) bool {
			return strings.EqualFold(field, name)
		})
		if !to.IsValid() || to.Kind() == reflect.Struct {
			return fmt.Errorf("the body has an unknown member %q", name)
		}
		if err := json.Unmarshal(value, to.Addr().Interface()); err != nil {
			return fmt.Errorf("the member %s is %s, not %s", name, value, wanted(to.Type()))
		}
	}
	return nil
}

// wanted describes the JSON values that a field of a type takes.
func wanted(of reflect.Type) string {
	switch of.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list, each element " + wanted(of.Elem())
	case reflect.Float64:
		return "a number"
	case reflect.Uint64:
		return "a whole number from 0"
	}
	return "a whole number"
}

func controlError(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}
