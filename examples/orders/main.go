// Command orders serves orders over HTTP from the embedded store. It shows pages with cursors, three indexes, and
// updates that never overwrite one another. [sortkey.StatusOf] gives each error its HTTP status.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/keys"
)

// An Order is an item of the table Orders. Its version grows with each change.
type Order struct {
	Customer string         `dynamodbav:"customer" json:"customer"`
	Number   int            `dynamodbav:"number" json:"number"`
	Status   string         `dynamodbav:"status" json:"status"`
	City     string         `dynamodbav:"city" json:"city"`
	Carrier  string         `dynamodbav:"carrier,omitempty" json:"carrier,omitempty"`
	Placed   keys.Timestamp `dynamodbav:"placed" json:"placed"`
	Total    int            `dynamodbav:"total" json:"total"`
	Version  int            `dynamodbav:"version" json:"version"`
}

// indexes maps a query parameter to the index that answers it.
var indexes = map[string]string{"status": "ByStatus", "city": "ByCity", "carrier": "ByCarrier"}

// Shop answers requests about orders.
type Shop struct {
	mux    http.ServeMux
	orders *sortkey.TableOf[Order]
}

// NewShop returns the handler for the orders in a database. It creates the table if it is missing.
func NewShop(ctx context.Context, db *sortkey.DB) (*Shop, error) {
	err := db.EnsureTable(ctx, "Orders", "customer / number:N",
		sortkey.Global("ByStatus", "status / placed"),
		sortkey.Global("ByCity", "city / placed"),
		sortkey.Global("ByCarrier", "carrier / placed"))
	if err != nil {
		return nil, err
	}
	s := &Shop{orders: sortkey.Table[Order](db, "Orders")}
	s.handle("POST /orders", s.create)
	s.handle("GET /orders", s.list)
	s.handle("GET /orders/{customer}/{number}", s.get)
	s.handle("PUT /orders/{customer}/{number}", s.replace)
	s.handle("DELETE /orders/{customer}/{number}", s.delete)
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// handle registers a method for a pattern and sends what the method returns as JSON.
func (s *Shop) handle(pattern string, method func(http.ResponseWriter, *http.Request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		answer, err := method(w, r)
		if err != nil {
			fail(w, r, err)
			return
		}
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			log.Print(err)
		}
	})
}

// A clientError is the error of a request that the handler refuses before it calls the store.
type clientError struct {
	status int
	text   string
}

func (e *clientError) Error() string { return e.text }

func wrong(format string, args ...any) error {
	return &clientError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// fail answers with an error. Errors that the client did not cause go to the log, not to the client.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	status, text := sortkey.StatusOf(err), err.Error()
	if own, ok := errors.AsType[*clientError](err); ok {
		status = own.status
	}
	if status >= 500 {
		log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
		text = http.StatusText(status)
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, text, status)
}

func (s *Shop) create(w http.ResponseWriter, r *http.Request) (any, error) {
	order, err := decode(r)
	if err != nil {
		return nil, err
	}
	order.Version = 1
	if err := s.orders.Put(r.Context(), order, sortkey.If("attribute_not_exists(customer)")); err != nil {
		return nil, err
	}
	setVersion(w, order)
	return order, nil
}

func (s *Shop) get(w http.ResponseWriter, r *http.Request) (any, error) {
	key, err := keyOf(r)
	if err != nil {
		return nil, err
	}
	order, err := s.orders.Get(r.Context(), key)
	if err != nil {
		return nil, err
	}
	setVersion(w, order)
	return order, nil
}

// replace replaces an order if its version is the one in the request's If-Match.
func (s *Shop) replace(w http.ResponseWriter, r *http.Request) (any, error) {
	key, err := keyOf(r)
	if err != nil {
		return nil, err
	}
	order, err := decode(r)
	if err != nil {
		return nil, err
	}
	seen, err := seenVersion(r)
	if err != nil {
		return nil, err
	}
	order.Customer, order.Number, order.Version = key[0].(string), key[1].(int), seen+1
	if err := s.orders.Put(r.Context(), order, sortkey.If("version = :seen", seen)); err != nil {
		return nil, err
	}
	setVersion(w, order)
	return order, nil
}

func (s *Shop) delete(_ http.ResponseWriter, r *http.Request) (any, error) {
	key, err := keyOf(r)
	if err != nil {
		return nil, err
	}
	seen, err := seenVersion(r)
	if err != nil {
		return nil, err
	}
	return nil, s.orders.Delete(r.Context(), key, sortkey.If("version = :seen", seen))
}

// A listing is one page of orders. Cursor leads to the next page.
type listing struct {
	Orders []Order `json:"orders"`
	Cursor string  `json:"cursor,omitempty"`
}

// list returns a page of orders, the latest first: those of a customer or, from an index, those with a status, a city
// or a carrier.
func (s *Shop) list(_ http.ResponseWriter, r *http.Request) (any, error) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), "20"))
	if err != nil || limit > 100 {
		return nil, wrong("limit=%s: want a number up to 100", query.Get("limit"))
	}
	orders, partition := s.orders, query.Get("customer")
	for parameter, index := range indexes {
		if query.Has(parameter) {
			if partition != "" {
				return nil, wrong("customer, status, city and carrier exclude each other")
			}
			orders, partition = s.orders.Index(index), query.Get(parameter)
		}
	}
	page, err := orders.QueryPage(r.Context(), partition, sortkey.Limit(limit), sortkey.After(query.Get("cursor")),
		sortkey.Descending)
	if err != nil {
		return nil, err
	}
	return listing{append([]Order{}, page.Items...), page.Cursor}, nil
}

// decode reads the order in the body of a request.
func decode(r *http.Request) (order Order, err error) {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&order); err == nil && decoder.More() {
		err = errors.New("there is more after it")
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return order, &clientError{http.StatusRequestEntityTooLarge, "the order is too large"}
	}
	if err != nil {
		return order, wrong("the body is not an order: %v", err)
	}
	if _, err := order.Placed.Time(); err != nil {
		return order, wrong("placed: %v", err)
	}
	return order, nil
}

func keyOf(r *http.Request) (sortkey.Key, error) {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		return nil, wrong("%q is not the number of an order", r.PathValue("number"))
	}
	return sortkey.Key{r.PathValue("customer"), number}, nil
}

// setVersion sends the version of the order as its ETag.
func setVersion(w http.ResponseWriter, order Order) {
	w.Header().Set("ETag", strconv.Quote(strconv.Itoa(order.Version)))
}

// seenVersion returns the version of an order that the client has seen, from the header If-Match.
func seenVersion(r *http.Request) (int, error) {
	match := r.Header.Get("If-Match")
	if match == "" {
		return 0, &clientError{http.StatusPreconditionRequired, "send the ETag of the order in If-Match"}
	}
	version, err := strconv.Atoi(strings.Trim(match, `"`))
	if err != nil {
		return 0, wrong("If-Match: %s is not an ETag of ours", match)
	}
	return version, nil
}

func run(ctx context.Context, addr string) (err error) {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	shop, err := NewShop(ctx, db)
	if err != nil {
		return err
	}
	return http.ListenAndServe(addr, shop) //nolint:gosec // an example
}

func main() {
	if err := run(context.Background(), "127.0.0.1:8080"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
