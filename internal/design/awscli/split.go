package awscli

import (
	"fmt"
	"strings"
)

// Split takes a line apart into words as a POSIX shell does: quotes,
// backslashes, continued lines and comments; lines continued as cmd.exe and
// PowerShell have it, by ^ and `, are read too. What a shell would replace, run
// or send elsewhere is an error, except that rest is what follows a pipe, a
// semicolon or a redirection, which is no part of the command.
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
				s.byte(c)
				continue
			}
			if end := strings.IndexByte(s.src[s.at:], '\n'); end >= 0 {
				s.at += end
			} else {
				s.at = len(s.src)
			}
		case '\'':
			err = s.single()
		case '"':
			err = s.double()
		case '\\':
			s.backslash()
		case '^', '`':
			if n := lineEnd(s.src[s.at+1:]); n > 0 && !s.open {
				s.at += 1 + n
			} else if c == '`' {
				err = s.expansion()
			} else {
				s.byte(c)
			}
		case '$':
			if strings.HasPrefix(s.src[s.at:], "$'") {
				err = s.escaped()
			} else {
				err = s.expansion()
			}
		default:
			s.byte(c)
		}
		if err != nil {
			return nil, "", err
		}
	}
	s.end()
	return s.words, "", nil
}

type splitter struct {
	src   string
	at    int
	word  strings.Builder
	open  bool // in a word, which may be empty
	words []string
}

func (s *splitter) byte(c byte) {
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

func (s *splitter) single() error {
	end := strings.IndexByte(s.src[s.at+1:], '\'')
	if end < 0 {
		return unclosed("'", s.src[s.at:])
	}
	s.word.WriteString(s.src[s.at+1 : s.at+1+end])
	s.open = true
	s.at += end + 2
	return nil
}

// lineEnd returns the length of the end of a line that text begins with, with
// spaces before it, or 0.
func lineEnd(text string) int {
	rest := strings.TrimLeft(text, " \t\r")
	if !strings.HasPrefix(rest, "\n") {
		return 0
	}
	return len(text) - len(rest) + 1
}

// escaped reads $'…', in which backslashes are as in C.
func (s *splitter) escaped() error {
	start := s.at
	s.open = true
	for s.at += 2; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == '\'':
			s.at++
			return nil
		case c == '\\' && s.at+1 < len(s.src):
			s.at++
			c = s.src[s.at]
			if i := strings.IndexByte("ntr", c); i >= 0 {
				c = "\n\t\r"[i]
			} else if strings.IndexByte("\\'\"", c) < 0 {
				return fmt.Errorf("the escape \\%c is not read here: %s", c, excerpt(s.src[start:]))
			}
			s.word.WriteByte(c)
		default:
			s.word.WriteByte(c)
		}
	}
	return unclosed("$'", s.src[start:])
}

func (s *splitter) double() error {
	start := s.at
	s.open = true
	for s.at++; s.at < len(s.src); {
		switch c := s.src[s.at]; c {
		case '"':
			s.at++
			return nil
		case '\\':
			if s.at+1 < len(s.src) && strings.IndexByte("\"\\$`\n", s.src[s.at+1]) >= 0 {
				s.at++
				if s.src[s.at] == '\n' {
					s.at++
					continue
				}
			}
			s.byte(s.src[s.at])
		case '$', '`':
			if err := s.expansion(); err != nil {
				return err
			}
		default:
			s.byte(c)
		}
	}
	return unclosed(`"`, s.src[start:])
}

func (s *splitter) backslash() {
	s.at++
	if s.at == len(s.src) {
		return
	}
	if s.src[s.at] == '\r' && s.at+1 < len(s.src) && s.src[s.at+1] == '\n' {
		s.at++
	}
	if s.src[s.at] == '\n' {
		s.at++
		return
	}
	s.byte(s.src[s.at])
}

// expansion refuses what a shell would replace. A dollar sign before anything
// else is itself.
func (s *splitter) expansion() error {
	rest := s.src[s.at:]
	if rest[0] == '`' || len(rest) > 1 && (rest[1] == '{' || rest[1] == '(' || rest[1] == '_' || 'a' <= rest[1]|0x20 && rest[1]|0x20 <= 'z') {
		return fmt.Errorf("variables and commands are not filled in: %s; write the value itself, or put the word in single quotes", excerpt(rest))
	}
	s.byte('$')
	return nil
}

func unclosed(quote, text string) error {
	return fmt.Errorf("the quote %s is not closed: %s", quote, excerpt(text))
}

// excerpt is the beginning of text, to be shown in a message.
func excerpt(text string) string {
	const most = 40
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// quote writes a word so that a shell reads it back.
func quote(word string) string {
	plain := word != ""
	for i := range len(word) {
		c := word[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("_-./:=,@%+", c) >= 0) {
			plain = false
		}
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
