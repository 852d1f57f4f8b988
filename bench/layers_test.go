package bench_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/tests/processor"
)

var (
	endpoint = flag.String("endpoint", "", "URL of a server for BenchmarkEndpoint")
	process  = flag.Int("process", 0, "number of the server's process, to measure its processor time")
)

// measured are the workloads of the benchmarks.
var measured = []string{"get", "put", "update", "query-10", "query-100", "page", "filter-none", "index-10", "transact-write"}

// BenchmarkLayers runs workloads on each layer of each engine, in tables of 100,000 items.
func BenchmarkLayers(b *testing.B) {
	for _, engine := range []layer.Engine{layer.Memory, layer.Disk} {
		for _, name := range measured {
			b.Run(string(engine)+"/"+name, func(b *testing.B) {
				w := work.Find(name)
				shape := w.Shape(work.Size{Items: 100_000})
				d, err := layer.Open(b.Context(), engine, shape, b.TempDir())
				require.NoError(b, err)
				defer d.Close()
				calls := w.Calls(shape, 4096, 1)
				for _, name := range layer.Names() {
					b.Run(string(name), func(b *testing.B) {
						l, err := layer.New(name, d, false)
						require.NoError(b, err)
						defer l.Close()
						b.ReportAllocs()
						loop(b, l, calls)
					})
				}
			})
		}
	}
}

// loop measures calls, one after the other.
func loop(b *testing.B, l layer.Layer, calls []work.Call) {
	var ops []measure.Op
	for i := range calls {
		op, err := l.Prepare(b.Context(), &calls[i])
		require.NoError(b, err)
		ops = append(ops, op)
	}
	var s measure.Scratch
	rows, i := 0, 0
	before := processor.Time(*process)
	for b.Loop() {
		n, _, err := ops[i%len(ops)](b.Context(), &s)
		if err != nil {
			b.Fatal(err)
		}
		rows += n
		i++
	}
	if *process != 0 {
		b.ReportMetric(float64(processor.Time(*process)-before)/float64(b.N), "server-ns/op")
	}
	if rows > 0 {
		b.ReportMetric(float64(b.Elapsed())/float64(rows), "ns/row")
	}
}

// BenchmarkEndpoint runs the workloads over HTTP on a server of any implementation, in tables of 20,000 items that it
// creates and deletes. scripts/bench.sh peers compares several servers. Other implementations may count bytes a
// little differently, so their pages may have other rows.
func BenchmarkEndpoint(b *testing.B) {
	if *endpoint == "" {
		b.Skip("needs -endpoint URL: run scripts/bench.sh peers")
	}
	for _, name := range measured {
		b.Run(name, func(b *testing.B) {
			w := work.Find(name)
			shape := w.Shape(work.Size{Items: 20_000})
			e := layer.NewEndpoint(*endpoint, shape)
			defer e.Close()
			fill(b, e, shape)
			defer ask(b, e, "DeleteTable", fmt.Appendf(nil, `{"TableName":%q}`, work.TableName), nil)
			calls := w.Calls(shape, 4096, 1)
			for i := range calls {
				if calls[i].Page {
					calls[i].Want = -1
				}
			}
			loop(b, e, calls)
		})
	}
}

// fill creates the table on a server, and writes its items.
func fill(b *testing.B, e *layer.Endpoint, s work.Shape) {
	ask(b, e, "CreateTable", s.CreateBody(), nil)
	for active := false; !active; time.Sleep(10 * time.Millisecond) {
		var out struct{ Table struct{ TableStatus string } }
		ask(b, e, "DescribeTable", fmt.Appendf(nil, `{"TableName":%q}`, work.TableName), &out)
		active = out.Table.TableStatus == "ACTIVE"
	}

	const batch = 25
	for from := 0; from < s.Items; from += batch {
		body := fmt.Appendf(nil, `{"RequestItems":{%q:[`, work.TableName)
		for i := from; i < min(from+batch, s.Items); i++ {
			if i > from {
				body = append(body, ',')
			}
			body = append(s.ItemJSON(append(body, `{"PutRequest":{"Item":`...), i, 0), "}}"...)
		}
		var out struct{ UnprocessedItems map[string]json.RawMessage }
		ask(b, e, "BatchWriteItem", append(body, "]}}"...), &out)
		require.Empty(b, out.UnprocessedItems)
	}
}

// ask sends a request and decodes the answer.
func ask(b *testing.B, e *layer.Endpoint, op work.Op, body []byte, out any) {
	b.Helper()
	answer, status, err := e.Do(context.WithoutCancel(b.Context()), op, body, nil)
	require.NoError(b, err)
	require.Equal(b, http.StatusOK, status, string(answer))
	if out != nil {
		require.NoError(b, json.Unmarshal(answer, out))
	}
}
