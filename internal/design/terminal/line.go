package terminal

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Width returns how many terminal columns s takes.
func Width(s string) int { return runewidth.StringWidth(s) }

// Pad appends spaces to s up to a width.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

// Clip truncates s to a width, with an ellipsis at the end.
func Clip(s string, width int) string {
	if len(s) <= width {
		return s
	}
	return runewidth.Truncate(s, width, "…")
}

// ClipMiddle truncates s to width, with an ellipsis in the middle. It suits keys, whose ends say more than their
// middle.
func ClipMiddle(s string, width int) string {
	if len(s) <= width || Width(s) <= width || width < 3 {
		return s
	}
	tail := (width - 1) / 2
	return runewidth.Truncate(s, width-tail-1, "") + "…" + runewidth.TruncateLeft(s, Width(s)-tail, "")
}

// Wrap breaks prose between words into lines of at most width columns. It breaks neither text in double quotes, such
// as a key, nor a long word, so that a reader can search for it. A line with such text may be longer than width.
func Wrap(s string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, w := range words(s) {
		n := Width(w)
		switch {
		case line == "":
			line, used = w, n
		case used+1+n <= width:
			line, used = line+" "+w, used+1+n
		default:
			lines = append(lines, line)
			line, used = w, n
		}
	}
	return append(lines, line)
}

// words splits text at spaces outside quotes.
func words(s string) (all []string) {
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			// An unclosed quote is an ordinary character.
			quoted = !quoted && strings.Contains(s[i+1:], `"`)
		case (s[i] == ' ' || s[i] == '\n') && !quoted:
			if i > start {
				all = append(all, s[start:i])
			}
			start = i + 1
		}
	}
	if start < len(s) {
		all = append(all, s[start:])
	}
	return all
}

// Place returns the line and the column of byte pos of src in words. Both count from 1.
func Place(src string, pos int) string {
	before := src[:min(max(pos, 0), len(src))]
	line := 1 + strings.Count(before, "\n")
	return fmt.Sprintf("line %d, column %d", line, len(before)-strings.LastIndexByte(before, '\n'))
}

// Caret returns the line of src that has byte pos and, on the next line, a caret under that byte. It shows where an
// expression is wrong. A tab counts as one column.
func Caret(src string, pos int) string {
	pos = min(max(pos, 0), len(src))
	start := strings.LastIndexByte(src[:pos], '\n') + 1
	line, _, _ := strings.Cut(src[start:], "\n")
	return strings.ReplaceAll(line, "\t", " ") + "\n" + strings.Repeat(" ", Width(src[start:pos])) + "^"
}
