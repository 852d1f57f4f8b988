package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A flaky is an endpoint that can fail requests of an operation: it drops the connection or returns an error.
// Otherwise it lets the database respond.
type flaky struct {
	*httptest.Server
	client *dynamodb.Client
	fail   atomic.Pointer[func(op string) string]
}

const drop = "drop"

func newFlaky(t *testing.T, db *sortkeytest.DB) *flaky {
	t.Helper()
	f := &flaky{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if fail := f.fail.Load(); fail != nil {
			switch code := (*fail)(op); code {
			case "":
			case drop:
				_, _ = io.Copy(io.Discard, r.Body) // otherwise the client sees a reset connection
				panic(http.ErrAbortHandler)
			default:
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"slow down"}`, code)
				return
			}
		}
		server.New(db.DB, server.Options{}).ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	f.client = dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &f.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	return f
}

// failing makes requests of op fail, except the first n.
func (f *flaky) failing(op, how string, after int64) {
	var n atomic.Int64
	fail := func(got string) string {
		if got == op && n.Add(1) > after {
			return how
		}
		return ""
	}
	f.fail.Store(&fail)
}

func (f *flaky) mend() { f.fail.Store(nil) }

// TestEndpointGone: an import reports that an endpoint does not answer, gives up in the end, and can be resumed when
// the endpoint is back.
func TestEndpointGone(t *testing.T) {
	for _, tt := range []struct {
		how, reason, msg string
		first            int // attempt with the first report
	}{
		{drop, "EOF", " failed to answer 10 times in a row: EOF", 2},
		{"ThrottlingException", "ThrottlingException: slow down", " refused 10 times in a row: ThrottlingException: slow down", 3},
	} {
		t.Run(tt.how, func(t *testing.T) {
			db := sortkeytest.New(t)
			f := newFlaky(t, db)
			f.failing("BatchWriteItem", tt.how, 4)
			path := write(t, "a.jsonl", manyLines(1000))
			o := options(t, path)
			o.Workers, o.Every, o.Backoff = 1, 100, time.Nanosecond
			var waits []transfer.Wait
			o.Waiting = func(w transfer.Wait) { waits = append(waits, w) }
			r, err := importFiles(t, t.Context(), f.client, o, path)
			require.ErrorContains(t, err, f.URL+tt.msg)
			require.Equal(t, tt.how != drop, errors.Is(err, transfer.ErrOverloaded))
			require.Positive(t, r.Sum().Written)
			require.Equal(t, o.Journal, r.Journal)
			require.Len(t, waits, 10-tt.first)
			for i, w := range waits {
				require.Equal(t, f.URL, w.Endpoint)
				require.Equal(t, tt.reason, w.Reason)
				require.Equal(t, tt.first+i, w.Tries)
				require.Equal(t, 10, w.Of)
				require.Equal(t, time.Nanosecond<<(w.Tries-1), w.Pause)
			}

			// The endpoint comes back during a pause.
			waits = nil
			f.failing("BatchWriteItem", tt.how, 2)
			o.Resume = true
			o.Waiting = func(w transfer.Wait) {
				waits = append(waits, w)
				f.mend()
			}
			_, err = importFiles(t, t.Context(), f.client, o, path)
			require.NoError(t, err)
			require.Len(t, waits, 1)
			whole := sortkeytest.New(t)
			_, err = importFiles(t, t.Context(), whole.Direct, options(t, path), path)
			require.NoError(t, err)
			require.Equal(t, itemsOf(t, whole.Direct, "Rows"), itemsOf(t, db.Direct, "Rows"))
		})
	}
}

// TestInterruptedWaiting interrupts an import that waits for an endpoint. It tests that this ends the pause, which
// would be longer than the test, and that the import can be resumed.
func TestInterruptedWaiting(t *testing.T) {
	db := sortkeytest.New(t)
	f := newFlaky(t, db)
	path := write(t, "a.jsonl", manyLines(1000))
	o := options(t, path)
	o.Every, o.Backoff = 100, 24*time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var batches atomic.Int64
	fail := func(op string) string {
		if op != "BatchWriteItem" || batches.Add(1) <= 8 {
			return ""
		}
		cancel()
		return drop
	}
	f.fail.Store(&fail)
	r, err := importFiles(t, ctx, f.client, o, path)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, o.Journal, r.Journal)
	require.True(t, exists(o.Journal))
	f.mend()
	o.Resume = true
	_, err = importFiles(t, t.Context(), f.client, o, path)
	require.NoError(t, err)
	whole := sortkeytest.New(t)
	_, err = importFiles(t, t.Context(), whole.Direct, options(t, path), path)
	require.NoError(t, err)
	require.Equal(t, itemsOf(t, whole.Direct, "Rows"), itemsOf(t, db.Direct, "Rows"))
}

// TestNeverReached: requests to an endpoint that was never reached are not retried.
func TestNeverReached(t *testing.T) {
	f := newFlaky(t, sortkeytest.New(t))
	f.Close()
	path := write(t, "a.jsonl", manyLines(10))
	o := options(t, path)
	o.Backoff = 24 * time.Hour
	_, err := importFiles(t, t.Context(), f.client, o, path)
	require.ErrorContains(t, err, "connection refused")
	require.False(t, exists(o.Journal))
	_, err = transfer.ExportTo(t.Context(), f.client, "Rows", new(strings.Builder), transfer.ExportOptions{Backoff: 24 * time.Hour})
	require.ErrorContains(t, err, "connection refused")
}

// TestTableGone: an import cannot be resumed after its table was deleted.
func TestTableGone(t *testing.T) {
	db := sortkeytest.New(t)
	path := write(t, "a.jsonl", manyLines(1000))
	o := options(t, path)
	o.Every = 100
	var batches atomic.Int64
	remove := func(ctx context.Context, _ *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
		if batches.Add(1) == 20 {
			_, err := db.Direct.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
			return nil, err
		}
		return nil, nil
	}
	_, err := importFiles(t, t.Context(), hooked(db, remove), o, path)
	require.ErrorContains(t, err, "table Rows was deleted, with the items written to it")
	require.True(t, exists(o.Journal))
	o.Resume = true
	_, err = importFiles(t, t.Context(), db.Direct, o, path)
	require.ErrorContains(t, err, "table Rows was deleted, with the items that the interrupted import wrote")
	o.Resume, o.Restart = false, true
	_, err = importFiles(t, t.Context(), db.Direct, o, path)
	require.NoError(t, err)
}

// TestExportThrottled reads a table of many pages from an endpoint that throttles every other request, but fewer than
// the exporter tries one of its requests. It tests that each item is exported once, although
// eventually consistent reads miss all of them.
func TestExportThrottled(t *testing.T) {
	db := sortkeytest.New(t, func(o *sortkey.Options) {
		o.Simulate.StaleReads = sortkey.StaleReads{Window: time.Hour, Oldest: true}
	})
	db.Table("Rows", "pk")
	big := strings.Repeat("x", 100<<10)
	for i := range 40 {
		db.Put("Rows", map[string]any{"pk": fmt.Sprint(i), "big": big})
	}
	f := newFlaky(t, db)
	var n, scans atomic.Int64
	fail := func(op string) string {
		if op == "Scan" {
			scans.Add(1)
			if i := n.Add(1); i%2 == 1 && i < 18 {
				return []string{drop, "ProvisionedThroughputExceededException"}[i/2%2]
			}
		}
		return ""
	}
	f.fail.Store(&fail)
	var out strings.Builder
	r, err := transfer.ExportTo(t.Context(), f.client, "Rows", &out, transfer.ExportOptions{Backoff: time.Nanosecond})
	require.NoError(t, err)
	require.Equal(t, int64(40), r.Items)
	require.GreaterOrEqual(t, scans.Load(), int64(8), "there are pages")
	f.mend()
	require.ElementsMatch(t, itemsOf(t, db.Direct, "Rows"), strings.Split(strings.TrimSpace(out.String()), "\n"))
}
