package console_test

import (
	"html"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/sortkeytest"
)

// withModel returns a client of a console with the samples of an example.
func withModel(t *testing.T, name string) *client {
	t.Helper()
	db := sortkeytest.New(t)
	m, err := models.Example(name)
	require.NoError(t, err)
	loaded, err := models.Ensure(t.Context(), db.DB, m, dataset.Options{MaxItems: -1})
	require.NoError(t, err)
	s := console.New(console.Options{Target: explain.InProcess(db.DB), DB: db.DB, Models: []*model.Model{loaded.Model}})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return &client{t, db, server.URL}
}

var (
	leadLinks = regexp.MustCompile(`<a href="([^"]*)">([A-Za-z]+) <span class="key">([^<]*)</span></a>`)
)

// leads returns the leads on the page of an item.
func (c *client) leads(page string) (all []string) {
	c.Helper()
	_, list, _ := strings.Cut(page, `<p id="leads"`)
	list, _, _ = strings.Cut(list, "</p>")
	for _, m := range leadLinks.FindAllStringSubmatch(list, -1) {
		c.page(html.UnescapeString(m[1])) // what is there may be nothing
		all = append(all, m[2]+" "+html.UnescapeString(m[3]))
	}
	return all
}

// TestLeads follows the leads of each item of an example.
func TestLeads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		example, table string
		want           map[string][]string // leads by the entity and the key of an item
	}{
		{"shop", "Shop", map[string][]string{
			"OrderLine ORDER#O1, PRODUCT#P1": {`Product PRODUCT#P1, METADATA`},
			"Stock PRODUCT#P1, WAREHOUSE#W1": {`Product PRODUCT#P1, METADATA`},
		}},
		{"content-management", "", nil},
		{"file-tree", "", nil},
		{"task-management", "", nil},
		{"composite-patterns", "", nil},
		{"product-catalog", "", nil},
	} {
		c := withModel(t, tt.example)
		found := map[string][]string{}
		tables := regexp.MustCompile(`href="(table\?name=[^"&]*)"`).FindAllStringSubmatch(c.page(""), -1)
		require.NotEmpty(t, tables)
		for _, table := range tables {
			grid := c.page(html.UnescapeString(table[1]))
			for _, at := range links(grid, items) {
				page := c.page(at)
				entity := regexp.MustCompile(`</svg> ([A-Za-z]+)</span>, \d+ bytes? in`).FindStringSubmatch(page)
				if entity == nil {
					continue
				}
				title := html.UnescapeString(regexp.MustCompile(`<h1 class="key">([^<]*)</h1>`).FindStringSubmatch(page)[1])
				found[entity[1]+" "+title] = c.leads(page)
			}
		}
		require.NotEmpty(t, found, tt.example)
		some := false
		for _, all := range found {
			some = some || len(all) > 0
		}
		require.True(t, some, tt.example)
		for item, want := range tt.want {
			require.Equal(t, want, found[item], "%s: %v", item, found)
		}
		t.Logf("%s: %v", tt.example, found)
	}
}
