package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/cmdtest"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/store/disk"
)

// latencyEnv makes the test binary a server that measures its own latency: the time from the moment
// at which a request is in its socket until the last byte of the answer is written. Its value is the folder
// of the database, or "memory".
const latencyEnv = "SORTKEY_TEST_LATENCY"

func init() {
	if os.Getenv(latencyEnv) != "" {
		serveMetered()
	}
}

// latencyBuckets has the folder of its buckets.
const latencyBuckets = "SORTKEY_TEST_BUCKETS"

// measuredHeader is a header of the requests that are measured.
const measuredHeader = "X-Measured: "

// A meter holds the latencies of requests, in nanoseconds.
type meter struct {
	mu   sync.Mutex
	took []int64
}

// A meteredListener measures the requests of its connections.
type meteredListener struct {
	net.Listener
	meter *meter
}

func (l *meteredListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	must(err)
	must(raw.Control(func(fd uintptr) {
		const stamps = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE
		must(unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING_NEW, stamps))
	}))
	return &meteredConn{Conn: c, raw: raw, meter: l.meter}, nil
}

// A meteredConn notes a request when the next one arrives: all of its answer is written by then.
type meteredConn struct {
	net.Conn
	raw      syscall.RawConn
	meter    *meter
	arrived  int64 // when the first bytes of the request were in the socket, by the kernel
	measured bool
	written  atomic.Int64 // when the last bytes of the answer were written, 0 before that
}

func (c *meteredConn) Read(p []byte) (n int, err error) {
	var at int64
	failed := c.raw.Read(func(fd uintptr) bool {
		n, at, err = receive(int(fd), p)
		return err != unix.EAGAIN
	})
	switch {
	case failed != nil:
		return 0, failed // a time-out, or the connection is closed
	case err != nil:
		return 0, err
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	if w := c.written.Swap(0); w != 0 || c.arrived == 0 { // the next request begins
		if c.measured {
			c.meter.mu.Lock()
			c.meter.took = append(c.meter.took, w-c.arrived)
			c.meter.mu.Unlock()
		}
		c.arrived, c.measured = at, false
	}
	c.measured = c.measured || bytes.Contains(p[:n], []byte(measuredHeader))
	return n, nil
}

// receive reads from a socket, and returns when its first bytes arrived there.
func receive(fd int, p []byte) (n int, at int64, err error) {
	var control [128]byte
	n, length, _, _, err := unix.Recvmsg(fd, p, control[:], unix.MSG_DONTWAIT)
	if err != nil {
		return 0, 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:length])
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPING_NEW {
			seconds, nanos := binary.NativeEndian.Uint64(m.Data), binary.NativeEndian.Uint64(m.Data[8:])
			at = int64(seconds)*1e9 + int64(nanos)
		}
	}
	if at == 0 {
		at = time.Now().UnixNano() // the kernel keeps no times
	}
	return n, at, err
}

func (c *meteredConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Store(time.Now().UnixNano())
	return n, err
}

// serveMetered is the process of a server that measures itself. GET /latency answers with what it has
// measured since the last one.
func serveMetered() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	prefer()
	opts := sortkey.Options{S3Root: os.Getenv(latencyBuckets)}
	if dir := os.Getenv(latencyEnv); dir != "memory" {
		st, err := disk.Open(dir, disk.Options{})
		must(err)
		opts.Store = st
	}
	db, err := sortkey.Open(opts)
	must(err)
	m := new(meter)
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	must(err)
	figures, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	must(err)
	go func() {
		must(http.Serve(figures, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			m.mu.Lock()
			defer m.mu.Unlock()
			_ = json.NewEncoder(w).Encode(m.took)
			m.took = nil
		})))
	}()
	fmt.Printf("AWS_ENDPOINT_URL_DYNAMODB=http://%s FIGURES=http://%s \n", ln.Addr(), figures.Addr())
	must(server.New(db, server.Options{}).Serve(ctx, &meteredListener{ln, m}))
	must(db.Close())
	os.Exit(0)
}

// prefer asks the system to run the threads of this process before its clients and whatever else the machine
// does, so that the time for which a request waits is the server's own. It takes the right to do that.
func prefer() {
	threads, _ := os.ReadDir("/proc/self/task") // those that start later inherit it
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			_ = preferThread(id, 1, 0)
		}
	}
}

func preferThread(id int, priority uint32, flags uint64) error {
	return unix.SchedSetAttr(id, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: priority, Flags: flags,
	}, 0)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A beside is what goes on in a server whose latency is measured.
type beside struct {
	name string
	// run works until ctx ends, and returns what it has done.
	run func(ctx context.Context) string
}

// TestLatency prints the time that a query of 10 rows takes in a server beside scanners, which
// together scan the same number of bytes each second, and beside an export, index builds and deletions of tables.
// scripts/check-million.sh runs it for longer.
func TestLatency(t *testing.T) {
	duration, items, rate := 50*time.Millisecond, 1000, 100.0
	if s := os.Getenv("SORTKEY_LATENCY"); s != "" {
		var seconds float64
		_, err := fmt.Sscanf(s, "%g %g", &seconds, &rate)
		require.NoError(t, err)
		duration, items = time.Duration(seconds*float64(time.Second)), 40_000
	}
	was := runtime.GOMAXPROCS(8) // so that the thread of the queries need not wait for scanners
	defer runtime.GOMAXPROCS(was)
	for _, engine := range []string{"memory", "disk"} {
		t.Run(engine, func(t *testing.T) {
			root, data := t.TempDir(), "memory"
			require.NoError(t, os.Mkdir(filepath.Join(root, "bucket"), 0o700))
			if engine == "disk" {
				data = filepath.Join(t.TempDir(), "db")
			}
			cmd := command(t)
			cmd.Env = append(os.Environ(), latencyEnv+"="+data, latencyBuckets+"="+root)
			p := &process{cmdtest.Serve(t, cmd)}
			_, after, _ := strings.Cut(p.Stdout.String(), "FIGURES=")
			l := &latency{t: t, p: p, c: p.client(t), figures: strings.Fields(after)[0], items: items}
			l.fill()
			for _, b := range []beside{
				{"nothing", func(ctx context.Context) string { <-ctx.Done(); return "" }},
				l.scanners(1, rate), l.scanners(3, rate), {"exports", l.exports}, {"index builds", l.indexes},
			} {
				l.measure(b, duration)
			}
			l.measure(l.deletions(duration), duration)
		})
	}
}

// A latency measures one server.
type latency struct {
	t       *testing.T
	p       *process
	c       *dynamodb.Client
	figures string
	items   int
}

const latencyTable = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST",` +
	`"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"}],` +
	`"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}]}`

func (l *latency) fill() {
	l.must("CreateTable", latencyTable)
	l.must("UpdateContinuousBackups",
		`{"TableName":"Tab","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
	for i := 0; i < l.items; i += 25 {
		var puts []string
		for k := range 25 {
			n := i + k
			puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"PK":{"S":"P%06d"},"SK":{"S":"%04d"},`+
				`"flag":{"S":"f%d"},"n":{"N":"%d"},"text":{"S":"%s"}}}}`,
				n/100, n%100, n%7, n, strings.Repeat("text ", 80)))
		}
		l.must("BatchWriteItem", `{"RequestItems":{"Tab":[`+strings.Join(puts, ",")+`]}}`)
	}
}

func (l *latency) must(operation, body string) string {
	l.t.Helper()
	status, answer := l.p.post(operation, body)
	require.Equal(l.t, 200, status, answer)
	return answer
}

// measure sends a query every two milliseconds, beside b, and prints what the server measured.
func (l *latency) measure(b beside, duration time.Duration) {
	l.taken()
	ctx, cancel := context.WithTimeout(l.t.Context(), duration)
	defer cancel()
	done := make(chan string, 1)
	go func() { done <- b.run(ctx) }()
	asked := make(chan error)
	conn := l.p.dial(l.t).(*net.TCPConn)
	go func() { asked <- l.query(ctx, conn) }()
	require.NoError(l.t, <-asked)
	said := <-done
	took := l.taken()
	at := func(q float64) time.Duration {
		return time.Duration(took[int(q*float64(len(took)-1))]).Round(time.Microsecond)
	}
	require.NotEmpty(l.t, took)
	l.t.Logf("beside %-24s %6d queries, 50%% within %9s, 99%% within %9s%s", b.name, len(took), at(0.5), at(0.99), said)
}

// query sends queries until ctx ends. Its thread runs before the server, which would otherwise keep it from
// sending just when the server has no processor for the query.
func (l *latency) query(ctx context.Context, conn *net.TCPConn) error {
	runtime.LockOSThread() // and never unlocked: the end of the goroutine ends the thread
	_ = preferThread(0, 2, unix.SCHED_FLAG_RESET_ON_FORK)
	f, err := conn.File()
	if err != nil {
		return err
	}
	defer f.Close()
	fd := int(f.Fd()) // blocking, so that only this thread has to run
	for ctx.Err() == nil {
		body := fmt.Sprintf(`{"TableName":"Tab","KeyConditionExpression":"PK=:p","Limit":10,`+
			`"ExpressionAttributeValues":{":p":{"S":"P%06d"}}}`, rand.IntN(l.items/100))
		text := strings.Replace(head("Query", len(body)), "\r\n\r\n", "\r\n"+measuredHeader+"yes\r\n\r\n", 1) + body
		if _, err := unix.Write(fd, []byte(text)); err != nil {
			return err
		}
		answer, err := readAnswer(fd)
		if err != nil {
			return err
		}
		if !strings.Contains(answer, `"Count":10`) {
			return fmt.Errorf("the answer is %.200s", answer)
		}
		_ = unix.Nanosleep(&unix.Timespec{Nsec: 2e6}, nil)
	}
	return nil
}

// taken returns the latencies since the last call, sorted.
func (l *latency) taken() (took []int64) {
	res, err := http.Get(l.figures)
	require.NoError(l.t, err)
	defer res.Body.Close()
	require.NoError(l.t, json.NewDecoder(res.Body).Decode(&took))
	slices.Sort(took)
	return took
}

// readAnswer reads an answer with a length.
func readAnswer(fd int) (string, error) {
	var all []byte
	buf := make([]byte, 16<<10)
	for {
		n, err := unix.Read(fd, buf)
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", err
		}
		all = append(all, buf[:n]...)
		header, body, ok := strings.Cut(string(all), "\r\n\r\n")
		if !ok {
			continue
		}
		_, length, _ := strings.Cut(header, "Content-Length: ")
		length, _, _ = strings.Cut(length, "\r")
		if want, _ := strconv.Atoi(length); len(body) >= want {
			return body, nil
		}
	}
}

// scanners are n clients that read pages of 1 MB, together so many MB a second, as long as the server
// can follow.
func (l *latency) scanners(n int, rate float64) beside {
	return beside{fmt.Sprintf("%d scanners", n), func(ctx context.Context) string {
		var pages atomic.Int64
		begin := time.Now()
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				period := time.Duration(float64(n) / rate * float64(time.Second))
				for at := begin; ctx.Err() == nil; at = at.Add(period) {
					time.Sleep(time.Until(at))
					segment := (i + int(pages.Add(1))) % 8
					body := fmt.Sprintf(`{"TableName":"Tab","Segment":%d,"TotalSegments":8}`, segment)
					r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.p.URL, strings.NewReader(body))
					if err != nil {
						l.t.Error(err)
						return
					}
					r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Scan")
					r.Header.Set("Content-Type", "application/x-amz-json-1.0")
					r.Header.Set("Accept-Encoding", "identity")
					if res, err := client.Do(r); err == nil {
						_, _ = io.Copy(io.Discard, res.Body)
						_ = res.Body.Close()
					}
				}
			})
		}
		wg.Wait()
		return fmt.Sprintf(", %.0f pages a second", float64(pages.Load())/time.Since(begin).Seconds())
	}}
}

func (l *latency) exports(ctx context.Context) string {
	n := 0
	for ; ctx.Err() == nil; n++ {
		out, err := l.c.ExportTableToPointInTime(ctx, &dynamodb.ExportTableToPointInTimeInput{
			TableArn: aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/Tab"), S3Bucket: aws.String("bucket"),
		})
		for err == nil {
			var d *dynamodb.DescribeExportOutput
			d, err = l.c.DescribeExport(ctx, &dynamodb.DescribeExportInput{ExportArn: out.ExportDescription.ExportArn})
			if err == nil && d.ExportDescription.ExportStatus != types.ExportStatusInProgress {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err != nil && ctx.Err() == nil {
			l.t.Error(err)
		}
	}
	return fmt.Sprintf(", %d exports", n)
}

func (l *latency) indexes(ctx context.Context) string {
	const create = `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"flag","AttributeType":"S"},` +
		`{"AttributeName":"n","AttributeType":"N"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"ByFlag",` +
		`"KeySchema":[{"AttributeName":"flag","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],` +
		`"Projection":{"ProjectionType":"ALL"}}}]}`
	const remove = `{"TableName":"Tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"ByFlag"}}]}`
	n := 0
	for ; ctx.Err() == nil; n++ {
		for _, body := range []string{create, remove} {
			l.done("UpdateTable", body)
			for strings.Contains(l.done("DescribeTable", `{"TableName":"Tab"}`), `"IndexStatus":"CREATING"`) {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	return fmt.Sprintf(", %d builds", n)
}

// done is must for other goroutines than that of the test.
func (l *latency) done(operation, body string) string {
	status, answer := l.p.post(operation, body)
	if status != 200 {
		l.t.Errorf("%s: %d %s", operation, status, answer)
	}
	return answer
}

// deletions delete copies of the table, which are made before that, one every tenth of a second.
func (l *latency) deletions(duration time.Duration) beside {
	copies := min(max(int(duration/(100*time.Millisecond)), 1), 20)
	var backup struct{ BackupDetails struct{ BackupArn string } }
	answer := l.must("CreateBackup", `{"TableName":"Tab","BackupName":"copy"}`)
	require.NoError(l.t, json.Unmarshal([]byte(answer), &backup))
	for i := range copies {
		l.must("RestoreTableFromBackup", fmt.Sprintf(`{"TargetTableName":"Copy%d","BackupArn":%q}`, i,
			backup.BackupDetails.BackupArn))
	}
	return beside{"DeleteTable", func(ctx context.Context) string {
		for i := range copies {
			l.done("DeleteTable", fmt.Sprintf(`{"TableName":"Copy%d"}`, i))
			time.Sleep(duration / time.Duration(copies+1))
		}
		<-ctx.Done()
		return fmt.Sprintf(", %d tables of %d items", copies, l.items)
	}}
}
