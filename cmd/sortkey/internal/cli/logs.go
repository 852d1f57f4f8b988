package cli

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
)

// logFlags say what a server logs.
type logFlags struct {
	form    string // "", text or json
	level   string
	verbose bool
	slow    time.Duration
}

func (f *logFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.form, "log", "", "log what happens to standard error, as `FORM`: text or json")
	flags.StringVar(&f.level, "log-level", "", "lowest `LEVEL` to log: debug, info, warn or error (default info)")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "log each request, and all the rest")
	flags.DurationVar(&f.slow, "slow", time.Second, "with logs, warn of requests that take `LONGER`; 0 is never")
	mustComplete(cmd, "log", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	mustComplete(cmd, "log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	mustComplete(cmd, "slow", cobra.NoFileCompletions)
}

// logs is where a server logs to, and which requests.
type logs struct {
	*slog.Logger
	asked    bool // or else there are warnings and errors only
	requests bool
	slow     time.Duration
}

func (f logFlags) open(w io.Writer) (logs, error) {
	l := logs{asked: f.form != "" || f.level != "" || f.verbose, requests: f.verbose, slow: f.slow}
	if f.slow < 0 {
		return l, hint.Usage("give a time such as 500ms, or 0 for never", "--slow: %s is less than nothing", f.slow)
	}
	opts := &slog.HandlerOptions{Level: slog.LevelWarn}
	switch strings.ToLower(f.level) {
	case "debug":
		opts.Level = slog.LevelDebug
	case "info":
		opts.Level = slog.LevelInfo
	case "warn":
	case "error":
		opts.Level = slog.LevelError
	case "":
		if l.asked {
			opts.Level = slog.LevelInfo
		}
	default:
		return l, hint.Usage("levels are debug, info, warn and error", "--log-level: there is no level %q", f.level)
	}
	switch f.form {
	case "json":
		l.Logger = slog.New(slog.NewJSONHandler(w, opts))
	case "text", "":
		l.Logger = slog.New(slog.NewTextHandler(w, opts))
	default:
		return l, hint.Usage("write --log text or --log json", "--log: there is no form %q", f.form)
	}
	return l, nil
}

// wrap returns a handler that logs what next answers, next itself if no
// request is logged at all.
func (l logs) wrap(next http.Handler) http.Handler {
	if !l.requests && (!l.asked || l.slow == 0) {
		return next
	}
	return metrics.Watch(next, metrics.WatchOptions{Tables: true}, l.request)
}

// request logs one request: all when they are asked for, and otherwise those
// that are slow or failed here. Nothing of what it carried is logged, but the
// names of tables.
func (l logs) request(ctx context.Context, r *metrics.Request) {
	level, msg := slog.LevelInfo, "request"
	switch {
	case r.Status >= http.StatusInternalServerError:
		level, msg = slog.LevelError, "request failed"
	case l.slow > 0 && r.Duration >= l.slow:
		level, msg = slog.LevelWarn, "slow request"
	case !l.requests:
		return
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 15)
	if r.Operation != "" {
		attrs = append(attrs, slog.String("operation", short(r.Operation)))
	} else {
		attrs = append(attrs, slog.String("method", short(r.Method)), slog.String("path", short(r.Path)))
	}
	if len(r.Tables) > 0 {
		attrs = append(attrs, slog.String("table", strings.Join(r.Tables, ",")))
	}
	attrs = append(attrs, slog.Int("status", r.Status))
	if r.Code != "" {
		attrs = append(attrs, slog.String("code", r.Code))
	}
	attrs = append(attrs, slog.Float64("ms", milliseconds(r.Duration)), slog.Int64("in", r.In), slog.Int64("out", r.Out))
	if r.Examined > 0 {
		attrs = append(attrs, slog.Int("examined", r.Examined), slog.Int("returned", r.Returned))
	}
	read, write := r.Units()
	if read > 0 {
		attrs = append(attrs, slog.Float64("read_units", read))
	}
	if write > 0 {
		attrs = append(attrs, slog.Float64("write_units", write))
	}
	l.LogAttrs(ctx, level, msg, append(attrs, slog.String("from", r.From), slog.String("id", r.ID))...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// short cuts what a client may have made long.
func short(text string) string {
	const most = 64
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
