package sortkey_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/store"
)

// A heavyItem is so large that a page of them is heavy work in several stretches.
type heavyItem struct {
	PK   string `dynamodbav:"PK"`
	SK   int    `dynamodbav:"SK"`
	Flag string
	Text string
}

const heavyItems = 120

// heavyDB returns a database with a table of heavyItems.
func heavyDB(t *testing.T) *sortkey.DB {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "bucket"), 0o700))
	db, err := sortkey.Open(sortkey.Options{S3Root: root})
	require.NoError(t, err)
	require.NoError(t, db.CreateTable(t.Context(), "Heavy", "PK / SK:N"))
	table := sortkey.Table[heavyItem](db, "Heavy")
	for i := range heavyItems {
		require.NoError(t, table.Put(t.Context(), heavyItem{
			PK: fmt.Sprint(i % 3), SK: i, Flag: "flag", Text: strings.Repeat("text ", 500),
		}))
	}
	return db
}

// processors sets GOMAXPROCS for a test.
func processors(t *testing.T, n int) {
	was := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// hold takes the only slot for heavy work of a process with two processors.
func hold(t *testing.T) *throttle.Work {
	t.Helper()
	processors(t, 2)
	throttle.Serving()
	w := new(throttle.Work)
	require.NoError(t, w.Add(t.Context(), throttle.Stretch))
	return w
}

// request sends a request to a server in this process. It returns the body of the answer.
func request(c *http.Client, operation, body string) (string, error) {
	r, err := http.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("Accept-Encoding", "gzip")
	res, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", operation, res.StatusCode, text)
	}
	return string(text), err
}

// TestHeavyBesideAll tests that everything that reads or writes much makes progress beside other work, and ends with
// Close.
func TestHeavyBesideAll(t *testing.T) {
	for _, procs := range []int{2, 1, 4}[:min(3, proptest.Cases(20))] {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			processors(t, procs)
			db := heavyDB(t)
			table := sortkey.Table[heavyItem](db, "Heavy")
			client := server.New(db, server.Options{}).Client()
			_, err := request(client, "UpdateContinuousBackups",
				`{"TableName":"Heavy","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
			require.NoError(t, err)

			scan := func(ctx context.Context) error {
				n := 0
				for _, err := range table.Scan(ctx) {
					if err != nil {
						return err
					}
					n++
				}
				if n != heavyItems {
					return fmt.Errorf("a scan has %d items, want %d", n, heavyItems)
				}
				return nil
			}
			ask := func(operation, body string) func(context.Context) error {
				return func(context.Context) error {
					_, err := request(client, operation, body)
					return err
				}
			}
			var keys []string
			for i := range 100 {
				keys = append(keys, fmt.Sprintf(`{"PK":{"S":"%d"},"SK":{"N":"%d"}}`, i%3, i))
			}
			work := map[string]func(context.Context) error{
				"scan": scan, "another scan": scan,
				"count": func(ctx context.Context) error {
					_, err := table.Count(ctx)
					return err
				},
				"transaction": func(ctx context.Context) error {
					return db.Update(ctx, func(ctx context.Context) error {
						if err := scan(ctx); err != nil {
							return err
						}
						return table.Put(ctx, heavyItem{PK: "0", SK: 0, Flag: "flag", Text: strings.Repeat("new ", 600)})
					})
				},
				"view": func(ctx context.Context) error { return db.View(ctx, scan) },
				"index": func(ctx context.Context) error {
					if err := db.AddIndex(ctx, "Heavy", sortkey.Global("ByFlag", "Flag / SK:N")); err != nil {
						return err
					}
					return db.DeleteIndex(ctx, "Heavy", "ByFlag")
				},
				"request": ask("Scan", `{"TableName":"Heavy"}`),
				"PartiQL": ask("ExecuteStatement", `{"Statement":"SELECT * FROM Heavy WHERE PK IN ['0','1','2']"}`),
				"batch":   ask("BatchGetItem", `{"RequestItems":{"Heavy":{"Keys":[`+strings.Join(keys, ",")+`]}}}`),
				"export": ask("ExportTableToPointInTime",
					`{"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Heavy","S3Bucket":"bucket"}`),
			}
			var closing atomic.Bool
			var wg sync.WaitGroup
			var rounds sync.WaitGroup
			for name, do := range work {
				wg.Add(1)
				rounds.Add(1)
				go func() {
					defer wg.Done()
					for i := 0; ; i++ {
						err := do(t.Context())
						if i == 2 || err != nil && i < 2 {
							rounds.Done()
						}
						if err != nil {
							if !closing.Load() {
								t.Errorf("%s: %v", name, err)
							}
							return
						}
						if name == "export" && i >= 2 {
							return
						}
					}
				}()
			}
			rounds.Wait() // every goroutine has finished several rounds
			closing.Store(true)
			require.NoError(t, db.Close())
			wg.Wait()
		})
	}
}

// TestHeavyWaits tests that a read that waits for a slot ends with its context, and that one that waits while the
// database is closed ends when it gets the slot.
func TestHeavyWaits(t *testing.T) {
	db := heavyDB(t)
	table := sortkey.Table[heavyItem](db, "Heavy")
	held := hold(t)
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	_, err := table.ScanPage(ctx)
	require.ErrorIs(t, err, cause)
	require.NoError(t, db.Update(t.Context(), func(ctx context.Context) error {
		_, err := table.ScanPage(ctx)
		return err
	}), "a transaction waits for no slot")

	few, err := table.ScanPage(t.Context(), sortkey.Limit(10))
	require.NoError(t, err, "a small page waits for no slot")
	require.Len(t, few.Items, 10)

	ended := make(chan error, 2)
	go func() {
		_, err := table.ScanPage(t.Context())
		ended <- err
	}()
	go func() {
		time.Sleep(20 * time.Millisecond)
		ended <- db.Close()
	}()
	time.Sleep(40 * time.Millisecond)
	held.Done()
	for range 2 {
		if err := <-ended; err != nil {
			require.ErrorIs(t, err, store.ErrClosed)
		}
	}
}

// Decoding a heavyText scans the table, and waits for another goroutine that scans it.
type heavyText struct{}

var heavyScan atomic.Pointer[func() error]

func (h *heavyText) UnmarshalText([]byte) error {
	scan := *heavyScan.Load()
	done := make(chan error)
	go func() { done <- scan() }()
	return errors.Join(scan(), <-done)
}

// TestHeavyMethods tests that methods of the user's types may wait for other reads while a page is decoded.
func TestHeavyMethods(t *testing.T) {
	processors(t, 2)
	db := heavyDB(t)
	plain := sortkey.Table[heavyItem](db, "Heavy")
	scan := func() error {
		_, err := plain.ScanPage(t.Context())
		return err
	}
	heavyScan.Store(&scan)
	type withMethod struct {
		PK, Flag string
		SK       int
		Text     heavyText
	}
	page, err := sortkey.Table[withMethod](db, "Heavy").QueryPage(t.Context(), "0", sortkey.Limit(40))
	require.NoError(t, err)
	require.Len(t, page.Items, 40)
}
