package markup

import (
	"bytes"
	"html"
	"io"
	"strings"
)

// A Writer builds a page. The zero Writer is an empty page. It is not safe for
// concurrent use.
type Writer struct {
	out  bytes.Buffer
	open []constant
}

// Doctype writes the document type, which begins a page.
func (w *Writer) Doctype() { w.out.WriteString("<!DOCTYPE html>\n") }

// Open begins an element; [Writer.Close] ends it. It panics for elements whose
// content browsers do not read as text, such as script. For style use
// [Writer.Style].
func (w *Writer) Open(tag constant, attrs ...Attr) {
	if raw[tag] {
		panic("markup: the content of " + string(tag) + " is not text")
	}
	w.tag(tag, attrs)
	w.out.WriteByte('>')
	w.open = append(w.open, tag)
}

var raw = map[constant]bool{
	"script": true, "style": true, "xmp": true, "iframe": true, "noembed": true, "noframes": true, "noscript": true,
	"plaintext": true,
}

func (w *Writer) tag(tag constant, attrs []Attr) {
	w.out.WriteByte('<')
	w.out.WriteString(string(tag))
	for _, a := range attrs {
		w.out.WriteByte(' ')
		w.out.WriteString(string(a.name))
		w.out.WriteString(`="`)
		w.out.WriteString(html.EscapeString(visible(a.value, false)))
		w.out.WriteByte('"')
	}
}

// Close ends the element opened last, if any.
func (w *Writer) Close() {
	last := len(w.open) - 1
	if last < 0 {
		return
	}
	w.out.WriteString("</" + string(w.open[last]) + ">")
	switch w.open[last] {
	case "head", "body", "div", "section", "details", "tr", "thead", "g", "p", "pre", "ul", "li", "dl", "dd", "article", "header", "table", "h1", "h2", "title":
		w.out.WriteByte('\n')
	}
	w.open = w.open[:last]
}

// Depth returns the number of open elements.
func (w *Writer) Depth() int { return len(w.open) }

// CloseTo ends elements until depth of them are open.
func (w *Writer) CloseTo(depth int) {
	for len(w.open) > max(depth, 0) {
		w.Close()
	}
}

// void lists the HTML elements without an end tag.
var void = map[constant]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true, "source": true, "track": true, "wbr": true,
}

// Void writes an element without content.
func (w *Writer) Void(tag constant, attrs ...Attr) {
	if !void[tag] && !w.picture() {
		// In HTML, <p/> would begin a paragraph.
		w.Leaf(tag, "", attrs...)
		return
	}
	w.tag(tag, attrs)
	w.out.WriteString("/>")
}

// picture reports whether an SVG element is open without an HTML element inside
// it.
func (w *Writer) picture() bool {
	for i := len(w.open) - 1; i >= 0 && w.open[i] != "foreignObject"; i-- {
		if w.open[i] == "svg" {
			return true
		}
	}
	return false
}

// Leaf writes an element that contains only text.
func (w *Writer) Leaf(tag constant, text string, attrs ...Attr) {
	w.Open(tag, attrs...)
	w.Text(text)
	w.Close()
}

// Text writes text. It writes invisible and misleading characters as escapes:
// control characters, marks that change the direction of text, bytes that are
// not UTF-8. Line breaks become spaces, except directly inside pre.
func (w *Writer) Text(s string) {
	lines := len(w.open) > 0 && w.open[len(w.open)-1] == "pre"
	w.out.WriteString(html.EscapeString(visible(s, lines)))
}

// Style writes a style sheet. It writes < and & as CSS escapes, so the sheet
// cannot end early.
func (w *Writer) Style(sheet string) {
	w.out.WriteString("<style>\n")
	w.out.WriteString(
		strings.NewReplacer("<", `\3C `, "&", `\26 `, "]]>", `]]\3E `).Replace(strings.ToValidUTF8(sheet, "\ufffd")),
	)
	w.out.WriteString("</style>\n")
}

// WriteTo ends all open elements, writes the page to out and empties w. The
// error is out's.
func (w *Writer) WriteTo(out io.Writer) (int64, error) {
	w.CloseTo(0)
	return w.out.WriteTo(out)
}
