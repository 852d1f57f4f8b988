package show

import (
	"os"

	"golang.org/x/term"

	"github.com/sortkey/sortkey/internal/design/terminal"
)

// A Style configures output for people. The zero value is plain text.
type Style struct {
	// Width is the maximum width of a table in columns, or 0 for no limit.
	Width int
	Paint terminal.Paint
}

// StyleFor returns the style for a terminal of a width in columns. Width 0 means that the output is not a terminal.
// The style has colour on a terminal, unless NO_COLOR is set (https://no-color.org) or TERM is dumb.
func StyleFor(width int, getenv func(string) string) Style {
	colour := width > 0 && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return Style{Width: width, Paint: terminal.Paint(colour)}
}

// Width returns the width in columns of the terminal that f writes to, or 0 if f is not a terminal.
func Width(f *os.File) int {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return 0
	}
	width, _, err := term.GetSize(fd)
	if err != nil || width <= 0 {
		return 80
	}
	return width
}
