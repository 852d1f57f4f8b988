package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// A presumer is a Writer that can presume that a row does not exist.
type presumer interface{ Presume(addr []byte) }

// TestPresume presumes that rows do not exist: rows that do not, rows that do, and rows that another Update adds
// meanwhile. The outcome must be the same as if the rows were read.
func TestPresume(t *testing.T) {
	url := database(t)
	s, other := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	set(t, s, "there", "old")
	mine := errors.New("of the function")
	put := func(value string) func(store.Writer, []byte) error {
		return func(w store.Writer, k []byte) error { return w.Put(1, k, nil, []byte(value)) }
	}
	putAnother := func(w store.Writer, _ []byte) error { return w.Put(1, []byte("other"), nil, nil) }
	nothing := func(store.Writer, []byte) error { return nil }
	fail := func(store.Writer, []byte) error { return mine }
	for _, tt := range []struct {
		name, key string
		add       bool                                 // by another Update, meanwhile
		then      func(w store.Writer, k []byte) error // after Get
		want      string
		err       error
		calls     int
	}{
		{name: "absent", key: "a", calls: 1, want: "new", then: put("new")},
		{name: "absent, with an empty value", key: "b", calls: 1, then: put("")},
		{name: "absent, put and deleted", key: "c", calls: 1, want: "-", then: func(w store.Writer, k []byte) error {
			return errors.Join(w.Put(1, k, nil, []byte("new")), w.Delete(1, k, nil))
		}},
		{name: "absent, not written", key: "d", calls: 1, want: "-", then: putAnother},
		{name: "absent, nothing written", key: "e", calls: 1, want: "-", then: nothing},
		{name: "absent, an error", key: "f", calls: 1, want: "-", err: mine, then: fail},
		{name: "there", key: "there", calls: 2, want: "old"},
		{name: "added meanwhile", key: "g", add: true, calls: 3, want: "added", then: put("new")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			key := []byte(tt.key)
			err := s.Update(t.Context(), func(w store.Writer) error {
				w.(presumer).Presume(address.Append(nil, 1, key, nil))
				if _, _, err := w.Get(1, []byte("begin"), nil); err != nil { // takes the snapshot
					return err
				}
				if calls++; calls == 1 && tt.add {
					set(t, other, tt.key, "added")
				}
				_, ok, err := w.Get(1, key, nil)
				if err != nil || ok {
					return err
				}
				if tt.then == nil {
					return mine // discarded, because the row exists and the function is called again
				}
				return tt.then(w, key)
			})
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.want, value(t, s, tt.key))
			require.LessOrEqual(t, calls, tt.calls)
		})
	}
}

// ask sends an operation to a database and returns the status and the body of the answer.
func ask(t testing.TB, db *sortkey.DB, operation, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	res, err := server.New(db, server.Options{}).Client().Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

// opened returns the database of another server.
func opened(t testing.TB, url string, opts postgres.Options) *sortkey.DB {
	t.Helper()
	st, err := postgres.Open(t.Context(), url, opts)
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// TestServersDeleteWhileBuilding deletes tables through one server while another one builds
// their indexes, and creates some of them again.
func TestServersDeleteWhileBuilding(t *testing.T) {
	proptest.NeedLong(t)
	url := database(t)
	builder, other := opened(t, url, postgres.Options{}), opened(t, url, postgres.Options{})
	const create = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],` +
		`"KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]}`
	const index = `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],` +
		`"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"Idx","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`
	rng := rand.New(rand.NewPCG(uint64(proptest.Seed()), 3))
	tries, gone := rounds(100), 0
	for i := range tries {
		status, text := ask(t, other, "CreateTable", create)
		require.Equal(t, http.StatusOK, status, text)
		for batch := range 20 {
			var puts []string
			for j := range 25 {
				puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"p":{"S":"%d/%d"},"g":{"S":"%d"}}}}`, batch, j, j%7))
			}
			status, text := ask(t, builder, "BatchWriteItem", `{"RequestItems":{"Tab":[`+strings.Join(puts, ",")+`]}}`)
			require.Equal(t, http.StatusOK, status, text)
		}
		var running sync.WaitGroup
		running.Go(func() {
			switch status, text := ask(t, builder, "UpdateTable", index); {
			case status == http.StatusOK && strings.Contains(text, `"Idx"`):
			case status == http.StatusBadRequest && strings.Contains(text, "ResourceNotFoundException"):
				gone++
			default:
				t.Errorf("UpdateTable: %d %s", status, text)
			}
		})
		time.Sleep(time.Duration(rng.Int64N(int64(40 * time.Millisecond))))
		status, text = ask(t, other, "DeleteTable", `{"TableName":"Tab"}`)
		require.Equal(t, http.StatusOK, status, text)
		if i%2 == 0 {
			status, text = ask(t, other, "CreateTable", create)
			require.Equal(t, http.StatusOK, status, text)
		}
		running.Wait()
		if i%2 == 0 {
			status, text = ask(t, other, "DeleteTable", `{"TableName":"Tab"}`)
			require.Equal(t, http.StatusOK, status, text)
		}
	}
	t.Logf("%d tables deleted by another server, %d of them before their index was built", tries, gone)
}
