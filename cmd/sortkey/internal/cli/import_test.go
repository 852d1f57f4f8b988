//go:build unix

package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
)

// TestImportInterrupted sends the process a signal while an import runs. It
// says what was written and how to go on, and going on ends it.
func TestImportInterrupted(t *testing.T) {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer db.Close()
	var batches atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchWriteItem") && batches.Add(1) == 3 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
		db.Handler().ServeHTTP(w, r)
	}))
	defer server.Close()
	const n = 20_000
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"pk":"%d"}`+"\n", i)
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	args := []string{"import", path, "--table", "Rows", "--key", "pk", "--endpoint", server.URL}

	code, out, stderr := run(0, nil, args...)
	require.Equal(t, 1, code)
	require.Regexp(t, `^Rows: [\d,]+ items written, 0 rejected \(table created\)\n`, out)
	require.Regexp(t, `^sortkey: interrupted; [\d,]+ items are written, all up to line \d+ of `+path+"\n", stderr)
	require.Contains(t, stderr, "hint: go on with the same command and --resume\n")

	code, _, stderr = run(0, nil, args...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "was interrupted after line")

	code, out, stderr = run(0, nil, append(args, "--resume")...)
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `^Rows: 20,000 items written, 0 rejected \(table created\)\n`, out)
	require.NoFileExists(t, path+".import-journal")
}
