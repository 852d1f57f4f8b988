package layer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// A Remote is an endpoint over HTTP with a table of a shape.
type Remote struct {
	Wire  *Wire
	Shape work.Shape
	// Exact holds pages of 1 MB to the row. Implementations may differ a
	// little in how they count bytes.
	Exact bool

	trials atomic.Int64
	stop   func() error // ends a server of our own
}

// Close implements [Layer].
func (r *Remote) Close() error {
	r.Wire.Close()
	if r.stop != nil {
		return r.stop()
	}
	return nil
}

// newHTTPLayer serves d over a loopback socket from this process.
func newHTTPLayer(d *Data) (Layer, error) {
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w, err := NewWire("http://" + ln.Addr().String())
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.DB.Serve(ctx, ln) }()
	return &Remote{Wire: w, Shape: d.Shape, Exact: true, stop: func() error {
		cancel()
		return <-ended
	}}, nil
}

// Begin begins a workload: its first answers will be looked at as a whole.
func (r *Remote) Begin() { r.trials.Store(0) }

// trialCalls is how many answers of a workload are looked at as a whole,
// before measuring.
const trialCalls = 8

// slack is how much shorter or longer a page of 1 MB may be elsewhere:
// dynalite, for one, ends it after nine tenths of our rows. Its time is taken
// as it is.
const slack = 0.25

// Prepare implements [Layer].
func (r *Remote) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	request := r.Wire.Request(c.Op.Target(), c.Body(r.Shape))
	want := *c
	if !r.Exact && c.Page && c.Op == work.Scan && c.Range.Filter == "" {
		want.Want = -1
	}
	reads := c.Op == work.Get || c.Op == work.Query || c.Op == work.Scan
	if reads && (c.Page || c.Want < 0 || r.trials.Add(1) <= trialCalls) {
		rows, err := r.trial(ctx, &want, request)
		if err != nil {
			return nil, err
		}
		want.Want = rows
	}
	return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
		out, status, err := r.Wire.Do(ctx, request, s.Buf[:0])
		if err != nil {
			return 0, 0, err
		}
		s.Buf = out
		return answer(&want, status, out)
	}, nil
}

// trial does a call and decodes the whole answer, to see that it has the rows
// it says it has. It returns their number.
func (r *Remote) trial(ctx context.Context, c *work.Call, request []byte) (int, error) {
	out, status, err := r.Wire.Do(ctx, request, nil)
	if err != nil {
		return 0, err
	}
	if status != 200 {
		_, _, err := answer(c, status, out)
		return 0, err
	}
	var body struct {
		Item                map[string]json.RawMessage
		Items               []map[string]json.RawMessage
		Count, ScannedCount *int
	}
	if err := json.Unmarshal(out, &body); err != nil {
		return 0, fmt.Errorf("%s: the answer is not JSON: %w", c.Op, err)
	}
	rows := len(body.Items)
	if len(body.Item) > 0 {
		rows = 1
	}
	if body.Count != nil && *body.Count != rows {
		return 0, fmt.Errorf("%s: the answer says it has %d rows and has %d", c.Op, *body.Count, rows)
	}
	if said := countRows(c.Op, out); said != rows {
		return 0, fmt.Errorf("%s: the answer has %d rows, counted as %d", c.Op, rows, said)
	}
	if c.Examined > 0 && body.ScannedCount != nil && !near(*body.ScannedCount, c.Examined) {
		return 0, fmt.Errorf("%s examined %d rows, not about %d", c.Op, *body.ScannedCount, c.Examined)
	}
	if !r.Exact && c.Page && near(rows, c.Want) {
		return rows, nil
	}
	return rows, checked(c, rows)
}

func near(n, want int) bool {
	off := float64(n - want)
	return max(off, -off) <= slack*float64(want)
}

// batchItems is the most items of one BatchWriteItem.
const batchItems = 25

// Create makes the table and fills it. Loading may be nil.
func (r *Remote) Create(ctx context.Context, loading func(items int)) error {
	if err := r.call(ctx, "CreateTable", r.Shape.CreateBody(), nil); err != nil {
		return err
	}
	if err := r.await(ctx, true); err != nil {
		return err
	}
	const loaders = 4
	var next, done atomic.Int64
	errs := make([]error, loaders)
	var wg sync.WaitGroup
	for k := range loaders {
		wg.Go(func() {
			for errs[k] == nil && ctx.Err() == nil {
				to := int(next.Add(batchItems))
				from := to - batchItems
				if from >= r.Shape.Items {
					return
				}
				to = min(to, r.Shape.Items)
				errs[k] = r.batch(ctx, from, to)
				if all := done.Add(int64(to - from)); loading != nil {
					loading(int(all))
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, context.Cause(ctx))...)
}

func (r *Remote) batch(ctx context.Context, from, to int) error {
	b := fmt.Appendf(nil, `{"RequestItems":{%q:[`, work.TableName)
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ',')
		}
		b = append(r.Shape.ItemJSON(append(b, `{"PutRequest":{"Item":`...), i, 0), "}}"...)
	}
	var out struct{ UnprocessedItems map[string]json.RawMessage }
	if err := r.call(ctx, "BatchWriteItem", append(b, "]}}"...), &out); err != nil {
		return err
	}
	if len(out.UnprocessedItems) > 0 {
		return errors.New("BatchWriteItem left items unprocessed")
	}
	return nil
}

// Drop deletes the table.
func (r *Remote) Drop(ctx context.Context) error {
	if err := r.call(ctx, "DeleteTable", fmt.Appendf(nil, `{"TableName":%q}`, work.TableName), nil); err != nil {
		return err
	}
	return r.await(ctx, false)
}

// await waits until the table is active, or gone.
func (r *Remote) await(ctx context.Context, there bool) error {
	for range 600 {
		var out struct {
			Table struct {
				TableStatus            string
				GlobalSecondaryIndexes []struct{ IndexStatus string }
			}
		}
		err := r.call(ctx, "DescribeTable", fmt.Appendf(nil, `{"TableName":%q}`, work.TableName), &out)
		if !there && err != nil && strings.Contains(err.Error(), "ResourceNotFoundException") {
			return nil
		}
		if err != nil {
			return err
		}
		active := out.Table.TableStatus == "ACTIVE"
		for _, ix := range out.Table.GlobalSecondaryIndexes {
			active = active && ix.IndexStatus == "ACTIVE"
		}
		if there && active {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New("the table does not become ready")
}

func (r *Remote) call(ctx context.Context, op work.Op, body []byte, out any) error {
	text, status, err := r.Wire.Do(ctx, r.Wire.Request(op.Target(), body), nil)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if status != 200 {
		return &StatusError{Op: op, Status: status, Body: string(bytes.TrimSpace(text[:min(len(text), 400)]))}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
