//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sortkey/sortkey/server"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// An interrupter is a buffer that sends this process a signal when something is written to it.
type interrupter struct {
	bytes.Buffer
	t    *testing.T
	when string
}

func (i *interrupter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(i.when)) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			i.t.Error(err)
		}
	}
	return i.Buffer.Write(p)
}

// TestImportServerGone makes the server fail during an import. It tests that the import reports the wait, that it
// ends after a signal, and that it can be resumed.
func TestImportServerGone(t *testing.T) {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer db.Close()
	var gone atomic.Bool
	var batches atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchWriteItem") && batches.Add(1) > 3 {
			panic(http.ErrAbortHandler)
		}
		server.New(db, server.Options{}).ServeHTTP(w, r)
	}))
	defer server.Close()
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, `{"pk":"%d"}`+"\n", i)
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	args := []string{"import", path, "--table", "Rows", "--key", "pk", "--endpoint", server.URL}

	gone.Store(true)
	stderr := &interrupter{t: t, when: "waiting for"}
	code := cli.Main(args, &app.Env{Stdout: new(bytes.Buffer), Stderr: stderr, Getenv: func(string) string { return "" }, Width: func() int { return 0 }})
	require.Equal(t, 1, code)
	require.Regexp(t, `^sortkey: waiting for `+server.URL+`: .* \(attempt 2 of 10 failed, next one in 200ms\)
hint: check that it is running; Ctrl-C stops the import, and --resume resumes it
sortkey: interrupted(; at least [\d,]+ items written)?
hint: resume with the same command and --resume
$`, stderr.String())

	gone.Store(false)
	code, out, errors := runAt(0, nil, append(args, "--resume")...)
	require.Equal(t, 0, code, errors)
	require.Regexp(t, `^Rows: 2,000 items written, 0 rejected \(table created\)\n`, out)
}

// TestImportFullReport: the summary says how many records the report leaves out.
func TestImportFullReport(t *testing.T) {
	proptest.NeedLong(t) // it rejects 400,000 records
	const n = 400_000
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 200))
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("{}\n", n)), 0o600))
	data := filepath.Join(t.TempDir(), "db")
	line := []string{"import", path, "--table", "Rows", "--key", "pk", "--format", "json", "--data", data}
	code, _, stderr := runAt(0, nil, line...)
	require.Equal(t, 1, code)
	require.Regexp(t, `400,000 of 400,000 records rejected; see the report .*rejected.jsonl, which is full: it leaves out \d+,\d+\n`, stderr)
}
