package convert

import (
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

// A scriptScanner splits a script into tokens. It does not stop at what is malformed: that is in
// no literal, or the literal is refused.
type scriptScanner struct {
	text string
	at   int
	last scriptToken
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
		if tok.text, whole = s.template(0); !whole {
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
	case c == '/' && s.beginsRegexp():
		tok.kind = tokenRegexp
		s.regexp()
		tok.text = s.text[from:s.at]
	default:
		tok.kind, tok.text = tokenSign, s.text[from:from+size]
		for _, long := range []string{"...", "=>", "==", "?.", "?"} {
			if strings.HasPrefix(s.text[from:], long) {
				tok.text = long
				break
			}
		}
		s.at += len(tok.text)
	}
	s.last = tok
	return tok
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
		return !strings.Contains(")]}", s.last.text)
	case tokenName:
		return s.last.text == "return" || s.last.text == "typeof"
	}
	return s.last.kind == tokenEnd
}

func (s *scriptScanner) regexp() {
	inClass := false
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\n':
			return
		case c == '\\':
			s.at++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			s.at++ // its flags are a name
			return
		}
	}
	s.at = min(s.at, len(s.text))
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
// Depth is that of templates around it.
func (s *scriptScanner) template(depth int) (text string, whole bool) {
	var b strings.Builder
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
			s.substitution(depth)
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	return b.String(), false
}

// substitution skips an expression to its closing brace.
func (s *scriptScanner) substitution(depth int) {
	if depth > maxDepth {
		s.at = len(s.text) // which ends inside the template
		return
	}
	for open := 1; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '{':
			open++
			s.at++
		case '}':
			s.at++
			if open--; open == 0 {
				return
			}
		case '`':
			s.template(depth + 1)
		case '"', '\'':
			s.quoted(c)
		default:
			s.at++
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
