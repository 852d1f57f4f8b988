package playground_test

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/playground"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	engine := &playground.Engine{Program: []byte("program"), Runtime: []byte("runtime")}
	require.NoError(t, playground.Write(t.Context(), folder, engine))
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		return string(data)
	}

	page := read("index.html")
	require.Contains(t, page, "<h1>file-tree</h1>")
	require.Contains(t, page, `content="default-src &#39;none&#39;; script-src &#39;self&#39;`)
	require.Contains(t, page, `<option selected="selected">file-tree</option>`)
	require.Contains(t, page, "loading the engine, 31 bytes")
	_, model, err := examples.Read("file-tree")
	require.NoError(t, err)
	require.Contains(t, html.UnescapeString(page), ">\n"+string(model)+"</textarea>", "readable before the engine is there")
	require.Contains(t, page, `readonly="readonly">`)
	require.Contains(t, page, `<fieldset id="run" disabled="disabled">`)
	require.Contains(t, page, `<fieldset id="buttons" class="buttons" disabled="disabled">`)
	require.NotContains(t, page, "style=")
	require.Less(t, strings.Index(page, `src="playground.js"`), strings.Index(page, `src="page.js"`))
	for _, line := range strings.Split(page, "\n") {
		require.NotRegexp(t, `(src|href)="(/|http)`, line, "the folder is served below any path")
	}
	require.Contains(t, read("page.css"), "--bg")
	require.Contains(t, read("start.json"), `"text":"`)
	require.Contains(t, read("examples/shop.yaml"), "name: shop")
	require.Equal(t, "runtime", read("wasm_exec.js"))
	require.NoFileExists(t, filepath.Join(folder, "wasm_exec.js.LICENSE"))
}

// forEngine returns a go command for the engine's system.
func forEngine(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./engine")...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	return cmd
}

// TestReach holds that the engine reaches neither stores that are not in memory nor servers.
func TestReach(t *testing.T) {
	t.Parallel()
	out, err := forEngine(t, "list", "-deps").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, path := range []string{
		"github.com/cockroachdb/pebble", "github.com/jackc/pgx", "github.com/spf13/cobra", "golang.org/x/net/netutil",
		"github.com/prometheus/",
	} {
		require.NotContains(t, string(out), "\n"+path)
	}
}

// TestCompiles holds that the engine compiles for WebAssembly.
func TestCompiles(t *testing.T) {
	proptest.NeedLong(t) // it compiles everything for another system
	t.Parallel()
	out, err := forEngine(t, "vet").CombinedOutput()
	require.NoError(t, err, string(out))
}
