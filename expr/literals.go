package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// Literals turns expressions in which names and values stand for themselves,
// such as status = "NEW" AND total > 10, into ones with placeholders, as
// requests take them, and collects what the placeholders mean. The zero
// Literals is ready. It is not safe for concurrent use.
//
// Names get placeholders, so that reserved words are nobody's trouble.
// Text stands in quotes: single quotes keep everything as it is, a quote inside
// being written twice; double quotes know the escapes of Go. Names with odd
// characters stand in backquotes.
type Literals struct {
	// Readable lets names that may stand in a request as they are do so.
	Readable bool
	// Resolve returns the attribute that a name means; only the first name of a
	// path is asked for. Nil means that names are attributes.
	Resolve func(name string) (string, error)

	names  []string
	known  map[string]string // placeholder by name
	values []attr.Value
	// places are the placeholders of values.
	places []string
	taken  map[string]bool
}

// A LiteralError is an expression with literals that cannot be understood.
type LiteralError struct {
	// Msg says what is wrong, Hint what to do; it may be empty.
	Msg, Hint string
}

// Error returns what is wrong, without the advice.
func (e *LiteralError) Error() string { return e.Msg }

func literalError(hint, format string, args ...any) error {
	return &LiteralError{fmt.Sprintf(format, args...), hint}
}

// Name returns what stands for a name: its placeholder, or the name itself when
// that is allowed.
func (l *Literals) Name(name string) string {
	if have, ok := l.known[name]; ok {
		return have
	}
	word := wordToken.FindString(name) == name && name != ""
	switch {
	case l.Readable && word && !IsReserved(name):
		return name
	case l.Readable && word:
		return l.addName(name, "#"+name)
	}
	return l.addName(name, fmt.Sprintf("#n%d", len(l.names)+1))
}

func (l *Literals) addName(name, place string) string {
	if l.known == nil {
		l.known = map[string]string{}
	}
	for l.used(place) {
		place += "_"
	}
	l.known[name] = place
	l.names = append(l.names, name)
	return place
}

// used reports whether a placeholder is taken, and takes it.
func (l *Literals) used(place string) bool {
	if l.taken == nil {
		l.taken = map[string]bool{}
	}
	before := l.taken[place]
	l.taken[place] = true
	return before
}

// Value returns the placeholder of a value.
func (l *Literals) Value(v attr.Value) string {
	return l.ValueLike(v, fmt.Sprintf("v%d", len(l.values)+1))
}

// ValueLike returns the placeholder of a value, made of a word when it is new.
func (l *Literals) ValueLike(v attr.Value, word string) string {
	for i, have := range l.values {
		if attr.Equal(have, v) {
			return l.places[i]
		}
	}
	if wordToken.FindString(word) != word {
		word = fmt.Sprintf("v%d", len(l.values)+1)
	}
	place := ":" + word
	for l.used(place) {
		place += "_"
	}
	l.values = append(l.values, v)
	l.places = append(l.places, place)
	return place
}

// Names returns what the placeholders of names stand for, nil if there are
// none.
func (l *Literals) Names() map[string]string {
	if len(l.names) == 0 {
		return nil
	}
	all := make(map[string]string, len(l.names))
	for _, name := range l.names {
		all[l.known[name]] = name
	}
	return all
}

// Values returns what the placeholders of values stand for, nil if there are
// none.
func (l *Literals) Values() attr.Item {
	if len(l.values) == 0 {
		return nil
	}
	var b attr.Builder
	for i, v := range l.values {
		b.Add(l.places[i], v)
	}
	return b.Item()
}

var (
	wordToken   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	numberToken = regexp.MustCompile(`^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`)
	indexToken  = regexp.MustCompile(`^\[\s*\d+\s*\]`)
	callNext    = regexp.MustCompile(`^\s*\(`)
	literalKeys = map[string]bool{"AND": true, "OR": true, "NOT": true, "IN": true, "BETWEEN": true}
)

// Expression returns src, a filter or a projection with its names and values
// written out, with placeholders for them. The error is a [*LiteralError].
func (l *Literals) Expression(src string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(src); {
		n, text, err := l.token(src[i:], out.String())
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		i += n
	}
	return out.String(), nil
}

// token returns the length of the token src starts with and what to write for
// it, after what has been written.
func (l *Literals) token(src, written string) (int, string, error) {
	switch c := src[0]; {
	case c == '\'' || c == '"':
		s, rest, err := CutQuoted(src)
		if err != nil {
			return 0, "", err
		}
		return len(src) - len(rest), l.Value(attr.NewString(s)), nil
	case c == '`':
		name, _, ok := strings.Cut(src[1:], "`")
		if !ok || name == "" {
			return 0, "", literalError("write the name between two backquotes", "%s is not a whole attribute name", src)
		}
		text, err := l.path(name, written)
		return len(name) + 2, text, err
	case c == ':' || c == '#':
		return 0, "", literalError("write names and values as they are: price > 10 AND tag = \"x\"; names with odd characters go in backquotes",
			"placeholders such as %s are not needed here", src[:1]+wordToken.FindString(src[1:]))
	case strings.HasPrefix(src, "!="):
		return 2, "<>", nil
	case strings.HasPrefix(src, "=="):
		return 2, "=", nil
	}
	if word := wordToken.FindString(src); word != "" {
		text, err := l.word(word, src[len(word):], written)
		return len(word), text, err
	}
	if index := indexToken.FindString(src); index != "" {
		return len(index), index, nil
	}
	if number := numberToken.FindString(src); number != "" {
		v, err := attr.NewNumber(number)
		if err != nil {
			return 0, "", literalError("", "%s: %v", number, err)
		}
		return len(number), l.Value(v), nil
	}
	if strings.IndexByte(" \t\r\n()=<>,.", src[0]) >= 0 {
		return 1, src[:1], nil
	}
	return 0, "", literalError("put text in quotes and odd attribute names in backquotes: `my-name` = \"x\"", "%q cannot be understood at %q", src[:1], src)
}

func (l *Literals) word(word, after, written string) (string, error) {
	inPath := strings.HasSuffix(written, ".") || strings.HasPrefix(after, ".")
	switch {
	case inPath:
	case literalKeys[strings.ToUpper(word)] || callNext.MatchString(after):
		return word, nil
	case word == "true" || word == "false":
		return l.Value(attr.NewBool(word == "true")), nil
	case word == "null":
		return l.Value(attr.NewNull()), nil
	}
	return l.path(word, written)
}

// path writes a name of a path.
func (l *Literals) path(name, written string) (string, error) {
	if l.Resolve != nil && !strings.HasSuffix(written, ".") {
		attribute, err := l.Resolve(name)
		if err != nil {
			return "", err
		}
		name = attribute
	}
	return l.Name(name), nil
}

// CutQuoted reads the quoted string that s starts with, as [Literals] takes
// it, and returns what follows. The error is a [*LiteralError].
func CutQuoted(s string) (value, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", badQuote(s)
		}
		value, err = strconv.Unquote(text)
		if err != nil {
			return "", "", badQuote(s)
		}
		return value, s[len(text):], nil
	}
	if !strings.HasPrefix(s, "'") {
		return "", "", badQuote(s)
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 == len(s) || s[i+1] != '\'' {
			return b.String(), s[i+1:], nil
		}
		b.WriteByte('\'')
		i++
	}
	return "", "", badQuote(s)
}

func badQuote(s string) error {
	return literalError(`close the quote; inside '…' write '' for a quote, inside "…" write \"`, "%s is not a whole quoted string", s)
}
