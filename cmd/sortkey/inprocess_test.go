package main

import (
	"bytes"
	"io"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// inputKey is the key of a script's [testscript.Env.Values] for the standard input of its next command.
type inputKey struct{}

// setInput implements the script command input: input FILE makes a file the standard input of the next sortkey.
func setInput(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: input FILE")
	}
	*ts.Value(inputKey{}).(*string) = ts.ReadFile(args[0])
}

// inProcess is held while a command runs in this process, because all commands share the working folder and
// [os.Stdin].
var inProcess sync.Mutex

// runCommand implements the script command sortkey. It runs the command in this process, with the folder and the
// environment of the script, because starting a process takes longer than most commands.
func runCommand(ts *testscript.TestScript, neg bool, args []string) {
	var stdout, stderr safeBuffer
	code := mainIn(ts, &stdout, &stderr, args)

	_, err := stdout.WriteTo(ts.Stdout())
	ts.Check(err)
	_, err = stderr.WriteTo(ts.Stderr())
	ts.Check(err)
	if failed := code != 0; failed != neg {
		ts.Fatalf("sortkey ended with the exit code %d", code)
	}
}

// mainIn runs the command in the script's current folder, with the input that setInput has set.
func mainIn(ts *testscript.TestScript, stdout, stderr io.Writer, args []string) (code int) {
	inProcess.Lock()
	defer inProcess.Unlock()
	env := app.System()
	env.Stdout, env.Stderr, env.Getenv = stdout, stderr, ts.Getenv
	env.Width = func() int { return 0 }

	folder, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(folder)) }()

	in, out, err := os.Pipe()
	ts.Check(err)
	defer in.Close()
	input := ts.Value(inputKey{}).(*string)
	go func(text string) {
		_, _ = io.WriteString(out, text) // the command may read less
		_ = out.Close()
	}(*input)
	*input = ""
	defer func(before *os.File) { os.Stdin = before }(os.Stdin)
	os.Stdin, env.Stdin = in, in

	return cli.Main(args, env)
}

// A safeBuffer is a buffer that several goroutines can write to, like the output of a process.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write implements [io.Writer].
func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}
