package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/server"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/postgres"
)

type serveFlags struct {
	addr        string
	cors        []string
	credentials []string
	load        []string
	data        string
	store       string
	metrics     string
	hosts       []string
	connections int
	pending     int
	acceptLoss  bool
	sweep       time.Duration
	shards      int
	s3Root      string
	kinesis     string
	wording     string
	tableDelay  time.Duration
	stale       sortkey.StaleReads
	enforce     bool
	transaction time.Duration
	isolate     bool
	drain       time.Duration
	log         logFlags
}

// maxShards is the largest value of --stream-shards.
const maxShards = 1000

// maxIsolated is the number of databases that --isolate keeps.
const maxIsolated = 1000

// wordings are the values of --wording.
var wordings = map[string]sortkey.Wording{"2026-10": sortkey.WordingOctober2026, "2026-05": sortkey.WordingMay2026}

// quietTime is how long no collection must have been necessary before memory is
// returned to the system.
const quietTime = 10 * time.Second

func (a *App) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a database over HTTP",
		Long: `Serve answers DynamoDB requests over HTTP until you interrupt it. The database is
in memory and lost at the end, unless --data names a folder for it, or --store a
PostgreSQL database: then every write is there before serve acknowledges it. One
server at a time can use a folder; a second one is refused. Any number of servers
can share a PostgreSQL database.

Serve prints one line when it is ready and otherwise only warnings and errors;
--log and --verbose print more. It accepts any region and any credentials;
--credentials makes it check signatures.

Without --credentials, a server on a loopback address answers only requests whose
Host header names this machine, so that web pages cannot reach it under a name of
their own; --allow-host allows more names. Pages of an origin need --cors.

The memory for request bodies and for answers that clients have not read is
limited (--max-pending-mb); beyond it, requests fail with status 503 and can be
repeated. At least 100 MB of disk space should be free: when the disk is full, the
server refuses requests and GET /healthz answers with status 503.

With --isolate every access key has a database of its own in memory, which begins
as a copy of what --load loads. Test suites that run in parallel can share the
server: give each a key of its own, which may be any text.

--metrics serves metrics for Prometheus at /metrics on another address. They
need no signature and contain table names, so do not expose that address.

When interrupted, serve accepts no more connections and gives requests and
snapshots in progress the time of --drain to finish. A second interrupt ends it at
once. With --data no acknowledged write is lost either way.`,
		Example: `  sortkey serve
  sortkey serve --addr 127.0.0.1:0 --load file-tree
  sortkey serve --data ./sortkey-data
  sortkey serve --store postgres://sortkey@db.example.com/app?sslmode=verify-full
  sortkey serve --data ./sortkey-data --log json --metrics 127.0.0.1:9100
  sortkey serve --isolate --load ./model.yaml
  sortkey serve --verbose --cors http://localhost:3000
  sortkey serve --addr :8000 --credentials AKIDEXAMPLE:secret
  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 aws dynamodb list-tables`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal kills the process
			return a.serve(ctx, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", server.DefaultAddr, "`HOST:PORT` to listen on; port 0 for any free port")
	flags.StringArrayVar(&f.cors, "cors", nil, "`ORIGIN` whose pages may call the server, or * for all; repeatable")
	flags.StringArrayVar(
		&f.credentials, "credentials", nil,
		"accept only requests signed with `KEY:SECRET`, or @FILE with one on each line; repeatable",
	)
	flags.StringArrayVar(&f.load, "load", nil, "example or model file (`NAME|FILE`) to load; repeatable")
	flags.StringVar(&f.data, "data", "", "`DIR` of the database; created if it does not exist (default in memory)")
	flags.BoolVar(
		&f.isolate, "isolate", false,
		fmt.Sprintf("give each access key its own database in memory, up to %d at a time", maxIsolated),
	)
	flags.StringVar(&f.store, "store", "", storeUsage)
	cmd.MarkFlagsMutuallyExclusive("data", "store")
	flags.StringVar(&f.metrics, "metrics", "", "`HOST:PORT` to serve Prometheus metrics on, at /metrics")
	flags.StringArrayVar(
		&f.hosts, "allow-host", nil,
		"`NAME` in Host headers to allow besides those of this machine, or * for all; repeatable",
	)
	flags.IntVar(
		&f.connections, "max-connections", 0,
		"limit of open connections; others wait (default half of the open files allowed, at most 4096)",
	)
	flags.IntVar(&f.pending, "max-pending-mb", 256, "limit of the memory for request bodies, and for answers, in MB")
	flags.BoolVar(
		&f.acceptLoss, "accept-loss", false, "open a folder with a damaged log without the updates that cannot be read",
	)
	flags.DurationVar(&f.sweep, "sweep", time.Second, "`TIME` between two deletions of expired items")
	flags.StringVar(&f.s3Root, "s3-root", "", "`FOLDER` whose folders are the S3 buckets of exports and imports")
	flags.StringVar(&f.kinesis, "kinesis", "", "`FILE` to append the changes of tables with Kinesis destinations to")
	flags.IntVar(&f.shards, "stream-shards", 1, "`NUMBER` of shards that new streams have at a time")
	flags.StringVar(&f.wording, "wording", "2026-10", "`MONTH` whose wording error messages have: 2026-10 or 2026-05")
	flags.DurationVar(
		&f.tableDelay, "table-delay", 0, "`TIME` for which tables and indexes are CREATING, UPDATING and DELETING",
	)
	flags.DurationVar(
		&f.stale.Window, "stale-reads", 0,
		"`TIME` for which eventually consistent reads may miss a change, in memory only",
	)
	flags.Uint64Var(&f.stale.Seed, "stale-seed", 0, "`NUMBER` that chooses what --stale-reads miss")
	flags.BoolVar(&f.stale.Oldest, "stale-oldest", false, "let --stale-reads always miss as much as they may")
	flags.BoolVar(
		&f.enforce, "enforce-throughput", false,
		"throttle requests above the throughput of tables, indexes and partition keys",
	)
	flags.DurationVar(
		&f.transaction, "transaction-delay", 0,
		"`TIME` for which transactions hold their items, so that others conflict",
	)
	flags.DurationVar(
		&f.drain, "drain", 10*time.Second, "`TIME` for requests in progress to finish when the server stops",
	)
	f.log.register(cmd)
	mustComplete(cmd, "load", completeModelFlag)
	mustComplete(
		cmd, "wording", cobra.FixedCompletions([]string{"2026-10", "2026-05"}, cobra.ShellCompDirectiveNoFileComp),
	)
	for _, name := range []string{"addr", "cors", "store", "metrics", "allow-host", "max-connections", "max-pending-mb", "sweep", "s3-root", "stream-shards", "table-delay", "stale-reads", "stale-seed", "transaction-delay", "drain"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (a *App) serve(ctx context.Context, f serveFlags) (err error) {
	opts, err := f.options()
	if err != nil {
		return err
	}
	log, err := f.log.open(a.Stderr)
	if err != nil {
		return err
	}
	began := time.Now()
	opts.Logger = log.Logger
	opts.Server.Open = !log.asked // the warning below is for people
	if f.kinesis != "" {
		out, err := os.OpenFile(f.kinesis, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("--kinesis: %w", err)
		}
		defer out.Close()
		records := &recordFile{out: out, log: opts.Logger}
		opts.Kinesis = records.writer("")
		opts.Server.IsolateOptions = func(key string, o *sortkey.Options) { o.Kinesis = records.writer(key) }
	}
	switch {
	case f.data != "":
		opts.Store, err = openData(f.data, disk.Options{Logger: opts.Logger, AcceptLoss: f.acceptLoss})
	case f.store != "":
		opts.Store, err = openPostgres(ctx, f.store, postgres.Options{Logger: opts.Logger})
	}
	if err != nil {
		return err
	}
	watch := &observers{}
	if o := log.observer(); o != nil {
		watch.all = append(watch.all, o)
	}
	counts := metrics.New(metrics.Options{Store: opts.Store})
	if f.metrics != "" {
		watch.all = append(watch.all, counts)
	}
	if len(watch.all) > 0 {
		opts.Observer = watch
	}
	db, err := sortkey.Open(opts)
	if err != nil {
		if opts.Store != nil {
			err = errors.Join(err, opts.Store.Close())
		}
		return err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
		log.Info("stopped")
	}()
	for _, name := range f.load {
		s, err := models.Find(name)
		if err != nil {
			return err
		}
		if _, err := models.Ensure(ctx, sdk.Client(db), s); err != nil {
			return err
		}
	}
	if st, ok := opts.Store.(*disk.Store); ok {
		control, failed := snapshot.Listen(ctx, f.data, st, f.drain)
		if failed != nil {
			log.Warn("snapshots are disabled", "err", failed)
		} else {
			defer func() {
				closed := control.Close()
				if errors.Is(closed, snapshot.ErrStopped) {
					closed = advice.New("take it again; --drain gives it more time", "%w", closed)
				}
				switch {
				case err == nil:
					err = closed
				case closed != nil:
					log.Warn("snapshot", "err", closed)
				}
			}()
		}
	}
	ln, err := listen(ctx, "--addr", f.addr)
	if err != nil {
		return err
	}
	who := "any credentials"
	if f.isolate {
		who = "a database for each access key"
	}
	if opts.Server.Credentials != nil {
		who = "signed with the given credentials"
	} else if !loopback(ln.Addr()) && !log.asked {
		fmt.Fprintf(a.Stderr, "sortkey: warning: other machines can reach %s, and anyone can read and write\n"+
			"hint: use --credentials, or --addr 127.0.0.1:8000\n", ln.Addr())
	}
	if f.metrics != "" {
		scrapes, err := serveMetrics(ctx, f.metrics, db, counts, opts.Server.AllowHosts, log)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		defer scrapes.stop()
		log.Info("metrics", "url", "http://"+scrapes.ln.Addr().String()+"/metrics")
	}
	watch.open.Store(true)
	go returnMemory(ctx, quietTime)
	at := clientURL(ln.Addr())
	fmt.Fprintf(a.Stdout, "sortkey: listening on http://%s — point clients at it with AWS_ENDPOINT_URL_DYNAMODB=%s (any region, %s)\n",
		ln.Addr(), at, who)
	log.Info("listening", "addr", ln.Addr().String(), "data", f.data, "signed", opts.Server.Credentials != nil,
		"ms", milliseconds(time.Since(began)), "version", version())
	stopping := sync.OnceFunc(func() {
		log.Info("stopping", "cause", context.Cause(ctx).Error(), "drain", f.drain.String())
	})
	forget := context.AfterFunc(ctx, stopping)
	err = db.Serve(ctx, ln)
	forget()
	if ctx.Err() != nil {
		stopping() // Serve may have been faster
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return advice.New(
			"give requests more time with --drain", "canceled requests that had not finished after %s", f.drain,
		)
	}
	return err
}

// openData opens the store in a folder.
func openData(dir string, opts disk.Options) (store.Store, error) {
	st, err := disk.Open(dir, opts)
	switch {
	case errors.Is(err, disk.ErrLoss):
		return nil, &advice.Error{
			Msg: "--data: " + err.Error(), Err: err,
			Advice: "restore a snapshot, or open the folder without these updates with sortkey serve --accept-loss",
		}
	case errors.Is(err, disk.ErrLocked):
		return nil, &advice.Error{
			Msg: fmt.Sprintf("--data: %s is in use", dir), Err: err,
			Advice: "stop the sortkey that serves it, or name another folder",
		}
	case err != nil:
		return nil, fmt.Errorf("--data: %w", err)
	}
	return st, nil
}

// A recordFile is the file of --kinesis.
type recordFile struct {
	log *slog.Logger

	mu  sync.Mutex
	out io.Writer
}

// A recordLine is a line of it.
type recordLine struct {
	AccessKey string          `json:"accessKey,omitempty"` // with --isolate, if there is one
	StreamARN string          `json:"streamARN"`
	Data      json.RawMessage `json:"data"`
}

// writer returns a function that appends a line for each record of the database of an
// access key, or of the server's own database.
func (f *recordFile) writer(key string) func(arn string, record []byte) {
	return func(arn string, record []byte) {
		line, err := json.Marshal(recordLine{key, arn, record})
		if err == nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			_, err = f.out.Write(append(line, '\n'))
		}
		if err != nil {
			f.log.Error("cannot write to the file of --kinesis", "error", err)
		}
	}
}

// options returns the options of the database.
func (f serveFlags) options() (sortkey.Options, error) {
	var opts sortkey.Options
	if f.drain < 0 {
		return opts, usageError(
			"give a time such as 10s, or 0 to cancel requests at once", "--drain: %s is negative", f.drain,
		)
	}
	if opts.Server.ShutdownTimeout = f.drain; f.drain == 0 {
		opts.Server.ShutdownTimeout = -1
	}
	if f.sweep <= 0 {
		return opts, usageError("give a time such as 1s", "--sweep: %s is not positive", f.sweep)
	}
	if f.isolate && (f.data != "" || f.store != "") {
		return opts, usageError(
			"leave out --data and --store, or --isolate",
			"--isolate: the databases of access keys are in memory, so --data or --store would stay empty",
		)
	}
	if f.isolate {
		opts.Server.Isolate = maxIsolated
	}
	if f.shards < 1 || f.shards > maxShards {
		return opts, usageError(
			fmt.Sprintf("give a number from 1 to %d", maxShards), "--stream-shards: %d is out of bounds", f.shards,
		)
	}
	opts.SweepInterval, opts.StreamShards, opts.S3Root = f.sweep, f.shards, f.s3Root
	for _, d := range []struct {
		flag string
		time time.Duration
	}{{"--table-delay", f.tableDelay}, {"--stale-reads", f.stale.Window}, {"--transaction-delay", f.transaction}} {
		if d.time < 0 {
			return opts, usageError("give a time such as 2s", "%s: %s is negative", d.flag, d.time)
		}
	}
	if f.stale.Window > 0 && f.data != "" {
		return opts, usageError("leave out --data", "--stale-reads needs a database in memory")
	}
	opts.Simulate = sortkey.Simulation{
		TableDelay: f.tableDelay, StaleReads: f.stale, EnforceThroughput: f.enforce, TransactionDelay: f.transaction,
	}
	var ok bool
	if opts.Wording, ok = wordings[f.wording]; !ok {
		return opts, usageError("give 2026-10 or 2026-05", "--wording: %q is not a known month", f.wording)
	}
	if f.connections < 0 || f.pending < 1 {
		return opts, usageError(
			"give --max-connections and --max-pending-mb a positive number", "a limit is not positive",
		)
	}
	opts.Server.MaxConnections, opts.Server.MaxPendingBytes = f.connections, int64(f.pending)<<20
	opts.Server.AllowHosts = f.hosts
	if name, _, err := net.SplitHostPort(f.addr); err == nil && net.ParseIP(name) == nil {
		opts.Server.AllowHosts = append(opts.Server.AllowHosts, name) // the name that the user listens on
	}
	for _, origin := range f.cors {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "") {
			return opts, usageError(
				"give only scheme, host and port, as in http://localhost:3000, or *", "--cors: %q is not an origin",
				origin,
			)
		}
		opts.Server.CORS = append(opts.Server.CORS, origin)
	}
	for _, text := range f.credentials {
		lines := []string{text}
		if file, ok := strings.CutPrefix(text, "@"); ok {
			data, err := os.ReadFile(file)
			if err != nil {
				return opts, fmt.Errorf("--credentials: %w", err)
			}
			lines = strings.Split(string(data), "\n")
		}
		if opts.Server.Credentials == nil {
			opts.Server.Credentials = map[string]string{}
		}
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if line == "" && len(lines) > 1 || strings.HasPrefix(line, "#") {
				continue
			}
			key, secret, ok := strings.Cut(line, ":")
			if !ok || key == "" || secret == "" {
				return opts, usageError(
					"write KEY:SECRET, or @FILE with one such line for each key",
					"--credentials: missing key or secret",
				)
			}
			if strings.Contains(secret, ":") {
				return opts, usageError("give each key its own --credentials KEY:SECRET; session tokens are not checked",
					"--credentials: more than one colon after key %q", key)
			}
			opts.Server.Credentials[key] = secret
		}
	}
	return opts, nil
}

// listen listens on the address in a flag.
func listen(ctx context.Context, flag, addr string) (net.Listener, error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = net.JoinHostPort("127.0.0.1", addr)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, usageError("write HOST:PORT, such as 127.0.0.1:8000", "%s: %q is not an address", flag, addr)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, advice.New(
			"stop the program that listens there, or use any free port with "+flag+" 127.0.0.1:0",
			"%s is already in use", addr,
		)
	case errors.Is(err, syscall.EACCES):
		return nil, advice.New(
			"ports below 1024 may need privileges; use a higher one, such as 127.0.0.1:8000",
			"listening on %s is not permitted", addr,
		)
	case err != nil:
		return nil, advice.New(
			"give an address of this machine, such as 127.0.0.1:8000", "cannot listen on %s: %v", addr, rootCause(err),
		)
	}
	return ln, nil
}

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// clientURL returns the URL for a client on this machine: localhost if the server
// listens on all addresses.
func clientURL(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return "http://localhost:" + strconv.Itoa(tcp.Port)
	}
	return "http://" + addr.String()
}

func mustComplete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag exists
	}
}
