package shell

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completionTime bounds the time of a completion.
const completionTime = 300 * time.Millisecond

// complete returns the completions of a line at pos, a number of characters from the beginning of the line. Head, an
// element of all, and tail make up a completed line.
func (s *shell) complete(ctx context.Context, line string, pos int) (head string, all []string, tail string) {
	before := string([]rune(line)[:pos])
	tail = line[len(before):]
	p, ok := SplitPartial(before)
	if !ok {
		return before, nil, tail
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	return before[:p.Start], quote(s.candidates(ctx, append(p.Words, p.Last)), p.Quote), tail
}

// candidates returns the words that complete the last of words.
func (s *shell) candidates(ctx context.Context, words []string) (all []string) {
	var out bytes.Buffer
	root := s.commands()
	root.SetArgs(append([]string{cobra.ShellCompNoDescRequestCmd}, words...))
	root.SetOut(&out)
	root.SetErr(io.Discard)
	if root.ExecuteContext(ctx) != nil {
		return nil
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, ":") { // the directive of cobra
			break
		}
		all = append(all, line)
	}
	return all
}

// quote puts open before each name. Open is the quote with which the user began the word, or "". If there is only one
// name, quote also adds the closing quote and a space.
func quote(names []string, open string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = open + name
	}
	if len(all) == 1 {
		all[0] += open + " "
	}
	return all
}
