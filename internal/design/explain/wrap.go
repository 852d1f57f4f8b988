package explain

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Wrap breaks prose into lines of at most width columns, between words only.
// What stands in double quotes, as keys do, stays whole, and so does a word
// that is longer than a line: text can be searched for either.
func Wrap(s string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, w := range words(s) {
		n := text.StringWidthWithoutEscSequences(w)
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

// words splits text at spaces outside of quotes.
func words(s string) (all []string) {
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			// A quote that nothing closes is a sign like others.
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
