package app

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/sortkey/sortkey/internal/design/terminal"
)

// A Status is a line on a terminal that says what a slow command is doing. If standard error is not a terminal, it
// shows nothing. It is not safe for concurrent use.
type Status struct {
	w     io.Writer // nil unless on a terminal
	width int
	next  time.Time
	shown bool
}

// A command is slow, and shows its status, after it has run for statusDelay. The status then shows the same text for
// at least statusPause.
const (
	statusDelay = 500 * time.Millisecond
	statusPause = 100 * time.Millisecond
)

// Status returns a status line on standard error.
func (e *Env) Status() *Status {
	s := &Status{next: time.Now().Add(statusDelay)}
	if f, ok := e.Stderr.(*os.File); ok && e.Getenv("TERM") != "dumb" {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.w, s.width = f, width
		}
	}
	return s
}

// Show shows a text. It drops the text if the command has not yet run for statusDelay, or if it showed another text
// less than statusPause ago.
func (s *Status) Show(format string, args ...any) {
	now := time.Now()
	if s.w == nil || now.Before(s.next) {
		return
	}
	s.next, s.shown = now.Add(statusPause), true
	line := terminal.Wrap(fmt.Sprintf(format, args...), max(s.width-1, 10))[0]
	fmt.Fprintf(s.w, "\r\x1b[K%s", line)
}

// Clear removes the line.
func (s *Status) Clear() {
	if s.shown {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.shown = false
	}
}
