package fuzz_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/tests/cmdtest"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
	"github.com/sortkey/sortkey/store/postgres"
)

// A reply is the answer to a request.
type reply struct {
	status int
	body   []byte
}

// An engine is a database that the oracle sends JSON requests to.
type engine struct {
	name string
	send func(op string, body []byte) (r reply, answered bool)
	// sweep deletes expired items. It is nil if the test cannot control when the database does so.
	sweep func() error
	// kill returns immediately and kills the database after a delay. Restart waits for the kill and starts the
	// database again. Both are nil if the database cannot be killed.
	kill    func(after time.Duration)
	restart func()
	close   func()
	// counts says that the database always knows how many items its tables have.
	counts bool
}

// answer sends a message.
func (e *engine) answer(m message) (r reply, answered bool) {
	if m.op != sweepNow {
		return e.send(m.op, m.body)
	}
	if err := e.sweep(); err != nil {
		return reply{}, false
	}
	return reply{200, []byte("{}")}, true
}

// target returns the value of the header X-Amz-Target for an operation.
func target(op string) string {
	if slices.Contains([]string{"DescribeStream", "GetShardIterator", "GetRecords"}, op) {
		return "DynamoDBStreams_20120810." + op
	}
	return "DynamoDB_20120810." + op
}

// memoryEngine returns a database in memory behind the HTTP handler, in this process. Its clock always shows the time
// of the generators.
func memoryEngine(t testing.TB) *engine {
	now := time.Unix(newGenerator(0, newService(true)).now, 0)
	clock := func() time.Time { return now }
	st := &countingStore{Getter: memory.Open().(capability.Getter)}
	db, err := sortkey.Open(sortkey.Options{Store: st, Rand: rand.NewChaCha8([32]byte{}), Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	send := inProcess(db)
	return &engine{
		name: "memory",
		send: func(op string, body []byte) (reply, bool) {
			st.rows = 0
			r, _ := send(op, body)
			page, _ := decode(r.body)
			if scanned := page["ScannedCount"]; scanned != nil && scanned != float64(st.rows) {
				return reply{500, marshal(map[string]any{"__type": fmt.Sprintf("#reading %d rows", st.rows)})}, true
			}
			return r, true
		},
		sweep: func() error {
			_, err := db.Sweep(t.Context())
			return err
		},
		close:  func() { _ = db.Close() },
		counts: true,
	}
}

// inProcess returns a function that sends requests to a database behind the HTTP handler, in this process.
func inProcess(db *sortkey.DB) func(op string, body []byte) (r reply, answered bool) {
	handler := server.New(db, server.Options{})
	return func(op string, body []byte) (reply, bool) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", target(op))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return reply{w.Code, w.Body.Bytes()}, true
	}
}

// A countingStore counts the rows that Views read. A Query or Scan must not read more rows than it reports as
// scanned.
type countingStore struct {
	capability.Getter
	rows int
}

func (s *countingStore) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Getter.View(ctx, func(r store.Reader) error { return fn(&countingReader{r, s}) })
}

type countingReader struct {
	store.Reader
	store *countingStore
}

func (r *countingReader) count(rows iter.Seq2[store.Row, error]) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for row, err := range rows {
			r.store.rows++
			if !yield(row, err) {
				return
			}
		}
	}
}

func (r *countingReader) Query(
	space store.Space, partition []byte, in store.Range, reverse bool,
) iter.Seq2[store.Row, error] {
	return r.count(r.Reader.Query(space, partition, in, reverse))
}

func (r *countingReader) Scan(space store.Space, in store.Span) iter.Seq2[store.Row, error] {
	return r.count(r.Reader.Scan(space, in))
}

// serverEngine returns an engine for the server at a URL. It signs requests, but no server checks the signature.
func serverEngine(t testing.TB, name, url string) *engine {
	transport := &http.Transport{}
	client := &http.Client{Transport: transport, Timeout: cmdtest.Timeout}
	return &engine{
		name: name,
		send: func(op string, body []byte) (reply, bool) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", target(op))
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/dynamodb/aws4_request, "+
				"SignedHeaders=host;x-amz-date, Signature=0")
			r.Header.Set("X-Amz-Date", "20260101T000000Z")
			resp, err := client.Do(r)
			if err != nil {
				return reply{}, false
			}
			defer resp.Body.Close()
			out, err := io.ReadAll(resp.Body)
			return reply{resp.StatusCode, out}, err == nil
		},
		close: transport.CloseIdleConnections,
	}
}

// processEngine runs the command as a server that can be killed.
func processEngine(t testing.TB, name string, args ...string) *engine {
	program := cmdtest.Build(t)
	args = append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)
	var process *cmdtest.Process
	var to *engine
	dead := make(chan struct{})
	start := func() {
		process = cmdtest.Serve(t, exec.Command(program, args...))
		to = serverEngine(t, name, process.URL)
	}
	start()
	return &engine{
		name: name,
		send: func(op string, body []byte) (reply, bool) { return to.send(op, body) },
		kill: func(after time.Duration) {
			dead = make(chan struct{})
			go func() {
				defer close(dead)
				time.Sleep(after)
				_ = process.Cmd.Process.Kill()
			}()
		},
		restart: func() {
			<-dead
			_ = process.Wait(t)
			to.close()
			if log := process.Stderr.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "panic") {
				t.Fatalf("the server reported: %s", log)
			}
			start()
		},
		close: func() {
			to.close()
			_ = process.Cmd.Process.Kill()
			_ = process.Wait(t)
		},
	}
}

func diskEngine(t testing.TB) *engine {
	e := processEngine(t, "disk", "--data", filepath.Join(t.TempDir(), "db"))
	e.counts = true
	return e
}

// postgresEngine starts a server on a new PostgreSQL. It skips the test if PostgreSQL is not
// installed. The server recounts items some time after a kill.
func postgresEngine(t testing.TB) *engine {
	url := pgtest.New(t).Database(t)
	if err := postgres.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	return processEngine(t, "postgres", "--store", url)
}

// must sends a request of the test itself and decodes the answer. It returns what went wrong, or "".
func (e *engine) must(op string, in map[string]any, out any) string {
	r, answered := e.send(op, marshal(in))
	if !answered || r.status != 200 {
		return fmt.Sprintf("%s %s answers %d %s", op, marshal(in), r.status, r.body)
	}
	if err := json.Unmarshal(r.body, out); err != nil {
		return fmt.Sprintf("%s answers %s: %v", op, r.body, err)
	}
	return ""
}

// item reads an item of the database, to see whether a request without an answer has changed it.
func (e *engine) item(table string, key item) item {
	var out struct{ Item item }
	in := map[string]any{"TableName": table, "Key": key.wire(), "ConsistentRead": true}
	if e.must("GetItem", in, &out) != "" {
		return nil
	}
	return out.Item
}

// audit compares the whole database with the model. It returns the first difference, or "".
func (e *engine) audit(s *service) string {
	e.settle()
	own := []message{message{op: "ListTables", step: func(s *service) prediction {
		return prediction{body: map[string]any{"TableNames": sortedNames(s.tables)}, some: true}
	}}.with(map[string]any{})}
	for _, name := range sortedNames(s.tables) {
		in := map[string]any{"TableName": name}
		own = append(own,
			message{op: "DescribeTable", step: func(s *service) prediction { return s.describe(name) }}.with(in),
			message{op: "DescribeTimeToLive", step: func(s *service) prediction { return s.ttlStatus(name) }}.with(in))
	}
	for _, m := range own {
		got, answered := e.answer(m)
		if !answered {
			return m.op + " has no answer"
		}
		if bad := m.step(s).compare(m, got); bad != nil {
			return fmt.Sprintf("%s %s: %s", m.op, m.body, bad.difference)
		}
	}
	for _, name := range sortedNames(s.tables) {
		for _, v := range s.tables[name].views() {
			if difference := e.auditView(v); difference != "" {
				return fmt.Sprintf("a Scan of %s %s: %s", name, v.name(), difference)
			}
		}
		if difference := e.auditStream(s.tables[name]); difference != "" {
			return fmt.Sprintf("the stream of %s: %s", name, difference)
		}
	}
	return ""
}

// auditView scans a table or index in several segments, and compares all items with the model's.
func (e *engine) auditView(v view) string {
	var want, got []string
	for _, it := range v.entries() {
		want = append(want, it.canon())
	}
	segments := 1 + len(want)%4
	for segment := range segments {
		in := map[string]any{"TableName": v.m.name, "Segment": segment, "TotalSegments": segments}
		if v.ix != nil {
			in["IndexName"] = v.ix.name
		}
		if !v.global() {
			in["ConsistentRead"] = true
		}
		for {
			var page struct {
				Items            []item
				LastEvaluatedKey json.RawMessage
			}
			if fault := e.must("Scan", in, &page); fault != "" {
				return fault
			}
			for _, it := range page.Items {
				got = append(got, it.canon())
			}
			if page.LastEvaluatedKey == nil {
				break
			}
			in["ExclusiveStartKey"] = page.LastEvaluatedKey
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got) || i < len(want) && want[i] < got[i]:
			return "it lacks " + abridge([]byte(want[i]))
		case i >= len(want) || got[i] < want[i]:
			return "it also has " + abridge([]byte(got[i]))
		}
	}
	return ""
}

// auditStream replays the stream of a table, if it has one, into an empty table. The old image of each record must
// equal the item in that table at that time, and the final items must equal the model's.
func (e *engine) auditStream(m *model) string {
	var described struct {
		Table struct{ LatestStreamArn string }
	}
	if fault := e.must("DescribeTable", map[string]any{"TableName": m.name}, &described); fault != "" {
		return fault
	}
	arn := described.Table.LatestStreamArn
	if arn == "" {
		return ""
	}
	var stream struct {
		StreamDescription struct{ Shards []struct{ ShardId string } }
	}
	if fault := e.must("DescribeStream", map[string]any{"StreamArn": arn}, &stream); fault != "" {
		return fault
	}
	items := map[string]item{}
	for _, shard := range stream.StreamDescription.Shards {
		if difference := e.replayShard(m, items, arn, shard.ShardId); difference != "" {
			return difference
		}
	}
	for _, id := range sortedNames(items) {
		if got, want := items[id].canon(), m.items[id].canon(); got != want {
			return fmt.Sprintf("it leads to %s; want %s", abridge([]byte(got)), abridge([]byte(want)))
		}
	}
	if len(items) != len(m.items) {
		return fmt.Sprintf("it leads to %d items; want %d", len(items), len(m.items))
	}
	return ""
}

// replayShard applies the changes of a shard to items, which are by model.id.
func (e *engine) replayShard(m *model, items map[string]item, arn, shard string) string {
	var at struct{ ShardIterator string }
	in := map[string]any{"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
	if fault := e.must("GetShardIterator", in, &at); fault != "" {
		return fault
	}
	for at.ShardIterator != "" {
		var page struct {
			NextShardIterator string
			Records           []struct {
				EventName string
				Dynamodb  struct{ Keys, OldImage, NewImage item }
			}
		}
		if fault := e.must("GetRecords", map[string]any{"ShardIterator": at.ShardIterator}, &page); fault != "" {
			return fault
		}
		if len(page.Records) == 0 {
			break
		}
		for _, r := range page.Records {
			c, event := r.Dynamodb, "MODIFY"
			id := m.id(c.Keys)
			was := items[id]
			switch {
			case c.NewImage == nil:
				event = "REMOVE"
				delete(items, id)
			case c.OldImage == nil:
				event = "INSERT"
				fallthrough
			default:
				items[id] = c.NewImage
			}
			if was.canon() != c.OldImage.canon() || was.canon() == c.NewImage.canon() || event != r.EventName {
				return fmt.Sprintf("%s of %s from %s, which is %s", r.EventName, c.Keys.canon(),
					abridge([]byte(c.OldImage.canon())), abridge([]byte(was.canon())))
			}
		}
		at.ShardIterator = page.NextShardIterator
	}
	return ""
}

// settle waits until no table and no index is being created, changed or deleted.
func (e *engine) settle() {
	for end := time.Now().Add(cmdtest.Timeout); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var list struct{ TableNames []string }
		busy := e.must("ListTables", map[string]any{}, &list) != ""
		for _, name := range list.TableNames {
			r, _ := e.send("DescribeTable", marshal(map[string]any{"TableName": name}))
			for _, state := range []string{`"CREATING"`, `"UPDATING"`, `"DELETING"`} {
				busy = busy || bytes.Contains(r.body, []byte(state))
			}
		}
		if !busy {
			return
		}
	}
}
