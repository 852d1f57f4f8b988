package shell

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/lex"
)

// completionTime bounds the time of a completion.
const completionTime = 300 * time.Millisecond

// complete returns the ways to complete a line at a place, counted in characters.
func (s *shell) complete(ctx context.Context, line string, pos int) (head string, all []string, tail string) {
	before := string([]rune(line)[:pos])
	tail = line[len(before):]
	p, ok := awscli.SplitPartial(before)
	if !ok {
		return before, nil, tail
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	words, directive := s.candidates(ctx, append(p.Words, p.Last))
	if directive&cobra.ShellCompDirectiveNoSpace != 0 {
		return shorten(before, p, words, tail)
	}
	return before[:p.Start], quote(words, p.Quote), tail
}

// candidates returns what the last of some words can become.
func (s *shell) candidates(ctx context.Context, words []string) (all []string, directive cobra.ShellCompDirective) {
	var out bytes.Buffer
	root := s.commands()
	root.SetArgs(append([]string{cobra.ShellCompNoDescRequestCmd}, words...))
	root.SetOut(&out)
	root.SetErr(io.Discard)
	if root.ExecuteContext(ctx) != nil {
		return nil, 0
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if number, ok := strings.CutPrefix(line, ":"); ok {
			if n, err := strconv.Atoi(number); err == nil {
				return all, cobra.ShellCompDirective(n)
			}
		}
		all = append(all, line)
	}
	return all, 0
}

// shorten returns the ways to complete the name at the end of an expression, without the
// expression before it.
func shorten(before string, p awscli.Partial, words []string, tail string) (string, []string, string) {
	start := len(p.Last)
	for start > 0 && (p.Last[start-1] == '`' || lex.IsWord(p.Last[start-1:start])) {
		start--
	}
	name := p.Last[start:]
	if !strings.HasSuffix(before, name) { // it is written in another way
		return before, nil, tail
	}
	names := make([]string, len(words))
	for i, word := range words {
		names[i] = word[start:]
	}
	return strings.TrimSuffix(before, name), names, tail
}

// quote returns names as they go on after an open quote, or none. A name alone is complete.
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
