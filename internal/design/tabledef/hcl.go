package tabledef

import (
	"fmt"
	"strconv"
	"strings"
)

// This file reads blocks of Terraform's language; hcl_value.go evaluates the expressions in
// them.
// Source: https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md

// A body has the arguments and blocks of a file or a block.
type body struct {
	attributes map[string]expression
	blocks     []*block
}

// A block is a block such as resource "type" "name" { … }.
type block struct {
	kind   string
	labels []string
	body   *body
}

func (b *block) is(kind string, labels int) bool { return b.kind == kind && len(b.labels) == labels }

// An expression has the tokens of an expression.
type expression []hclToken

type hclKind uint8

const (
	hclEOF hclKind = iota
	hclNewline
	hclName
	hclNumber
	hclText    // with its quotes
	hclHeredoc // its lines
	hclMark    // an operator or a bracket
)

type hclToken struct {
	kind hclKind
	text string
	at   int // offset
}

// parseHCL parses a file. The error begins with the line and the column.
func parseHCL(src string) (*body, error) {
	tokens, err := lexHCL(src)
	if err != nil {
		return nil, err
	}
	p := &hclParser{src: src, tokens: tokens}
	b, err := p.body(0)
	if err == nil && p.tokens[0].kind != hclEOF {
		err = p.unexpected()
	}
	return b, err
}

type hclParser struct {
	src    string
	tokens []hclToken // that follow; the last is hclEOF
}

func (p *hclParser) next() hclToken {
	t := p.tokens[0]
	if t.kind != hclEOF {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *hclParser) unexpected() error {
	t := p.tokens[0]
	what := strconv.Quote(t.text)
	if t.kind == hclEOF {
		what = "end of file"
	}
	return errorAt(p.src, t.at, "unexpected %s", what)
}

func errorAt(src string, at int, format string, args ...any) error {
	before := src[:at]
	line, start := strings.Count(before, "\n")+1, strings.LastIndexByte(before, '\n')+1
	return fmt.Errorf("%d:%d: %s", line, at-start+1, fmt.Sprintf(format, args...))
}

func (p *hclParser) body(depth int) (*body, error) {
	b := &body{attributes: map[string]expression{}}
	if depth > maxDepth {
		return nil, errorAt(p.src, p.tokens[0].at, "blocks nest more than %d deep", maxDepth)
	}
	for {
		switch t := p.tokens[0]; {
		case t.kind == hclNewline:
			p.next()
			continue
		case t.kind == hclEOF, t.kind == hclMark && t.text == "}":
			return b, nil
		case t.kind != hclName:
			return nil, p.unexpected()
		}
		name := p.next()
		if t := p.tokens[0]; t.kind == hclMark && t.text == "=" {
			p.next()
			e, err := p.expression()
			if err != nil {
				return nil, err
			}
			b.attributes[name.text] = e
			continue
		}
		inner := &block{kind: name.text}
		for p.tokens[0].kind == hclName || p.tokens[0].kind == hclText {
			label := p.next()
			inner.labels = append(inner.labels, strings.Trim(label.text, `"`))
		}
		if t := p.tokens[0]; t.kind != hclMark || t.text != "{" {
			return nil, p.unexpected()
		}
		p.next()
		var err error
		if inner.body, err = p.body(depth + 1); err != nil {
			return nil, err
		}
		if t := p.tokens[0]; t.kind != hclMark {
			return nil, p.unexpected()
		}
		p.next()
		b.blocks = append(b.blocks, inner)
	}
}

// expression takes the tokens up to the end of the line that are in no brackets.
func (p *hclParser) expression() (e expression, err error) {
	depth := 0
	for {
		t := p.tokens[0]
		switch {
		case t.kind == hclEOF && depth > 0:
			return nil, p.unexpected()
		case t.kind == hclEOF, t.kind == hclNewline && depth == 0, t.kind == hclMark && t.text == "}" && depth == 0:
			return e, nil
		case t.kind == hclMark && strings.Contains("([{", t.text):
			depth++
		case t.kind == hclMark && strings.Contains(")]}", t.text):
			depth--
		}
		p.next()
		e = append(e, t)
	}
}

func lexHCL(src string) (tokens []hclToken, err error) {
	add := func(kind hclKind, from, to int) { tokens = append(tokens, hclToken{kind, src[from:to], from}) }
	for i := 0; i < len(src); {
		from := i
		switch c := src[i]; {
		case c == '\n':
			i++
			add(hclNewline, from, i)
		case c == ' ' || c == '\t' || c == '\r' || strings.HasPrefix(src[i:], "\xef\xbb\xbf"):
			i++
			if c == '\xef' {
				i += 2
			}
		case c == '#' || strings.HasPrefix(src[i:], "//"):
			if n := strings.IndexByte(src[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(src)
			}
		case strings.HasPrefix(src[i:], "/*"):
			n := strings.Index(src[i+2:], "*/")
			if n < 0 {
				return nil, errorAt(src, i, "the comment has no end")
			}
			i += n + 4
		case c == '"':
			if i = endOfText(src, i+1, 0); i < 0 {
				return nil, errorAt(src, from, "the text has no closing quote")
			}
			add(hclText, from, i)
		case strings.HasPrefix(src[i:], "<<"):
			end, lines, ok := heredoc(src, i)
			if !ok {
				return nil, errorAt(src, i, "the text after << has no end")
			}
			i = end
			tokens = append(tokens, hclToken{hclHeredoc, lines, from})
		case isNameByte(c) && (c < '0' || c > '9'):
			for i < len(src) && (isNameByte(src[i]) || src[i] == '-') {
				i++
			}
			add(hclName, from, i)
		case c >= '0' && c <= '9':
			for i < len(src) && (isNameByte(src[i]) || src[i] == '.') {
				i++
			}
			add(hclNumber, from, i)
		default:
			i++
			add(hclMark, from, i)
		}
	}
	add(hclEOF, len(src), len(src))
	return tokens, nil
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 0x80 || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// endOfText returns the offset after the closing quote of a text that begins
// before i, or -1. A template in it may have texts of its own.
func endOfText(src string, i, depth int) int {
	for i < len(src) && depth < maxDepth {
		switch {
		case src[i] == '\\':
			i += 2
		case src[i] == '"':
			return i + 1
		case src[i] == '\n':
			return -1
		case strings.HasPrefix(src[i:], "$${") || strings.HasPrefix(src[i:], "%%{"):
			i += 3
		case strings.HasPrefix(src[i:], "${") || strings.HasPrefix(src[i:], "%{"):
			if i = endOfTemplate(src, i+2, depth+1); i < 0 {
				return -1
			}
		default:
			i++
		}
	}
	return -1
}

// endOfTemplate returns the offset after the closing brace of ${…, or -1.
func endOfTemplate(src string, i, depth int) int {
	for open := 1; i >= 0 && i < len(src); {
		switch src[i] {
		case '"':
			i = endOfText(src, i+1, depth)
			continue
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// heredoc returns the end and the lines of a text such as <<EOT.
func heredoc(src string, i int) (end int, lines string, ok bool) {
	head, rest, ok := strings.Cut(src[i+2:], "\n")
	if !ok {
		return 0, "", false
	}
	word := strings.TrimSpace(strings.TrimPrefix(head, "-"))
	at := i + 2 + len(head) + 1
	start := at
	for rest != "" {
		line, more, _ := strings.Cut(rest, "\n")
		if strings.TrimSpace(line) == word {
			return at + len(strings.TrimRight(line, "\r")), src[start:at], true
		}
		at += len(line) + 1
		rest = more
	}
	return 0, "", false
}

// String returns the expression on one line, for messages.
func (e expression) String() string {
	var b strings.Builder
	for i, t := range e {
		if t.kind == hclNewline {
			continue
		}
		if i > 0 && t.at > e[i-1].at+len(e[i-1].text) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}
