//go:build attack && linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
)

// This file contains what a hostile client tries. scripts/attack.sh runs it. It takes a minute and a gigabyte, so the
// usual tests do not run it.

// resident returns the resident memory of the process, in MB.
func (p *process) resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(status), "VmRSS:")
	require.True(t, ok)
	var kb int
	_, err = fmt.Sscan(after, &kb)
	require.NoError(t, err)
	return kb >> 10
}

// peak returns by how much the resident memory exceeds its initial size, at most, while fn runs, in MB.
func (p *process) peak(t *testing.T, fn func()) int {
	t.Helper()
	before, most := p.resident(t), 0
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			most = max(most, p.resident(t))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	fn()
	close(done)
	wait.Wait()
	return most - before
}

// bounded logs a figure and fails the test if the figure exceeds its bound.
func bounded(t *testing.T, what string, got, bound int, unit string) {
	t.Helper()
	t.Logf("%-62s %6d %s, bound %d", what, got, unit, bound)
	if got > bound {
		t.Errorf("%s: %d %s, want at most %d", what, got, unit, bound)
	}
}

// alive fails unless the server answers an honest client.
func (p *process) alive(t *testing.T) {
	t.Helper()
	_, err := p.client(t).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	require.NoError(t, err)
}

func TestAttackIdleBodies(t *testing.T) {
	p := serve(t)
	p.alive(t)
	bounded(t, "200 bodies of 16 MB announced, one byte sent of each", p.peak(t, func() {
		for range 200 {
			_, err := io.WriteString(p.dial(t), head("PutItem", 16<<20)+"{")
			require.NoError(t, err)
		}
		p.alive(t)
	}), 64, "MB")
}

// TestAttackConnections holds more idle connections than the server allows, each of which has made a request. It
// measures how fast the server answers an honest client meanwhile.
func TestAttackConnections(t *testing.T) {
	figures := freeAddress(t)
	p := serve(t, "--max-connections", "4096", "--metrics", figures)
	held := make([]net.Conn, 5000)
	for i := range held {
		held[i] = p.dial(t)
		_, err := io.WriteString(held[i], head("ListTables", 2)+"{}")
		require.NoError(t, err)
		_, err = held[i].Read(make([]byte, 1))
		require.NoError(t, err)
	}

	slowest := time.Duration(0)
	for range 100 {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
		began := time.Now()
		res, err := client.Get(p.URL + "/healthz")
		require.NoError(t, err)
		_ = res.Body.Close()
		slowest = max(slowest, time.Since(began))
		require.Equal(t, 200, res.StatusCode)
	}
	bounded(t, "5000 idle connections: slowest of 100 answers on new ones", int(slowest.Milliseconds()), 100, "ms")
	require.Equal(t, 1, strings.Count(p.Stderr.String(), "all connections are taken"), p.Stderr.String())
	res, err := http.Get("http://" + figures + "/metrics")
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	_, closed, ok := strings.Cut(string(text), "\nsortkey_connections_closed_total ")
	require.True(t, ok)
	var n float64
	_, err = fmt.Sscan(closed, &n)
	require.NoError(t, err)
	require.GreaterOrEqual(t, n, 5000.0-4096)
	t.Logf("%-62s %6.0f", "connections closed for new ones, by the metric", n)
}

func TestAttackStalledBodies(t *testing.T) {
	p := serve(t, "--max-pending-mb", "128")
	p.alive(t)
	body := strings.Repeat("x", 15<<20)
	bounded(t, "60 bodies of 15 MB that never end, 128 MB allowed", p.peak(t, func() {
		var wait sync.WaitGroup
		for range 60 {
			c := p.dial(t)
			wait.Go(func() {
				_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
				_, _ = io.WriteString(c, head("PutItem", 16<<20)+body)
			})
		}
		wait.Wait()
		p.alive(t)
	}), 4*128, "MB") // buffers that grew, and what the collector has not freed
}

// freeAddress returns an address to listen on.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	return ln.Addr().String()
}

// TestAttackBurst checks how much memory a server keeps after a burst of large requests. It subtracts the memory
// before the burst, which includes the pages of the program's file.
func TestAttackBurst(t *testing.T) {
	p := serve(t)
	simpleTable(t, p.client(t), "Tab")
	program := p.resident(t)
	var keys []string
	for i := range 40 {
		status, answer := p.post("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"},"v":{"S":"%s"}}}`, i, strings.Repeat("x", 390<<10)))
		require.Equal(t, 200, status, answer)
		keys = append(keys, fmt.Sprintf(`{"k":{"S":"%d"}}`, i))
	}
	body := `{"RequestItems":{"Tab":{"Keys":[` + strings.Join(keys, ",") + `]}}}`
	peak := p.peak(t, func() {
		var wait sync.WaitGroup
		for range 16 {
			wait.Go(func() {
				for range 20 {
					_, _ = p.post("BatchGetItem", body)
				}
			})
		}
		wait.Wait()
	})
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(time.Minute)
	t.Logf("%-62s %6d MB more at its peak", "a burst of answers of 16 MB each", peak)
	bounded(t, "resident a minute later, with 16 MB of items", p.resident(t)-program, 2*16+8, "MB")
}

func TestAttackManyElements(t *testing.T) {
	p := serve(t)
	p.alive(t)
	body := `{"TableName":"aaa","GlobalSecondaryIndexes":[{}` + strings.Repeat(",{}", 5<<20) + `]}`
	bounded(t, "4 bodies of 16 MB with 5 million empty indexes each", p.peak(t, func() {
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() { _, _ = p.post("CreateTable", body) })
		}
		wait.Wait()
		p.alive(t)
	}), 400, "MB")
}

func simpleTable(t *testing.T, c *dynamodb.Client, name string) {
	t.Helper()
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("k"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("k"), KeyType: types.KeyTypeHash}},
	})
	require.NoError(t, err)
}

// hang sends a request over many connections, which never read the response. It gives the server 5 s to make all
// responses, and returns the peak of its memory.
func (p *process) hang(t *testing.T, clients int, operation, body string) int {
	t.Helper()
	return p.peak(t, func() {
		for range clients {
			_, err := io.WriteString(p.dial(t), head(operation, len(body))+body)
			require.NoError(t, err)
		}
		time.Sleep(5 * time.Second)
		p.alive(t)
	})
}

// slowBound is the memory, in MB, that responses may take that no client reads, with --max-pending-mb 128: the
// budget, as much again before the collector starts, and the work on new responses.
const slowBound = 4 * 128

func TestAttackSlowReaders(t *testing.T) {
	for _, clients := range []int{30, 200} {
		p := serve(t, "--max-pending-mb", "128")
		simpleTable(t, p.client(t), "Tab")
		var keys []string
		for i := range 40 {
			status, answer := p.post("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"},"v":{"S":"%s"}}}`, i, strings.Repeat(`\u0001`, 390<<10)))
			require.Equal(t, 200, status, answer)
			keys = append(keys, fmt.Sprintf(`{"k":{"S":"%d"}}`, i))
		}

		body := `{"RequestItems":{"Tab":{"Keys":[` + strings.Join(keys, ",") + `]}}}`
		bounded(t, fmt.Sprintf("%d clients that ask for 94 MB each and read nothing", clients), p.hang(t, clients, "BatchGetItem", body), slowBound, "MB")
		bounded(t, fmt.Sprintf("%d clients that scan a page of 7 MB and read nothing", clients), p.hang(t, clients, "Scan", `{"TableName":"Tab"}`), slowBound, "MB")
	}
}

// TestAttackNumbers reads items of 390 KB whose JSON takes 17.5 MB.
func TestAttackNumbers(t *testing.T) {
	p := serve(t, "--max-pending-mb", "128")
	simpleTable(t, p.client(t), "Tab")
	value := `{"L":[` + strings.Repeat(`{"N":"1E125"},`, 130_000) + `{"N":"1"}]}`
	var gets []string
	for i := range 100 {
		status, answer := p.post("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"},"v":%s}}`, i, value))
		require.Equal(t, 200, status, answer)
		gets = append(gets, fmt.Sprintf(`{"Get":{"TableName":"Tab","Key":{"k":{"S":"%d"}}}}`, i))
	}

	longest := 0
	bounded(t, "12 clients that scan items of 1E125", p.peak(t, func() {
		var wait sync.WaitGroup
		var mu sync.Mutex
		for range 12 {
			wait.Go(func() {
				for range 3 {
					status, answer := p.post("Scan", `{"TableName":"Tab"}`)
					if status != 200 && status != 503 {
						t.Errorf("status %d: %.200s", status, answer)
					}
					mu.Lock()
					longest = max(longest, len(answer))
					mu.Unlock()
				}
			})
		}
		wait.Wait()
	}), slowBound, "MB")
	bounded(t, "  the longest of the pages", longest>>20, 32, "MB")
	bounded(t, "TransactGetItems of 100 items of 1E125", p.peak(t, func() {
		status, answer := p.post("TransactGetItems", `{"TransactItems":[`+strings.Join(gets, ",")+`]}`)
		require.Equal(t, 400, status, "%.200s", answer)
	}), 64, "MB")
	bounded(t, "30 clients that scan items of 1E125 and read nothing", p.hang(t, 30, "Scan", `{"TableName":"Tab"}`), slowBound, "MB")
	p.alive(t)
}

func TestAttackManyNames(t *testing.T) {
	p := serve(t)
	c := p.client(t)
	simpleTable(t, c, "Tab")
	for i := range 2000 {
		status, answer := p.post("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"}}}`, i))
		require.Equal(t, 200, status, answer)
	}
	var names strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&names, `,"n%d"`, i)
	}
	start := time.Now()
	status, answer := p.post("Scan", `{"TableName":"Tab","AttributesToGet":["k"`+names.String()+`]}`)
	require.Equal(t, 200, status, answer)
	bounded(t, "a Scan of 2,000 items for a million names", int(time.Since(start).Milliseconds()), 10_000, "ms")
}

func TestAttackDescriptors(t *testing.T) {
	// The shell lowers the limit only for the server.
	cmd := serveCommand(t, "--data", filepath.Join(t.TempDir(), "db"))
	limited := exec.Command("sh", append([]string{"-c", `ulimit -n 256; exec "$@"`, "sh"}, cmd.Args...)...)
	limited.Env = cmd.Env
	p := &process{cmdtest.Serve(t, limited)}
	honest := p.client(t)
	simpleTable(t, honest, "Tab")
	opened := 0
	for range 400 {
		c, err := net.DialTimeout("tcp", strings.TrimPrefix(p.URL, "http://"), time.Second)
		if err != nil {
			break
		}
		defer c.Close()
		opened++
	}
	_, err := honest.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Tab"), Item: map[string]types.AttributeValue{"k": &types.AttributeValueMemberS{Value: "x"}}})
	require.NoError(t, err, "a connection that was open before")
	require.NotContains(t, p.Stderr.String(), "too many open files")
	t.Logf("%-62s %6d connections, store alive", "more connections than descriptors (256)", opened)
}

func TestAttackFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=200m"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	filler := filepath.Join(dir, "filler")
	fill := func(leave uint64) {
		var usage syscall.Statfs_t
		require.NoError(t, syscall.Statfs(dir, &usage))
		free := usage.Bavail * uint64(usage.Bsize)
		require.NoError(t, os.WriteFile(filler, make([]byte, free-min(leave, free)), 0o600))
	}
	data := filepath.Join(dir, "db")
	p := serve(t, "--data", data)
	c := p.client(t, cmdtest.Once)
	simpleTable(t, c, "Tab")

	var written []int
	next := 0
	put := func() error {
		next++
		_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Tab"), Item: map[string]types.AttributeValue{
			"k": &types.AttributeValueMemberS{Value: fmt.Sprint(next)}, "v": &types.AttributeValueMemberB{Value: bytes.Repeat([]byte{byte(next), 7, byte(next >> 3)}, 10<<10)},
		}})
		if err == nil {
			written = append(written, next)
		}
		return err
	}
	get := func(c *dynamodb.Client, i int) {
		out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Tab"), Key: map[string]types.AttributeValue{"k": &types.AttributeValueMemberS{Value: fmt.Sprint(i)}}})
		require.NoError(t, err)
		require.NotNil(t, out.Item, "item %d was acknowledged", i)
	}
	health := func() int {
		res, err := http.Get(p.URL + "/healthz")
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}

	refused := 0
	for range 3 { // full, and freed
		require.NoError(t, put())
		fill(20 << 20)
		begun := len(written)
		var err error
		for err = put(); err == nil && len(written) < begun+2000; {
			err = put()
		}
		require.Error(t, err, "the disk is not full")
		refused++
		require.Equal(t, http.StatusServiceUnavailable, health())
		require.Error(t, put(), "refused at once")
		get(c, written[len(written)-1]) // reads go on
		require.NoError(t, os.Remove(filler))
		require.Eventually(t, func() bool { return health() == http.StatusOK }, time.Minute, 10*time.Millisecond)
		require.NoError(t, put(), "writes go on without a restart")
	}
	require.Contains(t, p.Stderr.String(), "no space left on device")
	require.NoError(t, p.Cmd.Process.Kill())
	_ = p.Wait(t)

	p = serve(t, "--data", data)
	c = p.client(t)
	for _, i := range written {
		get(c, i)
	}
	t.Logf("%-62s %6d acknowledged writes, none lost; healthz 503, then 200", fmt.Sprintf("a disk that is full and freed %d times", refused), len(written))
}
