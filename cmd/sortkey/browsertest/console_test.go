package browsertest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/event"
	"github.com/sortkey/sortkey/sortkeytest"
)

// openConsole serves the pages of a database as sortkey serve --console does.
func openConsole(t *testing.T, db *sortkeytest.DB) (base, first string) {
	t.Helper()
	recorder := console.NewRecorder()
	t.Cleanup(db.DB.Observe(recorder))
	site, err := web.Listen(0)
	require.NoError(t, err)
	s := console.New(console.Options{
		Client: db.Client, Target: explain.InProcess(db.DB), Name: "a test", Requests: recorder, DB: db.DB,
	})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	ctx, cancel := context.WithCancel(event.Quiet(t.Context()))
	ended := make(chan error)
	go func() { ended <- site.Serve(ctx, s.Handler()) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	u, err := url.Parse(site.URL())
	require.NoError(t, err)
	return "http://" + u.Host + "/", site.URL()
}

// TestConsole looks, queries, edits under conflict, and watches requests, through the pages alone.
func TestConsole(t *testing.T) {
	ctx := browser(t)
	db := sortkeytest.New(t)
	db.Table("Shop", "PK / SK", sortkeytest.Global("ByDay", "day / SK"))
	hostile := "<img src=x onerror=alert(1)>\u202e\u0007" + strings.Repeat("long", 60)
	for i := range 60 {
		db.Put("Shop", map[string]any{
			"PK": fmt.Sprintf("CUSTOMER#c%d", i%4), "SK": fmt.Sprintf("ORDER#%04d", i), "total": i,
			"day": fmt.Sprintf("2026-01-%02d", 1+i%5),
		})
	}
	db.Put("Shop", map[string]any{"PK": "CUSTOMER#c1", "SK": "PROFILE#", "name": "Ada"})
	db.Put("Shop", map[string]any{"PK": hostile, "SK": hostile, hostile: hostile})
	base, first := openConsole(t, db)
	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	var rec record
	require.NoError(t, chromedp.Listen(tab, rec.listen))
	visit := func(address string) {
		require.NoError(t, chromedp.Do(tab, chromedp.Navigate(address)))
	}
	click := func(text string) {
		require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
			`[...document.querySelectorAll('main a')].find(a => a.textContent.includes(%q)).click()`, text))))
	}

	// From the tables to a partition, to the slice of a query.
	require.NoError(t, chromedp.Do(tab, look(1400, "light")))
	visit(first)
	click("Shop")
	until(t, tab, `document.querySelectorAll('.strip').length === 5`)
	click("CUSTOMER#c1")
	until(t, tab, `document.querySelectorAll('.rows li').length === 16`)
	until(t, tab, `document.querySelector('#answer .bracket') !== null`)
	require.NoError(t, chromedp.Do(tab, chromedp.SendKeys("#query-sort", ">= ORDER#0030")))
	until(t, tab, `document.getElementById('answer').textContent.includes('8 of 8 read')`)

	// An item, changed here and meanwhile elsewhere.
	click("PROFILE#")
	until(t, tab, `document.getElementById('item') !== null && document.getElementById('item').value.includes('Ada')`)
	edit := func(old, new string) {
		require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
			`(() => { const e = document.getElementById('item'); e.value = e.value.replace(%q, %q); e.dispatchEvent(new Event('input')); })()`, old, new))))
	}
	edit("Ada", "Grace")
	until(t, tab, `document.getElementById('preview').textContent.includes('1 write units')`)
	db.Put("Shop", map[string]any{"PK": "CUSTOMER#c1", "SK": "PROFILE#", "name": "Eve"})
	require.NoError(t, chromedp.Do(tab, chromedp.Click("#put")))
	until(t, tab, `document.getElementById('said').textContent.includes('changed the item meanwhile')`)
	require.Contains(t, db.Dump("Shop"), "Eve")
	require.NoError(t, chromedp.Do(tab, chromedp.Reload()))
	until(t, tab, `document.getElementById('item') !== null && document.getElementById('item').value.includes('Eve')`)
	edit("Eve", "Grace")
	require.NoError(t, chromedp.Do(tab, chromedp.Click("#put")))
	until(t, tab, `document.getElementById('item') !== null && document.getElementById('item').value.includes('Grace')`)
	require.Contains(t, db.Dump("Shop"), "Grace")

	// A branch: changed there, compared, kept.
	visit(base + "branches")
	require.NoError(t, chromedp.Do(tab, chromedp.Click("[data-post=branches]")))
	until(t, tab, `location.pathname === '/branch/1/' && document.querySelector('main a') !== null`)
	visit(base + "branch/1/item?name=Shop&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"}}`)))
	until(t, tab, `document.getElementById('item') !== null`)
	edit("Grace", "Hopper")
	require.NoError(t, chromedp.Do(tab, chromedp.Click("#put")))
	until(t, tab, `document.getElementById('item') !== null && document.getElementById('said').textContent === '' && document.getElementById('item').value.includes('Hopper')`)
	require.Contains(t, db.Dump("Shop"), "Grace")
	visit(base + "branches")
	until(t, tab, `document.querySelector('main').textContent.includes('"Grace" → "Hopper"')`)
	accessible(t, tab, "branches")
	require.NoError(t, chromedp.Do(tab, chromedp.Click(`[data-post="branches/1/keep"]`)))
	until(t, tab, `document.querySelector('main').textContent.includes('There are no branches')`)
	require.Contains(t, db.Dump("Shop"), "Hopper")

	// The requests of the program.
	visit(base + "requests")
	until(t, tab, `document.querySelectorAll('#log').length === 1`)
	for range 3 {
		_, err := db.Client.Scan(t.Context(), &dynamodb.ScanInput{TableName: new("Shop")})
		require.NoError(t, err)
	}
	until(t, tab, `document.querySelectorAll('#log tr.mark-scan').length === 3`)
	require.Contains(t, evaluate[string](t, tab, `document.querySelector('#shapes tbody').textContent`), "Scan")

	for i, page := range []string{
		"", "table?name=Shop", "collection?name=Shop&partition=CUSTOMER%23c1", "requests",
		"collection?name=Shop&partition=" + url.QueryEscape(`"`+strings.NewReplacer("\u202e", `\u202e`, "\u0007", `\a`).Replace(hostile)+`"`),
	} {
		for _, width := range []int{420, 1400} {
			for _, scheme := range []string{"light", "dark"} {
				require.NoError(t, chromedp.Do(tab, look(width, scheme)))
				visit(base + page)
				require.NotContains(t, evaluate[string](t, tab, `document.body.textContent`), "Exception", page)
				accessible(t, tab, fmt.Sprintf("%s at %d, %s", page, width, scheme))
				got := evaluate[measured](t, tab, measure)
				require.Empty(t, got.Wide, "%s at %d", page, width)
				require.LessOrEqual(t, got.ScrollWidth, width, page)
				picture(t, tab, fmt.Sprintf("console-%d-%d-%s.png", i, width, scheme))
			}
		}
	}
	for _, u := range rec.requests {
		require.True(t, strings.HasPrefix(u, base), "the page asks for %s", u)
	}
	for _, p := range rec.problems { // a refused put is a response of 409, which the browser logs
		require.Contains(t, p, "409", p)
	}
}
