package report

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word is the name of an element or an attribute, or a style sheet. It is a
// type of its own so that only constants of this package become one.
type word string

// An at is an attribute of an element. Its value is escaped when written.
type at struct {
	name  word
	value string
}

func class(names string) at         { return at{"class", names} }
func id(format string, n ...any) at { return at{"id", fmt.Sprintf(format, n...)} }

// to is a link to a place in the page.
func to(format string, n ...any) at { return at{"href", "#" + fmt.Sprintf(format, n...)} }

// num is an attribute of a picture.
func num(name word, f float64) at { return at{name, coordinate(f)} }

// coordinate writes a number of a picture, to a tenth of a pixel.
func coordinate(f float64) string {
	s := strconv.FormatFloat(f, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// A markup is a page in the making. It has no method that writes text as it
// is: every value is escaped, and every element closed. The result is HTML and
// well-formed XML.
type markup struct {
	out   bytes.Buffer
	stack []word
}

// open begins an element, which close ends.
func (m *markup) open(tag word, attrs ...at) {
	m.tag(tag, attrs)
	m.out.WriteByte('>')
	m.stack = append(m.stack, tag)
}

func (m *markup) tag(tag word, attrs []at) {
	m.out.WriteByte('<')
	m.out.WriteString(string(tag))
	for _, a := range attrs {
		m.out.WriteByte(' ')
		m.out.WriteString(string(a.name))
		m.out.WriteString(`="`)
		m.text(a.value)
		m.out.WriteByte('"')
	}
}

// close ends the element opened last.
func (m *markup) close() {
	last := len(m.stack) - 1
	m.out.WriteString("</" + string(m.stack[last]) + ">")
	switch m.stack[last] {
	case "div", "section", "tr", "svg", "g", "p", "li", "article", "header", "table":
		m.out.WriteByte('\n')
	}
	m.stack = m.stack[:last]
}

// closeTo ends elements until n are open.
func (m *markup) closeTo(n int) {
	for len(m.stack) > n {
		m.close()
	}
}

// void writes an element without content.
func (m *markup) void(tag word, attrs ...at) {
	m.tag(tag, attrs)
	m.out.WriteString("/>")
}

// leaf writes an element that holds text alone.
func (m *markup) leaf(tag word, text string, attrs ...at) {
	m.open(tag, attrs...)
	m.text(text)
	m.close()
}

// text writes text.
func (m *markup) text(s string) { m.out.WriteString(html.EscapeString(visible(s))) }

// style writes a style sheet.
func (m *markup) style(sheet word) {
	m.out.WriteString("<style>\n" + string(sheet) + "</style>\n")
}

// visible writes out what a reader would not see or be misled by: control
// characters, marks that turn the direction of text, bytes that are no UTF-8.
func visible(s string) string {
	plain := func(r rune) bool { return unicode.IsPrint(r) || r == '\u00a0' }
	clean := true
	for _, r := range s {
		if !plain(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case plain(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%04X}`, r)
		}
		i += n
	}
	return b.String()
}
