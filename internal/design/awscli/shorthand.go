package awscli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/terminal"
)

// maxNesting limits the nesting of a value in shorthand.
const maxNesting = 64

// parseShorthand reads a value in the CLI's shorthand syntax:
// a=b,c={d=e},f=[g,h].
// Source: AWS CLI User Guide, cli-usage-shorthand.html.
func parseShorthand(src string) (any, error) {
	p := &shorthand{src: src}
	v, err := p.pairs(0, 0)
	if err == nil && p.at < len(p.src) {
		err = p.fail("want a comma")
	}
	return v, err
}

// A shorthand is a value being read.
type shorthand struct {
	src string
	at  int
}

func (p *shorthand) fail(what string) error {
	return fmt.Errorf("invalid shorthand, %s:\n%s", what, terminal.Caret(p.src, p.at))
}

// peek returns the next byte, 0 at the end.
func (p *shorthand) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

// accept skips spaces, and c if it comes next.
func (p *shorthand) accept(c byte) bool {
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
	ok := p.at < len(p.src) && p.src[p.at] == c
	if ok {
		p.at++
	}
	return ok
}

// pairs reads key=value pairs up to end, which is '}', or 0 for the end of the
// source.
func (p *shorthand) pairs(end byte, depth int) (map[string]any, error) {
	m := map[string]any{}
	if end != 0 && p.accept(end) {
		return m, nil
	}

	for {
		key := p.key()
		if key == "" || p.peek() != '=' {
			return nil, p.fail("want key=value")
		}
		if _, ok := m[key]; ok {
			return nil, p.fail(key + " is given twice")
		}

		p.at++
		v, err := p.value(depth, true)
		if err != nil {
			return nil, err
		}
		if m[key], err = typed(key, v); err != nil {
			return nil, err
		}

		switch {
		case p.accept(','):
		case end == 0:
			return m, nil
		case p.accept(end):
			return m, nil
		default:
			return nil, p.fail("the brace is not closed")
		}
	}
}

// key reads the name before an equals sign.
func (p *shorthand) key() string {
	p.accept(0)
	start := p.at
	for p.at < len(p.src) && (isWordByte(p.src[p.at]) || strings.IndexByte("_-./#:", p.src[p.at]) >= 0) {
		p.at++
	}
	return p.src[start:p.at]
}

func isWordByte(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

// value reads a value after an equals sign, or in a list. After an equals
// sign several values with commas are a list.
func (p *shorthand) value(depth int, commas bool) (any, error) {
	if depth > maxNesting {
		return nil, p.fail("the value nests too deep")
	}
	if p.accept('{') {
		return p.pairs('}', depth+1)
	}

	all := []any{}
	if p.accept('[') {
		for !p.accept(']') {
			v, err := p.value(depth+1, false)
			if err != nil {
				return nil, err
			}
			if all = append(all, v); !p.accept(',') && p.peek() != ']' {
				return nil, p.fail("the bracket is not closed")
			}
		}
		return all, nil
	}

	first, err := p.text()
	if !commas || !p.anotherValue() {
		return first, err
	}
	for all = append(all, first); err == nil && p.anotherValue(); {
		p.at++
		if p.accept(0); p.at == len(p.src) {
			break // a comma at the end makes a list of one
		}
		first, err = p.text()
		all = append(all, first)
	}
	return all, err
}

// anotherValue reports whether a comma comes next, and no key=value pair after
// it.
func (p *shorthand) anotherValue() bool {
	ahead := shorthand{p.src, p.at + 1}
	return p.peek() == ',' && (ahead.key() == "" || ahead.peek() != '=')
}

// text reads a string, in quotes or up to the next delimiter.
func (p *shorthand) text() (string, error) {
	ends, quote := ",]}", p.peek()
	quoted := quote == '\'' || quote == '"'
	if quoted {
		ends = string(quote)
		p.at++
	}
	var b strings.Builder
	for ; p.at < len(p.src) && strings.IndexByte(ends, p.src[p.at]) < 0; p.at++ {
		rest := p.src[p.at:]
		if rest[0] == '\\' && len(rest) > 1 && (!quoted || rest[1] == quote || rest[1] == '\\') {
			p.at++
		}
		b.WriteByte(p.src[p.at])
	}
	switch {
	case !quoted:
		return strings.TrimRight(b.String(), " "), nil
	case p.at == len(p.src):
		return "", p.fail("the quote is not closed")
	}
	p.at++
	return b.String(), nil
}

// lists are the members that are lists even of one value.
var lists = []string{"SS", "NS", "BS", "L", "AttributeValueList", "Keys", "AttributesToGet"}

// typed returns a value with the type of its member: in shorthand every value
// is a string.
func typed(member string, v any) (any, error) {
	s, isString := v.(string)
	_, isList := v.([]any)
	switch {
	case isString && (member == "BOOL" || member == "NULL" || member == "ConsistentRead"):
		b, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("%s must be true or false, not %q", member, s)
		}
		return b, nil
	case !isList && slices.Contains(lists, member):
		return []any{v}, nil
	}
	return v, nil
}
