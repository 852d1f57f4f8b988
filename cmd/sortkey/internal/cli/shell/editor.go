package shell

import (
	"context"

	"github.com/peterh/liner"
)

// errAborted is the error of read after the user has aborted a line with Ctrl-C.
var errAborted = liner.ErrPromptAborted

// An editor reads lines from the terminal.
type editor struct{ state *liner.State }

// newEditor returns an editor. The function complete returns the completions of a line at pos, a number of characters
// from the beginning of the line. Its results are the text before a completion, the completions, and the text after
// it.
func newEditor(complete func(line string, pos int) (string, []string, string)) *editor {
	ed := &editor{liner.NewLiner()}
	ed.state.SetCtrlCAborts(true)
	ed.state.SetMultiLineMode(true)
	ed.state.SetTabCompletionStyle(liner.TabPrints)
	ed.state.SetWordCompleter(complete)
	return ed
}

// remember adds a line to the history.
func (ed *editor) remember(line string) { ed.state.AppendHistory(line) }

// read reads a line. It returns errAborted after Ctrl-C and io.EOF after Ctrl-D. If ctx ends first, read returns the
// cause of that.
func (ed *editor) read(ctx context.Context, prompt string) (string, error) {
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line, err := ed.state.Prompt(prompt)
		read <- answer{line, err}
	}()
	select {
	case a := <-read:
		return a.line, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// close restores the mode of the terminal.
func (ed *editor) close() { _ = ed.state.Close() }
