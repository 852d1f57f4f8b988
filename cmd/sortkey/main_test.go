package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" || strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "sortkey" {
		main()
	}
	os.Exit(runTests(m))
}

// runTests runs the tests with this program on the PATH as sortkey.
func runTests(m *testing.M) int {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "sortkey-test-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "sortkey"+strings.TrimSuffix(filepath.Ext(self), ".test"))
	if os.Symlink(self, name) != nil { // as on Windows
		if err := os.Link(self, name); err != nil {
			log.Fatal(err)
		}
	}
	os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	debug.SetGCPercent(1000) // hundreds of short commands run in this process
	return m.Run()
}

// TestScripts runs the scripts in testdata/script, which have these commands besides the usual ones. The command
// sortkey runs sortkey in this process; if the command input has named a file, that is its standard input. The
// command exec sortkey starts a process. The command serve starts a server in the background and sets ENDPOINT, and
// halt stops it and keeps its output in serve.out and serve.err. The command mcp talks to sortkey mcp: see [talk].
// EXAMPLES is the folder of the examples, and MODELS is that of [writeModels]. Under the condition postgres, which is
// true where PostgreSQL is installed, the command database sets DATABASE to the URL of an empty database.
func TestScripts(t *testing.T) {
	folder, err := filepath.Abs(filepath.Join("..", "..", "design", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Abs(filepath.Join("testdata", "script"))
	if err != nil {
		t.Fatal(err)
	}
	models := writeModels(t)
	cluster := sync.OnceValue(func() *pgtest.Cluster { return pgtest.New(t) })
	testscript.Run(t, testscript.Params{
		Dir:                 scripts, // absolute, because commands change the working folder
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("EXAMPLES", folder)
			env.Setenv("MODELS", models)
			env.Values[inputKey{}] = new(string)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"sortkey": runCommand,
			"input":   setInput,
			"database": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Setenv("DATABASE", cluster().Database(t))
			},
			"serve": startServer,
			"halt":  stopServer,
			"mcp":   talk,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "postgres":
				return pgtest.Bin() != "", nil
			case "long":
				return proptest.Long(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// count matches the number of items that a model generates for an entity, and per matches that number for each item
// of another entity.
var (
	count = regexp.MustCompile(`(?m)^( +count:) \d+$`)
	per   = regexp.MustCompile(`(?m)^( +per:) .*$`)
)

// writeModels writes the models of the examples to a folder, as NAME.yaml. In a short run it lets their entities
// generate few items, because commands would spend nine tenths of their time on these.
func writeModels(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range examples.Names() {
		_, data, err := examples.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if !proptest.Long() {
			data = count.ReplaceAll(data, []byte("$1 40"))
			data = per.ReplaceAll(data, []byte("$1 {min: 1, p50: 2, p95: 4, max: 8}"))
		}
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A running is a server that a script has started.
type running struct {
	cmd *exec.Cmd
	out chan []byte // all of its standard output
}

var servers = make(chan map[string]*running, 1)

func init() { servers <- map[string]*running{} }

// timeout bounds the time in which a server starts or stops.
const timeout = time.Minute

func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("serve cannot be negated")
	}
	dir := ts.Getenv("WORK")
	stderr, err := os.Create(filepath.Join(dir, "serve.err"))
	ts.Check(err)
	defer stderr.Close()
	cmd := exec.Command(lookup(ts, "sortkey"), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, stderr
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + dir}
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s := &running{cmd: cmd, out: make(chan []byte, 1)}
	all := <-servers
	all[dir] = s
	servers <- all
	ts.Defer(func() { _ = cmd.Process.Kill() })

	first := make(chan string, 1)
	go func() {
		r := bufio.NewReader(stdout)
		line, _ := r.ReadString('\n')
		first <- line
		rest, _ := io.ReadAll(r)
		s.out <- append([]byte(line), rest...)
	}()
	select {
	case line := <-first:
		_, after, ok := strings.Cut(line, "AWS_ENDPOINT_URL_DYNAMODB=")
		if !ok {
			ts.Fatalf("serve printed %q", line)
		}
		ts.Setenv("ENDPOINT", strings.Fields(after)[0])
	case <-time.After(timeout):
		ts.Fatalf("serve printed nothing")
	}
}

func stopServer(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.Getenv("WORK")
	all := <-servers
	s := all[dir]
	delete(all, dir)
	servers <- all
	if s == nil || neg || len(args) > 0 {
		ts.Fatalf("halt: no server, or unexpected arguments")
	}
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	out := <-s.out // read the pipe before Wait
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			ts.Fatalf("serve ended with %v", err)
		}
	case <-time.After(timeout):
		ts.Fatalf("serve does not stop")
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "serve.out"), out, 0o666))
}

// lookup finds a program on the PATH of a script, which differs from that of the test.
func lookup(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	ts.Fatalf("%s is not on the PATH", name)
	return ""
}
