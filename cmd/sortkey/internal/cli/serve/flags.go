package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/files"
	protocol "github.com/sortkey/sortkey/internal/server"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// serveFlags are the flags of serve. Most of them set an option of the database.
type serveFlags struct {
	opts   sortkey.Options
	server server.Options

	addr, data, store, metrics, console, design, control string
	isolate                                              string
	load, credentials                                    []string
	maxItems                                             int
	pendingMB                                            int
	drain                                                time.Duration
	acceptLoss, untilEOF                                 bool
	log                                                  logFlags
	definitions                                          app.DefinitionFlags
}

// maxShards is the largest value of --stream-shards.
const maxShards = 1000

// maxIsolated is the number of databases that --isolate keeps at a time.
const maxIsolated = 1000

// isolations maps each value of --isolate to words for what requests to the same database have in common.
var isolations = map[string]string{
	"key": "access key", "key,region": "access key and region", "path": "NAME after the address",
}

func (f *serveFlags) declare(cmd *cobra.Command, env *app.Env) {
	flags, o := cmd.Flags(), &f.opts
	flags.StringVar(
		&f.addr, "addr", protocol.DefaultAddr,
		"`HOST:PORT` to listen on, or a port of 127.0.0.1; port 0 for any free port",
	)
	flags.StringVar(&f.metrics, "metrics", "", "`HOST:PORT` to serve Prometheus metrics on, at /metrics")
	flags.StringVar(
		&f.console, "console", "",
		"serve pages about the tables and their requests on this `PORT` of 127.0.0.1; 0 for any",
	)
	flags.Lookup("console").NoOptDefVal = "0"
	flags.StringVar(&f.design, "design", "", "`NAME|FILE` of the model of the tables, for the pages of --console")
	flags.StringVar(
		&f.control, "control", "", "with --isolate, let tests control databases on this `PORT` of 127.0.0.1; 0 for any",
	)
	flags.Lookup("control").NoOptDefVal = "0"
	flags.StringVar(&f.data, "data", "", "`DIR` of the database; created if it does not exist (default in memory)")
	flags.StringVar(&f.store, "store", "", env.StoreUsage())
	cmd.MarkFlagsMutuallyExclusive("data", "store")
	flags.BoolVar(
		&f.acceptLoss, "accept-loss", false, "open a folder with a damaged log without the updates that cannot be read",
	)
	flags.StringArrayVar(
		&f.load, "load", nil, "example, model, template, requests or export (`NAME|PATH`) to load; repeatable",
	)
	f.definitions.Declare(cmd)
	flags.IntVar(&f.maxItems, "max-items", dataset.DefaultMaxItems,
		"generate at most `N` items for each --load; 0 for samples only")
	f.log.declare(cmd)

	flags.StringArrayVar(
		&f.credentials, "credentials", nil,
		"accept only requests signed with `KEY:SECRET`, or @FILE with one on each line; repeatable",
	)
	flags.Func(
		"isolate", fmt.Sprintf("give each access key its own database in memory, up to %d at a time; or each `WHAT`: "+
			"key,region, or path, the NAME in http://HOST:PORT/NAME", maxIsolated),
		func(what string) error {
			if isolations[what] == "" {
				return errors.New("give key, or key,region, or path")
			}
			f.isolate = what
			return nil
		},
	)
	flags.Lookup("isolate").NoOptDefVal = "key"
	flags.StringArrayVar(
		&f.server.CORS, "cors", nil, "`ORIGIN` whose pages may call the server, or * for all; repeatable",
	)
	flags.StringArrayVar(
		&f.server.AllowHosts, "allow-host", nil,
		"`NAME` in Host headers to allow besides those of this machine, or * for all; repeatable",
	)
	flags.IntVar(
		&f.server.MaxConnections, "max-connections", 0,
		"limit of open connections; a new one takes the place of the one that waits longest "+
			"(default half of the open files allowed, at most 4096)",
	)
	flags.IntVar(&f.pendingMB, "max-pending-mb", 256, "limit of the memory for request bodies, and for answers, in MB")
	flags.DurationVar(
		&f.drain, "drain", 10*time.Second, "`TIME` for requests in progress to finish when the server stops",
	)

	flags.BoolVar(
		&f.untilEOF, "until-eof", false,
		"stop when standard input ends, and so with the process that holds the other end, even if it is killed",
	)

	flags.DurationVar(&o.SweepInterval, "sweep", time.Second, "`TIME` between two deletions of expired items")
	flags.StringVar(&o.S3Root, "s3-root", "", "`FOLDER` whose folders are the S3 buckets of exports and imports")
	flags.IntVar(&o.StreamShards, "stream-shards", 1, "`NUMBER` of shards that new streams have at a time")
	flags.DurationVar(
		&o.Simulate.TableDelay, "table-delay", 0,
		"`TIME` for which tables and indexes are CREATING, UPDATING and DELETING",
	)
	flags.DurationVar(
		&o.Simulate.StaleReads.Window, "stale-reads", 0,
		"`TIME` for which eventually consistent reads may miss a change, in memory only",
	)
	flags.BoolVar(
		&o.Simulate.StaleReads.Oldest, "stale-oldest", false, "let --stale-reads always miss as much as they may",
	)
	flags.BoolVar(
		&o.Simulate.EnforceThroughput, "enforce-throughput", false,
		"throttle requests above the throughput of tables, indexes and partition keys",
	)
	flags.DurationVar(
		&o.Simulate.TransactionDelay, "transaction-delay", 0,
		"`TIME` for which transactions hold their items, so that others conflict",
	)
	app.AtLeast(cmd, map[string]string{
		"drain": "0s", "sweep": "1ms", "slow": "0s",
		"table-delay": "0s", "stale-reads": "0s", "transaction-delay": "0s",
		"stream-shards": "1", "max-connections": "1", "max-pending-mb": "1", "max-items": "0",
	})
	app.Needs(cmd, map[string][]string{
		"control": {"isolate"}, "design": {"console"}, "accept-loss": {"data"}, "parameter": {"load"},
		"max-items": {"load"}, "stale-oldest": {"stale-reads"},
		"slow": {"log", "verbose"},
	})
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"credentials": app.Paths, "data": app.Paths, "load": app.ModelNames,
		"design":  app.ModelNames,
		"isolate": app.Words("key", "key,region", "path"),
	})
}

// check returns an error if a flag is wrong. It also sets the options of the server that need more than the value of
// one flag.
func (f *serveFlags) check() error {
	o := &f.opts
	if f.server.ShutdownTimeout = f.drain; f.drain == 0 {
		f.server.ShutdownTimeout = -1
	}
	isolates := f.isolate != ""
	if isolates && (f.data != "" || f.store != "") {
		return app.UsageError(
			"leave out --data and --store, or --isolate",
			"--isolate: its databases are in memory, so --data or --store would stay empty",
		)
	}

	if isolates {
		f.server.Isolate, f.server.IsolateBy = maxIsolated, f.isolate
	}
	if o.StreamShards > maxShards {
		return app.UsageError(
			fmt.Sprintf("give at most %d", maxShards), "--stream-shards: %d is too large", o.StreamShards,
		)
	}
	if info, err := os.Stat(o.S3Root); o.S3Root != "" && (err != nil || !info.IsDir()) {
		return app.UsageError("create it, with a folder for each bucket", "--s3-root: %s is not a folder", o.S3Root)
	}

	if o.Simulate.StaleReads.Window > 0 && f.data != "" {
		return app.UsageError("leave out --data", "--stale-reads needs a database in memory")
	}

	f.server.MaxPendingBytes = int64(f.pendingMB) << 20
	if name, _, err := net.SplitHostPort(f.addr); err == nil && net.ParseIP(name) == nil {
		// The user listens on a host name, so clients may send that name in the Host header: accept it.
		f.server.AllowHosts = append(f.server.AllowHosts, name)
	}
	for _, origin := range f.server.CORS {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "") {
			return app.UsageError(
				"give only scheme, host and port, as in http://localhost:3000, or *", "--cors: %q is not an origin",
				origin,
			)
		}
	}
	return f.readCredentials()
}

// readCredentials sets the credentials that the server accepts. It reads them from the flags and from the files that
// the flags name.
func (f *serveFlags) readCredentials() error {
	if f.credentials == nil {
		return nil
	}

	accepted := map[string]string{}
	f.server.Credentials = accepted
	for _, text := range f.credentials {
		lines := []string{text}
		if file, ok := strings.CutPrefix(text, "@"); ok {
			data, err := files.Read(file, 1<<20)
			if err != nil {
				return fmt.Errorf("--credentials: %w", err)
			}
			lines = strings.Split(string(data), "\n")
		}

		for _, line := range lines {
			line = strings.TrimSpace(line)
			if line == "" && len(lines) > 1 || strings.HasPrefix(line, "#") {
				continue
			}

			key, secret, ok := strings.Cut(line, ":")
			if !ok || key == "" || secret == "" {
				return app.UsageError(
					"write KEY:SECRET, or @FILE with one such line for each key",
					"--credentials: missing key or secret",
				)
			}

			if strings.Contains(secret, ":") {
				return app.UsageError(
					"give each key its own --credentials KEY:SECRET; session tokens are not checked",
					"--credentials: more than one colon after key %q", key,
				)
			}

			accepted[key] = secret
		}
	}
	return nil
}

// openStore opens the store that the flags name. It returns nil if the database is in memory.
func (f *serveFlags) openStore(ctx context.Context, env *app.Env, log *slog.Logger) (store.Store, error) {
	switch {
	case f.data != "":
		return app.OpenData(f.data, disk.Options{Logger: log, AcceptLoss: f.acceptLoss})
	case f.store != "":
		return env.OpenStore(ctx, f.store, log)
	}
	return nil, nil
}
