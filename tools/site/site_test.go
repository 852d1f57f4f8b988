package site_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/tools/site"
)

const root = "../.."

// build writes the site into a new folder, beside a playground if wanted.
func build(t *testing.T, playground bool) string {
	t.Helper()
	folder := t.TempDir()
	if playground {
		write(t, folder, "playground/index.html", "a playground")
		models, err := filepath.Glob(filepath.Join(root, "design/examples/*/model.yaml"))
		require.NoError(t, err)
		for _, file := range models {
			name := filepath.Base(filepath.Dir(file))
			write(t, folder, "playground/examples/"+name+".yaml", "name: "+name)
		}
	}
	require.NoError(t, site.Build(site.Options{Root: root, Folder: folder}))
	return folder
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	file := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return string(text)
}

// TestSite holds that every link of the documents and the API leads somewhere, that pages are well formed, and that the
// same checkout gives the same bytes.
func TestSite(t *testing.T) {
	t.Parallel()
	plain, folder, again := build(t, false), build(t, true), build(t, true)
	for _, folder := range []string{plain, folder} {
		faults, err := site.Check(folder)
		require.NoError(t, err)
		require.Empty(t, faults)
	}

	require.NoError(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		if !d.IsDir() {
			name, err := filepath.Rel(folder, path)
			require.NoError(t, err)
			require.True(t, read(t, folder, name) == read(t, again, name), "%s differs", name)
		}
		return nil
	}))

	const github = "https://github.com/sortkey/sortkey/"
	for _, row := range []struct{ page, part string }{
		{"index.html", `<h1 id="sortkey">Sortkey</h1>`},
		{"index.html", `<a href="docs/testing-faults.html">faults</a>`},
		{"index.html", `<a href="bench/index.html">bench</a>`},
		{"index.html", `<a href="docs/lints.html">hazards</a>`},
		{"index.html", `<a href="docs/installing.html">Installing</a> says how`},
		{"index.html", `<a href="` + github + `blob/main/examples/music/main.go">`},
		{"docs/testing.html", `aria-current="page">Overview of testing</a>`},
		{"docs/testing.html", `<a rel="prev" href="installing.html">`},
		{"docs/testing.html", `<a rel="next" href="testing-faults.html">`},
		{"docs/testing.html", `<a href="../api/sortkey.html">sortkey</a>`},
		{"docs/testing-moving.html", `<div class="scroll" tabindex="0" role="group" aria-label="table"><table>`},
		{"docs/workbench.html", `<a href="../playground/index.html">The playground</a>`},
		{"docs/lints.html", `<summary>The model with the hazard</summary>`},
		{"docs/lints.html", `<a href="../playground/index.html?model=lints/ttl-unit-bad">`},
		{"docs/lints.html", `<iframe loading="lazy" title="The playground with the model lints/ttl-unit-bad" src="../playground/`},
		{"playground/examples/lints/ttl-unit-good.yaml", "tables:"},
		{"design/examples/shop/index.html", `<a href="../../../playground/index.html?model=shop">`},
		{"api/index.html", `<a href="sortkey/store/disk.html">store/disk</a>`},
		{"api/sortkey.html", `<h4 id="TableOf.Put" class="symbol">`},
		{"api/sortkey/store.html", `<a href="https://pkg.go.dev/bytes#Compare">`},
		{"api/sortkey.html", `<details class="example"><summary>Example`},
		{"api/sortkey/keycond.html", `<a href="store.html#Reader">store.Reader</a>`},
		{"api/sortkey/keycond.html", github + `blob/main/keycond/compile.go#L`},
		{"search-index.js", `window.sortkeyIndex = {"pages":[["index.html","Sortkey","Begin"]`},
	} {
		require.True(t, strings.Contains(read(t, folder, row.page), row.part), "%s has no %s", row.page, row.part)
	}
	require.NotContains(t, read(t, plain, "docs/lints.html"), "Try it")
	require.NotContains(t, read(t, plain, "site.css"), "url(", "what a style sheet loads, Check does not see")
	require.Less(t, len(read(t, folder, "search-index.js")), 500<<10)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const head = "<title>A</title><h1>A</h1>"
	for _, row := range []struct{ page, want string }{
		{head, ""},
		{head + `<a href="b.html">b</a><a href="b.html#b">b</a><a href="https://example.com/#c">c</a>`, ""},
		{"<h1>A</h1>", "a.html: has no title"},
		{"<title>A</title>", "a.html: has 0 h1, want 1"},
		{head + "<h1>B</h1>", "a.html: has 2 h1, want 1"},
		{head + `<a href="c.html">c</a>`, "a.html: links to c.html, which does not exist"},
		{head + `<a href="/b.html">b</a>`, "a.html: links to /b.html, which does not exist"},
		{head + `<a href="#b">b</a>`, "a.html: links to #b, where no part has this id"},
		{head + `<a href="b.html#c">c</a>`, "a.html: links to b.html#c, where no part has this id"},
		{head + `<a href="file:///b.html">b</a>`, "a.html: links to file:///b.html, want http, https or a page of the site"},
		{head + `<a href="playground/index.html?model=c">c</a>`, ""},
		{head + `<a href="playground/index.html?model=d">d</a>`,
			"a.html: links to playground/index.html?model=d, a model that the playground does not have"},
		{head + `<p id="b"></p><p id="b"></p>`, `a.html: has two parts with the id "b"`},
		{head + `<img src="b.png">`, "a.html: has the image b.png without a text"},
		{head + `<img src="c.png" alt="c">`, "a.html: loads c.png, which does not exist"},
		{head + `<script src="https://example.com/x.js"></script>`, "a.html: loads https://example.com/x.js, want a file of the site"},
		{head + `<link href="//example.com/x.css">`, "a.html: loads //example.com/x.css, want a file of the site"},
	} {
		folder := t.TempDir()
		write(t, folder, "a.html", row.page)
		write(t, folder, "b.html", `<title>B</title><h1 id="b">B</h1>`)
		write(t, folder, "b.png", "")
		write(t, folder, "playground/index.html", "")
		write(t, folder, "playground/examples/c.yaml", "")
		faults, err := site.Check(folder)
		require.NoError(t, err)
		require.Equal(t, row.want, strings.Join(faults, "\n"), row.page)
	}
}

// TestNew holds that a document that is on no page fails the build.
func TestNew(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, pattern := range []string{
		"*.md", "docs/*.md", "docs/api.txt", "packages/*/README.md", "bench/README.md", "design/examples/*.md",
		"design/examples/*/README.md",
	} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range found {
			name, err := filepath.Rel(root, file)
			require.NoError(t, err)
			write(t, folder, name, read(t, root, name))
		}
	}
	write(t, folder, "docs/new.md", "# New\n")
	err := site.Build(site.Options{Root: folder, Folder: t.TempDir()})
	require.EqualError(t, err, "docs/new.md is on no page: add it to groups in tools/site/pages.go")
}
