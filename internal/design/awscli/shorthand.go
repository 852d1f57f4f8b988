package awscli

import (
	"fmt"
	"strconv"
	"strings"
)

// maxNesting bounds how deep a value in shorthand nests.
const maxNesting = 64

// shorthand reads a value in the CLI's shorthand syntax: a=b,c={d=e},f=[g,h].
// Source: AWS CLI User Guide, cli-usage-shorthand.html.
func shorthand(src string) (any, error) {
	p := &shorthandParser{src: src}
	v, err := p.pairs(0, 0)
	if err != nil {
		return nil, err
	}
	if p.at < len(p.src) {
		return nil, p.fail("there is more after the value")
	}
	return v, nil
}

type shorthandParser struct {
	src string
	at  int
}

func (p *shorthandParser) fail(what string) error {
	return fmt.Errorf("shorthand: %s at %q", what, excerpt(p.src[min(p.at, len(p.src)):]))
}

func (p *shorthandParser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *shorthandParser) space() {
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
}

// pairs reads key=value pairs up to end, which is '}' or 0 for the end of the
// text.
func (p *shorthandParser) pairs(end byte, depth int) (map[string]any, error) {
	m := map[string]any{}
	for {
		p.space()
		if p.peek() == end && (end != 0 || p.at == len(p.src)) && len(m) == 0 && end != 0 {
			p.at++
			return m, nil
		}
		key := p.key()
		if key == "" || p.peek() != '=' {
			return nil, p.fail("want key=value")
		}
		p.at++
		v, err := p.value(depth, true)
		if err != nil {
			return nil, err
		}
		if _, ok := m[key]; ok {
			return nil, fmt.Errorf("shorthand: %s is there twice", key)
		}
		m[key] = v
		p.space()
		switch {
		case p.at == len(p.src) && end == 0:
			return m, nil
		case p.at == len(p.src):
			return nil, p.fail("the brace is not closed")
		case end != 0 && p.peek() == end:
			p.at++
			return m, nil
		case p.peek() == ',':
			p.at++
		default:
			return nil, p.fail("want a comma")
		}
	}
}

// key reads the name before an equals sign.
func (p *shorthandParser) key() string {
	start := p.at
	for p.at < len(p.src) {
		c := p.src[p.at]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("_-./#:", c) >= 0) {
			break
		}
		p.at++
	}
	return p.src[start:p.at]
}

// value reads what stands after an equals sign, or in a list. After an equals
// sign several values with commas are a list.
func (p *shorthandParser) value(depth int, csv bool) (any, error) {
	if depth > maxNesting {
		return nil, p.fail("the value nests too deep")
	}
	p.space()
	switch p.peek() {
	case '{':
		p.at++
		return p.pairs('}', depth+1)
	case '[':
		p.at++
		return p.elements(depth + 1)
	}
	first, err := p.text()
	if err != nil || !csv {
		return first, err
	}
	all := []any{first}
	for p.peek() == ',' && !p.pairAhead() {
		p.at++
		p.space()
		if p.at == len(p.src) {
			break // a comma at the end makes a list of one
		}
		next, err := p.text()
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	if len(all) == 1 && (p.at == 0 || p.src[p.at-1] != ',') {
		return first, nil
	}
	return all, nil
}

// pairAhead reports whether a key=value pair follows the comma at hand.
func (p *shorthandParser) pairAhead() bool {
	ahead := shorthandParser{src: p.src, at: p.at + 1}
	ahead.space()
	return ahead.key() != "" && ahead.peek() == '='
}

func (p *shorthandParser) elements(depth int) (any, error) {
	out := []any{}
	for {
		p.space()
		if p.peek() == ']' {
			p.at++
			return out, nil
		}
		v, err := p.value(depth, false)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		p.space()
		switch p.peek() {
		case ',':
			p.at++
		case ']':
		default:
			return nil, p.fail("the bracket is not closed")
		}
	}
}

// text reads a string, in quotes or up to the next delimiter.
func (p *shorthandParser) text() (string, error) {
	if q := p.peek(); q == '\'' || q == '"' {
		var b strings.Builder
		for i := p.at + 1; i < len(p.src); i++ {
			switch c := p.src[i]; {
			case c == q:
				p.at = i + 1
				return b.String(), nil
			case c == '\\' && i+1 < len(p.src) && (p.src[i+1] == q || p.src[i+1] == '\\'):
				i++
				b.WriteByte(p.src[i])
			default:
				b.WriteByte(c)
			}
		}
		return "", p.fail("the quote is not closed")
	}
	var b strings.Builder
	for p.at < len(p.src) {
		c := p.src[p.at]
		if c == ',' || c == ']' || c == '}' {
			break
		}
		if c == '\\' && p.at+1 < len(p.src) {
			p.at++
			c = p.src[p.at]
		}
		b.WriteByte(c)
		p.at++
	}
	return strings.TrimRight(b.String(), " "), nil
}

// Members whose values are no strings.
var (
	boolMembers = map[string]bool{
		"BOOL": true, "NULL": true, "Exists": true, "StreamEnabled": true, "Enabled": true, "ConsistentRead": true,
	}
	numberMembers = map[string]bool{
		"ReadCapacityUnits": true, "WriteCapacityUnits": true, "MaxReadRequestUnits": true, "MaxWriteRequestUnits": true,
		"ReadUnitsPerSecond": true, "WriteUnitsPerSecond": true,
	}
	listMembers = map[string]bool{
		"SS": true, "NS": true, "BS": true, "L": true, "AttributeValueList": true, "NonKeyAttributes": true, "KeySchema": true,
		"Keys": true, "AttributesToGet": true, "Parameters": true,
	}
)

// typed gives values in shorthand, which are all strings, the type of their
// member.
func typed(name string, v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		for key, elem := range v {
			t, err := typed(key, elem)
			if err != nil {
				return nil, err
			}
			v[key] = t
		}
		if listMembers[name] {
			return []any{v}, nil
		}
		return v, nil
	case []any:
		for i, elem := range v {
			t, err := typed("", elem)
			if err != nil {
				return nil, err
			}
			v[i] = t
		}
		return v, nil
	case string:
		switch {
		case boolMembers[name]:
			b, err := strconv.ParseBool(v)
			if err != nil {
				return nil, fmt.Errorf("%s is true or false, not %q", name, v)
			}
			return b, nil
		case numberMembers[name]:
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s is a number, not %q", name, v)
			}
			return n, nil
		case listMembers[name]:
			return []any{v}, nil
		}
	}
	return v, nil
}
