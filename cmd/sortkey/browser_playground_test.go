package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/playground"
)

// static serves a new playground below a path, as a server of static files does, and returns its address.
func static(t *testing.T) (address, folder string) {
	t.Helper()
	engine, err := playground.BuildCheckout(t.Context(), ".")
	require.NoError(t, err)
	folder = t.TempDir()
	require.NoError(t, playground.Write(t.Context(), folder, engine))
	server := httptest.NewServer(http.StripPrefix("/some/path/", http.FileServer(http.Dir(folder))))
	t.Cleanup(server.Close)
	return server.URL + "/some/path/", folder
}

// edit replaces text in the pane of the source, as a person does who types.
func edit(t *testing.T, tab context.Context, old, new string) {
	t.Helper()
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => {
			const e = document.getElementById('text');
			if (!e.value.includes(%[1]q)) { throw new Error('no ' + %[1]q); }
			e.value = e.value.replace(%[1]q, %[2]q);
			e.dispatchEvent(new Event('input'));
		})()`, old, new))))
}

// firstSlice returns when what happens until the slice of the first query is drawn, in milliseconds after the
// navigation.
const firstSlice = `new Promise(done => {
	const at = name => Math.round(performance.getEntriesByName(name)[0].startTime);
	const drawn = () => {
		if (!document.querySelector('#answer .bracket')) { return; }
		watch.disconnect();
		const page = Math.round(performance.getEntriesByType('navigation')[0].domInteractive);
		done('page ' + page + ' ms, engine compiled ' + at('engine compiled') + ' ms, with items ' +
			at('engine started') + ' ms, slice ' + Math.round(performance.now()) + ' ms');
	};
	const watch = new MutationObserver(drawn);
	watch.observe(document.getElementById('answer'), {childList: true});
	drawn();
})`

// checked changes the text in a way that makes no difference, and returns the milliseconds until the page
// is drawn anew.
const checked = `new Promise(done => {
	const status = document.getElementById('status'), text = document.getElementById('text');
	const began = performance.now();
	let working = false;
	const watch = new MutationObserver(() => {
		working = working || status.textContent === 'checking…';
		if (!working || status.textContent !== 'up to date') { return; }
		watch.disconnect();
		done(Math.round(performance.now() - began));
	});
	watch.observe(status, {childList: true});
	text.value += '# the same\n';
	text.dispatchEvent(new Event('input'));
})`

// longest returns the milliseconds of the longest task so far that kept the page from answering its reader.
const longest = `new Promise(done => {
	new PerformanceObserver(list => done(Math.round(Math.max(...list.getEntries().map(e => e.duration)))))
		.observe({type: 'longtask', buffered: true});
	setTimeout(() => done(0), 500);
})`

// TestPlayground uses the playground from static files: it asks, breaks the model and mends it, comes back
// to it, chooses another example, and opens a file. It prints the size of the engine and how long the page
// takes.
func TestPlayground(t *testing.T) {
	ctx := browser(t)
	address, folder := static(t)
	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	var rec record
	require.NoError(t, chromedp.Listen(tab, rec.listen))
	for visit := range 5 {
		require.NoError(t, chromedp.Do(tab, look(1400, "light"), chromedp.Navigate(address)))
		t.Logf("visit %d: %s", visit+1, evaluate[string](t, tab, firstSlice))
	}
	sizes(t, folder)
	require.Equal(t, "up to date", evaluate[string](t, tab, `document.getElementById('status').textContent`))
	require.Contains(t, evaluate[string](t, tab, `document.getElementById('text').value`), "tables:")

	// The command has made the page of the example, and the engine makes the same.
	made := evaluate[string](t, tab, `document.querySelector('main').innerText`)
	for range 3 {
		t.Logf("%d ms from a change to its page", evaluate[int](t, tab, checked))
	}
	t.Logf("the longest task in the page took %d ms", evaluate[int](t, tab, longest))
	require.Equal(t, made, evaluate[string](t, tab, `document.querySelector('main').innerText`))

	// A link names the model to begin with, until the reader changes it.
	const title = `document.querySelector('h1').textContent`
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](`localStorage.clear()`),
		chromedp.Navigate(address+"?model=employees")))
	until(t, tab, title+` === 'employees'`)
	require.Equal(t, "employees", evaluate[string](t, tab, `document.getElementById('example').value`))
	edit(t, tab, "name: employees", "name: people")
	until(t, tab, title+` === 'people'`)
	require.Empty(t, evaluate[string](t, tab, `location.search`))
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](`localStorage.clear()`), chromedp.Navigate(address)))
	evaluate[string](t, tab, firstSlice)

	// The slice follows the condition.
	const answer = `document.getElementById('answer').textContent`
	require.NoError(t, chromedp.Do(tab, chromedp.SendKeys("#query-sort", "root/photos/*")))
	until(t, tab, answer+`.includes('from "root/photos/"')`)
	require.NoError(t, chromedp.Do(tab, chromedp.SendKeys("#query-filter", "(((")))
	until(t, tab, answer+`.length > 0 && document.querySelector('#answer .bracket') === null`)
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](
		`document.getElementById('query-filter').value = ''`), chromedp.SendKeys("#query-limit", "1")))
	until(t, tab, answer+`.includes('1 of 1 read')`)

	// A broken model is in the margin, and the page stays; mended and changed, the page follows.
	edit(t, tab, "entities:", "entitties:")
	until(t, tab, `document.querySelector('#margin li.bad') !== null`)
	until(t, tab, `document.getElementById('problems').textContent.includes('entitties')`)
	until(t, tab, `document.getElementById('status').classList.contains('bad')`)
	require.Equal(t, "file-tree", evaluate[string](t, tab, title))
	edit(t, tab, "entitties:", "entities:")
	edit(t, tab, "name: file-tree", "name: forest")
	until(t, tab, title+` === 'forest'`)
	until(t, tab, `document.title.startsWith('forest')`)
	until(t, tab, `document.querySelector('#margin li.bad') === null`)
	require.Equal(t, "", evaluate[string](t, tab, `document.getElementById('example').value`), "it is no example any more")

	// The model of the reader is there after a reload.
	require.NoError(t, chromedp.Do(tab, chromedp.Reload()))
	until(t, tab, title+` === 'forest'`)
	until(t, tab, `document.getElementById('text').value.includes('name: forest')`)
	edit(t, tab, "entities:", "entitties:")
	until(t, tab, `document.getElementById('status').classList.contains('bad')`)
	require.NoError(t, chromedp.Do(tab, chromedp.Reload()))
	until(t, tab, `document.getElementById('text').value.includes('entitties:')`)
	until(t, tab, `document.querySelector('#margin li.bad') !== null`)
	require.Equal(t, "file-tree", evaluate[string](t, tab, title), "a page of a model without errors")
	edit(t, tab, "entitties:", "entities:")
	until(t, tab, title+` === 'forest'`)

	// Another example, with other tables to ask.
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](`window.confirm = () => false`)))
	choose := func(name string) {
		require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
			const e = document.getElementById('example');
			e.value = %q;
			e.dispatchEvent(new Event('change'));
		})()`, name))))
	}
	choose("shop")
	require.Equal(t, "", evaluate[string](t, tab, `document.getElementById('example').value`))
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](`window.confirm = () => true`)))
	choose("shop")
	until(t, tab, title+` === 'shop'`)
	require.Contains(t, evaluate[string](t, tab, `document.getElementById('query-space').textContent`), "GSI1")
	require.Equal(t, "shop", evaluate[string](t, tab, `document.getElementById('example').value`))
	require.Empty(t, evaluate[string](t, tab, `document.getElementById('query-limit').value`), "for the other model")
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](
		`document.getElementById('query-space').value = '2'`), chromedp.SendKeys("#query-partition", "CATEGORY#Books")))
	until(t, tab, `document.querySelector('#answer .bracket') !== null`)

	for _, width := range []int{420, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			require.NoError(t, chromedp.Do(tab, look(width, scheme)))
			accessible(t, tab, fmt.Sprintf("playground at %d, %s", width, scheme))
			got := evaluate[measured](t, tab, measure)
			require.Empty(t, got.Wide, "at %d", width)
			require.LessOrEqual(t, got.ScrollWidth, width)
			picture(t, tab, fmt.Sprintf("playground-%d-%s.png", width, scheme))
		}
	}

	// A file of the reader.
	file := filepath.Join(t.TempDir(), "own.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: mine\ntables: {Things: {partition: PK}}\n"), 0o666))
	require.NoError(t, chromedp.Do(tab, chromedp.SetUploadFiles("#file", []string{file})))
	until(t, tab, title+` === 'mine'`)
	rec.mu.Lock()
	require.Empty(t, rec.problems)
	for _, u := range rec.requests {
		require.True(t, strings.HasPrefix(u, address), "the page asks for %s", u)
	}
	rec.mu.Unlock()

	// The policy of the page refuses other scripts. Without its engine the page says so.
	require.Contains(t, evaluate[string](t, tab, `new Promise(done => {
		document.addEventListener('securitypolicyviolation', e => done(e.violatedDirective));
		const s = document.createElement('script');
		s.textContent = 'window.ran = true';
		document.body.appendChild(s);
		setTimeout(() => done('none'), 2000);
	})`), "script-src")
	require.NoError(t, os.Remove(filepath.Join(folder, "engine.bin")))
	require.NoError(t, chromedp.Do(tab, chromedp.Reload()))
	until(t, tab, `document.getElementById('status').textContent.includes('engine.bin: 404')`)
	require.True(t, evaluate[bool](t, tab, `document.getElementById('status').classList.contains('bad')`))
	require.Contains(t, evaluate[string](t, tab, `document.getElementById('text').value`), "name: mine", "it can be read")
	require.True(t, evaluate[bool](t, tab, `document.getElementById('run').disabled && document.getElementById('text').readOnly`))
	until(t, tab, `document.querySelector('#download:enabled') !== null`)
	for _, width := range []int{420, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			require.NoError(t, chromedp.Do(tab, look(width, scheme)))
			accessible(t, tab, fmt.Sprintf("playground without its engine at %d, %s", width, scheme))
			picture(t, tab, fmt.Sprintf("playground-waits-%d-%s.png", width, scheme))
		}
	}
}

// sizes prints the sizes of the engine and of all files.
func sizes(t *testing.T, folder string) {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "engine.bin"))
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	plain, err := io.Copy(io.Discard, z)
	require.NoError(t, err)
	var all int64
	require.NoError(t, filepath.WalkDir(folder, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		all += info.Size()
		return err
	}))
	const mb = 1 << 20
	t.Logf("engine: %.1f MB, compressed %.1f MB; the folder: %.1f MB",
		float64(plain)/mb, float64(info.Size())/mb, float64(all)/mb)
}
