package shell

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/terminal"
)

// excerpt is the number of columns of a line that an error message quotes.
const excerpt = 40

// Split splits a line into words as a POSIX shell does, with quotes, backslashes, continued lines and comments, but
// expands nothing. The command ends at the first pipe, semicolon, ampersand or redirection; rest is the text from there
// on.
func Split(line string) (words []string, rest string, err error) {
	s := &splitter{src: line}
	rest, err = s.split()
	if err != nil {
		return nil, "", err
	}
	s.end()
	return s.words, rest, nil
}

// A Partial is the part before the cursor of a line that a person is typing.
type Partial struct {
	Words []string // the words before Last
	Last  string   // the word being typed, without its quotes; may be empty
	Start int      // offset of Last
	Quote string   // the quote that is still open at the end of Last, or ""
}

// SplitPartial splits a line that a person is still typing, like [Split]. It returns false if the command has ended,
// or if the line has an error other than an open quote.
func SplitPartial(line string) (p Partial, ok bool) {
	s := &splitter{src: line}
	rest, err := s.split()
	if rest != "" || err != nil && s.quote == "" {
		return p, false
	}
	p = Partial{Words: s.words, Last: s.word.String(), Start: len(line), Quote: s.quote}
	if s.open {
		p.Start = s.from
	}
	return p, true
}

// split splits the line. If no delimiter follows the last word, split leaves that word in s.word.
func (s *splitter) split() (rest string, err error) {
	for s.at < len(s.src) {
		switch c := s.src[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.end()
			s.at++
		case '|', ';', '&', '<', '>':
			s.end()
			return strings.TrimSpace(s.src[s.at:]), nil
		case '#':
			if s.open {
				s.writeByte(c)
			} else {
				comment, _, _ := strings.Cut(s.src[s.at:], "\n")
				s.at += len(comment)
			}
		case '\'', '"':
			err = s.quoted()
		case '\\':
			s.backslash()
		default:
			s.writeByte(c)
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}

// A splitter is the state of splitting a line.
type splitter struct {
	src   string
	at    int
	word  strings.Builder
	open  bool   // in a word, which may be empty
	from  int    // where the word begins
	quote string // the quote that is not closed, or ""
	words []string
}

// begin begins a word at byte at of the line. It does nothing inside a word.
func (s *splitter) begin(at int) {
	if !s.open {
		s.open, s.from = true, at
	}
}

func (s *splitter) writeByte(c byte) {
	s.begin(s.at)
	s.word.WriteByte(c)
	s.at++
}

func (s *splitter) end() {
	if s.open {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.open = false
	}
}

// quoted reads '…' or "…". Single quotes keep every character. Double quotes allow some escapes.
func (s *splitter) quoted() error {
	start, quote := s.at, s.src[s.at]
	s.begin(start)
	for s.at++; s.at < len(s.src); {
		switch c := s.src[s.at]; {
		case c == quote:
			s.at++
			return nil
		case quote == '"' && c == '\\' && s.at+1 < len(s.src) && strings.IndexByte("\"\\$`\n", s.src[s.at+1]) >= 0:
			s.backslash()
		default:
			s.writeByte(c)
		}
	}
	s.quote = string(quote)
	return advice.New("", "the quote %s is not closed: %s", s.quote, terminal.Clip(s.src[start:], excerpt))
}

// backslash reads a backslash and the character after it. A backslash at the end of a line continues the line.
func (s *splitter) backslash() {
	start := s.at
	s.at++
	rest := s.src[s.at:]
	switch {
	case strings.HasPrefix(rest, "\n"):
		s.at++
	case strings.HasPrefix(rest, "\r\n"):
		s.at += 2
	case rest != "":
		s.begin(start)
		s.writeByte(rest[0])
	}
}
