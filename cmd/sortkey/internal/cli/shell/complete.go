package shell

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/internal/design/awscli"
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
	return before[:p.Start], quote(s.candidates(ctx, append(p.Words, p.Last)), p.Quote), tail
}

// candidates returns what the last of some words can become.
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

// quote returns words as they are written on a line, all in the same quotes, so that what
// they have in common is the beginning of each. A word alone is complete.
func quote(words []string, open string) []string {
	quoted := open != ""
	for _, word := range words {
		quoted = quoted || awscli.Quote(word) != word
	}
	all := make([]string, len(words))
	for i, word := range words {
		switch {
		case !quoted:
			all[i] = word
		case open == `"`:
			all[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(word) + `"`
		default:
			all[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	if len(all) == 1 {
		all[0] += " "
	}
	return all
}
