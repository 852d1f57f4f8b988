package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/demo"
	"github.com/sortkey/sortkey/internal/text"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed, or found a wrong answer
	exitUsage  = 2 // the command line is wrong
)

// An App is the environment of a command.
type App struct {
	Stdout, Stderr io.Writer
	// Getenv returns an environment variable, or "" if it is not set.
	Getenv func(name string) string
	// Width returns the width of the terminal behind Stdout in columns, or 0 if
	// Stdout is not a terminal.
	Width func() int
}

// System returns the App of the process.
func System() *App {
	return &App{
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Width: func() int {
			fd := int(os.Stdout.Fd())
			if !term.IsTerminal(fd) {
				return 0
			}
			width, _, err := term.GetSize(fd)
			if err != nil || width <= 0 {
				return 80
			}
			return width
		},
	}
}

// Main runs the command with args and returns the exit code.
func Main(args []string, app *App) int {
	root := app.root()
	root.SetArgs(args)
	root.SetOut(app.Stdout)
	root.SetErr(app.Stderr)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return exitOK
	}
	h := explain(err)
	if !errors.Is(err, errWrongAnswers) {
		fmt.Fprintf(app.Stderr, "sortkey: %s\n", h.Msg)
	}
	if h.Advice != "" {
		fmt.Fprintf(app.Stderr, "hint: %s\n", h.Advice)
	}
	if errors.Is(err, ask.ErrUsage) {
		return exitUsage
	}
	return exitFailed
}

// writeJSON writes v as an indented JSON document.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// style returns the style for Stdout: in colour on a terminal unless NO_COLOR is
// set (https://no-color.org) or the terminal is dumb.
func (a *App) style() demo.Style {
	width := a.Width()
	colour := width > 0 && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	return demo.Style{Width: width, Paint: text.Paint(colour)}
}
