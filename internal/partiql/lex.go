package partiql

import (
	"math"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/lex"
)

// A kind is the kind of a token. For a sign or an operator, it is the text of the token.
type kind string

const (
	tokEnd    kind = "end"
	tokWord   kind = "word"   // a keyword or an unquoted name
	tokQuoted kind = "quoted" // a name in double quotes
	tokText   kind = "text"   // text in single quotes
	tokNumber kind = "number" // without a sign
)

// A token is the bytes [start, end) of a statement.
type token struct {
	kind       kind
	start, end int
}

// signs are the tokens other than words, names and values, the longer ones first.
var signs = []kind{
	"<<", ">>", "<>", "<=", ">=", "!=", "||",
	"=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ".", ":", ";", "?", "*", "+", "-", "/", "%",
}

// split splits a statement into tokens. The last token has the kind tokEnd. If split finds text that is not a token, it
// stops and returns false, and bad is the offset of that text.
func split(src string) (tokens []token, bad int, ok bool) {
	for i := 0; i < len(src); {
		start, c := i, src[i]
		var k kind
		switch {
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
			i++
			continue
		case strings.HasPrefix(src[i:], "--"):
			if n := strings.IndexAny(src[i:], "\r\n"); n >= 0 {
				i += n
			} else {
				i = len(src)
			}
			continue
		case strings.HasPrefix(src[i:], "/*"):
			n := strings.Index(src[i+2:], "*/")
			if n < 0 {
				return tokens, start, false
			}
			i += n + 4
			continue
		case isLetter(c):
			for k = tokWord; i < len(src) && (isLetter(src[i]) || isDigit(src[i])); {
				i++
			}
		case c == '\'' || c == '"':
			if k = tokText; c == '"' {
				k = tokQuoted
			}
			if i = endOfQuote(src, i); i < 0 {
				return tokens, start, false
			}
		case isDigit(c) || c == '.' && i+1 < len(src) && isDigit(src[i+1]):
			k = tokNumber
			if i += lex.NumberLength(src[i:]); !isDecimal(src[start:i]) {
				return tokens, start, false
			}
		default:
			for _, s := range signs {
				if strings.HasPrefix(src[i:], string(s)) {
					k = s
					break
				}
			}
			if k == "" {
				return tokens, start, false
			}
			i += len(k)
		}
		tokens = append(tokens, token{k, start, i})
	}
	return append(tokens, token{tokEnd, len(src), len(src)}), 0, true
}

// endOfQuote returns the offset after the quoted text that begins at i, or -1 if the closing quote is missing. Two
// quotes inside the text stand for one.
func endOfQuote(src string, i int) int {
	quote := src[i]
	for i++; i < len(src); i++ {
		if src[i] != quote {
			continue
		}
		if i+1 == len(src) || src[i+1] != quote {
			return i + 1
		}
		i++
	}
	return -1
}

// unquote returns the text inside the quotes. It replaces doubled quotes by single ones.
func unquote(s string) string {
	quote := s[:1]
	return strings.ReplaceAll(s[1:len(s)-1], quote+quote, quote)
}

// isDecimal reports whether the service can read the number s. Its exponent must fit 32 bits, and so must the number
// of digits after the point minus the exponent (conformance partiqlGrammar).
func isDecimal(s string) bool {
	e := strings.IndexAny(s, "eE")
	if e < 0 {
		return true
	}
	exponent, err := strconv.ParseInt(s[e+1:], 10, 32)
	_, fraction, _ := strings.Cut(s[:e], ".")
	scale := int64(len(fraction)) - exponent
	return err == nil && scale >= math.MinInt32 && scale <= math.MaxInt32
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
