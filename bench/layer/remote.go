package layer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
	// Exact requires pages of 1 MB to have exactly the expected rows. Other
	// implementations may count bytes a little differently.
	Exact bool

	trials int
	stop   func() error // ends a server of this process
}

// Close implements [Layer].
func (r *Remote) Close() error {
	r.Wire.Close()
	if r.stop != nil {
		return r.stop()
	}
	return nil
}

// Begin begins a workload, whose first answers are decoded as a whole.
func (r *Remote) Begin() { r.trials = 0 }

// maxTrials is the number of answers of a workload that are decoded as a whole
// before it is measured.
const maxTrials = 8

// slack is how much shorter or longer a page of 1 MB of another implementation
// may be. dynalite, for one, ends it after nine tenths of our rows. Its time is
// taken as it is.
const slack = 0.25

// Prepare implements [Layer].
func (r *Remote) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	request := r.Wire.Request(c.Op.Target(), c.Body(r.Shape))
	want := *c
	if !r.Exact && c.Page && c.Op == work.Scan && c.Range.Filter == "" {
		want.Want = -1
	}
	if c.Op == work.Get || c.Op == work.Query || c.Op == work.Scan {
		if r.trials++; c.Page || c.Want < 0 || r.trials <= maxTrials {
			rows, err := r.trial(ctx, &want, request)
			if err != nil {
				return nil, err
			}
			want.Want = rows
		}
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

// trial runs a call, decodes the whole answer and checks that it has the rows
// that it says it has. It returns their number.
func (r *Remote) trial(ctx context.Context, c *work.Call, request []byte) (int, error) {
	out, status, err := r.Wire.Do(ctx, request, nil)
	if err != nil {
		return 0, err
	}
	if status != http.StatusOK {
		return 0, newStatusError(c.Op, status, out)
	}

	var body struct {
		Item                map[string]json.RawMessage
		Items               []map[string]json.RawMessage
		Count, ScannedCount *int
	}
	if err := json.Unmarshal(out, &body); err != nil {
		return 0, fmt.Errorf("%s: answer is not JSON: %w", c.Op, err)
	}

	rows := len(body.Items)
	if len(body.Item) > 0 {
		rows = 1
	}
	said := countRows(c.Op, out)
	switch {
	case body.Count != nil && *body.Count != rows:
		return 0, fmt.Errorf("%s: answer has %d rows, but its Count is %d", c.Op, rows, *body.Count)
	case said != rows:
		return 0, fmt.Errorf("%s: answer has %d rows, counted as %d", c.Op, rows, said)
	case c.Examined > 0 && body.ScannedCount != nil && !near(*body.ScannedCount, c.Examined):
		return 0, fmt.Errorf("%s examined %d rows, want about %d", c.Op, *body.ScannedCount, c.Examined)
	case !r.Exact && c.Page && near(rows, c.Want):
		return rows, nil
	}
	return rows, checkRows(c, rows)
}

func near(n, want int) bool {
	off := float64(n - want)
	return max(off, -off) <= slack*float64(want)
}

// batchItems is the maximum of items of one BatchWriteItem.
const batchItems = 25

// Create creates the table and fills it.
func (r *Remote) Create(ctx context.Context) error {
	if err := r.call(ctx, "CreateTable", r.Shape.CreateBody(), nil); err != nil {
		return err
	}
	if err := r.await(ctx, true); err != nil {
		return err
	}
	const loaders = 4
	var next atomic.Int64
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
				errs[k] = r.put(ctx, from, min(to, r.Shape.Items))
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, context.Cause(ctx))...)
}

// put writes the items from one number up to another.
func (r *Remote) put(ctx context.Context, from, to int) error {
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
func (r *Remote) await(ctx context.Context, exists bool) error {
	for range 600 {
		var out struct {
			Table struct {
				TableStatus            string
				GlobalSecondaryIndexes []struct{ IndexStatus string }
			}
		}
		err := r.call(ctx, "DescribeTable", fmt.Appendf(nil, `{"TableName":%q}`, work.TableName), &out)
		if status, ok := errors.AsType[*StatusError](err); ok && !exists && status.Code == "ResourceNotFoundException" {
			return nil
		}
		if err != nil {
			return err
		}

		active := out.Table.TableStatus == "ACTIVE"
		for _, ix := range out.Table.GlobalSecondaryIndexes {
			active = active && ix.IndexStatus == "ACTIVE"
		}
		if exists && active {
			return nil
		}

		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New("table does not become ready in a minute")
}

func (r *Remote) call(ctx context.Context, op work.Op, body []byte, out any) error {
	text, status, err := r.Wire.Do(ctx, r.Wire.Request(op.Target(), body), nil)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", op, err)
	case status != http.StatusOK:
		return newStatusError(op, status, text)
	case out == nil:
		return nil
	}
	return json.Unmarshal(text, out)
}
