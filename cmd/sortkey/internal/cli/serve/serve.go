package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/store/disk"
)

// quietTime is the time with few requests after which returnMemory takes a burst of requests to be over.
const quietTime = 2 * time.Second

// Command returns the command serve.
func Command(env *app.Env) *cobra.Command {
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

--load takes examples and models with their items, templates, request files of
BatchWriteItem, PutItem and TransactWriteItems, folders of those, and exports. Data
goes into tables that are defined by then, and that were empty.

With --isolate every access key has a database of its own in memory, which begins
as a copy of what --load loads. Test suites that run in parallel can share the
server: give each a key of its own, which may be any word. With --isolate=key,region
the Region of the signature counts too, and is in ARNs; with --isolate=path it is
http://HOST:PORT/NAME that names the database, whatever the key.

--metrics serves metrics for Prometheus at /metrics on another address. They
need no signature and contain table names, so do not expose that address.

When interrupted, serve accepts no more connections and gives requests and
snapshots in progress the time of --drain to finish. A second interrupt ends it at
once. With --data no acknowledged write is lost either way. With --until-eof it also
stops when standard input ends: a test suite that starts the server with a pipe there
leaves none behind, however it ends.`,
		Example: `  sortkey serve
  sortkey serve --addr 127.0.0.1:0 --load file-tree
  sortkey serve --data ./sortkey-data
  sortkey serve --store postgres://sortkey@db.example.com/app?sslmode=verify-full
  sortkey serve --data ./sortkey-data --log json --metrics 127.0.0.1:9100
  sortkey serve --isolate --load ./model.yaml
  sortkey serve --load template.yaml -P Stage=test
  sortkey serve --load template.yaml --load seeds/
  sortkey serve --verbose --cors http://localhost:3000
  sortkey serve --addr :8000 --credentials AKIDEXAMPLE:secret
  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 aws dynamodb list-tables`,
		Args:              app.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if f.untilEOF {
				var end context.CancelFunc
				ctx, end = context.WithCancel(ctx)
				go func() {
					_, _ = io.Copy(io.Discard, env.Stdin) // an error is an end, too
					end()
				}()
			}
			return run(ctx, env, &f)
		},
	}
	f.declare(cmd, env)
	return cmd
}

func run(ctx context.Context, env *app.Env, f *serveFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	var designs []*model.Model
	if f.design != "" {
		m, err := app.LoadModel(f.design)
		if err != nil {
			return err
		}
		designs = append(designs, m)
	}
	log, err := f.log.open(env.Stderr)
	if err != nil {
		return err
	}
	began := time.Now()
	opts, options := f.opts, f.server
	opts.Logger = log.Logger
	options.Open = !log.asked // without a log, run prints the warning below, so the server logs none
	if opts.Store, err = f.openStore(ctx, env, log.Logger); err != nil {
		return err
	}

	var watch observers
	counts := metrics.New(metrics.Options{Store: opts.Store, StoreMetrics: env.StoreMetrics(opts.Store)})
	if o := log.observer(); o != nil {
		watch = append(watch, o)
	}
	if f.metrics != "" {
		watch = append(watch, counts)
	}
	var recorder *console.Recorder
	if f.console != "" {
		recorder = console.NewRecorder()
		watch = append(watch, recorder)
	}
	if len(watch) > 0 {
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
	loaded, err := load(event.Quiet(ctx), env, db, f, log) // Quiet, because observers see only requests of clients
	if err != nil {
		return err
	}
	designs = append(designs, loaded...)
	if st, ok := opts.Store.(*disk.Store); ok {
		defer serveSnapshots(ctx, f.data, st, f.drain, log)()
	}

	ln, err := listen(ctx, "--addr", f.addr)
	if err != nil {
		return err
	}
	signed := options.Credentials != nil
	if !signed && !log.asked && !loopback(ln.Addr()) {
		fmt.Fprintf(env.Stderr, "sortkey: warning: other machines can reach %s, and anyone can read and write\n"+
			"hint: use --credentials, or --addr 127.0.0.1:8000\n", ln.Addr())
	}
	front := server.New(db, options)
	if f.metrics != "" {
		counts.Watch(db)
		counts.WatchServer(front)
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", counts.Handler())
		scrapes, err := serveBeside(ctx, "--metrics", f.metrics, mux, options.AllowHosts, log)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		defer scrapes.stop()
		log.Info("metrics", "url", "http://"+scrapes.ln.Addr().String()+"/metrics")
	}
	if f.console != "" {
		end, err := serveConsole(ctx, env, f.console, clientURL(ln.Addr()), db, recorder, designs)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		defer end()
	}
	go returnMemory(ctx, engine.Of(db).Store, quietTime)

	who := "any credentials"
	switch {
	case signed:
		who = "signed with the given credentials"
	case f.isolate != "":
		who = "a database for each " + isolations[f.isolate]
	}
	fmt.Fprintf(
		env.Stdout,
		"sortkey: listening on http://%s — point clients at it with AWS_ENDPOINT_URL_DYNAMODB=%s (any region, %s)\n",
		ln.Addr(), clientURL(ln.Addr()), who,
	)
	log.Info("listening", "addr", ln.Addr().String(), "data", f.data, "signed", signed,
		"ms", milliseconds(time.Since(began)), "version", app.Version())
	if f.control != "" {
		end, err := serveControl(ctx, env, f.control, front, log)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		defer end()
	}
	return serveUntil(ctx, front, ln, f.drain, log)
}

// load loads the files and examples of --load. It returns the models that it has loaded.
func load(
	ctx context.Context, env *app.Env, db *sortkey.DB, f *serveFlags, log logs,
) (designs []*model.Model, err error) {
	definitions, err := f.definitions.Reader()
	if err != nil {
		return nil, err
	}

	o := dataset.Options{MaxItems: f.maxItems}
	if f.maxItems == 0 {
		o.MaxItems = -1
	}

	loader := models.Loader{DB: db, Definitions: definitions}
	for _, name := range f.load {
		status := env.Status()
		o.Progress = func(items int) { status.Show("%s: generated %s", name, text.Count(items, "item")) }
		loader.Dataset = o
		loaded, notes, err := loader.Load(ctx, name)
		status.Clear()
		if err != nil {
			return nil, err
		}
		if loaded.Model != nil {
			designs = append(designs, loaded.Model)
		}

		log.Info("loaded", "name", name, "tables", loaded.Created, "items", loaded.Written, "share", loaded.Scale)
		if !log.asked {
			fmt.Fprintf(env.Stderr, "sortkey: %s: %s\n", name, whatLoaded(loaded))
		}

		for _, n := range notes {
			fmt.Fprintf(env.Stderr, "sortkey: %s: %s\n", name, n.Text)
			if n.Advice != "" {
				fmt.Fprintf(env.Stderr, "hint: %s\n", n.Advice)
			}
		}
	}
	return designs, nil
}

// whatLoaded describes l in words, such as "2 tables, 100 items".
func whatLoaded(l models.Loaded) string {
	switch {
	case l.Found:
		return "nothing loaded: its tables are there already"
	case l.Created == 0 && l.Deleted > 0:
		return text.Count(l.Written, "item") + ", " + text.Count(l.Deleted, "delete")
	case l.Created == 0:
		return text.Count(l.Written, "item") + shareOf(l)
	}
	return text.Count(l.Created, "table") + ", " + text.Count(l.Written, "item") + shareOf(l)
}

// shareOf returns words for the share of the model's items that load has loaded, or "" if it has loaded all of them.
func shareOf(l models.Loaded) string {
	switch {
	case l.Scale <= 0:
		return ", without generated ones"
	case l.Scale < 1:
		return fmt.Sprintf(", %s of those that the model declares (--max-items generates more)", text.Percent(l.Scale))
	}
	return ""
}

// serveUntil serves on ln until ctx ends.
func serveUntil(ctx context.Context, options *server.Server, ln net.Listener, drain time.Duration, log logs) error {
	stopping := sync.OnceFunc(func() {
		log.Info("stopping", "cause", context.Cause(ctx).Error(), "drain", drain.String())
	})
	forget := context.AfterFunc(ctx, stopping)
	err := options.Serve(ctx, ln)
	forget()
	if ctx.Err() != nil {
		stopping() // AfterFunc may not have called it before Serve returned
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return advice.New(
			"give requests more time with --drain", "canceled requests that had not finished after %s", drain,
		)
	}
	return err
}
