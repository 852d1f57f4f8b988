package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// An input is a folder of files to import, and the expected result of the import.
type input struct {
	dir              string
	lines            int
	rejected         []string       // "file:line"
	last             map[string]int // number of the last line with each key, which wins
	rejects, journal string         // the files of the import
}

// newInput writes files whose lines have few different keys, so most lines replace an earlier one, often of another
// file. An import writes its journal after each file. The last file has so many lines that an import into a folder
// loads them as sorted rows.
func newInput(t *testing.T, root string) *input {
	t.Helper()
	in := &input{
		dir: filepath.Join(root, "input"), last: map[string]int{},
		rejects: filepath.Join(root, "rejects"), journal: filepath.Join(root, "journal"),
	}
	require.NoError(t, os.Mkdir(in.dir, 0o700))
	for file := range 12 {
		var text strings.Builder
		name := fmt.Sprintf("%02d.jsonl", file)
		lines, keys := 300, 500
		if file == 11 {
			lines, keys = 15_000, 12_000
		}
		for line := 1; line <= lines; line++ {
			in.lines++
			switch pk := fmt.Sprint(in.lines * 7 % keys); {
			case in.lines%17 == 3:
				fmt.Fprintf(&text, `{"no key":%d}`+"\n", in.lines)
				in.rejected = append(in.rejected, fmt.Sprint(name, ":", line))
			case in.lines%29 == 5:
				fmt.Fprintf(&text, "nonsense %d\n", in.lines)
				in.rejected = append(in.rejected, fmt.Sprint(name, ":", line))
			default:
				fmt.Fprintf(&text, `{"PK":%q,"line":%d}`+"\n", pk, in.lines)
				in.last[pk] = in.lines
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(in.dir, name), []byte(text.String()), 0o600))
	}
	return in
}

// start starts or resumes the import.
func (in *input) start(t *testing.T, target ...string) *process {
	t.Helper()
	p := start(t, append([]string{"import", in.dir, "--table", plain, "--key", "PK:S", "--resume", "--json", "--journal", in.journal, "--rejects", in.rejects}, target...)...)
	return p
}

// complete reports whether an import is complete. If so, it checks the counts and the report of the import.
func (in *input) complete(t *testing.T, p *process) bool {
	t.Helper()
	if exists(in.journal) || p.Stdout.String() == "" {
		return false
	}
	var got struct {
		Total struct{ Read, Written, Rejected int }
	}
	require.NoError(t, json.Unmarshal([]byte(p.Stdout.String()), &got), &p.Stdout)
	if got.Total.Read == 0 {
		return false // the endpoint was not there
	}
	require.Equal(t, in.lines, got.Total.Read)
	require.Equal(t, len(in.rejected), got.Total.Rejected)
	require.Equal(t, in.lines-len(in.rejected), got.Total.Written)
	data, err := os.ReadFile(in.rejects)
	require.NoError(t, err)
	var rejected []string
	for line := range strings.Lines(string(data)) {
		var r struct {
			File string
			Line int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		rejected = append(rejected, fmt.Sprint(filepath.Base(r.File), ":", r.Line))
	}
	require.True(t, slices.Equal(in.rejected, rejected), "the report has %d lines, want %d", len(rejected), len(in.rejected))
	return true
}

// check checks the items of a complete import.
func (in *input) check(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	items := byAddress(t, plain, scan(t, db, plain, ""))
	for pk, line := range in.last {
		require.Equal(t, line, number(items[pk+", "]["line"]), "the line of key %s", pk)
	}
	require.Len(t, items, len(in.last))
}

// TestKillImport kills an import into a folder and resumes it, again and again until it is complete. It tests that
// each line was then either imported or reported once.
func TestKillImport(t *testing.T) {
	kills := proptest.Cases(2)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 5<<32))
	root := t.TempDir()
	in := newInput(t, root)
	killed, resumed, imports := 0, 0, 0
	for killed < kills {
		dir := filepath.Join(root, fmt.Sprint("db", imports))
		for {
			if exists(in.journal) {
				resumed++
			}
			p := in.start(t, "--data", dir)
			delay := cmdtest.Timeout
			if killed < kills {
				delay = randomDelay(rng, 150*time.Millisecond)
			}
			if p.KillAfter(t, delay) {
				killed++
				continue
			}
			require.True(t, in.complete(t, p), "%s%s", &p.Stdout, &p.Stderr)
			break
		}
		inFolder(t, dir, func(db *dynamodb.Client) { in.check(t, db) })
		imports++
	}
	require.ElementsMatch(t, left(imports), names(t, root))
	t.Logf("%d kills of an import, %d times resumed: %d imports complete, each of %d lines imported or reported once", killed, resumed, imports, in.lines)
}

// left returns the names of the files that should remain after a number of imports.
func left(imports int) []string {
	names := []string{"input", "rejects"}
	for i := range imports {
		names = append(names, fmt.Sprint("db", i))
	}
	return names
}

// TestKillImportServer kills the server that an import writes to, and starts the server again. Sometimes it also
// kills the import, and resumes it.
func TestKillImportServer(t *testing.T) {
	proptest.NeedLong(t)
	kills := proptest.Cases(2)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 6<<32))
	root := t.TempDir()
	in := newInput(t, root)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := ln.Addr().String() // the same each time
	require.NoError(t, ln.Close())
	servers, commands, imports, again := 0, 0, 0, 0
	for servers+commands < kills {
		flags := []string{"--addr", addr, "--data", filepath.Join(root, fmt.Sprint("db", imports))}
		server := serve(t, flags...)
		for {
			p := in.start(t, "--endpoint", server.URL)
			var wait sync.WaitGroup
			if servers+commands < kills && rng.IntN(4) == 0 {
				delay := randomDelay(rng, 150*time.Millisecond)
				wait.Go(func() {
					if p.KillAfter(t, delay) {
						commands++
					}
				})
			}
			for running := true; running && servers < kills; {
				select {
				case <-p.Done:
					running = false
				case <-time.After(randomDelay(rng, 150*time.Millisecond)):
					server.Kill(t)
					servers++
					server = serve(t, flags...)
				}
			}
			wait.Wait()
			_ = p.Wait(t)
			if p.Cmd.ProcessState.Exited() && in.complete(t, p) {
				break
			}
			again++
		}
		in.check(t, server.client(t))
		server.Kill(t)
		imports++
	}
	require.ElementsMatch(t, left(imports), names(t, root))
	t.Logf("%d kills of a server under an import and %d of the import, %d times resumed: %d imports complete, each of %d lines imported or reported once",
		servers, commands, again, imports, in.lines)
}
