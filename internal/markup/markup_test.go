package markup_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/markup"
	"github.com/sortkey/sortkey/internal/proptest"
)

// write returns the page that f writes.
func write(t require.TestingT, f func(w *markup.Writer)) string {
	var w markup.Writer
	f(&w)
	var b strings.Builder
	_, err := w.WriteTo(&b)
	require.NoError(t, err)
	return b.String()
}

func TestWriter(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(w *markup.Writer)
		want string
	}{
		"text is escaped":      {func(w *markup.Writer) { w.Leaf("b", `<i>&"'`) }, `<b>&lt;i&gt;&amp;&#34;&#39;</b>`},
		"values are escaped":   {func(w *markup.Writer) { w.Leaf("b", "", markup.A("title", `"><i>`)) }, `<b title="&#34;&gt;&lt;i&gt;"></b>`},
		"open ends are closed": {func(w *markup.Writer) { w.Open("b"); w.Open("i") }, `<b><i></i></b>`},
		"nothing to close":     {func(w *markup.Writer) { w.Close(); w.CloseTo(-1); w.Text("x") }, `x`},
		"lines are spaces":     {func(w *markup.Writer) { w.Leaf("b", "1\n2\t3") }, `<b>1 2 3</b>`},
		"lines of pre stay":    {func(w *markup.Writer) { w.Leaf("pre", "1\n2\t3") }, "<pre>1\n2\t3</pre>\n"},
		"what is not seen":     {func(w *markup.Writer) { w.Leaf("b", "a\x00\u202e\xffz") }, `<b>a\u{0000}\u{202E}\xFFz</b>`},
		"void of HTML":         {func(w *markup.Writer) { w.Void("br") }, `<br/>`},
		"no void of HTML":      {func(w *markup.Writer) { w.Void("i") }, `<i></i>`},
		"void of SVG":          {func(w *markup.Writer) { w.Open("svg"); w.Void("path") }, "<svg><path/></svg>"},
		"HTML in a picture": {func(w *markup.Writer) {
			w.Open("svg")
			w.Open("foreignObject")
			w.Void("i")
		}, "<svg><foreignObject><i></i></foreignObject></svg>"},
		"numbers":         {func(w *markup.Writer) { w.Leaf("b", "", markup.Num("x", 1), markup.Num("y", 2.25)) }, `<b x="1" y="2.2"></b>`},
		"places":          {func(w *markup.Writer) { w.Leaf("a", "", markup.To("%s-%d", `"`, 1), markup.ID("%s", "<")) }, `<a href="#&#34;-1" id="&lt;"></a>`},
		"links":           {func(w *markup.Writer) { w.Leaf("a", "", markup.Link("HTTPS://x/?a&b")) }, `<a href="HTTPS://x/?a&amp;b"></a>`},
		"links to code":   {func(w *markup.Writer) { w.Leaf("a", "", markup.Link("javascript:x")) }, `<a href="#"></a>`},
		"links to data":   {func(w *markup.Writer) { w.Leaf("a", "", markup.Link(" data:text/html,x")) }, `<a href="#"></a>`},
		"sheets that end": {func(w *markup.Writer) { w.Style(`a > b { content: "</style>&" }`) }, "<style>\n" + `a > b { content: "\3C /style>\26 " }</style>` + "\n"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, write(t, c.f)) })
	}
}

func TestRefused(t *testing.T) {
	var w markup.Writer
	for name, f := range map[string]func(){
		"style":  func() { markup.A("style", "x") },
		"event":  func() { markup.A("onclick", "x") },
		"href":   func() { markup.A("href", "x") },
		"number": func() { markup.Num("src", 1) },
		"script": func() { w.Open("script") },
		"leaf":   func() { w.Leaf("style", "x") },
	} {
		require.Panics(t, f, name)
	}
}

// TestAnyText checks that an XML parser finds exactly the written elements,
// whatever the texts.
func TestAnyText(t *testing.T) {
	anything := func(t *proptest.T) string {
		switch t.IntN(3) {
		case 0:
			return t.Text(`<>&"'/!-]`+"\x00\n\u202e\ufffe", 0, 16)
		case 1:
			return t.AnyText(0, 16)
		}
		return string(t.Bytes(0, 16))
	}
	proptest.Check(t, 100, func(t *proptest.T) {
		text, value, sheet := anything(t), anything(t), anything(t)
		t.Logf("%q, %q, %q", text, value, sheet)
		page := write(t, func(w *markup.Writer) {
			w.Doctype()
			w.Open("html")
			w.Style(strings.Map(printable, sheet))
			w.Open("p", markup.A("title", value), markup.Class(value), markup.ID("%s", value))
			w.Text(text)
			w.Leaf("pre", text)
			w.Open("svg", markup.Num("width", 1))
			w.Void("path", markup.A("d", value))
		})
		d := xml.NewDecoder(strings.NewReader(page))
		var names []string
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, page)
			if start, ok := token.(xml.StartElement); ok {
				names = append(names, start.Name.Local)
			}
		}
		require.Equal(t, []string{"html", "style", "p", "pre", "svg", "path"}, names)
	})
}

// printable drops characters that XML does not allow. Style sheets are not
// data.
func printable(r rune) rune {
	if r < ' ' || r == '\ufffe' || r == '\uffff' {
		return -1
	}
	return r
}

// TestConstants checks that a name that is not a constant does not compile.
func TestConstants(t *testing.T) {
	vet := func(folder string) string {
		out, _ := exec.Command("go", "vet", "./testdata/"+folder).CombinedOutput()
		return string(out)
	}
	require.Empty(t, vet("constant"))
	require.Contains(t, vet("variable"), "cannot use name")
}

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain ä 日本", "plain ä 日本"},
		{"two\nlines\there", "two lines here"},
		{"a\x00b\x1b[31m", `a\u{0000}b\u{001B}[31m`},
		{"x\u202exe.txt", `x\u{202E}xe.txt`},
		{"a\xffb", `a\xFFb`},
		{"\U000E0041", `\u{E0041}`},
		{"\ufffd", "\ufffd"},
	} {
		if got := markup.Visible(tt.in); got != tt.want {
			t.Errorf("Visible(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
