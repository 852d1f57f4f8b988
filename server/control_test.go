package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A controller controls a server over HTTP as tests in other languages do.
type controller struct {
	*testing.T
	url, control string
}

func startControl(t *testing.T) *controller { return startControlOf(t, server.Options{Isolate: 5}) }

func startControlOf(t *testing.T, o server.Options, optFns ...func(*sortkey.Options)) *controller {
	t.Helper()
	db := sortkeytest.New(t, optFns...)
	db.Table("Orders", "PK")
	db.Put("Orders", map[string]any{"PK": "loaded"})
	s := server.New(db.DB, o)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	control := httptest.NewServer(s.Control())
	t.Cleanup(control.Close)
	return &controller{t, "http://" + ln.Addr().String(), control.URL}
}

func (c *controller) client(key string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &c.url, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: key, SecretAccessKey: "x"}, nil
		}),
	})
}

func (c *controller) put(key, id string) error {
	_, err := c.client(key).PutItem(c.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("Orders"),
		Item:      map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: id}},
	})
	return err
}

func (c *controller) count(key string) int {
	c.Helper()
	out, err := c.client(key).Scan(c.Context(), &dynamodb.ScanInput{TableName: aws.String("Orders")})
	require.NoError(c, err)
	return int(out.Count)
}

// do sends a control request, and returns the status and the answer.
func (c *controller) do(method, path, body string) (status int, answer string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.control+path, strings.NewReader(body))
	require.NoError(c, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(c, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(c, err)
	require.True(c, json.Valid(data), "%s", data)
	return resp.StatusCode, strings.TrimSpace(string(data))
}

func (c *controller) ok(method, path, body string) string {
	c.Helper()
	status, answer := c.do(method, path, body)
	require.Equal(c, http.StatusOK, status, answer)
	return answer
}

func TestControlCopies(t *testing.T) {
	t.Parallel()
	c := startControl(t)
	require.NoError(t, c.put("a", "one"))
	require.Equal(t, 2, c.count("a"))
	require.Equal(t, 1, c.count("b"))
	c.ok("PUT", "/databases/saved?from=a", "")
	require.NoError(t, c.put("a", "two"))
	require.Equal(t, 3, c.count("a"))
	c.ok("PUT", "/databases/a?from=saved", "") // restored
	require.Equal(t, 2, c.count("a"))
	c.ok("DELETE", "/databases/a", "")
	require.Equal(t, 1, c.count("a"), "as loaded")
	require.Equal(t, 2, c.count("saved"))
}

// TestControlClock tests that expired items are deleted when the answer of the clock arrives.
func TestControlClock(t *testing.T) {
	t.Parallel()
	c := startControl(t)
	a := c.client("a")
	_, err := a.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String("Orders"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ends"), Enabled: aws.Bool(true)},
	})
	require.NoError(t, err)
	_, err = a.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Orders"), Item: map[string]types.AttributeValue{
		"PK":   &types.AttributeValueMemberS{Value: "session"},
		"ends": &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(time.Hour).Unix())},
	}})
	require.NoError(t, err)
	c.ok("POST", "/databases/a/clock", `{"advance": "30m"}`)
	require.Equal(t, 2, c.count("a"))
	c.ok("POST", "/databases/a/clock", `{"advance": "2h"}`)
	require.Equal(t, 1, c.count("a"))
	for _, bad := range []string{
		`{"advance": "-1h"}`, `{"advance": "9999999h"}`, `{"advance": 7}`, `{}`, `{"set": 1}`, `[`,
	} {
		status, answer := c.do("POST", "/databases/a/clock", bad)
		require.Equal(t, http.StatusBadRequest, status, bad)
		require.Contains(t, answer, `{"error":`)
	}
}

func TestControlFaults(t *testing.T) {
	t.Parallel()
	c := startControl(t)
	require.JSONEq(t, `{"id": 1}`, c.ok("POST", "/databases/a/faults",
		`{"Operation": "PutItem", "Code": "ProvisionedThroughputExceededException", "Times": 1}`))
	require.ErrorContains(t, c.put("a", "x"), "ProvisionedThroughputExceededException")
	require.NoError(t, c.put("a", "x"))
	require.NoError(t, c.put("b", "x"), "a fault of one key")
	require.Contains(t, c.ok("GET", "/databases/a/faults", ""), `"count":1`)
	c.ok("POST", "/databases/a/faults", `{"Operation": "PutItem", "Code": "InternalServerError"}`)
	require.Error(t, c.put("a", "x"))
	c.ok("DELETE", "/databases/a/faults/2", "")
	require.NoError(t, c.put("a", "x"))
	c.ok("POST", "/databases/a/faults", `{"Operation": "PutItem", "Delay": "1ms", "Code": "InternalServerError"}`)
	c.ok("DELETE", "/databases/a/faults", "")
	require.NoError(t, c.put("a", "x"))
	for _, bad := range []string{`{"Opration": "PutItem"}`, `{"Delay": "soon"}`, strings.Repeat(" ", 70<<10)} {
		status, _ := c.do("POST", "/databases/a/faults", bad)
		require.Equal(t, http.StatusBadRequest, status)
	}
	status, _ := c.do("DELETE", "/databases/a/faults/9", "")
	require.Equal(t, http.StatusBadRequest, status)
	for range 100 {
		c.ok("POST", "/databases/a/faults", `{"Operation": "GetItem", "Code": "InternalServerError"}`)
	}
	status, answer := c.do("POST", "/databases/a/faults", `{"Operation": "GetItem"}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer, "lift some")
}

// TestControlMistakes tests that Control refuses a fault that could never occur. Otherwise a test would run without
// the fault.
func TestControlMistakes(t *testing.T) {
	t.Parallel()
	c := startControl(t)
	for bad, want := range map[string]string{
		`{"Operation": "PutItems", "Code": "ThrottlingException"}`:                 "did you mean PutItem?",
		`{"Operation": "PutItem", "Code": "ThrottlingExeption"}`:                   "did you mean ThrottlingException?",
		`{"Operation": "PutItem"}`:                                                 "has no effect",
		`{"Operation": "PutItem", "Code": "ThrottlingException", "Nth": [0]}`:      "from 1",
		`{"Operation": "TransactWriteItems", "Reasons": ["TransactionConflicts"]}`: "did you mean TransactionConflict?",
		`{"Operation": "PutItem", "Code": "ThrottlingException"} {}`:               "after top-level value",
		`{"Operation": "PutItem", "Cod": "ThrottlingException"}`:                   `unknown member \"Cod\"`,
		`{"Operation": 5}`:                     `"the member Operation is 5, not a string"`,
		`{"Operation": "PutItem", "Nth": "x"}`: `"the member Nth is \"x\", not a list, each element a whole number"`,
	} {
		status, answer := c.do("POST", "/databases/a/faults", bad)
		require.Equal(t, http.StatusBadRequest, status, bad)
		require.Contains(t, answer, want)
	}
	require.NoError(t, c.put("a", "x"))
}

// TestControlCopiedTime tests that a copy begins at the time of its origin, that its clock is then its own, and that
// its folders are those of its own key, however often it is copied.
func TestControlCopiedTime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	clocks, roots := map[string]func() time.Time{}, map[string]string{}
	c := startControlOf(t, server.Options{Isolate: 5, IsolateOptions: func(key string, o *sortkey.Options) {
		mu.Lock()
		defer mu.Unlock()
		clocks[key], roots[key] = o.Clock, o.S3Root
	}}, func(o *sortkey.Options) { o.S3Root = "root" })
	ahead := func(key string) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Until(clocks[key]()).Round(time.Hour)
	}
	c.ok("POST", "/databases/a/clock", `{"advance": "2h"}`)
	c.ok("PUT", "/databases/b?from=a", "")
	require.Equal(t, 2*time.Hour, ahead("b"))
	c.ok("POST", "/databases/a/clock", `{"advance": "10h"}`)
	require.Equal(t, 12*time.Hour, ahead("a"))
	require.Equal(t, 2*time.Hour, ahead("b"), "its own clock")
	c.ok("PUT", "/databases/a?from=b", "") // restored
	require.Equal(t, 2*time.Hour, ahead("a"))
	c.ok("PUT", "/databases/b?from=a", "")
	require.Equal(t, map[string]string{"a": filepath.Join("root", "a"), "b": filepath.Join("root", "b")}, roots)
}

// TestControlSlowBody tests that a control request whose body does not arrive does not block the database.
func TestControlSlowBody(t *testing.T) {
	t.Parallel()
	c := startControl(t)
	c.ok("GET", "/databases/a/requests", "")
	body, stop := io.Pipe()
	defer stop.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", c.control+"/databases/a/clock", body)
	require.NoError(t, err)
	go func() {
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	_, err = stop.Write([]byte(`{"advance"`)) // the server has the request by now
	require.NoError(t, err)
	time.Sleep(50 * time.Millisecond)
	require.NoError(t, c.put("a", "x"))
}

func TestControlRequests(t *testing.T) {
	t.Parallel()
	c := startControl(t)
	c.ok("DELETE", "/databases/a/requests", "")
	require.Equal(t, 1, c.count("a"))
	require.NoError(t, c.put("a", "x"))
	require.NoError(t, c.put("b", "x"))
	var got struct {
		Requests []struct {
			Operation string
			Examined  int
			Units     float64
			Slices    []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(c.ok("GET", "/databases/a/requests", "")), &got))
	require.Len(t, got.Requests, 2)
	require.Equal(t, "Scan", got.Requests[0].Operation)
	require.Equal(t, 1, got.Requests[0].Examined)
	require.NotEmpty(t, got.Requests[0].Slices)
	require.Equal(t, "PutItem", got.Requests[1].Operation)
	c.ok("DELETE", "/databases/a/requests", "")
	require.Contains(t, c.ok("GET", "/databases/a/requests", ""), `"requests":[]`)
}

// TestControlAtOnce replaces a database while requests use it. The old or the new database must answer each request.
func TestControlAtOnce(t *testing.T) {
	t.Parallel()
	c := startControl(t)
	require.NoError(t, c.put("b", "x"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 40 {
				if err := c.put("a", fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 30 {
		c.ok("PUT", "/databases/a?from=b", "")
		c.ok("DELETE", "/databases/a", "")
	}
	wg.Wait()
}

func TestControlWithout(t *testing.T) {
	t.Parallel()
	db := sortkeytest.New(t)
	control := httptest.NewServer(server.New(db.DB, server.Options{}).Control())
	defer control.Close()
	c := &controller{T: t, control: control.URL}
	status, answer := c.do("DELETE", "/databases/a", "")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, answer, "--isolate")
	status, _ = c.do("GET", "/nothing", "")
	require.Equal(t, http.StatusNotFound, status)
	status, answer = c.do("PUT", "/databases/a", "")
	require.Equal(t, http.StatusConflict, status, answer)
}

// TestControlUnknown tests that Control refuses to copy a database that does not exist, and changes nothing.
func TestControlUnknown(t *testing.T) {
	c := startControl(t)
	require.NoError(t, c.put("a", "own"))
	status, answer := c.do("PUT", "/databases/a?from=typo", "")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer, `\"typo\" has no database`)
	require.Equal(t, 2, c.count("a"), "the database of a is still there")
	status, _ = c.do("PUT", "/databases/a?from=typo", "")
	require.Equal(t, http.StatusBadRequest, status, "asking has made no database")
}

// TestWaitingCalls makes more calls wait than the server handles at a time. Meanwhile the server must answer others,
// and stop without waiting for ShutdownTimeout.
func TestWaitingCalls(t *testing.T) {
	const most = 2
	ended := make(chan error, 2*most)
	t.Run("serve", func(sub *testing.T) {
		c := startControlOf(sub, server.Options{Isolate: 5, MaxRequests: most, ShutdownTimeout: time.Hour})
		for key, fault := range map[string]string{
			"hangs":   `{"Operation": "ListTables", "Hang": true}`,
			"delayed": `{"Operation": "ListTables", "Delay": "1h"}`,
		} {
			c.ok("POST", "/databases/"+key+"/faults", fault)
			for range most {
				go func() {
					_, err := c.client(key).ListTables(t.Context(), &dynamodb.ListTablesInput{})
					ended <- err
				}()
			}

			wait := fmt.Sprintf(`"count":%d`, most)
			for !strings.Contains(c.ok("GET", "/databases/"+key+"/faults", ""), wait) {
				time.Sleep(time.Millisecond)
			}
			ctx, cancel := context.WithTimeout(sub.Context(), 10*time.Second)
			defer cancel()
			_, err := c.client("other").ListTables(ctx, &dynamodb.ListTablesInput{})
			require.NoError(sub, err, "another key, while calls of %q wait", key)
		}
		c.ok("POST", "/databases/brief/faults", `{"Operation": "PutItem", "Delay": "1ms"}`)
		require.NoError(sub, c.put("brief", "1"), "it goes on after its delay")
	})
	for range cap(ended) {
		require.ErrorContains(t, <-ended, "ServiceUnavailable: The server is stopping.")
	}
}
