package console_test

import (
	"encoding/base64"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// where returns what the header of a page says where one is, and the links of the page that are current.
func (c *client) where(path string) (places, current string) {
	c.Helper()
	page := c.page(path)
	ol := regexp.MustCompile(`(?s)<nav class="where".*?</nav>`).FindString(page)
	tags := regexp.MustCompile(`<[^>]*>`)
	for _, li := range strings.SplitAfter(ol, "</li>") {
		if link := regexp.MustCompile(`href="([^"]*)"`).FindStringSubmatch(li); link != nil {
			places += " / " + strings.TrimSpace(tags.ReplaceAllString(li, "")) + " = " + link[1]
		}
	}
	for _, a := range regexp.MustCompile(`aria-current="(\w+)">([^<]*)</a>`).FindAllStringSubmatch(page, -1) {
		if a[2] != "Items" && a[2] != "Slices" {
			current += " " + a[1] + ":" + a[2]
		}
	}
	return html.UnescapeString(strings.TrimPrefix(places, " / ")), strings.TrimPrefix(current, " ")
}

// TestFrame holds that each page says where it is, and marks it in the navigation.
func TestFrame(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	c.db.Table("Other", "id")
	_, at := c.do("POST", "branches?name=try+it", "")
	key := base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"}}`))
	const table = "console a test = ./ / table Shop = table?name=Shop"
	for _, tt := range []struct{ path, places, current string }{
		{"", "console a test = ./", "page:Tables"},
		{"branches", "console a test = ./", "page:Branches"},
		{"requests", "console a test = ./", "page:Live requests"},
		{"table?name=Shop", table, "page:Shop"},
		{"table?name=Shop&view=slices", table, "page:Shop"},
		{"table?name=Shop&index=ByDay", table + " / index ByDay = table?index=ByDay&name=Shop", "page:Shop"},
		{"collection?name=Shop&partition=CUSTOMER%23c1", table, "true:Shop"},
		{"item?name=Shop&key=" + key, table, "true:Shop"},
		{at, "console a test = ../../ / branch try it = ./", "page:Tables"},
		{at + "table?name=Shop", "console a test = ../../ / branch try it = ./ / table Shop = table?name=Shop", "page:Shop"},
	} {
		places, current := c.where(tt.path)
		require.Equal(t, tt.places, places, tt.path)
		require.Equal(t, tt.current, current, tt.path)
	}
	require.Contains(t, c.page(at+"table?name=Shop"), "<title>Shop in branch try it - sortkey console</title>")
}

// TestBranchNames gives branches names, and refuses those that would mislead.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	name := func(path, name string) (int, string) {
		return c.do("POST", path+"?"+url.Values{"name": {name}}.Encode(), "")
	}

	_, at := name("branches", "")
	require.Equal(t, "branch/1/", at)
	require.Contains(t, c.page("branches"), `<a href="branch/1/">branch 1</a>`)
	const evil = `<b>"&'{{.}}</b>`
	status, text := name("branches/1/name", "  "+evil+" ")
	require.Equal(t, http.StatusOK, status, text)
	for _, path := range []string{"branches", "branch/1/", "branch/1/table?name=Shop"} {
		require.Contains(t, c.page(path), html.EscapeString(evil), path)
	}
	status, text = name("branches/1/name", evil)
	require.Equal(t, http.StatusOK, status, "a branch may keep its name: %s", text)

	for _, path := range []string{"branches", "branches/2/name"} {
		if path == "branches/2/name" {
			_, at = name("branches", "second")
			require.Equal(t, "branch/2/", at)
		}
		for bad, want := range map[string]string{
			evil: "already", strings.Repeat("n", 10_000): "at most 60", strings.Repeat("é", 61): "at most 60",
			"a\u202eb": "visible", "a\nb": "visible", "\xff": "visible",
		} {
			status, text := name(path, bad)
			require.Equal(t, http.StatusBadRequest, status, "%q: %s", bad, text)
			require.Contains(t, text, want, "%q", bad)
		}
	}
	status, text = name("branches/2/name", " ")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "give the branch a name")
	status, _ = name("branches/2/name", strings.Repeat("é", 60))
	require.Equal(t, http.StatusOK, status)
	status, text = name("branches/7/name", "x")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "no branch 7")

	// A name that a branch without one would get.
	status, text = name("branches/2/name", "branch 3")
	require.Equal(t, http.StatusOK, status, text)
	_, at = name("branches", "")
	require.Equal(t, "branch/3/", at)
	require.Contains(t, c.page("branches"), `<a href="branch/3/">branch 3 (2)</a>`)
}
