package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pingcap/log"
	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/testutils"
	client "github.com/tikv/client-go/v2/tikv"
	pd "github.com/tikv/pd/client"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store/tikv"
)

func TestMain(m *testing.M) {
	logClient(nil)
	os.Exit(m.Run())
}

// newCluster returns an opener for a mock cluster of three stores, which is part of TiKV's client. Closing a Store
// does not close the mock.
func newCluster(t *testing.T) opener {
	t.Helper()
	rpc, mock, drivers, err := testutils.NewMockTiKV("", nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rpc.Close()) })
	testutils.BootstrapWithMultiStores(mock, 3)

	return func(ctx context.Context, endpoints []string, opts tikv.Options) (*tikv.Store, error) {
		require.Equal(t, []string{"pd1:2379", "pd2:2379"}, endpoints)
		kv, err := client.NewTestTiKVStore(rpc, drivers,
			func(c client.Client) client.Client { return lent{c} }, func(c pd.Client) pd.Client { return c }, 0)
		if err != nil {
			return nil, err
		}
		return tikv.OpenClient(ctx, kv, opts)
	}
}

// A lent is the mock's client for one Store, which must not close it.
type lent struct{ client.Client }

func (lent) Close() error { return nil }

// A buffer can be read while a command writes to it.
type buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// run runs a command line with the engines of the command and one for a cluster.
func run(open opener, out io.Writer, args ...string) int {
	env := app.System()
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), out, out
	env.Getenv = func(string) string { return "" }
	env.Engines = append(env.Engines, engine(open))
	return cli.Main(args, env)
}

// prints runs a command line that must succeed, and returns its output.
func prints(t *testing.T, open opener, args ...string) string {
	t.Helper()
	var out buffer
	require.Zero(t, run(open, &out, args...), "%s: %s", args, &out)
	return out.String()
}

// fails runs a command line that must fail, and returns its output.
func fails(t *testing.T, open opener, args ...string) string {
	t.Helper()
	var out buffer
	require.NotZero(t, run(open, &out, args...), "%s: %s", args, &out)
	return out.String()
}

const address = "tikv://pd1:2379,pd2:2379"

// TestItems imports a table and writes an item. It tests that a shell and an export find the item, but not under
// another prefix.
func TestItems(t *testing.T) {
	t.Parallel()
	open, dir := newCluster(t), t.TempDir()
	file := dir + "/cats.jsonl"
	require.NoError(t, os.WriteFile(file, []byte(`{"Item":{"pk":{"S":"tom"}}}`+"\n"), 0o600))

	prints(t, open, "import", file, "--table", "Cats", "--key", "pk:S", "--store", address+"/app")
	prints(t, open, "put", "Cats", `{"pk": "felix", "n": 1}`, "--store", address+"/app")
	require.Contains(t, prints(t, open, "get", "Cats", "felix", "--store", address+"/app"), "felix")
	require.NotContains(t, prints(t, open, "tables", "--store", address), "Cats")

	prints(t, open, "export", "Cats", "--to", dir+"/out", "--store", address+"/app")
	require.DirExists(t, dir+"/out")
}

// TestServe reads the metrics of a server, and tests that a second server cannot open the tables. It is not parallel,
// because the signal that ends the server would interrupt other commands.
func TestServe(t *testing.T) {
	proptest.NeedLong(t)
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot interrupt itself")
	}
	open := newCluster(t)
	var out buffer
	var serving sync.WaitGroup
	serving.Go(func() {
		code := run(open, &out, "serve", "--addr", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--log", "text", "--store", address)
		if code != 0 {
			t.Errorf("exit code %d: %s", code, &out)
		}
	})
	var metrics []string
	require.Eventually(t, func() bool {
		metrics = regexp.MustCompile(`http://[0-9.:]+/metrics`).FindStringSubmatch(out.String())
		return metrics != nil && strings.Contains(out.String(), "listening on")
	}, 30*time.Second, 10*time.Millisecond, "%s", &out)

	answer, err := http.Get(metrics[0])
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Regexp(t, `\nsortkey_store_resolved_total 0\n`, string(text))
	require.Regexp(t, `\nsortkey_store_calls_running [0-9]+\n`, string(text))

	said := fails(t, open, "tables", "--store", address)
	require.Contains(t, said, "--store: tikv: another server uses these tables: ")
	require.Contains(t, said, "\nhint: stop that server, or give this one tables of its own")

	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	require.NoError(t, self.Signal(os.Interrupt))
	serving.Wait()
}

// TestRefusals gives URLs that are not valid URLs of clusters.
func TestRefusals(t *testing.T) {
	t.Parallel()
	open := func(context.Context, []string, tikv.Options) (*tikv.Store, error) {
		t.Error("the cluster is opened")
		return nil, tikv.ErrFormat
	}
	for url, want := range map[string]string{
		"tikv://":                                  `the address "" of a placement driver is not HOST:PORT`,
		"tikv://pd1":                               `the address "pd1" of a placement driver is not HOST:PORT`,
		"tikv://pd1:2379,":                         `the address "" of a placement driver is not HOST:PORT`,
		"tikv://pd1:2379/a/b":                      `the prefix "a/b" has a slash; write it as %2F`,
		"tikv://pd1:2379/%":                        `the prefix "%": invalid URL escape "%"`,
		"tikv://pd1:2379?tls=on":                   `the parameter "tls": a URL has ca, cert and key, each once`,
		"tikv://pd1:2379?ca=a&ca=b":                `the parameter "ca": a URL has ca, cert and key, each once`,
		"tikv://pd1:2379/app?ca=a&cert=b":          "a certificate needs its key: give both cert and key",
		"tikv://pd1:2379/app?cert=b&key=c":         "a certificate needs an authority: give ca as well",
		"mysql://pd1:2379":                         "the URL of a database begins with postgres:// or tikv://",
		"pd1:2379":                                 "the URL of a database begins with postgres:// or tikv://",
		"tikv://pd1:2379/app?ca=a&cert=%zz&key=xx": `the parameters after the question mark: invalid URL escape "%zz"`,
	} {
		for _, command := range []string{"init", "tables"} {
			said := fails(t, open, command, "--store", url)
			require.Contains(t, said, "sortkey: --store: "+want+"\nhint: give a URL such as ", url)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]tikv.Options{
		"tikv://a:1,[::1]:2":                      {},
		"tikv://a:1,[::1]:2/":                     {},
		"tikv://a:1,[::1]:2/app%2Fx":              {Prefix: "app/x"},
		"tikv://a:1,[::1]:2?ca=a%26":              {CA: "a&"},
		"tikv://a:1,[::1]:2/p?ca=/a&cert=b&key=c": {Prefix: "p", CA: "/a", Cert: "b", Key: "c"},
	} {
		endpoints, opts, err := parse(url)
		require.NoError(t, err, url)
		require.Equal(t, []string{"a:1", "[::1]:2"}, endpoints)
		require.Equal(t, want, opts, url)
	}
}

// TestNoCluster checks the error if no cluster answers.
func TestNoCluster(t *testing.T) {
	t.Parallel()
	said := explain(tikv.ErrFormat)
	require.ErrorIs(t, said, tikv.ErrFormat)
	open := func(context.Context, []string, tikv.Options) (*tikv.Store, error) { return nil, io.ErrUnexpectedEOF }
	require.Contains(t, fails(t, open, "tables", "--store", address), "\nhint: check that the cluster runs")
}

// TestHelp checks that the help of --store and of init mentions both engines.
func TestHelp(t *testing.T) {
	t.Parallel()
	out := prints(t, nil, "init", "--help")
	require.Contains(t, out, "search_path")
	require.Contains(t, out, "tikv://")
	require.Contains(t, prints(t, nil, "serve", "--help"), "a PostgreSQL database or a TiKV cluster")
}

// TestClientLog checks that the client's messages are logged one level lower.
func TestClientLog(t *testing.T) {
	var out buffer
	logClient(slog.New(slog.NewTextHandler(&out, nil)))
	defer logClient(nil)
	log.Info("not passed on")
	log.With().Warn("region has moved")
	log.Error("no leader")
	require.Regexp(t, `^time=\S+ level=INFO msg="tikv client: region has moved"\ntime=\S+ level=WARN msg="tikv client: no leader"\n$`, out.String())
}
