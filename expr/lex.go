package expr

import "unicode/utf8"

// tokenKind says what a token is.
type tokenKind uint8

const (
	tokEOF   tokenKind = iota
	tokBad             // a character that no token begins with
	tokIdent           // name
	tokName            // #name
	tokValue           // :name
	tokInt             // 0, or digits that do not begin with 0

	tokAnd
	tokOr
	tokNot
	tokBetween
	tokIn
	tokSet
	tokRemove
	tokAdd
	tokDelete

	tokEqual
	tokNotEqual
	tokLess
	tokLessOrEqual
	tokGreater
	tokGreaterOrEqual

	tokLeftParen
	tokRightParen
	tokLeftBracket
	tokRightBracket
	tokComma
	tokDot
	tokPlus
	tokMinus
)

// A token is the bytes [start, end) of an expression.
type token struct {
	kind       tokenKind
	start, end int32
}

// punctuation maps a byte to the token it is by itself.
var punctuation = [256]tokenKind{
	'=': tokEqual, '<': tokLess, '>': tokGreater,
	'(': tokLeftParen, ')': tokRightParen, '[': tokLeftBracket, ']': tokRightBracket,
	',': tokComma, '.': tokDot, '+': tokPlus, '-': tokMinus,
}

// lex appends the tokens of src, a tokEOF last. What cannot be a token is a
// tokBad of one character, so that the parser finds it in its place.
//
// A name begins with a letter; one in ExpressionAttributeNames or
// ExpressionAttributeValues may begin with a digit or an underscore. Keywords
// are keywords in every kind of expression.
func lex(tokens []token, src string) []token {
	for i := 0; i < len(src); {
		start, c := i, src[i]
		i++
		var kind tokenKind
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case isLetter(c):
			i = endOfWord(src, i)
			kind = keyword(src[start:i])
		case c == '#' || c == ':':
			i = endOfWord(src, i)
			switch {
			case i == start+1:
				kind = tokBad
			case c == '#':
				kind = tokName
			default:
				kind = tokValue
			}
		case isDigit(c):
			kind = tokInt
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
			kind = tokBad
			_, n := utf8.DecodeRuneInString(src[start:])
			i = start + n
		}
		tokens = append(tokens, token{kind, int32(start), int32(i)})
	}
	return append(tokens, token{tokEOF, int32(len(src)), int32(len(src))})
}

// pairOf returns the token of two characters, if they are one.
func pairOf(a, b byte) tokenKind {
	switch {
	case a == '<' && b == '>':
		return tokNotEqual
	case a == '<' && b == '=':
		return tokLessOrEqual
	case a == '>' && b == '=':
		return tokGreaterOrEqual
	}
	return 0
}

// keyword returns the kind of a word: keywords are known in any case.
func keyword(word string) tokenKind {
	if len(word) > len("BETWEEN") {
		return tokIdent
	}
	var upper [len("BETWEEN")]byte
	for i := range len(word) {
		upper[i] = word[i] &^ 0x20 // harmless to what is not a letter: no keyword has any
	}
	switch string(upper[:len(word)]) {
	case "AND":
		return tokAnd
	case "OR":
		return tokOr
	case "NOT":
		return tokNot
	case "BETWEEN":
		return tokBetween
	case "IN":
		return tokIn
	case "SET":
		return tokSet
	case "REMOVE":
		return tokRemove
	case "ADD":
		return tokAdd
	case "DELETE":
		return tokDelete
	}
	return tokIdent
}

func endOfWord[T string | []byte](src T, i int) int {
	for i < len(src) && (isLetter(src[i]) || isDigit(src[i]) || src[i] == '_') {
		i++
	}
	return i
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord reports whether s is letters, digits and underscores, and not empty.
func isWord[T string | []byte](s T) bool { return len(s) > 0 && endOfWord(s, 0) == len(s) }
