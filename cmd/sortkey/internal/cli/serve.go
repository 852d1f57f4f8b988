package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/model"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

type serveFlags struct {
	addr        string
	verbose     bool
	cors        []string
	credentials []string
	load        []string
	data        string
}

// sweepInterval is how often items that have expired are deleted.
const sweepInterval = time.Minute

func (a *App) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a database over HTTP",
		Long: `Serve answers DynamoDB requests over HTTP until it is interrupted. The database
is in memory and gone when the command ends, unless --data names a folder to
keep it in: then every write is on disk before it is answered.

It prints one line when it is ready and nothing else, unless it is --verbose.
Every region and all credentials are accepted; --credentials turns on the check
of signatures.`,
		Example: `  sortkey serve
  sortkey serve --addr 127.0.0.1:0 --load file-tree
  sortkey serve --data ./sortkey-data
  sortkey serve --verbose --cors http://localhost:3000
  sortkey serve --addr :8000 --credentials AKIDEXAMPLE:secret
  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 aws dynamodb list-tables`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return a.serve(ctx, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", server.DefaultAddr, "`HOST:PORT` to listen on; port 0 is any free one")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "log requests to standard error")
	flags.StringArrayVar(&f.cors, "cors", nil, "`ORIGIN` whose pages may call the server, or * for all; may be repeated")
	flags.StringArrayVar(&f.credentials, "credentials", nil, "`KEY:SECRET` that requests must be signed with, or @FILE with one on each line; may be repeated")
	flags.StringArrayVar(&f.load, "load", nil, "example or model file (`NAME|FILE`) to load first; may be repeated")
	flags.StringVar(&f.data, "data", "", "`DIR` to keep the database in; it is created if it is not there")
	mustComplete(cmd, "load", completeModelFlag)
	for _, name := range []string{"addr", "cors"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (a *App) serve(ctx context.Context, f serveFlags) error {
	opts, err := f.options()
	if err != nil {
		return err
	}
	if f.verbose {
		opts.Logger = slog.New(slog.NewTextHandler(a.Stderr, nil))
	}
	opts.SweepInterval = sweepInterval
	if f.data != "" {
		if opts.Store, err = openData(f.data, opts.Logger); err != nil {
			return err
		}
	}
	db, err := sortkey.Open(opts)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, name := range f.load {
		s, err := model.Find(name)
		if err != nil {
			return err
		}
		if err := model.Load(ctx, sdk.Client(db), s); err != nil {
			return err
		}
	}
	ln, err := listen(ctx, f.addr)
	if err != nil {
		return err
	}
	who := "any credentials"
	if opts.Server.Credentials != nil {
		who = "signed with the given credentials"
	} else if !loopback(ln.Addr()) {
		fmt.Fprintf(a.Stderr, "sortkey: warning: %s can be reached from other machines, and anybody may read and write\n"+
			"hint: use --credentials, or --addr 127.0.0.1:8000\n", ln.Addr())
	}
	var wrap func(http.Handler) http.Handler
	if f.verbose {
		wrap = func(h http.Handler) http.Handler { return logRequests(h, opts.Logger) }
	}
	at := clientURL(ln.Addr())
	fmt.Fprintf(a.Stdout, "sortkey: listening on http://%s — point clients at it with AWS_ENDPOINT_URL_DYNAMODB=%s (any region, %s)\n",
		ln.Addr(), at, who)
	return db.Serve(ctx, ln, wrap)
}

// openData opens the store in a folder.
func openData(dir string, logger *slog.Logger) (store.Store, error) {
	st, err := disk.Open(dir, disk.Options{Logger: logger})
	switch {
	case errors.Is(err, disk.ErrLocked):
		return nil, hint.New("another sortkey serves it; stop that one, or name another folder", "--data: %s is in use", dir)
	case err != nil:
		return nil, fmt.Errorf("--data: %w", err)
	}
	return st, nil
}

// options returns those of the database.
func (f serveFlags) options() (sortkey.Options, error) {
	var opts sortkey.Options
	for _, origin := range f.cors {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "") {
			return opts, hint.Usage("give scheme, host and port alone, as in http://localhost:3000, or *", "--cors: %q is no origin", origin)
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
				return opts, hint.Usage("write KEY:SECRET, or @FILE with one such line for each key", "--credentials: that is not a key and its secret")
			}
			opts.Server.Credentials[key] = secret
		}
	}
	return opts, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = net.JoinHostPort("127.0.0.1", addr)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, hint.Usage("write HOST:PORT, such as 127.0.0.1:8000", "--addr: %q is no address", addr)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, hint.New("stop what listens there, or take any free port with --addr 127.0.0.1:0", "%s is in use already", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, hint.New("ports below 1024 may need rights; take one above, such as 127.0.0.1:8000", "listening on %s is not allowed", addr)
	case err != nil:
		return nil, hint.New("give an address of this machine, such as 127.0.0.1:8000", "cannot listen on %s: %v", addr, rootCause(err))
	}
	return ln, nil
}

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// clientURL returns the address for a client on this machine: a server that
// listens on all addresses is reached at localhost.
func clientURL(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return "http://localhost:" + strconv.Itoa(tcp.Port)
	}
	return "http://" + addr.String()
}

// logRequests logs what next answers, one line each.
func logRequests(next http.Handler, logger *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if op == "" {
			op = r.Method + " " + r.URL.Path
		}
		level := slog.LevelInfo
		if rec.status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		logger.Log(r.Context(), level, op, "status", rec.status, "duration", time.Since(start).Round(time.Microsecond),
			"in", r.ContentLength, "out", rec.bytes, "from", r.RemoteAddr, "id", w.Header().Get("X-Amzn-Requestid"))
	})
}

// A recorder keeps the status and the length of an answer.
type recorder struct {
	http.ResponseWriter
	status, bytes int
}

// WriteHeader implements [http.ResponseWriter].
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	return n, err
}

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func mustComplete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag has just been made
	}
}
