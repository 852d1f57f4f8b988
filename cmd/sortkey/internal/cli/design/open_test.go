package design

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/design/examples"
)

// TestModelPath finds files, folders, and copies of examples.
func TestModelPath(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	file, copied, err := modelPath("shop")
	require.NoError(t, err)
	require.True(t, copied)
	_, want, err := examples.Read("shop")
	require.NoError(t, err)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	again, _, err := modelPath("shop")
	require.NoError(t, err)
	require.NotEqual(t, file, again, "an edited copy is not replaced")
	same, copied, err := modelPath(file)
	require.NoError(t, err)
	require.False(t, copied)
	require.Equal(t, file, same)
	_, _, err = modelPath("nope")
	require.ErrorContains(t, err, "no model nope")
}

// TestOpen opens the page of a folder with a model, as a browser does, and interrupts the command.
func TestOpen(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	model := []byte("name: drive\ntables: {Drive: {partition: PK}}\n")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "model.yaml"), model, 0o666))
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	env := &app.Env{Stdout: in, Stderr: io.Discard}
	go func() {
		done <- runOpen(ctx, env, folder, 0)
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar}
	resp, err := client.Get(strings.TrimSpace(address))
	require.NoError(t, err)
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Contains(t, string(page), "<h1>drive</h1>")
	cancel()
	require.NoError(t, <-done)
	client.CloseIdleConnections()
	_, err = client.Get(strings.TrimSpace(address))
	require.Error(t, err)
}
