package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/postgres"
)

// tick returns a clock that advances by a millisecond at each call.
func tick() func() time.Time {
	var mu sync.Mutex
	now := time.Unix(0, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Millisecond)
		return now
	}
}

func open(t testing.TB, opts sortkey.Options) *sortkey.DB {
	t.Helper()
	db, err := sortkey.Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func request(ctx context.Context, op, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	if op != "" {
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+op)
	}
	return r
}

func post(h http.Handler, op, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(context.Background(), op, body))
	return w
}

func createBody(name string) string {
	return `{"TableName":"` + name + `","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],` +
		`"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}]}`
}

func TestMetrics(t *testing.T) {
	m := metrics.New(metrics.Options{TableLabels: 1})
	db := open(t, sortkey.Options{Observer: m, Clock: tick()})
	m.Watch(db)
	h := server.New(db, server.Options{})
	for _, name := range []string{"Cats", "Dogs", "Emus"} {
		require.Equal(t, 200, post(h, "CreateTable", createBody(name)).Code)
	}
	for _, pk := range []string{"a", "b"} {
		for _, name := range []string{"Cats", "Dogs", "Emus"} {
			require.Equal(t, 200, post(h, "PutItem", `{"TableName":"`+name+`","Item":{"PK":{"S":"`+pk+`"}}}`).Code)
		}
	}
	require.Equal(t, 200, post(h, "Scan", `{"TableName":"Cats","FilterExpression":"PK = :a","ExpressionAttributeValues":{":a":{"S":"a"}}}`).Code)
	require.Equal(t, 400, post(h, "PutItem", `{"TableName":"None","Item":{"PK":{"S":"x"}}}`).Code)
	for i := range 20 {
		post(h, fmt.Sprintf("Invented%d", i), "{}")
	}
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/nothing", nil))

	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP sortkey_requests_total Requests answered, by operation and error code; OK means success.
# TYPE sortkey_requests_total counter
sortkey_requests_total{code="(other)",operation="(other)"} 1
sortkey_requests_total{code="OK",operation="(other)"} 0
sortkey_requests_total{code="OK",operation="CreateTable"} 3
sortkey_requests_total{code="OK",operation="PutItem"} 6
sortkey_requests_total{code="OK",operation="Scan"} 1
sortkey_requests_total{code="ResourceNotFoundException",operation="PutItem"} 1
sortkey_requests_total{code="UnknownOperationException",operation="(other)"} 20
# HELP sortkey_rows_examined_total Rows that queries and scans read.
# TYPE sortkey_rows_examined_total counter
sortkey_rows_examined_total{operation="Scan"} 2
# HELP sortkey_rows_returned_total Rows that queries and scans returned; filters dropped the others examined.
# TYPE sortkey_rows_returned_total counter
sortkey_rows_returned_total{operation="Scan"} 1
# HELP sortkey_read_units_total Read capacity units consumed, by operation, table and index; the index is empty for the table itself.
# TYPE sortkey_read_units_total counter
sortkey_read_units_total{index="",operation="Scan",table="Cats"} 0.5
# HELP sortkey_write_units_total Write capacity units consumed, by operation, table and index; the index is empty for the table itself.
# TYPE sortkey_write_units_total counter
sortkey_write_units_total{index="",operation="PutItem",table="Cats"} 2
sortkey_write_units_total{index="(other)",operation="PutItem",table="(other)"} 4
# HELP sortkey_requests_in_flight Requests being answered.
# TYPE sortkey_requests_in_flight gauge
sortkey_requests_in_flight 0
# HELP sortkey_tables Tables of the database.
# TYPE sortkey_tables gauge
sortkey_tables 3
# HELP sortkey_table_items Items of a table.
# TYPE sortkey_table_items gauge
sortkey_table_items{table="(other)"} 4
sortkey_table_items{table="Cats"} 2
# HELP sortkey_table_bytes Size of the items of a table, as in DescribeTable.
# TYPE sortkey_table_bytes gauge
sortkey_table_bytes{table="(other)"} 412
sortkey_table_bytes{table="Cats"} 206
`), "sortkey_requests_total", "sortkey_rows_examined_total", "sortkey_rows_returned_total", "sortkey_read_units_total", "sortkey_write_units_total",
		"sortkey_requests_in_flight", "sortkey_tables", "sortkey_table_items", "sortkey_table_bytes"))

	reg := prometheus.NewRegistry()
	require.NoError(t, reg.Register(m))
	problems, err := testutil.GatherAndLint(reg)
	require.NoError(t, err)
	require.Empty(t, problems)

	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, 200, w.Code)
	for _, want := range []string{
		`sortkey_request_duration_seconds_bucket{operation="Scan",le="0.001"} 1`, "\ngo_goroutines ", "\nprocess_start_time_seconds ",
		`sortkey_request_bytes_total{operation="Scan"} 94`, `sortkey_response_bytes_total{operation="CreateTable"} `,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("a scrape has no %s", want)
		}
	}
}

// TestStoreOnDisk tests the metrics of a store on disk.
func TestStoreOnDisk(t *testing.T) {
	st, err := disk.Open(t.TempDir(), disk.Options{})
	require.NoError(t, err)
	m := metrics.New(metrics.Options{Store: st})
	db := open(t, sortkey.Options{Store: st, Observer: m})
	m.Watch(db)
	post(server.New(db, server.Options{}), "CreateTable", createBody("Cats"))
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Regexp(t, `\nsortkey_store_disk_bytes [1-9]`, w.Body.String())

	// After the database is closed, a scrape still has the other metrics.
	require.NoError(t, db.Close())
	w = httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Contains(t, w.Body.String(), `sortkey_requests_total{code="OK",operation="CreateTable"} 1`)
}

// TestStoreInPostgreSQL tests the metrics of a store in PostgreSQL.
func TestStoreInPostgreSQL(t *testing.T) {
	proptest.NeedLong(t) // it creates a cluster
	if pgtest.Bin() == "" {
		t.Skip(pgtest.Missing)
	}
	url := pgtest.New(t).Database(t)
	require.NoError(t, postgres.Init(t.Context(), url))
	st, err := postgres.Open(t.Context(), url, postgres.Options{})
	require.NoError(t, err)
	m := metrics.New(metrics.Options{Store: st})
	db := open(t, sortkey.Options{Store: st, Observer: m})
	post(server.New(db, server.Options{}), "CreateTable", createBody("Cats"))
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Regexp(t, `\nsortkey_store_connections [1-9]`, w.Body.String())
	require.Regexp(t, `\nsortkey_store_conflicts_total 0`, w.Body.String())
}

func TestOperations(t *testing.T) {
	for name, want := range map[string]string{
		"Query": "Query", "GetRecords": "GetRecords", "SearchVectors": "SearchVectors", "": "(other)", "Nothing": "(other)", "query": "(other)",
	} {
		require.Equal(t, want, metrics.Operation(name))
	}
}

// TestCodes counts more error codes than there are labels.
func TestCodes(t *testing.T) {
	m := metrics.New(metrics.Options{})
	for n := range 1000 {
		e := &sortkey.Event{Operation: "Query", Error: fmt.Sprint("Code", n), Status: 400}
		m.Begin(t.Context(), e)
		m.End(t.Context(), e)
	}
	reg := prometheus.NewRegistry()
	require.NoError(t, reg.Register(m))
	series, err := testutil.GatherAndCount(reg, "sortkey_requests_total")
	require.NoError(t, err)
	require.Equal(t, 102, series, "a hundred codes, OK and (other)")
}

// TestUnits counts the capacity that operations consume on a table and its index.
func TestUnits(t *testing.T) {
	m := metrics.New(metrics.Options{})
	h := server.New(open(t, sortkey.Options{Observer: m}), server.Options{})
	require.Equal(t, 200, post(h, "CreateTable", `{"TableName":"Cats","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"name","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"ByName","KeySchema":[{"AttributeName":"name","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`).Code)
	put := `{"TableName":"Cats","Item":{"PK":{"S":"a"},"name":{"S":"Tom"},"x":{"S":"` + strings.Repeat("x", 2000) + `"}}`
	require.Equal(t, 200, post(h, "PutItem", put+"}").Code)
	require.Equal(t, 400, post(h, "PutItem", put+`,"ConditionExpression":"attribute_not_exists(PK)"}`).Code)
	require.Equal(t, 400, post(h, "PutItem", `{"TableName":"None","Item":{"PK":{"S":"a"}}}`).Code)
	for range 3 {
		require.Equal(t, 200, post(h, "GetItem", `{"TableName":"Cats","Key":{"PK":{"S":"a"}}}`).Code)
	}
	require.Equal(t, 200, post(h, "BatchGetItem", `{"RequestItems":{"Cats":{"Keys":[{"PK":{"S":"a"}},{"PK":{"S":"b"}}]}}}`).Code)
	require.Equal(t, 200, post(h, "Query", `{"TableName":"Cats","IndexName":"ByName","KeyConditionExpression":"#n = :n",
		"ExpressionAttributeNames":{"#n":"name"},"ExpressionAttributeValues":{":n":{"S":"Tom"}}}`).Code)
	require.Equal(t, 200, post(h, "TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"Cats","Key":{"PK":{"S":"a"}}}}]}`).Code)
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP sortkey_read_units_total Read capacity units consumed, by operation, table and index; the index is empty for the table itself.
# TYPE sortkey_read_units_total counter
sortkey_read_units_total{index="",operation="BatchGetItem",table="Cats"} 1
sortkey_read_units_total{index="",operation="GetItem",table="Cats"} 1.5
sortkey_read_units_total{index="ByName",operation="Query",table="Cats"} 0.5
# HELP sortkey_write_units_total Write capacity units consumed, by operation, table and index; the index is empty for the table itself.
# TYPE sortkey_write_units_total counter
sortkey_write_units_total{index="",operation="PutItem",table="Cats"} 4
sortkey_write_units_total{index="",operation="TransactWriteItems",table="Cats"} 4
sortkey_write_units_total{index="ByName",operation="PutItem",table="Cats"} 1
sortkey_write_units_total{index="ByName",operation="TransactWriteItems",table="Cats"} 1
`), "sortkey_read_units_total", "sortkey_write_units_total"))
}
