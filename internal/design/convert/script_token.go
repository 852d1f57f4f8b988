package convert

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scriptToken is a token of JavaScript or TypeScript.
type scriptToken struct {
	kind tokenKind
	at   int
	// text is a name, a sign, the value of a string, or a number as JSON has it.
	text string
	// afterBlock is set for a bracket after which a statement may begin.
	afterBlock bool
}

type tokenKind byte

const (
	tokenEnd      tokenKind = iota
	tokenName               // also a word of the language
	tokenSign               // one character, or =>, ..., ==
	tokenString             // also a template literal without substitutions
	tokenTemplate           // one with substitutions
	tokenNumber
	tokenRegexp
)

// A scriptScanner splits a script into tokens. It skips malformed code, which matters only inside a
// schema's literal: the parser refuses that literal.
type scriptScanner struct {
	text string
	at   int
	last scriptToken
	// open has, for each open bracket, whether a regular expression may follow the one that closes it.
	open  []bool
	depth int // of templates
	// unclosed says what the end of the file cuts, and where that begins.
	unclosed   string
	unclosedAt int
}

// next returns the next token.
func (s *scriptScanner) next() scriptToken {
	s.skipSpace()
	from := s.at
	tok := scriptToken{at: from}
	if from >= len(s.text) {
		s.last = tok
		return tok
	}

	r, size := utf8.DecodeRuneInString(s.text[from:])
	switch c := s.text[from]; {
	case c == '"' || c == '\'':
		tok.kind, tok.text = tokenString, s.quoted(c)
	case c == '`':
		tok.kind = tokenString
		var whole bool
		if tok.text, whole = s.template(); !whole {
			tok.kind = tokenTemplate
		}
	case c >= '0' && c <= '9':
		tok.kind, tok.text = tokenNumber, s.number()
	case c == '_' || c == '$' || c == '#' || unicode.IsLetter(r):
		tok.kind = tokenName
		for s.at < len(s.text) {
			r, size := utf8.DecodeRuneInString(s.text[s.at:])
			if r != '_' && r != '$' && r != '#' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			s.at += size
		}
		tok.text = s.text[from:s.at]
	case c == '/' && s.beginsRegexp() && s.regexp():
		tok.kind = tokenRegexp
		tok.text = s.text[from:s.at]
	default:
		tok.kind, tok.text = tokenSign, s.text[from:from+size]
		for _, long := range []string{"...", "=>", "==", "?.", "++", "--"} {
			if strings.HasPrefix(s.text[from:], long) {
				tok.text = long
				break
			}
		}
		s.at += len(tok.text)
		tok.afterBlock = s.bracket(tok.text)
	}
	s.last = tok
	return tok
}

// bracket notes a bracket. It reports whether that closes the head of a statement or a block, after which
// a statement may begin.
func (s *scriptScanner) bracket(sign string) bool {
	last := s.last
	word := func(names ...string) bool { return last.kind == tokenName && slices.Contains(names, last.text) }
	switch sign {
	case "(":
		s.open = append(s.open, word("if", "while", "for"))
	case "[":
		s.open = append(s.open, false)
	case "{":
		s.open = append(s.open, last.kind == tokenEnd || word("else", "do", "try", "finally") ||
			last.kind == tokenSign && slices.Contains([]string{")", "=>", ";", "{", "}"}, last.text))
	case ")", "]", "}":
		if n := len(s.open); n > 0 {
			after := s.open[n-1]
			s.open = s.open[:n-1]
			return after
		}
	}
	return false
}

// skipSpace skips white space and comments.
func (s *scriptScanner) skipSpace() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\ufeff':
			s.at += size
		case strings.HasPrefix(rest, "//"), s.at == 0 && strings.HasPrefix(rest, "#!"):
			s.at += lengthTo(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			if !strings.Contains(rest[2:], "*/") {
				s.unclosed, s.unclosedAt = "comment", s.at
			}
			s.at += 2 + lengthTo(rest[2:], "*/")
		default:
			return
		}
	}
}

// lengthTo returns the length of a text up to the end of what it is searched for, or to its own.
func lengthTo(text, end string) int {
	if before, _, ok := strings.Cut(text, end); ok {
		return len(before) + len(end)
	}
	return len(text)
}

// beginsRegexp reports whether a slash here begins a regular expression rather than dividing.
func (s *scriptScanner) beginsRegexp() bool {
	switch s.last.kind {
	case tokenSign:
		return s.last.afterBlock || !slices.Contains([]string{")", "]", "}", "++", "--"}, s.last.text)
	case tokenName:
		return slices.Contains(beforeRegexp, s.last.text)
	}
	return s.last.kind == tokenEnd
}

// beforeRegexp are words that are no values, so that a slash after them does not divide.
var beforeRegexp = []string{
	"return", "typeof", "case", "do", "else", "in", "of", "instanceof", "new", "throw", "delete", "void", "yield",
	"await",
}

// regexp skips a regular expression. It skips nothing and returns false if the line ends first: then the
// slash is a sign, such as that of </b>.
func (s *scriptScanner) regexp() bool {
	inClass := false
	for at := s.at + 1; at < len(s.text) && s.text[at] != '\n'; at++ {
		switch c := s.text[at]; {
		case c == '\\' && !strings.HasPrefix(s.text[at+1:], "\n"):
			at++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			s.at = at + 1 // its flags are a name
			return true
		}
	}
	return false
}

// quoted returns the value of a string in quotation marks.
func (s *scriptScanner) quoted(mark byte) string {
	var b strings.Builder
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case mark:
			s.at++
			return b.String()
		case '\n':
			return b.String()
		case '\\':
			s.escape(&b)
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	return b.String()
}

// template returns the text of a template literal, and reports whether it has no substitutions.
func (s *scriptScanner) template() (text string, whole bool) {
	var b strings.Builder
	from := s.at
	whole = true
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; {
		case c == '`':
			s.at++
			return b.String(), whole
		case c == '\\':
			s.escape(&b)
		case strings.HasPrefix(s.text[s.at:], "${"):
			whole = false
			s.at += 2
			s.substitution()
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	s.unclosed, s.unclosedAt = "template literal", from
	return b.String(), false
}

// substitution skips an expression to its closing brace.
func (s *scriptScanner) substitution() {
	if s.depth > maxDepth {
		s.at = len(s.text) // which ends inside the template
		return
	}
	s.depth++
	defer func() { s.depth-- }()

	s.last = scriptToken{kind: tokenSign, text: "("}
	s.open = append(s.open, false)
	for open := 1; open > 0; {
		switch tok := s.next(); {
		case tok.kind == tokenEnd:
			return
		case tok.kind == tokenSign && tok.text == "{":
			open++
		case tok.kind == tokenSign && tok.text == "}":
			open--
		}
	}
}

// escape appends what an escape in a string stands for.
func (s *scriptScanner) escape(b *strings.Builder) {
	rest := s.text[s.at+1:]
	s.at++
	if rest == "" {
		return
	}
	c, size := utf8.DecodeRuneInString(rest)
	s.at += size
	digits := ""
	switch c {
	case 'n', 't', 'r', 'b', 'f', 'v', '0':
		b.WriteByte(map[rune]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v'}[c])
		return
	case '\n':
		return // the line goes on
	case 'x':
		digits = rest[1:min(3, len(rest))]
		s.at += len(digits)
	case 'u':
		if strings.HasPrefix(rest, "u{") {
			digits, _, _ = strings.Cut(rest[2:], "}")
			s.at = min(s.at+len(digits)+2, len(s.text))
			break
		}
		digits = rest[1:min(5, len(rest))]
		s.at += len(digits)
	default:
		b.WriteRune(c)
		return
	}
	if n, err := strconv.ParseUint(digits, 16, 21); err == nil {
		b.WriteRune(rune(n))
	}
}

// number returns a number as JSON has it.
func (s *scriptScanner) number() string {
	from := s.at
	for s.at < len(s.text) {
		c := s.text[s.at]
		sign := (c == '+' || c == '-') && (s.text[s.at-1] == 'e' || s.text[s.at-1] == 'E') &&
			!strings.HasPrefix(s.text[from:], "0x")
		if !sign && c != '.' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		s.at++
	}
	text := strings.TrimSuffix(strings.ReplaceAll(s.text[from:s.at], "_", ""), "n")
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	return text
}
