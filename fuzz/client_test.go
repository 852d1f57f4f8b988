package fuzz_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// A failer reports failures of a case.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// A client sends JSON requests to a database, and counts the rows that the
// database reads from its store.
type client struct {
	failer
	db     *sortkey.DB
	svc    *api.Service
	store  *countingStore
	traces []table.Trace
	buf    []byte
}

func newClient(f failer) *client {
	st := &countingStore{Store: memory.Open()}
	db, err := sortkey.Open(sortkey.Options{Store: st, Rand: seededReader()})
	if err != nil {
		f.Fatalf("Open: %v", err)
	}
	return &client{failer: f, db: db, svc: inside.Service(db), store: st}
}

func seededReader() io.Reader { return rand.NewChaCha8([32]byte{}) }

// call sends one request and decodes the response into out. It returns the
// status and the name of the error. A body that is not JSON fails the case, and
// so does a status 500.
func (c *client) call(op string, in map[string]any, out any) (status int, fault string) {
	c.Helper()
	body := marshal(in)
	c.Logf("%s %s", op, abridge(body))
	c.traces = c.traces[:0]
	ctx := table.WithTrace(context.Background(), func(tr table.Trace) { c.traces = append(c.traces, tr) })
	c.store.reset()
	target := "DynamoDB_20120810." + op
	if strings.HasPrefix(op, "DescribeStream") || strings.HasPrefix(op, "GetRecords") || strings.HasPrefix(op, "GetShard") {
		target = "DynamoDBStreams_20120810." + op
	}
	c.buf, status = c.svc.Serve(ctx, target, body, c.buf[:0])
	c.Logf("  %d %s", status, abridge(c.buf))
	if status != 200 {
		var e struct {
			Type string `json:"__type"`
		}
		if err := json.Unmarshal(c.buf, &e); err != nil || e.Type == "" || status >= 500 {
			c.Fatalf("%s answers %d %s", op, status, c.buf)
		}
		_, fault, _ = strings.Cut(e.Type, "#")
		return status, fault
	}
	if out == nil {
		out = new(json.RawMessage)
	}
	if err := json.Unmarshal(c.buf, out); err != nil {
		c.Fatalf("%s answers %s: %v", op, c.buf, err)
	}
	return status, ""
}

// abridge returns b without long runs of one byte and without most of its
// middle.
func abridge(b []byte) string {
	const most, run = 2000, 40
	var out strings.Builder
	for i := 0; i < len(b); {
		j := i
		for j < len(b) && b[j] == b[i] {
			j++
		}
		if j-i > run {
			fmt.Fprintf(&out, "%c…×%d", b[i], j-i)
		} else {
			out.Write(b[i:j])
		}
		i = j
	}
	s := out.String()
	if len(s) > most {
		return s[:most/2] + " … " + s[len(s)-most/2:]
	}
	return s
}

// must sends a request that has to succeed.
func (c *client) must(op string, in map[string]any, out any) {
	c.Helper()
	if status, fault := c.call(op, in, out); status != 200 {
		c.Fatalf("%s is refused with %s", op, fault)
	}
}

// refuse sends a request that has to fail with the given error.
func (c *client) refuse(op string, in map[string]any, want string) {
	c.Helper()
	if status, fault := c.call(op, in, nil); status != 400 || fault != want {
		c.Fatalf("%s answers %d %s, want %s", op, status, fault, want)
	}
}

// item parses an item of a response.
func (c *client) item(m map[string]json.RawMessage) item {
	c.Helper()
	it, err := parseItem(m)
	if err != nil {
		c.Fatalf("%v", err)
	}
	return it
}

// A capacity is a decoded ConsumedCapacity.
type capacity struct {
	TableName              string
	CapacityUnits          float64
	Table                  *struct{ CapacityUnits float64 }
	GlobalSecondaryIndexes map[string]struct{ CapacityUnits float64 }
	LocalSecondaryIndexes  map[string]struct{ CapacityUnits float64 }
}

// byName returns the units by index name, with "" for the table.
func (u *capacity) byName() map[string]float64 {
	out := map[string]float64{}
	if u.Table != nil {
		out[""] = u.Table.CapacityUnits
	}
	for name, c := range u.GlobalSecondaryIndexes {
		out[name] = c.CapacityUnits
	}
	for name, c := range u.LocalSecondaryIndexes {
		out[name] = c.CapacityUnits
	}
	return out
}

// checkUnits fails unless the parts equal want and add up to the total. Zero
// and absent are equal.
func (c *client) checkUnits(got *capacity, name string, want map[string]float64) {
	c.Helper()
	if got == nil {
		c.Fatalf("the response has no ConsumedCapacity")
		return
	}
	parts, sum := got.byName(), 0.0
	for part, units := range parts {
		if units != want[part] {
			c.Fatalf("%q consumed %v, want %v", part, parts, want)
		}
	}
	for part, units := range want {
		if sum += units; parts[part] != units {
			c.Fatalf("%q consumed %v, want %v", part, parts, want)
		}
	}
	if got.CapacityUnits != sum || got.TableName != name {
		c.Fatalf("%s consumed %v in all, want %s %v", got.TableName, got.CapacityUnits, name, sum)
	}
}

// A countingStore counts what is read from a store outside of updates: the rows
// that iterators yield, and the rows that Get returns.
type countingStore struct {
	store.Store
	walked, got int
}

func (s *countingStore) reset() { s.walked, s.got = 0, 0 }

func (s *countingStore) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return fn(&countingReader{r, s}) })
}

type countingReader struct {
	store.Reader
	store *countingStore
}

func (r *countingReader) Get(space store.Space, partition, sort []byte) ([]byte, bool, error) {
	r.store.got++
	return r.Reader.Get(space, partition, sort)
}

func (r *countingReader) count(rows iter.Seq2[store.Row, error]) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for row, err := range rows {
			r.store.walked++
			if !yield(row, err) {
				return
			}
		}
	}
}

func (r *countingReader) Query(space store.Space, partition []byte, rg store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return r.count(r.Reader.Query(space, partition, rg, reverse))
}

func (r *countingReader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return r.count(r.Reader.Scan(space, s))
}
