package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestSite opens pages of the site that scripts/build-site.sh makes, below a path of a server and from files, and
// searches by keyboard alone.
func TestSite(t *testing.T) {
	ctx := browser(t)
	folder := filepath.Join(t.TempDir(), "site")
	out, err := exec.CommandContext(t.Context(), "../../scripts/build-site.sh", folder).CombinedOutput()
	require.NoError(t, err, string(out))
	server := httptest.NewServer(http.StripPrefix("/some/path/", http.FileServer(http.Dir(folder))))
	t.Cleanup(server.Close)
	served, fromFile := server.URL+"/some/path/", "file://"+folder+"/"

	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	var rec record
	require.NoError(t, chromedp.Listen(tab, rec.listen))
	for _, width := range []int{420, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			for _, page := range []string{"index", "docs/fidelity", "docs/lints", "api/index", "api/sortkey"} {
				require.NoError(t, chromedp.Do(tab, look(width, scheme), chromedp.Navigate(served+page+".html")))
				name := fmt.Sprintf("site-%s-%d-%s", strings.ReplaceAll(page, "/", "-"), width, scheme)
				accessible(t, tab, name)
				require.LessOrEqual(t, evaluate[measured](t, tab, measure).ScrollWidth, width, name)
				picture(t, tab, name+".png")
			}
		}
	}

	// A slash, the beginning of a word, two arrows.
	const first = `document.querySelector('#site-results a strong')`
	for _, address := range []string{served, fromFile} {
		require.NoError(t, chromedp.Do(tab, chromedp.Navigate(address+"api/sortkey.html"), chromedp.KeyEvent("/"),
			chromedp.KeyEvent("stale rea")))
		until(t, tab, first+` !== null`)
		require.Equal(t, "Stale reads", evaluate[string](t, tab, first+`.textContent`))
		if address == served { // axe-core reads the style sheet, which a file may not
			accessible(t, tab, "the results")
			picture(t, tab, "site-search.png")
		}
		require.NoError(t, chromedp.Do(tab, chromedp.KeyEvent(kb.ArrowDown+kb.ArrowDown+kb.ArrowUp+kb.Enter)))
		until(t, tab, `location.href.endsWith('docs/testing-time.html#stale-reads')`)
	}

	rec.mu.Lock()
	defer rec.mu.Unlock()
	require.Empty(t, rec.problems)
	for _, u := range rec.requests {
		require.True(t, strings.HasPrefix(u, served) || strings.HasPrefix(u, fromFile), "a page asks for %s", u)
	}
}
