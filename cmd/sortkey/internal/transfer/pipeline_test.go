package transfer_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestOneKey: lines with one key take few requests. The last one wins that the
// endpoint accepts, and only the rejected ones are reported.
func TestOneKey(t *testing.T) {
	const n = 5000
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"pk":"k","n":%d}`+"\n", i)
	}
	path := write(t, "a.jsonl", text.String())
	db := sortkeytest.New(t)
	var requests atomic.Int64
	r, err := importFiles(t, t.Context(), hooked(db, func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
		requests.Add(1)
		return nil, nil
	}), options(t, path), path)
	require.NoError(t, err)
	require.Equal(t, transfer.TableResult{Read: n, Written: n}, r.Sum())
	require.LessOrEqual(t, requests.Load(), int64(n/500))
	require.Equal(t, []string{fmt.Sprintf(`{"Item":{"n":{"N":"%d"},"pk":{"S":"k"}}}`, n-1)}, itemsOf(t, db.Direct, "Rows"))

	big := strings.Repeat("x", 400<<10)
	path = write(t, "b.jsonl", `{"pk":"k","n":1}`+"\n"+`{"pk":"k","n":2}`+"\n"+`{"pk":"k","big":"`+big+`"}`+"\n"+`{"pk":"j"}`+"\n")
	r, err = importFiles(t, t.Context(), db.Direct, options(t, path), path)
	require.NoError(t, err)
	require.Equal(t, transfer.TableResult{Read: 4, Written: 3, Rejected: 1}, r.Sum())
	require.Equal(t, int64(3), r.First[0].Line)
	require.Equal(t, []string{`{"Item":{"n":{"N":"2"},"pk":{"S":"k"}}}`, `{"Item":{"pk":{"S":"j"}}}`}, itemsOf(t, db.Direct, "Rows"))
}

// BenchmarkImport imports lines that all have their own key, or all the same one.
func BenchmarkImport(b *testing.B) {
	const n = 20_000
	for _, keys := range []int{n, 10, 1} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			var text strings.Builder
			for i := range n {
				fmt.Fprintf(&text, `{"pk":"k%d","n":%d}`+"\n", i%keys, i)
			}
			path := write(b, "a.jsonl", text.String())
			o := options(b, path)
			o.Journal = filepath.Join(b.TempDir(), "journal")
			for b.Loop() {
				b.StopTimer()
				db := sortkeytest.New(b)
				b.StartTimer()
				r, err := importFiles(b, b.Context(), db.Client, o, path)
				require.NoError(b, err)
				require.Equal(b, int64(n), r.Sum().Written)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/line")
		})
	}
}
