package console_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/live"
)

// TestSavesAtOnce tests that, if two pages save texts based on the same version, only one succeeds.
func TestSavesAtOnce(t *testing.T) {
	t.Parallel()
	c := startLive(t)
	base := c.source().Version
	const pages = 8
	var wg sync.WaitGroup
	statuses, texts := make([]int, pages), make([]string, pages)
	for i := range pages {
		texts[i] = drive + "# " + strings.Repeat("x", i+1) + "\n"
		wg.Go(func() { statuses[i], _ = c.do("POST", "/source?version="+base, texts[i]) })
		wg.Go(func() { c.get("/main") })
		wg.Go(func() { c.do("GET", "/query?space=1&partition=DRIVE%23a", "") })
		wg.Go(func() { c.do("POST", "/check", texts[i]) })
	}
	wg.Wait()
	won := -1
	for i, status := range statuses {
		if status == http.StatusOK {
			require.Equal(t, -1, won, "a save is lost")
			won = i
		} else {
			require.Equal(t, http.StatusConflict, status)
		}
	}
	require.NotEqual(t, -1, won)
	data, err := os.ReadFile(c.path)
	require.NoError(t, err)
	require.Equal(t, texts[won], string(data))
}

// TestLineEnds tests a file with CRLF. The page has LF, as a browser sends it, and so has the file after a save.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	c := startLive(t)
	next := c.events()
	unix := strings.Replace(drive, "root/}}}", "root/}}}, expect: {rows: 7}", 1)
	dos := strings.ReplaceAll(unix, "\n", "\r\n")
	replace(t, c.path, dos)
	require.Equal(t, "page", next())
	s := c.source()
	require.Equal(t, unix, s.Text)
	require.Len(t, s.Findings, 1)
	_, text := c.do("POST", "/check", s.Text)
	require.Contains(t, text, "expected 7 rows", "it is the text of the file, which was checked")

	status, _ := c.do("POST", "/source?version="+s.Version, unix+"# more\n")
	require.Equal(t, http.StatusOK, status)
	data, err := os.ReadFile(c.path)
	require.NoError(t, err)
	require.Equal(t, unix+"# more\n", string(data))
}

// TestMissing tests that the page says so when its file is missing, too large, or not a file.
func TestMissing(t *testing.T) {
	t.Parallel()
	c := startLive(t)
	found := c.source().Findings
	next := c.events()
	gone := func(why string) {
		t.Helper()
		require.Equal(t, "broken", next())
		findings := c.source().Findings
		require.Len(t, findings, 1)
		require.Contains(t, findings[0].Message, why)
		status, _ := c.do("POST", "/source?version="+c.source().Version, drive+"#")
		require.Equal(t, http.StatusInternalServerError, status)
		require.Contains(t, c.get("/main"), "below root")
	}
	require.NoError(t, os.Remove(c.path))
	gone("no such file")
	replace(t, c.path, drive)
	require.Equal(t, "page", next())
	require.Equal(t, found, c.source().Findings)

	require.NoError(t, os.Remove(c.path))
	require.NoError(t, os.Mkdir(c.path, 0o777))
	gone("is a folder")
	require.NoError(t, os.Remove(c.path))
	replace(t, c.path, strings.Repeat("#", live.MaxFile+1))
	time.Sleep(300 * time.Millisecond)
	require.Contains(t, c.source().Findings[0].Message, "is a folder", "the last that was said")
	replace(t, c.path, drive+"# again\n")
	require.Equal(t, "page", next())
}

// replace replaces a file in one step, so nobody reads a part of it.
func replace(t *testing.T, path, text string) {
	t.Helper()
	whole := filepath.Join(t.TempDir(), "whole")
	require.NoError(t, os.WriteFile(whole, []byte(text), 0o640))
	require.NoError(t, os.Rename(whole, path))
}

// TestRefusedSaves tests that a save does not replace a file that is read-only, or one that the browser cannot show
// unchanged.
func TestRefusedSaves(t *testing.T) {
	t.Parallel()
	c := startLive(t)
	next := c.events()
	require.NoError(t, os.Chmod(c.path, 0o440))
	status, text := c.do("POST", "/source?version="+c.source().Version, drive+"#")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, text, "read-only")
	require.NoError(t, os.Chmod(c.path, 0o640))

	latin := drive + "# caf\xe9\n"
	replace(t, c.path, latin)
	next()
	status, text = c.do("POST", "/source?version="+c.source().Version, c.source().Text+"#")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, text, "not UTF-8")
	data, err := os.ReadFile(c.path)
	require.NoError(t, err)
	require.Equal(t, latin, string(data))
}

// TestSavedLink saves a file through a symbolic link, which must remain a link.
func TestSavedLink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, link := filepath.Join(folder, "model.yaml"), filepath.Join(folder, "link.yaml")
	require.NoError(t, os.WriteFile(path, []byte(drive), 0o640))
	if err := os.Symlink("model.yaml", link); err != nil {
		t.Skip(err)
	}
	c := startAt(t, link)
	status, _ := c.do("POST", "/source?version="+c.source().Version, drive+"#\n")
	require.Equal(t, http.StatusOK, status)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, os.ModeSymlink, info.Mode().Type())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, drive+"#\n", string(data))
}

// A stuck is the connection of a browser that does not read the response.
type stuck struct {
	http.ResponseWriter
	writing, end chan bool
}

func (s *stuck) Write(p []byte) (int, error) {
	s.writing <- true
	<-s.end
	return len(p), nil
}

// TestSlowBrowser tests that a browser that does not read its page, such as that of a sleeping computer, does not
// block other browsers.
func TestSlowBrowser(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/main", "/source", "/query?space=1&partition=DRIVE%23a"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			c := startLive(t)
			next := c.events()
			w := &stuck{httptest.NewRecorder(), make(chan bool), make(chan bool)}
			var wg sync.WaitGroup
			wg.Go(func() { c.handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil)) })
			defer wg.Wait()
			defer close(w.end)
			<-w.writing
			replace(t, c.path, strings.Replace(drive, "below root", "under root", 1))
			require.Equal(t, "page", next())
			require.Contains(t, c.get("/main"), "under root")
		})
	}
}
