package serve

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// logFlags select what a server logs.
type logFlags struct {
	format  string // "", text or json
	verbose bool
	slow    time.Duration
}

func (f *logFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "log", "", "log to standard error in a `FORMAT`: text or json")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "log every request")
	flags.DurationVar(
		&f.slow, "slow", time.Second,
		"when logging, warn about requests that take longer than this `TIME`; 0 for never",
	)
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"log": app.Words("text", "json"),
	})
}

// logs configures the logging of a server.
type logs struct {
	*slog.Logger
	asked    bool // the user asked for a log; if false, the log has only warnings and errors
	requests bool
	slow     time.Duration
}

func (f logFlags) open(w io.Writer) (logs, error) {
	l := logs{asked: f.format != "" || f.verbose, requests: f.verbose, slow: f.slow}
	opts := &slog.HandlerOptions{Level: slog.LevelWarn}
	if l.asked {
		opts.Level = slog.LevelInfo
	}
	switch f.format {
	case "json":
		l.Logger = slog.New(slog.NewJSONHandler(w, opts))
	case "text", "":
		l.Logger = slog.New(slog.NewTextHandler(w, opts))
	default:
		return l, app.UsageError("write --log text or --log json", "--log: unknown format %q", f.format)
	}
	return l, nil
}

// observer returns the observer that logs requests, or nil if none are logged.
func (l logs) observer() sortkey.Observer {
	if !l.requests && (!l.asked || l.slow == 0) {
		return nil
	}
	return l
}

// Begin implements [sortkey.Observer].
func (logs) Begin(context.Context, *sortkey.Event) {}

// End implements [sortkey.Observer]. It logs a request if the server logs all requests, or if the request was slow or
// failed with a status from 500. Of the request's contents, it logs only the names of tables.
func (l logs) End(ctx context.Context, e *sortkey.Event) {
	level, msg := slog.LevelInfo, "request"
	switch {
	case e.Status >= http.StatusInternalServerError:
		level, msg = slog.LevelError, "request failed"
	case l.slow > 0 && e.Duration >= l.slow:
		level, msg = slog.LevelWarn, "slow request"
	case !l.requests:
		return
	}
	if !l.Enabled(ctx, level) {
		return
	}

	attrs := make([]slog.Attr, 0, 15)
	if e.Operation != "" {
		attrs = append(attrs, slog.String("operation", short(e.Operation)))
	} else {
		attrs = append(attrs, slog.String("method", short(e.Method)), slog.String("path", short(e.Path)))
	}

	if len(e.Tables) > 0 {
		attrs = append(attrs, slog.String("table", short(strings.Join(e.Tables, ","))))
	}
	attrs = append(attrs, slog.Int("status", e.Status))
	if e.Error != "" {
		attrs = append(attrs, slog.String("code", e.Error))
	}
	if e.Error == "ResourceNotFoundException" { // this message never contains values of items
		attrs = append(attrs, slog.String("message", short(e.Message)))
	}

	attrs = append(
		attrs, slog.Float64("ms", milliseconds(e.Duration)), slog.Int64("in", e.In), slog.Int64("out", e.Out),
	)
	if e.Examined > 0 {
		attrs = append(attrs, slog.Int("examined", e.Examined), slog.Int("returned", e.Returned))
	}

	var read, write float64
	for _, u := range e.Units {
		if u.Write {
			write += u.Units
		} else {
			read += u.Units
		}
	}
	if read > 0 {
		attrs = append(attrs, slog.Float64("read_units", read))
	}
	if write > 0 {
		attrs = append(attrs, slog.Float64("write_units", write))
	}
	l.LogAttrs(ctx, level, msg, append(attrs, slog.String("from", e.From), slog.String("id", e.ID))...)
}

// observers is a [sortkey.Observer] that passes each event to all of its elements.
type observers []sortkey.Observer

// Begin implements [sortkey.Observer].
func (o observers) Begin(ctx context.Context, e *sortkey.Event) {
	for _, observer := range o {
		observer.Begin(ctx, e)
	}
}

// End implements [sortkey.Observer].
func (o observers) End(ctx context.Context, e *sortkey.Event) {
	for _, observer := range o {
		observer.End(ctx, e)
	}
}

// RequestBytes implements [sortkey.RequestKeeper]. It returns the largest number that an element of o returns.
func (o observers) RequestBytes() (most int) {
	for _, observer := range o {
		if k, ok := observer.(interface{ RequestBytes() int }); ok {
			most = max(most, k.RequestBytes())
		}
	}
	return most
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// short cuts a text from a client after 64 bytes.
func short(text string) string {
	const most = 64
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
