//go:build !windows

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A terminal is a pseudo-terminal in which sortkey shell runs.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	tty    *os.File
	output chan string
	seen   string // output of the shell after the last expected text
}

// startShell runs sortkey shell in a pseudo-terminal.
func startShell(t *testing.T, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command("sortkey", append([]string{"shell"}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	require.NoError(t, err)
	term := &terminal{t: t, cmd: cmd, tty: tty, output: make(chan string, 1)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
		for range term.output {
		}
	})
	go func() {
		defer close(term.output)
		buf := make([]byte, 1<<16)
		for {
			n, err := tty.Read(buf)
			if n > 0 {
				term.output <- string(buf[:n])
			}
			if err != nil { // the shell has ended
				return
			}
		}
	}()
	term.expect("Ctrl-D ends the shell")
	return term
}

// write types text.
func (term *terminal) write(text string) {
	term.t.Helper()
	_, err := io.WriteString(term.tty, text)
	require.NoError(term.t, err)
}

// escapes are the sequences by which a program moves the cursor and erases.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// expect waits until the shell has written a text.
func (term *terminal) expect(text string) {
	term.t.Helper()
	if !term.sees(text, timeout) {
		term.t.Fatalf("the shell did not write %q but %s", text, term.seen)
	}
}

// sees reports whether the shell writes a text within a time.
func (term *terminal) sees(text string, within time.Duration) bool {
	term.t.Helper()
	late := time.After(within)
	for {
		if i := strings.Index(term.seen, text); i >= 0 {
			term.seen = term.seen[i+len(text):]
			return true
		}
		select {
		case part, ok := <-term.output:
			if !ok {
				term.t.Fatalf("the shell ended before it wrote %q: %s", text, term.seen)
			}
			term.seen = escapes.ReplaceAllString(term.seen+part, "")
		case <-late:
			return false
		}
	}
}

// run types a line. It expects texts in the answer, and then the prompt.
func (term *terminal) run(line string, texts ...string) {
	term.t.Helper()
	term.write(line + "\r")
	term.expect(line)
	for _, text := range append(texts, "> ") {
		term.expect(text)
	}
}

// end expects the end of the shell and returns its exit code.
func (term *terminal) end() int {
	term.t.Helper()
	timeout := time.After(timeout)
	for {
		select {
		case part, ok := <-term.output:
			if ok {
				term.seen += part
				continue
			}
		case <-timeout:
			term.t.Fatal("the shell does not end")
		}
		_ = term.cmd.Wait() // the code is in the state
		return term.cmd.ProcessState.ExitCode()
	}
}

func TestShell(t *testing.T) {
	term := startShell(t, "file-tree")

	// The tab key completes a command and a table.
	term.write("que\t")
	term.expect("query ")
	term.write("Dr\tDRIVE#a91 root/photos/2026/beach.jpg")
	term.expect("query Drive DRIVE#a91 root/photos/2026/beach.jpg")
	term.write("\r")
	term.expect("1 row (1 examined, 0.5 read units)")

	// The shell rejects a condition and gives advice.
	term.run("query Drive 'DRIVE#a91' 'contains photos'", "is not a sort condition", "a query reads one range")
	term.run(`explain '{"TableName": "Drive", "KeyConditionExpression": "begins_with(PK, :p)", `+
		`"ExpressionAttributeValues": {":p": {"S": "DRIVE#a"}}}'`, "rule ", `scan the table with the filter begins_with(PK, "DRIVE#a")`)

	// What was asked.
	term.run("query Drive 'DRIVE#a91' 'root/n*' --trace", `asked Drive where PK = "DRIVE#a91" AND begins_with(SK, "root/n")`, "slice ")

	// The history has earlier lines, except those that begin with a space.
	term.run(" get Drive 'DRIVE#a91' secret", "there is no item")
	term.write("\x1b[A")
	term.expect("query Drive 'DRIVE#a91' 'root/n*' --trace")

	// Ctrl-C aborts the line. Ctrl-D ends the shell.
	term.write("\x03")
	term.expect("^C")
	term.write("\x04")
	require.Zero(t, term.end())
}

func TestShellCompletes(t *testing.T) {
	data := filepath.Join(t.TempDir(), "db")
	items := filepath.Join(t.TempDir(), "items.jsonl")
	var lines strings.Builder
	for i := range 60 { // more than a completion offers
		fmt.Fprintf(&lines, `{"customer": "Ann", "order": %d, "placed": "2024-%02d-01T%02d", "the total": 5}`+"\n", i, i%12+1, i)
	}
	lines.WriteString(`{"customer": "it's me", "order": 1, "placed": "2024"}` + "\n")
	require.NoError(t, os.WriteFile(items, []byte(lines.String()), 0o600))
	schema := filepath.Join(t.TempDir(), "orders.json")
	require.NoError(t, os.WriteFile(schema, []byte(`{
		"TableName": "Orders", "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": [{"AttributeName": "customer", "AttributeType": "S"},
			{"AttributeName": "order", "AttributeType": "N"}, {"AttributeName": "placed", "AttributeType": "S"}],
		"KeySchema": [{"AttributeName": "customer", "KeyType": "HASH"}, {"AttributeName": "order", "KeyType": "RANGE"}],
		"GlobalSecondaryIndexes": [{"IndexName": "ByTime", "Projection": {"ProjectionType": "ALL"},
			"KeySchema": [{"AttributeName": "customer", "KeyType": "HASH"}, {"AttributeName": "placed", "KeyType": "RANGE"}]}]
	}`), 0o600))
	out, err := exec.Command("sortkey", "import", items, "--schema", schema, "--data", data).CombinedOutput()
	require.NoError(t, err, string(out))

	term := startShell(t, data)
	for _, tt := range []struct{ typed, want string }{
		{"scan Orders --fil\t", "scan Orders --filter "},
		{"scan Orders -i \t", "scan Orders -i ByTime "},
		{"scan 'Or\t", "scan 'Orders' "},
		{"help up\t", "help update "},
	} {
		// On a busy machine a completion can take longer than the shell waits for it.
		completed := false
		for attempt := 0; !completed && attempt < 10; attempt++ {
			term.write(tt.typed)
			completed = term.sees(tt.want, timeout/10)
			term.write("\x03")
			term.expect("^C")
		}
		if !completed {
			t.Fatalf("%q was not completed to %q: %s", tt.typed, tt.want, term.seen)
		}
	}
}

// TestShellInterrupted uses a server that does not answer. It tests that Ctrl-C stops the command but not the shell,
// and that the shell restores the terminal when it ends.
func TestShellInterrupted(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	require.NoError(t, silent.(*net.TCPListener).SetDeadline(time.Now().Add(timeout)))
	term := startShell(t, "http://"+silent.Addr().String())
	term.write("tables\r")
	term.expect("tables")
	_, err = silent.Accept() // the command waits for the answer
	require.NoError(t, err)
	term.write("\x03")
	term.expect("sortkey: interrupted")

	// A completion does not wait for the server either.
	began := time.Now()
	term.write("get Or\tx")
	term.expect("get Orx")
	require.Less(t, time.Since(began), timeout/4)
	require.NoError(t, term.cmd.Process.Signal(syscall.SIGTERM))
	term.expect("sortkey: interrupted")
	require.Equal(t, 1, term.end())
}
