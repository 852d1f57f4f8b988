package console_test

import (
	"bufio"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/live"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

const drive = `name: drive
tables: {Drive: {partition: PK, sort: SK}}
entities:
  Node:
    attributes: {PK: "DRIVE#{drive}", SK: "{path:path}"}
    samples: [{drive: a, path: root/b}, {drive: a, path: root/c/d}, {drive: a, path: z}]
patterns:
  - {name: below root, query: {entity: Node, where: {drive: a, path: {begins_with: root/}}}}
`

// A liveClient requests the page of a model in a test.
type liveClient struct {
	t    *testing.T
	path string
	url  string

	handler http.Handler
}

func startLive(t *testing.T) *liveClient {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.yaml")
	require.NoError(t, os.WriteFile(path, []byte(drive), 0o640))
	return startAt(t, path)
}

// startAt serves the file at a path.
func startAt(t *testing.T, path string) *liveClient {
	t.Helper()
	s, err := live.New(t.Context(), path, live.Options{
		Dataset: dataset.Options{MaxItems: 100},
	})
	require.NoError(t, err)
	server := httptest.NewServer(s.Handler())
	followed := make(chan bool)
	go func() {
		s.Follow(t.Context())
		close(followed)
	}()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		<-followed
		require.NoError(t, s.Close())
	})
	return &liveClient{t, path, server.URL, s.Handler()}
}

func (c *liveClient) do(method, path, body string) (status int, text string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	require.NoError(c.t, err)
	resp, err := browser.Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp.StatusCode, string(data)
}

func (c *liveClient) get(path string) string {
	c.t.Helper()
	status, text := c.do("GET", path, "")
	require.Equal(c.t, http.StatusOK, status, text)
	return text
}

// A source is what the page receives of the file.
type source struct {
	Text, Version string
	Findings      []live.Finding
}

func (c *liveClient) source() (s source) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal([]byte(c.get("/source")), &s))
	return s
}

// events returns a function that returns the next result of a check, "page" or "broken".
func (c *liveClient) events() func() string {
	c.t.Helper()
	resp, err := browser.Get(c.url + "/events")
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	require.True(c.t, lines.Scan())
	return func() string {
		c.t.Helper()
		for lines.Scan() {
			if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok && event != "working" {
				return event
			}
		}
		c.t.Fatal("no more events: ", lines.Err())
		return ""
	}
}

// TestSource tests that the page contains the source before its script runs, whatever the source contains.
func TestSource(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.yaml")
	text := "\n# </textarea><script>alert(1)</script> & \u202e\r\n" + strings.ReplaceAll(drive, "\n", "\r\n")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	_, page := startAt(t, path).do("GET", "/", "")
	_, source, _ := strings.Cut(page, `id="text"`)
	_, source, _ = strings.Cut(source, ">\n") // a browser ignores the first line break
	source, _, _ = strings.Cut(source, "</textarea>")
	want := strings.NewReplacer("\r\n", "\n", "\u202e", `\u{202E}`).Replace(text)
	require.Equal(t, want, html.UnescapeString(source))
	require.NotContains(t, page, `disabled="disabled"`)
}

func TestFollow(t *testing.T) {
	t.Parallel()
	c := startLive(t)
	page := c.get("/")
	require.Contains(t, page, "<h1>drive</h1>")
	require.Contains(t, page, `src="page.js"`)
	require.NotContains(t, page, "<style")
	require.NotContains(t, page, "style=")
	require.Contains(t, c.get("/page.css"), "--bg")
	require.Contains(t, c.get("/page.js"), "EventSource")
	require.Equal(t, drive, c.source().Text)
	require.JSONEq(t, `[{"n": 1, "title": "Drive (PK, SK)"}]`, c.get("/spaces"))
	next := c.events()

	// Another program saves the file.
	replace(t, c.path, strings.Replace(drive, "below root", "under root", 1))
	require.Equal(t, "page", next())
	require.Contains(t, c.get("/main"), "under root")

	// After a save of a model with an error, the page stays as it was, and its margin shows the error.
	replace(t, c.path, strings.Replace(drive, "entity: Node", "entity: Nod", 1))
	require.Equal(t, "broken", next())
	require.Contains(t, c.get("/main"), "under root")
	findings := c.source().Findings
	require.Len(t, findings, 1)
	require.Equal(t, 8, findings[0].Line)
	require.Equal(t, "bad", findings[0].Kind)
	require.Contains(t, findings[0].Message, "Nod")

	require.NoError(t, os.Remove(c.path)) // as editors do for a moment
	time.Sleep(300 * time.Millisecond)
	replace(t, c.path, drive)
	require.Equal(t, "page", next())
	require.Contains(t, c.get("/main"), "below root")
}

func TestSave(t *testing.T) {
	t.Parallel()
	c := startLive(t)
	base := c.source().Version
	broken := strings.Replace(drive, "partition: PK", "partitoin: PK", 1)
	_, text := c.do("POST", "/check", broken)
	require.Contains(t, text, "partitoin")
	require.Contains(t, text, `"line":2`)
	_, text = c.do("POST", "/check", strings.Replace(drive, "below", "beneath", 1))
	require.JSONEq(t, "[]", text)

	next := c.events()
	changed := strings.Replace(drive, "below", "beneath", 1)
	status, version := c.do("POST", "/source?version="+base, changed)
	require.Equal(t, http.StatusOK, status)
	require.NotEqual(t, base, version)
	data, err := os.ReadFile(c.path)
	require.NoError(t, err)
	require.Equal(t, changed, string(data))
	info, err := os.Stat(c.path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Equal(t, "page", next())
	require.Equal(t, version, c.source().Version)

	status, text = c.do("POST", "/source?version="+base, drive)
	require.Equal(t, http.StatusConflict, status, "it would undo what was saved meanwhile")
	require.Contains(t, text, "has changed")
	status, _ = c.do("POST", "/source?version="+version, strings.Repeat("#", live.MaxFile+1))
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
	entries, err := os.ReadDir(filepath.Dir(c.path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no files are left behind")
}

func TestQuery(t *testing.T) {
	t.Parallel()
	c := startLive(t)
	ask := func(values ...string) (int, string) {
		q := url.Values{"space": {"1"}}
		for i := 0; i < len(values); i += 2 {
			q.Set(values[i], values[i+1])
		}
		return c.do("GET", "/query?"+q.Encode(), "")
	}
	status, html := ask("partition", "DRIVE#a", "sort", "root/*")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, html, "root/c/d")
	require.Contains(t, html, "2 rows, 2 returned")
	require.Contains(t, html, "aws dynamodb query")
	_, html = ask("partition", "DRIVE#a", "limit", "1", "descending", "true")
	require.Contains(t, html, "1 row, 1 returned")
	require.Contains(t, html, "next page")
	_, html = ask("partition", "DRIVE#a", "filter", "nosuch = 1")
	require.Contains(t, html, "3 rows, 0 returned")
	_, html = ask("partition", `<script>alert(1)</script>`)
	require.NotContains(t, html, "<script")
	_, html = ask("request", "SELECT * FROM Drive WHERE PK = 'DRIVE#a' AND begins_with(SK, 'root/')")
	require.Contains(t, html, "2 rows, 2 returned")
	require.Contains(t, html, `class="bracket"`)
	for _, bad := range [][]string{
		{"request", "SELECT"}, {"request", "x"}, {"request", "aws dynamodb query --cli-input-json file:///etc/passwd"},
		{"partition", "DRIVE#a", "sort", "between x"}, {"space", "7"}, {"space", "x"}, {"partition", "DRIVE#a", "limit", "-1"},
		{"partition", "DRIVE#a", "filter", "((("},
	} {
		status, text := ask(bad...)
		if status == http.StatusOK { // refused by the service
			require.Contains(t, text, "ValidationException", bad)
			continue
		}
		require.Equal(t, http.StatusBadRequest, status, bad)
		require.NotEmpty(t, text)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	_, err := live.New(t.Context(), filepath.Join(t.TempDir(), "none"), live.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "model.yaml")
	require.NoError(t, os.WriteFile(path, []byte("name: x"), 0o666))
	_, err = live.New(t.Context(), path, live.Options{})
	require.ErrorAs(t, err, new(model.Errors))
}
