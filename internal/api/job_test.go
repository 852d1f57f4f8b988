package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

func init() { api.LinkJobs() }

// A hookedStore calls a function before each update, which may refuse or delay the update. It records the most bytes
// that one update has put.
type hookedStore struct {
	store.Store
	before atomic.Pointer[func() error]
	mu     sync.Mutex
	most   int
}

func hooked(t *testing.T) *hookedStore {
	st := &hookedStore{Store: memory.Open()}
	t.Cleanup(func() { st.Close() })
	return st
}

// set replaces the function; nil removes it.
func (s *hookedStore) set(before func() error) {
	if before == nil {
		before = func() error { return nil }
	}
	s.before.Store(&before)
}

var errCut = errors.New("the process ends here")

// cut refuses all updates after the next n.
func (s *hookedStore) cut(n int) {
	var count atomic.Int64
	s.set(func() error {
		if int(count.Add(1)) > n {
			return errCut
		}
		return nil
	})
}

// holdAt makes the nth update from now on block until the caller closes free, and then return err. It closes waits
// when that update blocks.
func (s *hookedStore) holdAt(n int, err error) (waits, free chan struct{}) {
	waits, free = make(chan struct{}), make(chan struct{})
	var count atomic.Int64
	s.set(func() error {
		if int(count.Add(1)) != n {
			return nil
		}
		close(waits)
		<-free
		return err
	})
	return waits, free
}

func (s *hookedStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	if before := s.before.Load(); before != nil {
		if err := (*before)(); err != nil {
			return err
		}
	}
	n := 0
	err := s.Store.Update(ctx, func(w store.Writer) error {
		n = 0
		return fn(measuringWriter{w, &n})
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(s.most, n)
	return err
}

// largest returns the most bytes that one update has put since the last call of largest.
func (s *hookedStore) largest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := s.most
	s.most = 0
	return most
}

type measuringWriter struct {
	store.Writer
	bytes *int
}

func (w measuringWriter) Put(space store.Space, partition, sort, value []byte) error {
	*w.bytes += len(value)
	return w.Writer.Put(space, partition, sort, value)
}

// A sharedStore is a store that several servers share.
type sharedStore struct {
	*hookedStore
	mu     sync.Mutex
	leases map[string]context.CancelFunc
}

func (s *sharedStore) Lease(ctx context.Context, name string) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[name] != nil {
		return nil, nil, nil
	}
	held, cancel := context.WithCancel(ctx)
	s.leases[name] = cancel
	return held, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if held.Err() == nil {
			delete(s.leases, name)
		}
		cancel()
	}, nil
}

// expire ends the leases whose names begin with a word, as happens if their holders pause for too long.
func (s *sharedStore) expire(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, cancel := range s.leases {
		if strings.HasPrefix(name, word) {
			cancel()
			delete(s.leases, name)
		}
	}
}

func (s *sharedStore) Expecting(space store.Space, partition, sort, value []byte) store.Store {
	return expectingStore{s, func(r store.Reader) error {
		now, ok, err := r.Get(space, partition, sort)
		if err == nil && (ok != (value != nil) || !bytes.Equal(now, value)) {
			err = capability.ErrChanged
		}
		return err
	}}
}

type expectingStore struct {
	store.Store
	check func(store.Reader) error
}

func (s expectingStore) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return errors.Join(s.check(r), fn(r)) })
}

func (s expectingStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	return s.Store.Update(ctx, func(w store.Writer) error {
		if err := s.check(w); err != nil {
			return err
		}
		return fn(w)
	})
}

// serveBuckets returns an endpoint for a store and a directory of buckets.
func serveBuckets(t *testing.T, st store.Store, root string) *endpoint {
	t.Helper()
	db, err := life.Open(t.Context(), st)
	require.NoError(t, err)
	e := &endpoint{t: t, db: db, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	db.Clock = func() time.Time { return e.now }
	e.svc = api.New(db, api.Options{Clock: db.Clock, S3Root: root})
	t.Cleanup(e.svc.Close)
	return e
}

// bucket returns a directory of buckets that has a bucket named "bucket" with the given files.
func bucket(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "bucket", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "bucket"), 0o755))
	return root
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// itemLines returns lines with numbered items. Items whose number is a multiple of 10 lack the key.
func itemLines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		key := "a"
		if i%10 == 0 {
			key = "other"
		}
		fmt.Fprintf(&b, "{\"Item\":{%q:{\"S\":\"%d\"}}}\n", key, i)
	}
	return b.String()
}

const importH = `"InputFormat":"DYNAMODB_JSON","TableCreationParameters":` + tableH + `}`

func importRequest(rest string) string {
	if !strings.Contains(rest, "ClientToken") {
		rest += `"ClientToken":"another",`
	}
	return `{"S3BucketSource":{"S3Bucket":"bucket"},` + rest + importH
}

// until waits until a condition holds.
func (e *endpoint) until(holds func() bool) {
	e.t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			e.t.Fatal("a job does not end")
		}
	}
}

// imports returns the descriptions of all imports.
func (e *endpoint) imports() (list []job) {
	e.t.Helper()
	var page struct{ ImportSummaryList []job }
	e.call("ListImports", `{}`, &page)
	for _, x := range page.ImportSummaryList {
		var out struct{ ImportTableDescription job }
		e.call("DescribeImport", `{"ImportArn":"`+x.ImportArn+`"}`, &out)
		list = append(list, out.ImportTableDescription)
	}
	return list
}

// imported waits for the end of the only import, and returns its description.
func (e *endpoint) imported() job {
	e.t.Helper()
	var last job
	e.until(func() bool {
		list := e.imports()
		require.Len(e.t, list, 1)
		last = list[0]
		return last.ImportStatus != "IN_PROGRESS"
	})
	return last
}

func (e *endpoint) count(name string) int {
	e.t.Helper()
	var out struct{ Count int }
	e.call("Scan", `{"TableName":"`+name+`","Select":"COUNT"}`, &out)
	return out.Count
}

// TestImportWithoutClient starts an import whose client hangs up before anything is
// written. Sources of the states: Scylla, alternator/test_import.py, a run against the
// service in September 2026.
func TestImportWithoutClient(t *testing.T) {
	st := hooked(t)
	e := serveBuckets(t, st, bucket(t, map[string]string{"items.json": itemLines(1, 10)}))
	ctx, hangUp := context.WithCancel(t.Context())
	waits, free := st.holdAt(2, nil) // the first records the job
	go func() {
		<-waits
		hangUp()
	}()
	body := importRequest(`"ClientToken":"t",`)
	out, status := e.svc.Serve(ctx, "DynamoDB_20120810.ImportTable", []byte(body), nil)
	require.Equal(t, 200, status, string(out))

	running := e.imports()
	require.Len(t, running, 1)
	require.Equal(t, job{ImportArn: running[0].ImportArn, ImportStatus: "IN_PROGRESS"}, running[0])
	require.Contains(t, string(out), running[0].ImportArn)
	require.Contains(t, e.answer("ImportTable", body), running[0].ImportArn)
	e.refuse("ImportTable", strings.Replace(body, "HHH", "Other", 1),
		"ImportConflictException: Import conflict: Duplicate request detected with conflicting parameters")
	e.refuse("ImportTable", importRequest(""), "ResourceInUseException: Table already exists: HHH")
	e.describes("HHH", `{"TableStatus":"CREATING","ItemCount":0}`, "TableStatus", "ItemCount")
	e.refuse("DeleteTable", `{"TableName":"HHH"}`,
		"ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: HHH")
	e.refuse("Scan", `{"TableName":"HHH"}`, "ResourceNotFoundException: Requested resource not found")

	close(free)
	done := e.imported()
	require.Equal(t,
		job{ImportArn: running[0].ImportArn, ImportStatus: "COMPLETED", ImportedItemCount: 9, ProcessedItemCount: 9},
		done)
	e.describes("HHH", `{"TableStatus":"ACTIVE","ItemCount":9}`, "TableStatus", "ItemCount")
	require.Equal(t, 9, e.count("HHH"))
	e.refuse("ImportTable", body, "ResourceInUseException: Table already exists: HHH")
	e.answer("DeleteTable", `{"TableName":"HHH"}`)
	require.Contains(t, e.answer("ImportTable", body), `"ImportStatus":"COMPLETED"`)
}

// TestImportInterrupted stops a server after each of its updates in turn. The next server completes the import, and
// imports and counts no line twice.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	const lines = 2500
	root := bucket(t, map[string]string{
		"a.gz": zipped(t, itemLines(0, 1700)), "a/b.gz": zipped(t, itemLines(1700, 1701)),
		"b.gz": zipped(t, itemLines(1701, 2400)) + "no zip", "c.gz": zipped(t, itemLines(2400, lines)),
		"d.gz": "no zip",
	})
	body := importRequest(`"ClientToken":"t","InputCompressionType":"GZIP",`)
	interrupted := 0
	for cut := 1; ; cut++ {
		st := hooked(t)
		first := serveBuckets(t, st, root)
		st.cut(cut)
		// It waits for the job.
		first.svc.Serve(event.Quiet(t.Context()), "DynamoDB_20120810.ImportTable", []byte(body), nil)
		first.svc.Close()

		st.set(nil)
		next := serveBuckets(t, st, root)
		running := next.imports()[0].ImportStatus == "IN_PROGRESS"
		require.NoError(t, next.svc.ResumeJobs(t.Context(), false))
		done := next.imported()
		require.Equal(t, job{
			ImportArn: done.ImportArn, ImportStatus: "FAILED", FailureCode: "ItemValidationError",
			FailureMessage:     done.FailureMessage,
			ProcessedItemCount: lines + 2, ImportedItemCount: lines - lines/10, ErrorCount: lines/10 + 2,
		}, done, "after %d updates", cut)
		require.Equal(t, lines-lines/10, next.count("HHH"), "after %d updates", cut)
		next.refuse("ImportTable", body, "ResourceInUseException: Table already exists: HHH")
		if !running {
			break
		}
		interrupted++
	}
	if interrupted < 3 {
		t.Errorf("the import was interrupted %d times, want one time for each of its batches", interrupted)
	}
}

// TestBulkPutInterrupted is like TestImportInterrupted for a bulk put. Its items have conditions that fail if an item
// is put twice.
func TestBulkPutInterrupted(t *testing.T) {
	t.Parallel()
	const lines = 3000
	var text strings.Builder
	for i := range lines {
		switch {
		case i%10 == 0:
			text.WriteString("nonsense\n")
		case i%10 == 1:
			fmt.Fprintf(&text, `{"Item":{"b":{"S":"%d"}}}`+"\n", i) // without the key
		case i%10 == 2: // fails
			fmt.Fprintf(&text,
				`{"Item":{"a":{"S":"there"},"i":{"N":"%d"}},"ConditionExpression":"attribute_not_exists(a)"}`+"\n", i)
		default:
			fmt.Fprintf(&text, `{"Item":{"a":{"S":"%d"}},"ConditionExpression":"attribute_not_exists(a)"}`+"\n", i)
		}
	}
	start := `{"TableName":"HHH","ClientToken":"t","InputS3Configuration":{"S3Bucket":"bucket","S3KeyPrefix":"in",` +
		`"InputFormat":"DYNAMODB_JSON"},"OutputS3Configuration":{"OutputType":["ERROR","CONDITION_CHECK_FAILURE"]}}`
	interrupted := 0
	for cut := 1; ; cut++ {
		root := bucket(t, map[string]string{"in.json": text.String()})
		st := hooked(t)
		first := serveBuckets(t, st, root)
		first.answer("CreateTable", tableH)
		first.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"there"}}}`)
		st.cut(cut)
		first.svc.Serve(event.Quiet(t.Context()), "DynamoDB_20120810.StartBulkPutItems", []byte(start), nil)
		first.svc.Close()

		st.set(nil)
		next := serveBuckets(t, st, root)
		running := next.bulks()[0].BulkOperationStatus == "IN_PROGRESS"
		require.NoError(t, next.svc.ResumeJobs(t.Context(), false))
		done := next.bulked()
		require.Equal(t,
			bulk{done.BulkOperationArn, "COMPLETED_WITH_ERRORS", "", lines, lines * 3 / 10, int64(text.Len())}, done,
			"after %d updates", cut)
		require.Equal(t, lines*7/10+1, next.count("HHH"), "after %d updates", cut)
		if !running {
			break
		}
		interrupted++
	}
	if interrupted < 3 {
		t.Errorf("the bulk put was interrupted %d times, want one time for each of its batches", interrupted)
	}
}

// A bulk has the members that tests check in the description of a bulk operation.
type bulk struct {
	BulkOperationArn, BulkOperationStatus, FailureCode string
	ProcessedItemCount, FailedItemCount                int
	ProcessedInputBytes                                int64
}

// bulks returns the descriptions of all bulk operations.
func (e *endpoint) bulks() (list []bulk) {
	e.t.Helper()
	var page struct{ BulkOperationsSummaryList []bulk }
	e.call("ListBulkOperations", `{}`, &page)
	for _, x := range page.BulkOperationsSummaryList {
		var out struct{ BulkOperationDescription bulk }
		e.call("DescribeBulkOperation", `{"BulkOperationArn":"`+x.BulkOperationArn+`"}`, &out)
		list = append(list, out.BulkOperationDescription)
	}
	return list
}

// bulked waits for the end of the only bulk operation, and returns its description.
func (e *endpoint) bulked() bulk {
	e.t.Helper()
	var last bulk
	e.until(func() bool {
		list := e.bulks()
		require.Len(e.t, list, 1)
		last = list[0]
		return last.BulkOperationStatus != "IN_PROGRESS"
	})
	return last
}

// putRequest is a request to put all files of the bucket.
const putRequest = `{"TableName":"HHH","InputS3Configuration":{"S3Bucket":"bucket","InputFormat":"DYNAMODB_JSON"},` +
	`"OutputS3Configuration":{"OutputType":[]}}`

// TestCancelBulkPut cancels a bulk put before the first batch is written.
func TestCancelBulkPut(t *testing.T) {
	st := hooked(t)
	e := serveBuckets(t, st, bucket(t, map[string]string{"items.json": itemLines(1, 10)}))
	e.answer("CreateTable", tableH)
	waits, free := st.holdAt(2, nil)
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-waits
		hangUp()
	}()
	_, status := e.svc.Serve(ctx, "DynamoDB_20120810.StartBulkPutItems", []byte(putRequest), nil)
	require.Equal(t, 200, status)
	arn := e.bulks()[0].BulkOperationArn
	for range 2 {
		e.want("CancelBulkOperation", `{"BulkOperationArn":"`+arn+`"}`,
			`{"BulkOperationArn":"`+arn+`","BulkOperationStatus":"CANCELLED"}`)
	}
	close(free)
	e.svc.Close()
	require.Equal(t, []bulk{{BulkOperationArn: arn, BulkOperationStatus: "CANCELLED"}}, e.bulks())
	require.Equal(t, 0, e.count("HHH"))
	list, err := e.db.UnfinishedJobs(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
}

// TestExportInterrupted stops a server after it has written the files of an export, but before it records the end.
// When the next server resumes the export, the export fails and its files are removed. In a fork of the database it
// fails too, but the files, which belong to the original database, stay.
func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"killed", "forked"} {
		root := bucket(t, nil)
		mem := memory.Open()
		t.Cleanup(func() { mem.Close() })
		st := &hookedStore{Store: mem}
		e := serveBuckets(t, st, root)
		e.answer("CreateTable", tableH)
		e.answer("UpdateContinuousBackups",
			`{"TableName":"HHH","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
		request := `{"TableArn":"` + arnH + `","S3Bucket":"bucket","S3Prefix":"exports","ClientToken":"t"}`
		ctx, hangUp := context.WithCancel(t.Context())
		waits, free := st.holdAt(3, errCut) // the update that ends the export, after its files are written
		go func() {
			<-waits
			hangUp()
		}()
		started, status := e.svc.Serve(ctx, "DynamoDB_20120810.ExportTableToPointInTime", []byte(request), nil)
		require.Equal(t, 200, status, string(started))
		<-waits
		files, err := filepath.Glob(filepath.Join(root, "bucket", "exports", "AWSDynamoDB", "*", "*"))
		require.NoError(t, err)
		require.NotEmpty(t, files)

		var next *endpoint
		if how == "forked" {
			copied, err := mem.Fork() // not life.DB.Fork, which would wait for the update
			require.NoError(t, err)
			t.Cleanup(func() { copied.Close() })
			next = serveBuckets(t, copied, root)
			close(free)
			e.svc.Close()
		} else {
			close(free)
			e.svc.Close()
			next = serveBuckets(t, mem, root)
		}
		require.NoError(t, next.svc.ResumeJobs(t.Context(), how == "forked"))
		var out struct{ ExportDescription job }
		next.until(func() bool {
			next.call("ExportTableToPointInTime", request, &out)
			return out.ExportDescription.ExportStatus != "IN_PROGRESS"
		})
		got := out.ExportDescription
		require.Equal(t,
			job{
				ExportArn: got.ExportArn, ExportStatus: "FAILED", FailureCode: "InternalServerError",
				FailureMessage: "The server was stopped before the export was complete. Export the table again.",
			}, got)
		files, err = filepath.Glob(filepath.Join(root, "bucket", "exports", "AWSDynamoDB", "*"))
		require.NoError(t, err)
		if how == "forked" {
			require.NotEmpty(t, files, "the fork has removed files of its origin")
		} else {
			require.Empty(t, files, how)
		}
	}
}

// TestForkOfImport forks a database during an import. The import continues in both databases.
func TestForkOfImport(t *testing.T) {
	mem := memory.Open()
	t.Cleanup(func() { mem.Close() })
	st := &hookedStore{Store: mem}
	root := bucket(t, map[string]string{"items.json": itemLines(1, 2500)})
	e := serveBuckets(t, st, root)
	waits, free := st.holdAt(3, nil) // the second batch
	e.answer("ImportTable", importRequest(""))
	<-waits
	forked := make(chan *life.DB)
	go func() {
		// It waits for the batch.
		db, err := e.db.Fork(func() (store.Store, error) { return mem.Fork() })
		if err != nil {
			t.Error(err)
		}
		forked <- db
	}()
	close(free)
	db := <-forked
	db.Clock = e.db.Clock
	fork := &endpoint{t: t, db: db, svc: api.New(db, api.Options{Clock: db.Clock, S3Root: root})}
	t.Cleanup(fork.svc.Close)
	require.NoError(t, fork.svc.ResumeJobs(t.Context(), true))
	for _, e := range []*endpoint{e, fork} {
		done := e.imported()
		require.Equal(t, []int{2499, 2499 - 249}, []int{done.ProcessedItemCount, done.ImportedItemCount})
		require.Equal(t, 2499-249, e.count("HHH"))
	}
}

// TestSharedImport runs an import on one of two servers. That server loses its lease, the other server takes over,
// and then the blocked update of the first continues.
func TestSharedImport(t *testing.T) {
	st := &sharedStore{hookedStore: hooked(t), leases: map[string]context.CancelFunc{}}
	root := bucket(t, map[string]string{"items.json": itemLines(1, 4500)})
	one, two := serveBuckets(t, st, root), serveBuckets(t, st, root)
	body := importRequest(`"ClientToken":"t",`)
	waits, free := st.holdAt(5, nil)
	release := sync.OnceFunc(func() { close(free) })
	t.Cleanup(release) // before the servers close
	one.answer("ImportTable", body)
	<-waits
	require.Equal(t, "IN_PROGRESS", two.imports()[0].ImportStatus)
	two.answer("ImportTable", body)
	require.NoError(t, two.svc.ResumeJobs(t.Context(), false)) // the other one works at it
	st.expire("job ")
	two.until(func() bool { // servers look for jobs repeatedly
		require.NoError(t, two.svc.ResumeJobs(t.Context(), false))
		require.NoError(t, one.svc.ResumeJobs(t.Context(), false))
		return two.imports()[0].ImportStatus != "IN_PROGRESS"
	})
	done := two.imported()
	release()
	require.Equal(t, []int{4499, 4499 - 449}, []int{done.ProcessedItemCount, done.ImportedItemCount})
	one.svc.Close()
	two.svc.Close()
	for _, e := range []*endpoint{one, two} {
		require.Equal(t, []job{done}, e.imports())
		require.Equal(t, 4499-449, e.count("HHH"))
	}
}

// TestJobsOfLargeItems imports and puts items of 390 KB into a table with two indexes that project all attributes. No
// update may put more than a batch of items.
func TestJobsOfLargeItems(t *testing.T) {
	proptest.NeedLong(t)
	const items = 40
	large := strings.Repeat("x", 390<<10)
	var text strings.Builder
	for i := range items {
		fmt.Fprintf(&text, `{"Item":{"a":{"S":"%d"},"g":{"S":"g"},"h":{"S":"h"},"large":{"S":%q}}}`+"\n", i, large)
	}
	st := hooked(t)
	e := serveBuckets(t, st, bucket(t, map[string]string{"items.json": text.String()}))
	index := func(key string) string {
		return `{"IndexName":"by-` + key + `","KeySchema":[{"AttributeName":"` + key +
			`","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}`
	}
	def := strings.Replace(tableH,
		`{"AttributeName":"a","AttributeType":"S"}`, `{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"g",`+
			`"AttributeType":"S"},{"AttributeName":"h","AttributeType":"S"}`, 1)
	def = def[:len(def)-1] + `,"GlobalSecondaryIndexes":[` + index("g") + `,` + index("h") + `]}`
	most := 3 * (table.BatchBytes + len(large) + 1000)

	e.answer("ImportTable", strings.Replace(importRequest(""), tableH, def, 1))
	require.Equal(t, "COMPLETED", e.imported().ImportStatus)
	if got := st.largest(); got > most {
		t.Errorf("an import puts %d bytes in one update, want at most %d", got, most)
	}
	e.answer("StartBulkPutItems", putRequest)
	require.Equal(t, "COMPLETED", e.bulked().BulkOperationStatus)
	if got := st.largest(); got > most {
		t.Errorf("a bulk put puts %d bytes in one update, want at most %d", got, most)
	}
}

// TestJobsDropLines puts many long invalid lines, and measures the memory that their refusal allocates.
func TestJobsDropLines(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("reads many MB of lines")
	}
	const length = 1 << 20
	lines := min(proptest.Cases(200), 200)
	text := zipped(t, strings.Repeat(strings.Repeat("x", length)+"\n", lines))
	e := serveBuckets(t, hooked(t), bucket(t, map[string]string{"lines.gz": text}))
	e.answer("CreateTable", tableH)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e.answer("StartBulkPutItems",
		strings.Replace(putRequest, `"DYNAMODB_JSON"`, `"DYNAMODB_JSON","InputCompressionType":"GZIP"`, 1))
	done := e.bulked()
	runtime.ReadMemStats(&after)
	require.Equal(t, lines, done.FailedItemCount)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 32 {
		t.Errorf("%d MB of lines that are refused allocate %d MB, want at most 32", lines*length>>20, n)
	}
}

// TestLongLines imports a file with a line that is longer than any item can be. The import counts an error and skips
// the rest of the file.
func TestLongLines(t *testing.T) {
	e := serveBuckets(t, hooked(t), bucket(t, map[string]string{
		"items.json": itemLines(1, 3) + strings.Repeat("x", 17<<20) + "\n" + itemLines(3, 5),
	}))
	e.answer("ImportTable", importRequest(""))
	done := e.imported()
	require.Equal(t, []int{3, 2, 1}, []int{done.ProcessedItemCount, done.ImportedItemCount, done.ErrorCount})
}

// TestJobErrors runs jobs whose store refuses a batch, or whose table or files have disappeared.
func TestJobErrors(t *testing.T) {
	t.Run("store", func(t *testing.T) {
		st := hooked(t)
		e := serveBuckets(t, st, bucket(t, map[string]string{"items.json": itemLines(1, 10)}))
		_, free := st.holdAt(2, errCut)
		close(free)
		e.answer("ImportTable", importRequest(""))
		done := e.imported()
		require.Equal(t, []string{"FAILED", "InternalServerError", errCut.Error()}, []string{
			done.ImportStatus, done.FailureCode, done.FailureMessage,
		})
		e.refuse("DescribeTable", `{"TableName":"HHH"}`,
			"ResourceNotFoundException: Requested resource not found: Table: HHH not found")
		e.answer("ImportTable", importRequest(`"ClientToken":"again",`))
		require.Equal(t, 9, e.count("HHH"))
	})
	t.Run("bucket", func(t *testing.T) {
		root := bucket(t, map[string]string{"items.json": itemLines(1, 2500)})
		st := hooked(t)
		first := serveBuckets(t, st, root)
		st.cut(2)
		first.answer("ImportTable", importRequest(""))
		first.svc.Close()
		st.set(nil)
		require.NoError(t, os.RemoveAll(filepath.Join(root, "bucket")))
		without := serveBuckets(t, st, "")
		require.NoError(t, without.svc.ResumeJobs(t.Context(), false))
		require.Equal(t, "IN_PROGRESS", without.imports()[0].ImportStatus)
		next := serveBuckets(t, st, root)
		require.NoError(t, next.svc.ResumeJobs(t.Context(), false))
		done := next.imported()
		require.Equal(t, []string{"FAILED", "S3NoSuchBucket"}, []string{done.ImportStatus, done.FailureCode})
		next.refuse("DescribeTable", `{"TableName":"HHH"}`,
			"ResourceNotFoundException: Requested resource not found: Table: HHH not found")
	})
	t.Run("table", func(t *testing.T) {
		st := hooked(t)
		root := bucket(t, map[string]string{"items.json": itemLines(1, 2500)})
		first := serveBuckets(t, st, root)
		first.answer("CreateTable", tableH)
		st.cut(2)
		first.answer("StartBulkPutItems", putRequest)
		first.svc.Close()
		st.set(nil)
		next := serveBuckets(t, st, root)
		next.answer("DeleteTable", `{"TableName":"HHH"}`)
		next.answer("CreateTable", tableH)
		require.NoError(t, next.svc.ResumeJobs(t.Context(), false))
		done := next.bulked()
		require.Equal(t, []string{"FAILED", "ResourceNotFoundException"}, []string{
			done.BulkOperationStatus, done.FailureCode,
		})
		require.Equal(t, 0, next.count("HHH"))
	})
	t.Run("panic", func(t *testing.T) {
		st := hooked(t)
		root := bucket(t, map[string]string{"items.json": itemLines(1, 10)})
		e := serveBuckets(t, st, root)
		e.answer("CreateTable", tableH)
		var updates atomic.Int64
		st.set(func() error {
			if updates.Add(1) == 2 { // the first records the job
				panic("test")
			}
			return nil
		})
		e.answer("StartBulkPutItems", putRequest)
		done := e.bulked()
		require.Equal(t, []string{"FAILED", "InternalServerError"}, []string{
			done.BulkOperationStatus, done.FailureCode,
		})
	})
}

// TestManyJobs starts more jobs than may be in progress. Source: DG/S3DataImport.Validation.html.
func TestManyJobs(t *testing.T) {
	st := hooked(t)
	root := bucket(t, map[string]string{"items.json": itemLines(1, 10)})
	e := serveBuckets(t, st, root)
	e.answer("CreateTable", tableH)
	e.svc.Close() // jobs are recorded and wait
	for range 50 {
		e.answer("StartBulkPutItems", putRequest)
	}
	e.refuse("StartBulkPutItems",
		putRequest, "LimitExceededException: 50 jobs of this kind are in progress, which is the limit. "+
			"Try again when one has ended.")
	e.answer("ImportTable", strings.Replace(importRequest(""), "HHH", "Other", 1))
	next := serveBuckets(t, st, root)
	require.NoError(t, next.svc.ResumeJobs(t.Context(), false))
	next.until(func() bool {
		list, err := next.db.UnfinishedJobs(t.Context())
		return err == nil && len(list) == 0
	})
	require.Equal(t, 9, next.count("Other"))
}

// TestFirstBatch starts jobs of exactly one batch of items. They are complete when the calls return.
func TestFirstBatch(t *testing.T) {
	items := strings.ReplaceAll(itemLines(0, table.BatchRows), "other", "a") + "\n"
	e := serveBuckets(t, hooked(t), bucket(t, map[string]string{"items.json": items}))
	e.answer("ImportTable", importRequest(""))
	require.Equal(t, "COMPLETED", e.imports()[0].ImportStatus)
	e.answer("StartBulkPutItems", putRequest)
	require.Equal(t, "COMPLETED", e.bulks()[0].BulkOperationStatus)
	e.answer("UpdateContinuousBackups",
		`{"TableName":"HHH","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
	require.Equal(t, "COMPLETED", e.exportOf(arnH, `,"S3Bucket":"bucket"`).ExportStatus)
}

// TestQuietImport starts an import as a fixture does. The call waits for the whole import.
func TestQuietImport(t *testing.T) {
	e := serveBuckets(t, hooked(t), bucket(t, map[string]string{"items.json": itemLines(1, 2500)}))
	e.db.Delay = time.Minute
	_, status := e.svc.Serve(event.Quiet(t.Context()), "DynamoDB_20120810.ImportTable", []byte(importRequest("")), nil)
	require.Equal(t, 200, status)
	require.Equal(t, 2499-249, e.count("HHH"))
}

// TestChangedFiles removes a file and overwrites another while an import runs, before it reads them. Source:
// ack-api-quirks, IMPORT-007.
func TestChangedFiles(t *testing.T) {
	st := hooked(t)
	root := bucket(t, map[string]string{
		"1.json": itemLines(1001, 3001), "2.json": itemLines(1, 10),
		"3.json": itemLines(11, 20), "4.json": itemLines(21, 30),
	})
	e := serveBuckets(t, st, root)
	waits, free := st.holdAt(2, nil) // the first records the job
	go func() {
		<-waits
		if err := errors.Join(
			os.Remove(filepath.Join(root, "bucket", "2.json")),
			os.WriteFile(filepath.Join(root, "bucket", "3.json"), []byte("nonsense\n"), 0o600),
		); err != nil {
			t.Error(err)
		}
		close(free)
	}()
	e.answer("ImportTable", importRequest(""))
	done := e.imported()
	require.Equal(t, []string{"FAILED", "ItemValidationError"}, []string{done.ImportStatus, done.FailureCode})
	require.Equal(t, []int{2011, 1809, 202}, []int{done.ProcessedItemCount, done.ImportedItemCount, done.ErrorCount})
	e.describes("HHH", `{"TableStatus":"ACTIVE"}`, "TableStatus")
}

// TestCSVKeys imports keys that are numbers and binary data, in several batches.
func TestCSVKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("\ufeffn|b|text\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "%d|AQ==|\"a | b\"\n", i)
	}
	b.WriteString("no number|AQ==|x\n")
	e := serveBuckets(t, hooked(t), bucket(t, map[string]string{"items.csv": b.String()}))
	e.answer("ImportTable", `{"ClientToken":"t","S3BucketSource":{"S3Bucket":"bucket"},"InputFormat":"CSV",
		"InputFormatOptions":{"Csv":{"Delimiter":"|"}},"TableCreationParameters":{"TableName":"Keys",
		"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"},
		{"AttributeName":"b","AttributeType":"B"}],"KeySchema":[{"AttributeName":"n","KeyType":"HASH"},
		{"AttributeName":"b","KeyType":"RANGE"}]}}`)
	done := e.imported()
	require.Equal(t, []int{3001, 3000, 1}, []int{done.ProcessedItemCount, done.ImportedItemCount, done.ErrorCount})
	e.item("Keys", `{"n":{"N":"2999"},"b":{"B":"AQ=="}}`, `{"n":{"N":"2999"},"b":{"B":"AQ=="},"text":{"S":"a | b"}}`)
}
