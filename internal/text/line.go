package text

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Width returns how many columns a terminal shows a text in.
func Width(s string) int { return runewidth.StringWidth(s) }

// Pad returns s with spaces up to a width.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

// Clip returns s, with an ellipsis in place of what goes beyond a width.
func Clip(s string, width int) string {
	if len(s) <= width {
		return s
	}
	return runewidth.Truncate(s, width, "…")
}

// ClipMiddle returns s, with an ellipsis in its middle if it is wider than
// width: both ends of a key say more than its middle.
func ClipMiddle(s string, width int) string {
	if len(s) <= width || Width(s) <= width || width < 3 {
		return s
	}
	tail := (width - 1) / 2
	end := len(s)
	for used := 0; end > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:end])
		if used += runewidth.RuneWidth(r); used > tail {
			break
		}
		end -= n
	}
	return runewidth.Truncate(s, width-tail-1, "") + "…" + s[end:]
}

// Wrap breaks prose into lines of at most width columns, between words only.
// What stands in double quotes, as keys do, stays whole, and so does a word
// that is wider than a line: text can be searched for either.
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
			// A quote that nothing closes is a character like any other.
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

// Caret returns a line of a source and below it a caret under the byte at pos,
// the way to show where an expression is wrong. Tabs count as one column.
func Caret(src string, pos int) string {
	pos = min(max(pos, 0), len(src))
	start := strings.LastIndexByte(src[:pos], '\n') + 1
	line, _, _ := strings.Cut(src[start:], "\n")
	return strings.ReplaceAll(line, "\t", " ") + "\n" + strings.Repeat(" ", Width(src[start:pos])) + "^"
}
