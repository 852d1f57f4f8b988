package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
)

// TestOpen opens, as a browser does, the page of a folder with a model and the page of a copy of an example.
func TestOpen(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	model := []byte("name: drive\ntables: {Drive: {partition: PK}}\n")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "model.yaml"), model, 0o600))
	copies := t.TempDir()
	for path, title := range map[string]string{folder: "<h1>drive</h1>", "shop": "<h1>shop</h1>"} {
		cmd := command(t, "design", "open", path)
		cmd.Env = append(cmd.Env, "TMPDIR="+copies, "TMP="+copies)
		p := cmdtest.Start(t, cmd)
		require.Eventually(t, func() bool { return strings.HasSuffix(p.Stdout.String(), "\n") },
			cmdtest.Timeout, time.Millisecond, &p.Stderr)

		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		client := &http.Client{Jar: jar}
		resp, err := client.Get(strings.TrimSpace(p.Stdout.String()))
		require.NoError(t, err)
		page, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Contains(t, string(page), title)
		require.NoError(t, p.Cmd.Process.Signal(os.Interrupt))
		require.NoError(t, p.Wait(t))
	}
	files, err := filepath.Glob(filepath.Join(copies, "sortkey-shop-*", "shop.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 1)
}
