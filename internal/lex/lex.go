// Package lex splits expressions into tokens. [Lex] splits the expressions of requests, which have placeholders.
// [LexLiterals] splits the expressions that people write, which contain names and values; [Roles] decides what each
// token of such an expression means.
package lex

import (
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/expr/ast"
)

// A TokenKind is the kind of a token.
type TokenKind uint8

// The kinds of tokens.
const (
	TokEOF   TokenKind = iota
	TokBad             // a character that cannot begin a token
	TokIdent           // name
	TokName            // #name
	TokValue           // :name
	TokInt             // 0, or digits that do not begin with 0

	TokAnd
	TokOr
	TokNot
	TokBetween
	TokIn
	TokSet
	TokRemove
	TokAdd
	TokDelete

	TokEqual
	TokNotEqual
	TokLess
	TokLessOrEqual
	TokGreater
	TokGreaterOrEqual

	TokLeftParen
	TokRightParen
	TokLeftBracket
	TokRightBracket
	TokComma
	TokDot
	TokPlus
	TokMinus

	// Only [LexLiterals] returns the following kinds.
	TokText       // quoted text
	TokQuotedName // a name in backquotes
	TokNumber     // a number that is not a TokInt
)

// A Token is a token of an expression.
type Token struct {
	ast.Place
	Kind TokenKind
}

// punctuation maps a byte to the kind of the token that it forms alone.
var punctuation = [256]TokenKind{
	'=': TokEqual, '<': TokLess, '>': TokGreater,
	'(': TokLeftParen, ')': TokRightParen, '[': TokLeftBracket, ']': TokRightBracket,
	',': TokComma, '.': TokDot, '+': TokPlus, '-': TokMinus,
}

// Lex appends the tokens of src, ending with a TokEOF. A character that cannot
// begin a token becomes a TokBad, so the parser finds it at its place.
//
// A name begins with a letter; a name in ExpressionAttributeNames or
// ExpressionAttributeValues may also begin with a digit or an underscore.
// Keywords are the same in every kind of expression.
func Lex(tokens []Token, src string) []Token { return lex(tokens, src, false) }

// LexLiterals is [Lex] for expressions that people write with literal names and
// values. In addition it accepts quoted text, names in backquotes, numbers with
// a sign, a point and an exponent, words that begin with an underscore, and ==
// and != for = and <>. A minus or plus before a digit belongs to the number.
func LexLiterals(tokens []Token, src string) []Token { return lex(tokens, src, true) }

func lex(tokens []Token, src string, literals bool) []Token {
	for i := 0; i < len(src); {
		start, c := i, src[i]
		i++
		var kind TokenKind
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case literals && (c == '\'' || c == '"' || c == '`'):
			kind = TokText
			if c == '`' {
				kind = TokQuotedName
			}
			if i = endOfQuote(src, start); i < 0 {
				kind, i = TokBad, len(src)
			}
		case literals && NumberLength(src[start:]) > 0:
			i = start + NumberLength(src[start:])
			kind = TokNumber
			if isInt(src[start:i]) {
				kind = TokInt
			}
		case literals && c == '_':
			i = endOfWord(src, i)
			kind = TokIdent
		case literals && i < len(src) && src[i] == '=' && (c == '!' || c == '='):
			i++
			kind = TokNotEqual
			if c == '=' {
				kind = TokEqual
			}
		case isLetter(c):
			i = endOfWord(src, i)
			kind = keyword(src[start:i])
		case c == '#' || c == ':':
			i = endOfWord(src, i)
			switch {
			case i == start+1:
				kind = TokBad
			case c == '#':
				kind = TokName
			default:
				kind = TokValue
			}
		case isDigit(c):
			kind = TokInt
			for c != '0' && i < len(src) && isDigit(src[i]) {
				i++
			}
		case punctuation[c] != 0:
			kind = punctuation[c]
			if i < len(src) {
				if pair := pairOf(c, src[i]); pair != 0 {
					kind = pair
					i++
				}
			}
		default:
			kind = TokBad
			_, n := utf8.DecodeRuneInString(src[start:])
			i = start + n
		}

		tokens = append(tokens, Token{place(start, i), kind})
	}
	return append(tokens, Token{place(len(src), len(src)), TokEOF})
}

func place(start, end int) ast.Place { return ast.Place{Start: int32(start), End: int32(end)} }

// Rewrite returns src with each of its tokens replaced by the result of word. It keeps the text between tokens.
func Rewrite(src string, tokens []Token, word func(i int) string) string {
	var out strings.Builder
	end := int32(0)
	for i, t := range tokens {
		out.WriteString(src[end:t.Start])
		out.WriteString(word(i))
		end = t.End
	}
	return out.String()
}

// endOfQuote returns the end of the quoted text that begins at start, or -1 if
// it is not closed. In single quotes, a quote is written twice; in double
// quotes, a backslash escapes the next character.
func endOfQuote(src string, start int) int {
	quote := src[start]
	for i := start + 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && quote == '"':
			i++
		case src[i] == quote && quote == '\'' && i+1 < len(src) && src[i+1] == quote:
			i++
		case src[i] == quote:
			return i + 1
		}
	}
	return -1
}

// NumberLength returns the length of the number at the beginning of s, or 0 if s does not begin with a number.
func NumberLength(s string) int {
	digits := func(i int) int { return i + endOfDigits(s[i:]) }
	from := 0
	if s != "" && (s[0] == '+' || s[0] == '-') {
		from = 1
	}
	end := digits(from)
	whole := end > from
	if end < len(s) && s[end] == '.' {
		if after := digits(end + 1); whole || after > end+1 {
			end, whole = after, true
		}
	}
	if !whole {
		return 0
	}
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') {
		exponent := end + 1
		if exponent < len(s) && (s[exponent] == '+' || s[exponent] == '-') {
			exponent++
		}
		if after := digits(exponent); after > exponent {
			end = after
		}
	}

	return end
}

// isInt reports whether a number can be an index of a list.
func isInt(s string) bool {
	return isDigit(s[0]) && (s == "0" || s[0] != '0') && endOfDigits(s) == len(s)
}

func endOfDigits(s string) int {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// pairOf returns the kind of the token that two characters form, if they form one.
func pairOf(a, b byte) TokenKind {
	switch {
	case a == '<' && b == '>':
		return TokNotEqual
	case a == '<' && b == '=':
		return TokLessOrEqual
	case a == '>' && b == '=':
		return TokGreaterOrEqual
	}
	return 0
}

// keyword returns the kind of a word. Keywords are case-insensitive.
func keyword(word string) TokenKind {
	if len(word) > len("BETWEEN") {
		return TokIdent
	}
	var upper [len("BETWEEN")]byte
	for i := range len(word) {
		upper[i] = word[i] &^ 0x20 // makes letters upper case, and does not turn other characters into letters
	}
	switch string(upper[:len(word)]) {
	case "AND":
		return TokAnd
	case "OR":
		return TokOr
	case "NOT":
		return TokNot
	case "BETWEEN":
		return TokBetween
	case "IN":
		return TokIn
	case "SET":
		return TokSet
	case "REMOVE":
		return TokRemove
	case "ADD":
		return TokAdd
	case "DELETE":
		return TokDelete
	}

	return TokIdent
}

func endOfWord[T string | []byte](src T, i int) int {
	for i < len(src) && (isLetter(src[i]) || isDigit(src[i]) || src[i] == '_') {
		i++
	}
	return i
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsWord reports whether s is not empty and consists of letters, digits and
// underscores.
func IsWord[T string | []byte](s T) bool { return len(s) > 0 && endOfWord(s, 0) == len(s) }
