package awscli

import (
	"strings"

	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/terminal"
)

// excerpt is the width of the part of a line in a message.
const excerpt = 40

// Split splits a line into words as a POSIX shell does, with quotes,
// backslashes, continued lines and comments. Anything that a shell would expand is an
// error. What follows a pipe, a semicolon or a redirection is not part of the
// command and is returned as rest.
func Split(line string) (words []string, rest string, err error) {
	s := &splitter{src: line}
	for s.at < len(s.src) {
		switch c := s.src[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.end()
			s.at++
		case '|', ';', '&', '<', '>':
			s.end()
			return s.words, strings.TrimSpace(s.src[s.at:]), nil
		case '#':
			if s.open {
				s.writeByte(c)
			} else {
				comment, _, _ := strings.Cut(s.src[s.at:], "\n")
				s.at += len(comment)
			}
		case '\'', '"':
			err = s.quoted(1)
		case '\\':
			s.backslash()
		case '$', '`':
			if strings.HasPrefix(s.src[s.at:], "$'") {
				err = s.quoted(2)
			} else {
				err = s.expansion()
			}
		default:
			s.writeByte(c)
		}
		if err != nil {
			return nil, "", err
		}
	}
	s.end()
	return s.words, "", nil
}

// A splitter is a line being split.
type splitter struct {
	src   string
	at    int
	word  strings.Builder
	open  bool // in a word, which may be empty
	words []string
}

func (s *splitter) writeByte(c byte) {
	s.word.WriteByte(c)
	s.open = true
	s.at++
}

func (s *splitter) end() {
	if s.open {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.open = false
	}
}

// quoted reads '…', "…" or $'…', whose opening quote has n bytes. Single quotes
// keep everything, in double quotes some characters may be escaped, and $'…'
// knows escapes as C does.
func (s *splitter) quoted(n int) (err error) {
	const known, means = `ntr\'"`, "\n\t\r\\'\""
	start, quote := s.at, s.src[s.at+n-1]
	s.open = true
	for s.at += n; s.at < len(s.src) && err == nil; {
		c, next := s.src[s.at], byte(0)
		if s.at+1 < len(s.src) {
			next = s.src[s.at+1]
		}
		switch {
		case c == quote:
			s.at++
			return nil
		case c == '\\' && n == 2:
			i := strings.IndexByte(known, next)
			if i < 0 {
				return advice.New("write the character itself", "unknown escape in $'…': %s", terminal.Clip(s.src[s.at:], excerpt))
			}
			s.at++
			s.writeByte(means[i])
		case c == '\\' && quote == '"' && strings.IndexByte("\"\\$`\n", next) >= 0:
			s.backslash()
		case (c == '$' || c == '`') && quote == '"':
			err = s.expansion()
		default:
			s.writeByte(c)
		}
	}
	if err == nil {
		err = advice.New("", "the quote %s is not closed: %s", s.src[start:start+n], terminal.Clip(s.src[start:], excerpt))
	}
	return err
}

// backslash reads a backslash and the character after it. Before the end of a
// line it continues the line.
func (s *splitter) backslash() {
	s.at++
	rest := s.src[s.at:]
	switch {
	case strings.HasPrefix(rest, "\n"):
		s.at++
	case strings.HasPrefix(rest, "\r\n"):
		s.at += 2
	case rest != "":
		s.writeByte(rest[0])
	}
}

// expansion refuses an expansion by the shell. A dollar sign before anything
// else stands for itself.
func (s *splitter) expansion() error {
	rest := s.src[s.at:]
	if rest[0] == '`' || len(rest) > 1 && (strings.IndexByte("{(_", rest[1]) >= 0 || 'a' <= rest[1]|0x20 && rest[1]|0x20 <= 'z') {
		return advice.New(
			"write the value itself, or put the word in single quotes", "variables and commands are not expanded: %s",
			terminal.Clip(rest, excerpt),
		)
	}
	s.writeByte('$')
	return nil
}

// Quote returns a word as a POSIX shell reads it back.
func Quote(word string) string {
	plain := word != ""
	for i := range len(word) {
		plain = plain && (isWordByte(word[i]) || strings.IndexByte("_-./:=,@%+", word[i]) >= 0)
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
