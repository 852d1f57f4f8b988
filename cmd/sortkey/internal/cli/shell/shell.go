package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/lines"
)

// A shell runs commands on one database.
type shell struct {
	env  *app.Env // of the commands
	root func(*app.Env) *cobra.Command
	name string // the name of the database as the user wrote it
}

// errExit ends a shell.
var errExit = errors.New("exit")

// run runs the command in a line. It returns errExit if the command ends the shell.
func (s *shell) run(ctx context.Context, line string) error {
	words, rest, err := Split(line)
	switch {
	case err != nil:
		return app.UsageError(advice.Of(err), "%v", err)
	case rest != "":
		return app.UsageError(
			"give each command a line of its own, or put the word in quotes, as in '> 5'",
			"a line is one command, and %s is not in quotes", strings.Fields(rest)[0],
		)
	case len(words) == 0:
		return nil
	}

	root := s.commands()
	root.SetArgs(words)
	root.SetOut(s.env.Stdout)
	root.SetErr(s.env.Stderr)
	err = root.ExecuteContext(ctx)
	if hint := advice.Of(err); strings.Contains(hint, seeSortkey) {
		hint = strings.ReplaceAll(strings.ReplaceAll(hint, seeSortkey+"--help", "see help"), seeSortkey, "see ")
		err = &advice.Error{Msg: err.Error(), Advice: hint, Err: err}
	}
	return err
}

// seeSortkey begins the advice to read the help of a command. Commands in a shell have no prefix sortkey, so run
// rewrites this advice.
const seeSortkey = "see sortkey "

// script runs the lines of r until one fails.
func (s *shell) script(ctx context.Context, r io.Reader) error {
	const longest = 16 << 20 // bytes of a line
	in := lines.New(bufio.NewReader(r), longest)
	for n := 1; ; n++ {
		line, err := in.Next()
		if err == nil {
			err = s.run(ctx, string(line))
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errExit):
			return nil
		case errors.Is(err, app.ErrWrongAnswers): // the report is printed
			return advice.New("", "line %d: the request is refused", n)
		case err != nil:
			e := app.Explain(err)
			return &advice.Error{Msg: fmt.Sprintf("line %d: %s", n, e.Msg), Advice: e.Advice, Err: err}
		}
	}
}

// converse reads lines from a terminal and runs them until the user ends the shell.
func (s *shell) converse(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
	defer stop()
	// An interrupt stops the running command but not the shell.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	ed := newEditor(func(line string, pos int) (string, []string, string) {
		return s.complete(ctx, line, pos)
	})
	defer ed.close()
	fmt.Fprintln(s.env.Stdout, "help lists the commands, Ctrl-D ends the shell")
	for {
		line, err := ed.read(ctx, s.prompt())
		switch {
		case errors.Is(err, errAborted):
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.env.Stdout)
			return nil
		case err != nil:
			return err
		}
		if typed := strings.TrimSpace(line); typed != "" && !strings.HasPrefix(line, " ") {
			ed.remember(typed)
		}

		command, stop := signal.NotifyContext(ctx, os.Interrupt)
		err = s.run(command, line)
		stop()
		switch {
		case errors.Is(err, errExit):
			return nil
		case err != nil:
			s.env.Report(err)
		}
	}
}

// prompt returns the prompt: the name of the database.
func (s *shell) prompt() string {
	name := "sortkey"
	if s.name != "" {
		name = filepath.Base(strings.TrimSuffix(s.name, "/"))
	}
	return name + "> "
}
