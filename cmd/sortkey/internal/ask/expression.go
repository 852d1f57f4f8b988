package ask

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/wire"
)

// Placeholders stand for the names and values of a request's expressions.
// Names always get one, so that reserved words are nobody's trouble.
type placeholders struct {
	names  map[string]string // placeholder by name
	values []attr.Value
}

func (p *placeholders) name(name string) string {
	if p.names == nil {
		p.names = map[string]string{}
	}
	if p.names[name] == "" {
		p.names[name] = fmt.Sprintf("#n%d", len(p.names)+1)
	}
	return p.names[name]
}

func (p *placeholders) value(v attr.Value) string {
	for i, have := range p.values {
		if attr.Equal(have, v) {
			return fmt.Sprintf(":v%d", i+1)
		}
	}
	p.values = append(p.values, v)
	return fmt.Sprintf(":v%d", len(p.values))
}

func (p *placeholders) sdkNames() map[string]string {
	if len(p.names) == 0 {
		return nil
	}
	out := make(map[string]string, len(p.names))
	for name, placeholder := range p.names {
		out[placeholder] = name
	}
	return out
}

func (p *placeholders) sdkValues() map[string]types.AttributeValue {
	if len(p.values) == 0 {
		return nil
	}
	out := make(map[string]types.AttributeValue, len(p.values))
	for i, v := range p.values {
		out[fmt.Sprintf(":v%d", i+1)] = sdkValue(v)
	}
	return out
}

func sdkValue(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.Bool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case attr.Null:
		return &types.AttributeValueMemberNULL{Value: true}
	}
	return wire.Key(v)
}

var (
	wordToken   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	numberToken = regexp.MustCompile(`^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`)
	indexToken  = regexp.MustCompile(`^\[\s*\d+\s*\]`)
	callNext    = regexp.MustCompile(`^\s*\(`)
	keywords    = map[string]bool{"AND": true, "OR": true, "NOT": true, "IN": true, "BETWEEN": true}
)

// expression returns src, a filter or a projection with names and values
// written out, with placeholders for them.
func (p *placeholders) expression(src string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(src); {
		token, text, err := p.token(src[i:], out.String())
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		i += token
	}
	return out.String(), nil
}

// token returns the length of the token src starts with and what to write for
// it, after what has been written.
func (p *placeholders) token(src, written string) (int, string, error) {
	switch c := src[0]; {
	case c == '\'' || c == '"':
		s, rest, err := quoted(src)
		if err != nil {
			return 0, "", err
		}
		return len(src) - len(rest), p.value(attr.NewString(s)), nil
	case c == '`':
		name, _, ok := strings.Cut(src[1:], "`")
		if !ok || name == "" {
			return 0, "", hint.Usage("write the name between two backquotes", "%s is not a whole attribute name", src)
		}
		return len(name) + 2, p.name(name), nil
	case c == ':' || c == '#':
		return 0, "", hint.Usage("write names and values as they are: price > 10 AND tag = \"x\"; names with odd characters go in backquotes",
			"placeholders such as %s are not needed here", placeholder(src))
	case strings.HasPrefix(src, "!=") || strings.HasPrefix(src, "=="):
		return 2, map[byte]string{'!': "<>", '=': "="}[c], nil
	}
	if word := wordToken.FindString(src); word != "" {
		return len(word), p.word(word, src[len(word):], written), nil
	}
	if index := indexToken.FindString(src); index != "" {
		return len(index), index, nil
	}
	if number := numberToken.FindString(src); number != "" {
		v, err := attr.NewNumber(number)
		if err != nil {
			return 0, "", hint.Usage("", "%s: %v", number, err)
		}
		return len(number), p.value(v), nil
	}
	if strings.IndexByte(" \t\r\n()=<>,.", src[0]) >= 0 {
		return 1, src[:1], nil
	}
	return 0, "", hint.Usage("put text in quotes and odd attribute names in backquotes: `my-name` = \"x\"", "%q cannot be understood at %q", src[:1], src)
}

func (p *placeholders) word(word, after, written string) string {
	inPath := strings.HasSuffix(written, ".") || strings.HasPrefix(after, ".")
	switch {
	case inPath:
	case keywords[strings.ToUpper(word)] || callNext.MatchString(after):
		return word
	case word == "true" || word == "false":
		return p.value(attr.NewBool(word == "true"))
	case word == "null":
		return p.value(attr.NewNull())
	}
	return p.name(word)
}

func placeholder(s string) string {
	if word := wordToken.FindString(s[1:]); word != "" {
		return s[:1+len(word)]
	}
	return s[:1]
}

var anyPlaceholder = regexp.MustCompile(`[#:][A-Za-z0-9_]+`)

// Fill returns an expression with its placeholders replaced by what they stand
// for, to be read by people.
func Fill(expression string, names map[string]string, values map[string]types.AttributeValue) string {
	return anyPlaceholder.ReplaceAllStringFunc(expression, func(p string) string {
		if name, ok := names[p]; ok {
			return show.Name(name)
		}
		if v, err := wire.Value(values[p]); err == nil {
			return show.Literal(v)
		}
		return p
	})
}
