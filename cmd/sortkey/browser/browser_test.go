package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
)

// browser starts the headless browser that BROWSER names, which scripts/check-pages.sh sets. It skips the test if
// BROWSER is not set. PICTURES names a folder for screenshots of the pages.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("BROWSER")
	if path == "" {
		t.Skip("needs a browser; run scripts/check-pages.sh, or set BROWSER=/path/to/chrome")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		// a foreign host name that resolves to this machine, as in DNS rebinding
		chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("cannot start %s: %v", path, err)
	}
	return ctx
}

// A record collects the errors and requests of a browser.
type record struct {
	mu       sync.Mutex
	problems []string
	requests []string
}

func (r *record) listen(ev any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		r.problems = append(r.problems, "exception: "+ev.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		r.problems = append(r.problems, fmt.Sprintf("console: %s", ev.Type))
	case *log.EventEntryAdded:
		r.problems = append(r.problems, "log: "+ev.Entry.Text)
	case *network.EventRequestWillBeSent:
		r.requests = append(r.requests, ev.Request.URL)
	}
}

// look sets the size and the colour scheme of the window.
func look(width int, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(chromedp.EmulateViewport(int64(width), 900), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// measured contains measurements of the page. Invisible are the slices without size or without visible marks. Wide
// are the elements that extend beyond the window. Clipped are the texts of pictures that extend beyond their picture.
type measured struct {
	Title               string
	ScrollWidth, Window int
	Slices              []string
	Invisible           []string
	Wide, Clipped       []string
	Background          string
}

const measure = `(() => {
	const seen = e => {
		const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		return r.width > 2 && r.height > 2 && s.visibility === 'visible' && s.display !== 'none';
	};
	const clipped = e => e !== null && (getComputedStyle(e).clipPath !== 'none' || clipped(e.parentElement));
	const slices = [...document.querySelectorAll('table.slice')];
	const window_ = document.documentElement.clientWidth;
	return {
		Title: document.title,
		ScrollWidth: document.documentElement.scrollWidth,
		Window: window_,
		Slices: slices.map(e => e.id).filter(id => id.startsWith('slice-')),
		Invisible: slices.filter(e => !seen(e) || !seen(e.querySelector('.bracket')) || getComputedStyle(e.querySelector('.bracket .edge')).borderLeftStyle === 'none').map(e => e.id),
		Wide: [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll') && !clipped(e) && e.getBoundingClientRect().right > window_ + 1).map(e => e.tagName + '.' + e.getAttribute('class')),
		Clipped: [...document.querySelectorAll('svg.picture text')].filter(e => {
			const r = e.getBoundingClientRect(), p = e.closest('svg').getBoundingClientRect();
			return r.width > 0 && (r.right > p.right + 3 || r.left < p.left - 3);
		}).map(e => e.textContent),
		Background: getComputedStyle(document.body).backgroundColor,
	};
})()`

// Scripts that dispatch the events before and after printing. A page unfolds everything for printing, and folds it
// again.
const (
	print   = `window.dispatchEvent(new Event('beforeprint'))`
	printed = `window.dispatchEvent(new Event('afterprint'))`
)

// TestBrowser opens pages from files in a browser. It tests that they make no network requests and cause no errors,
// that every slice is visible, and that nothing extends beyond a narrow or a wide window, in light and dark colours.
func TestBrowser(t *testing.T) {
	ctx := browser(t)
	const root = "../../../"
	for model, path := range map[string]string{
		"file-tree":          "design/examples/file-tree/model.yaml",
		"shop":               "design/examples/shop/model.yaml",
		"content-management": "design/examples/content-management/model.yaml",
		"drive":              "internal/design/report/testdata/drive.yaml",
		"work":               "internal/design/report/testdata/work.yaml",
	} {
		m, err := modelfile.Load(root + path)
		require.NoError(t, err)
		w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: 5000})
		require.NoError(t, err)
		defer w.Close()
		r, err := check.Run(t.Context(), w, check.Options{Lint: lint.Run})
		require.NoError(t, err)
		var page bytes.Buffer
		require.NoError(t, report.HTML(&page, w, r, bill.Of(r, bill.Known())))
		file := filepath.Join(t.TempDir(), model+".html")
		require.NoError(t, os.WriteFile(file, page.Bytes(), 0o666))
		address := (&url.URL{Scheme: "file", Path: file}).String()
		want := 0
		for _, pr := range r.Patterns {
			if pr.Report != nil && pr.Report.Refused == nil {
				want++
				if s := pr.Spread; s != nil && string(s.P50.Request) != string(s.Worst.Request) {
					want++ // the slice in the middle
				}
			}
		}
		tab, cancel := chromedp.NewContext(ctx)
		defer cancel()
		var rec record
		require.NoError(t, chromedp.Listen(tab, rec.listen))
		for _, width := range []int{420, 1400} {
			backgrounds := map[string]bool{}
			for _, scheme := range []string{"light", "dark"} {
				require.NoError(t, chromedp.Do(tab, look(width, scheme), chromedp.Navigate(address)))
				require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](print)))
				accessible(t, tab, fmt.Sprintf("%s at %d, %s", model, width, scheme))
				got, err := chromedp.Run(tab, chromedp.Evaluate[measured](measure))
				require.NoError(t, err)
				require.Contains(t, got.Title, m.Name)
				require.Equal(t, width, got.Window)
				require.LessOrEqual(t, got.ScrollWidth, width, "%s sticks out of a window of %d: %v", model, width, got.Wide)
				require.Empty(t, got.Wide, "%s at %d", model, width)
				require.Empty(t, got.Clipped, "%s at %d", model, width)
				require.Len(t, got.Slices, want, model)
				require.Empty(t, got.Invisible, "%s at %d", model, width)
				backgrounds[got.Background] = true
				require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](printed)))
				picture(t, tab, fmt.Sprintf("%s-%d-%s.png", model, width, scheme))
			}
			useFolds(t, tab)
			useFilter(t, tab)
			copyRequest(t, tab)
			require.Len(t, backgrounds, 2, "light and dark are the same")
		}
		rec.mu.Lock()
		require.Empty(t, rec.problems, model)
		for _, u := range rec.requests {
			require.Equal(t, address, u, "%s asks for something", model)
		}
		require.NotEmpty(t, rec.requests, "requests are not seen")
		rec.mu.Unlock()
	}
}

// useFolds follows links to folded elements, and scrolls to the end, where the filter must stay visible.
func useFolds(t *testing.T, tab context.Context) {
	t.Helper()
	const folded = `document.querySelectorAll('main details:not([open])').length`
	before := evaluate[int](t, tab, folded)
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](print)))
	require.Zero(t, evaluate[int](t, tab, folded), "all is printed")
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](printed)))
	require.Equal(t, before, evaluate[int](t, tab, folded))

	for _, follow := range []string{
		`document.querySelector('#overview a[href="#pattern-1"]').click()`, `location.hash = 'slice-1'`,
	} {
		require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](follow)))
		_, err := chromedp.Run(tab, chromedp.Poll[bool](`(() => {
			const e = document.querySelector(':target'), filter = document.querySelector('.tools').getBoundingClientRect();
			return e !== null && e.closest('details').open && e.getBoundingClientRect().top >= filter.bottom - 1;
		})()`))
		require.NoError(t, err, follow)
	}

	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](`scrollTo(0, document.body.scrollHeight)`)))
	require.Zero(t, evaluate[int](t, tab, `Math.round(document.querySelector('.tools').getBoundingClientRect().top)`))
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](`history.replaceState(null, '', location.pathname)`)))
}

// useFilter types words into the filter of a page, and empties it.
func useFilter(t *testing.T, tab context.Context) {
	t.Helper()
	const shown = `document.querySelectorAll('[data-filter]:not(.filtered)').length`
	before := evaluate[int](t, tab, shown)
	require.Positive(t, before)
	require.NoError(t, chromedp.Do(tab, chromedp.SendKeys("#filter", "no such words")))
	require.Zero(t, evaluate[int](t, tab, shown))
	require.Contains(t, evaluate[string](t, tab, `document.getElementById('filtered').textContent`), "0 of ")
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](
		`const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))`)))
	require.Equal(t, before, evaluate[int](t, tab, shown))
}

// copyRequest presses the first button that copies a request. A headless browser has no clipboard or denies access to
// it, so the page must select the request instead.
func copyRequest(t *testing.T, tab context.Context) {
	t.Helper()
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](
		`const r = document.querySelector('.requests'); r.open = true; r.querySelector('button').click()`)))
	said, err := chromedp.Run(tab, chromedp.Poll[string](`(() => {
		const b = document.querySelector('.requests button');
		return b.textContent === 'copy' ? '' : b.textContent;
	})()`))
	require.NoError(t, err)
	if said == "selected" {
		require.Equal(t, evaluate[string](t, tab, `document.querySelector('.requests pre').textContent.trim()`),
			evaluate[string](t, tab, `getSelection().toString().trim()`))
	} else {
		require.Equal(t, "copied", said)
	}
}

func evaluate[T any](t *testing.T, tab context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(tab, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	return v
}

// accessible tests that axe-core, in the file that AXE names, finds no problem in the page. Without AXE it does
// nothing. scripts/check-pages.sh installs axe-core.
func accessible(t *testing.T, tab context.Context, what string) {
	t.Helper()
	path := os.Getenv("AXE")
	if path == "" {
		return
	}
	script, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](string(script)+"; void 0")))
	found := evaluate[[]string](t, tab, `axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v =>
		v.id + ' (' + v.impact + '): ' + v.help + '; ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' +
		(n.any[0] ? n.any[0].message : '')).join(' | ')))`)
	require.Empty(t, found, what)
}

// picture saves a screenshot of the page if PICTURES names a folder.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), png, 0o666))
}
