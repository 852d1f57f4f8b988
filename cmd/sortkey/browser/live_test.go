package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/live"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
	"github.com/sortkey/sortkey/internal/design/dataset"
)

// open serves the page of a model as sortkey design open does. It returns the address with the token, and the model
// file.
func open(t *testing.T, model string) (first *url.URL, file string) {
	t.Helper()
	data, err := os.ReadFile(model)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "model.yaml")
	require.NoError(t, os.WriteFile(file, data, 0o666))
	s, err := live.New(t.Context(), file, live.Options{
		Dataset: dataset.Options{MaxItems: 5000},
	})
	require.NoError(t, err)
	site, err := web.Listen(0)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { s.Follow(ctx); ended <- nil }()
	go func() { ended <- site.Serve(ctx, s.Handler()) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
		require.NoError(t, s.Close())
	})
	first, err = url.Parse(site.URL())
	require.NoError(t, err)
	return first, file
}

// until waits until an expression is true. If the tab goes to another page, it waits for the scripts of that page.
func until(t *testing.T, tab context.Context, expression string) {
	t.Helper()
	expression = `document.readyState === 'complete' && (` + expression + `)`
	var err error
	for range 20 { // a navigation ends the evaluation
		if _, err = chromedp.Run(tab, chromedp.Poll[bool](expression)); err == nil || !strings.Contains(err.Error(), "context") && !strings.Contains(err.Error(), "navigated") {
			break
		}
	}
	require.NoError(t, err, expression)
}

// TestLive types a query, makes an error in the model in the editor of the page, corrects it, saves it, and changes
// the file with another program.
func TestLive(t *testing.T) {
	ctx := browser(t)
	first, file := open(t, "../../../design/examples/file-tree/model.yaml")
	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	var rec record
	require.NoError(t, chromedp.Listen(tab, rec.listen))
	require.NoError(t, chromedp.Do(tab, look(1400, "light"), chromedp.Navigate(first.String())))
	require.Empty(t, evaluate[string](t, tab, "location.search"), "the token leaves the address")
	until(t, tab, `document.getElementById('text').value.includes('tables:')`)

	// The page draws the slice while the condition is typed.
	const answer = `document.getElementById('answer').textContent`
	require.NoError(t, chromedp.Do(tab, chromedp.SendKeys("#query-partition", "DRIVE#a91")))
	until(t, tab, `document.querySelector('#answer .bracket') !== null`)
	whole := evaluate[string](t, tab, answer)
	require.NoError(t, chromedp.Do(tab, chromedp.SendKeys("#query-sort", "root/photos/*")))
	until(t, tab, answer+`.includes('from "root/photos/"')`)
	require.NotEqual(t, whole, evaluate[string](t, tab, answer))
	require.NoError(t, chromedp.Do(tab, chromedp.SendKeys("#query-filter", "(((")))
	until(t, tab, answer+`.length > 0 && document.querySelector('#answer svg') === null`)
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](
		`document.getElementById('query-filter').value = ''`), chromedp.SendKeys("#query-limit", "1")))
	until(t, tab, answer+`.includes('1 row, 1 returned')`)

	// The margin shows an error while it is typed, and the page stays as it is. After saving, the page changes.
	replace := func(old, new string) {
		require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
			`(() => { const e = document.getElementById('text'); e.value = e.value.replace(%q, %q); e.dispatchEvent(new Event('input')); })()`, old, new))))
	}
	replace("entities:", "entitties:")
	until(t, tab, `document.querySelector('#margin li.bad') !== null`)
	until(t, tab, `document.getElementById('problems').textContent.includes('entitties')`)
	replace("entitties:", "entities:")
	replace("name: file-tree", "name: forest")
	until(t, tab, `document.querySelector('#margin li.bad') === null`)
	require.Equal(t, "file-tree", evaluate[string](t, tab, `document.querySelector('h1').textContent`))
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](`document.querySelector('main').scrollTop = 1500`)))
	const place = `(() => { const e = document.getElementById('space'); return Math.round(e.getBoundingClientRect().top); })()`
	before := evaluate[int](t, tab, place)
	require.NoError(t, chromedp.Do(tab, chromedp.Click("#save")))
	until(t, tab, `document.querySelector('h1').textContent === 'forest'`)
	require.InDelta(t, before, evaluate[int](t, tab, place), 2, "the page keeps its place")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(data), "name: forest")

	// Another editor saves the file.
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), "name: forest", "name: wood", 1)), 0o666))
	until(t, tab, `document.querySelector('h1').textContent === 'wood'`)
	until(t, tab, `document.getElementById('text').value.includes('name: wood')`)
	require.NoError(t, os.WriteFile(file, []byte("name: ["), 0o666))
	until(t, tab, `document.getElementById('status').classList.contains('bad')`)
	require.Equal(t, "wood", evaluate[string](t, tab, `document.querySelector('h1').textContent`))
	require.NoError(t, os.WriteFile(file, data, 0o666))
	until(t, tab, `document.querySelector('h1').textContent === 'forest'`)

	for _, u := range rec.requests {
		require.True(t, strings.HasPrefix(u, "http://"+first.Host+"/"), "the page asks for %s", u)
	}
	for _, p := range rec.problems { // the response to a rejected query has status 400, which the browser logs
		require.Contains(t, p, "400", p)
	}
	for _, width := range []int{420, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			require.NoError(t, chromedp.Do(tab, look(width, scheme)))
			accessible(t, tab, fmt.Sprintf("live at %d, %s", width, scheme))
			got := evaluate[measured](t, tab, measure)
			require.Empty(t, got.Wide, "at %d", width)
			require.LessOrEqual(t, got.ScrollWidth, width)
			picture(t, tab, fmt.Sprintf("live-%d-%s.png", width, scheme))
		}
	}
}

// blocked tests that the content security policy of the page in a tab blocks an inline script.
func blocked(t *testing.T, tab context.Context) {
	t.Helper()
	violated := evaluate[string](t, tab, `new Promise(done => {
		document.addEventListener('securitypolicyviolation', e => done(e.violatedDirective));
		const s = document.createElement('script');
		s.textContent = 'window.ran = true';
		document.body.appendChild(s);
		setTimeout(() => done('none'), 2000);
	})`)
	require.Contains(t, violated, "script-src")
	require.False(t, evaluate[bool](t, tab, "window.ran === true"))
}

// TestForeign tries what a page of another site could do: use another host name for the address, send requests from
// another origin, and run an inline script.
func TestForeign(t *testing.T) {
	ctx := browser(t)
	first, _ := open(t, "../../../internal/design/report/testdata/drive.yaml")
	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	text := func(address string) string {
		require.NoError(t, chromedp.Do(tab, chromedp.Navigate(address)))
		return evaluate[string](t, tab, "document.body.textContent")
	}
	require.Contains(t, text("http://"+first.Host+"/"), "Open the address that the command printed")
	require.Contains(t, text(first.String()), "key design")
	require.Contains(t, text("http://"+first.Host+"/"), "key design", "the cookie stays")
	require.Contains(t, text("http://evil.example:"+first.Port()+"/?"+first.RawQuery), "is not the address of this page")

	require.NoError(t, chromedp.Do(tab, chromedp.Navigate("http://"+first.Host+"/")))
	blocked(t, tab)

	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "other") }))
	defer other.Close()
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate(other.URL)))
	got := evaluate[string](t, tab, fmt.Sprintf(`fetch('http://%s/source', {method: 'POST', body: 'x', credentials: 'include',
		mode: 'no-cors'}).then(r => r.type, e => 'refused')`, first.Host))
	require.Contains(t, []string{"opaque", "refused"}, got, "nothing can be read")
	require.Contains(t, text("http://"+first.Host+"/"), "key design")
	require.Contains(t, evaluate[string](t, tab, "fetch('source').then(r => r.text())"), "name: drive", "nothing was written")
}
