package check_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
)

// linted checks a model with the lint rules.
func linted(t *testing.T, m *model.Model, o dataset.Options) (*dataset.Dataset, *check.Result) {
	t.Helper()
	w, err := dataset.Build(t.Context(), m, o)
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	r, err := check.Run(t.Context(), w, check.Options{Lint: lint.Run})
	require.NoError(t, err)
	return w, r
}

func loaded(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := modelfile.Load(path)
	require.NoError(t, err)
	return m
}

func parsed(t *testing.T, text string) *model.Model {
	t.Helper()
	m, err := modelfile.Parse("model.yaml", []byte(text))
	require.NoError(t, err)
	return m
}

func render(t *testing.T, w *dataset.Dataset, r *check.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.HTML(&b, w, r, bill.Of(r, bill.Known())))
	return b.Bytes()
}

// A node is an element of a page.
type node struct {
	name     string
	attrs    map[string]string
	text     string // text of the element and its descendants
	children []*node
}

func (n *node) has(class string) bool {
	return slices.Contains(strings.Fields(n.attrs["class"]), class)
}

// all returns the descendants of n for which is returns true.
func (n *node) all(is func(*node) bool) (out []*node) {
	for _, c := range n.children {
		if is(c) {
			out = append(out, c)
		}
		out = append(out, c.all(is)...)
	}
	return out
}

func (n *node) class(class string) []*node {
	return n.all(func(n *node) bool { return n.has(class) })
}

func (n *node) id(id string) *node {
	if found := n.all(func(n *node) bool { return n.attrs["id"] == id }); len(found) == 1 {
		return found[0]
	}
	return nil
}

// tree parses a page. It fails the test if the page is not well-formed.
func tree(t *testing.T, page []byte) *node {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(page))
	dec.Strict = true
	root := &node{}
	stack, starts := []*node{root}, []int{0} // starts has the offsets at which the texts of open elements begin
	var text []byte
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch tok := tok.(type) {
		case xml.StartElement:
			n := &node{name: tok.Name.Local, attrs: map[string]string{}}
			for _, a := range tok.Attr {
				_, twice := n.attrs[a.Name.Local]
				require.False(t, twice, "%s has %s twice", n.name, a.Name.Local)
				n.attrs[a.Name.Local] = a.Value
			}
			top := stack[len(stack)-1]
			top.children = append(top.children, n)
			stack, starts = append(stack, n), append(starts, len(text))
		case xml.EndElement:
			last := len(stack) - 1
			stack[last].text = string(text[starts[last]:])
			stack, starts = stack[:last], starts[:last]
		case xml.CharData:
			text = append(text, tok...)
		}
	}
	root.text = string(text)
	return root
}

// inspect parses a page and checks what holds for every page. The page is well-formed and refers to nothing outside
// but the developer guide. It has only its own script, which its policy names. All its links have targets.
func inspect(t *testing.T, page []byte) *node {
	t.Helper()
	require.NotContains(t, string(page), "ZgotmplZ", "html/template refuses a value in its place")
	root := tree(t, bytes.Replace(page, []byte(report.Script()), nil, 1)) // the script is not XML
	ids, scripts := map[string]bool{}, 0
	for _, n := range root.all(func(n *node) bool { return n.attrs["id"] != "" }) {
		require.False(t, ids[n.attrs["id"]], "two elements have the id %s", n.attrs["id"])
		ids[n.attrs["id"]] = true
	}
	for _, n := range root.all(func(*node) bool { return true }) {
		require.NotContains(t, []string{"link", "img", "iframe", "object", "embed", "use", "image", "foreignObject", "base", "form"}, n.name)
		for name, value := range n.attrs {
			require.False(t, strings.HasPrefix(name, "on"), "%s has %s", n.name, name)
			require.NotContains(t, []string{"src", "style", "srcset", "action", "ping", "background"}, name)
			if name != "href" {
				continue
			}
			require.Equal(t, "a", n.name)
			if place, ok := strings.CutPrefix(value, "#"); ok {
				require.True(t, ids[place], "a link leads to %s, which is nowhere", value)
			} else {
				require.True(t, strings.HasPrefix(value, "https://docs.aws.amazon.com/"), "a link leads to %s", value)
			}
		}
		if n.name == "script" {
			require.Contains(t, string(page), "<script>"+report.Script()+"</script>")
			sum := sha256.Sum256([]byte(report.Script()))
			policy := root.all(func(n *node) bool { return n.attrs["http-equiv"] == "Content-Security-Policy" })
			require.Len(t, policy, 1)
			require.Contains(t, policy[0].attrs["content"], "default-src 'none'")
			require.Contains(t, policy[0].attrs["content"], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
			scripts++
		}
		if n.name == "style" {
			require.NotContains(t, n.text, "@import")
			require.NotContains(t, n.text, "http")
			require.Empty(t, strings.ReplaceAll(strings.Join(urls(n.text), ""), "url(#hatch)", ""))
		}
	}
	require.Equal(t, 1, scripts)
	return root
}

// urls returns the addresses in a style sheet.
func urls(css string) (out []string) {
	for {
		i := strings.Index(css, "url(")
		if i < 0 {
			return out
		}
		end := strings.IndexByte(css[i:], ')') + i
		out = append(out, css[i:end+1])
		css = css[end:]
	}
}
