package app

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/internal/text"
)

// An Env is the environment in which a command runs: its streams, its variables, and the databases that it can open.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv returns an environment variable, or "" if it is not set.
	Getenv func(name string) string
	// Width returns the width of the terminal behind Stdout in columns, or 0 if
	// Stdout is not a terminal.
	Width func() int
	// Engines open the databases of --store.
	Engines []Engine
	// Source is the source of all commands in a shell. If it is nil, the flags of a command select the source.
	Source *Source
}

// Causes returns a logger to Stderr for a database in this process. The database logs the cause of an internal error,
// such as a damaged folder. The response to the request does not contain the cause.
func (e *Env) Causes() *slog.Logger {
	withoutTime := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(e.Stderr, &slog.HandlerOptions{
		Level: slog.LevelError, ReplaceAttr: withoutTime,
	}))
}

// System returns the Env of the process. Its only engine is PostgreSQL; a program that links another engine appends
// it to Engines.
func System() *Env {
	return &Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Engines: []Engine{postgresEngine},
		Width:   func() int { return show.Width(os.Stdout) },
	}
}

// Style returns the style for Stdout.
func (e *Env) Style() show.Style { return show.StyleFor(e.Width(), e.Getenv) }

// Prose returns the width at which to wrap prose, in columns. It is the value of COLUMNS if that is set. Otherwise it
// is the width of the terminal, at most 100, or 100 if Stdout is not a terminal.
func (e *Env) Prose() int {
	if n, err := strconv.Atoi(e.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if w := e.Width(); w > 0 {
		return min(w, 100)
	}
	return 100
}

// get returns the value of the first of the variables names that is set, or def if none is set.
func (e *Env) get(def string, names ...string) string {
	for _, name := range names {
		if v := e.Getenv(name); v != "" {
			return v
		}
	}
	return def
}

// WriteJSON writes v as an indented JSON document, with invisible characters as escapes.
func WriteJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, text.VisibleJSON(b.String()))
	return err
}
