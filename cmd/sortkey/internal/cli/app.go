package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/demo"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
)

// What the command ends with.
const (
	exitOK     = 0
	exitFailed = 1 // something went wrong, or an answer is not right
	exitUsage  = 2 // the command line makes no sense
)

// An App is where a command runs: its streams and its environment.
type App struct {
	Stdout, Stderr io.Writer
	// Getenv returns a variable of the environment, "" if there is none.
	Getenv func(name string) string
	// Width returns the columns of the terminal behind Stdout, or 0 when it is
	// no terminal.
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

// Main runs the command with its arguments and returns its exit code.
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
	if h.Hint != "" {
		fmt.Fprintf(app.Stderr, "hint: %s\n", h.Hint)
	}
	if h.Usage {
		return exitUsage
	}
	return exitFailed
}

// style is how to print to Stdout: in colour on a terminal, unless NO_COLOR
// (https://no-color.org) or a dumb terminal says otherwise.
func (a *App) style() demo.Style {
	width := a.Width()
	colour := width > 0 && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	return demo.Style{Width: width, Paint: show.Paint(colour)}
}

// usage returns the error of a wrong command line for one command.
func usage(command, format string, args ...any) error {
	advice := "see sortkey --help"
	if command != "" {
		advice = "see sortkey " + command + " --help"
	}
	return hint.Usage(advice, format, args...)
}
