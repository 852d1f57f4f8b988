package console_test

import (
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// where returns the places in the header of a page, and the links that the page marks as current.
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

// TestFrame tests that each page shows its place in the header, and marks it in the navigation.
func TestFrame(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	c.db.Table("Other", "id")
	_, at := c.do("POST", "branches", "")
	key := base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"}}`))
	const table = "console a test = ./ / table Shop = table?name=Shop"
	for _, tt := range []struct{ path, places, current string }{
		{"", "console a test = ./", "page:Tables"},
		{"branches", "console a test = ./", "page:Branches"},
		{"requests", "console a test = ./", "page:Live requests"},
		{"table?name=Shop", table, "page:Shop"},
		{"table?name=Shop&index=ByDay", table + " / index ByDay = table?index=ByDay&name=Shop", "page:Shop"},
		{"collection?name=Shop&partition=CUSTOMER%23c1", table, "true:Shop"},
		{"item?name=Shop&key=" + key, table, "true:Shop"},
		{at, "console a test = ../../ / branch branch 1 = ./", "page:Tables"},
		{at + "table?name=Shop", "console a test = ../../ / branch branch 1 = ./ / table Shop = table?name=Shop", "page:Shop"},
	} {
		places, current := c.where(tt.path)
		require.Equal(t, tt.places, places, tt.path)
		require.Equal(t, tt.current, current, tt.path)
	}
	require.Contains(t, c.page(at+"table?name=Shop"), "<title>Shop in branch 1 - sortkey console</title>")
}
