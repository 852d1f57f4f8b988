// Package pgtest starts PostgreSQL for tests: a cluster in a temporary folder that listens on a Unix socket there. It
// needs an installed PostgreSQL. Tests with PostgreSQL take minutes, so they run only if SORTKEY_POSTGRES is set, as
// in scripts/check-postgres.sh.
//
// PostgreSQL does not run as root. If the tests run as root, the cluster runs as the user postgres or nobody.
package pgtest

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Missing is the message of skipped tests: it says how to run them.
const Missing = "runs with SORTKEY_POSTGRES=1 and PostgreSQL, the package postgresql (Debian, Ubuntu, Homebrew) " +
	"or postgresql-server (Fedora)"

// A Cluster is a running PostgreSQL server with its data.
type Cluster struct {
	dir string // with the data, the socket and the log
	bin string // folder of the programs

	mu       sync.Mutex
	settings []string
	server   *exec.Cmd
	stop     io.Closer
	names    atomic.Int64
}

// Bin returns the folder of PostgreSQL's programs. It returns "" if SORTKEY_POSTGRES is not set or PostgreSQL is not
// installed.
func Bin() string {
	if os.Getenv("SORTKEY_POSTGRES") == "" {
		return ""
	}
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Sort(folders)
	slices.Reverse(folders)
	if path, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(path))
	}
	for _, dir := range folders {
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			return dir
		}
	}
	return ""
}

// New creates and starts a cluster, and removes it at the end of the test. If [Bin] finds no PostgreSQL, New skips
// the test. Settings are NAME=VALUE. Unless they have fsync=on, the data survives a crash of the server but not of
// the machine.
func New(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	c, err := create(settings)
	if err == errMissing {
		t.Skip(Missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.remove(); err != nil {
			t.Error(err)
		}
	})
	return c
}

var errMissing = fmt.Errorf("pgtest: %s", Missing)

var shared struct {
	sync.Once
	*Cluster
	err error
}

// Shared returns a cluster for all tests of a package. The first call starts it. The package's TestMain must call
// [Main], which removes it.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.Do(func() { shared.Cluster, shared.err = create(nil) })
	if shared.err == errMissing {
		t.Skip(Missing)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.Cluster
}

// Main runs the tests of a package and removes its shared cluster.
func Main(m *testing.M) (code int) {
	code = m.Run()
	if shared.Cluster != nil {
		if err := shared.remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

func create(settings []string) (*Cluster, error) {
	c := &Cluster{bin: Bin(), settings: settings}
	if c.bin == "" {
		return nil, errMissing
	}
	var err error
	if c.dir, err = os.MkdirTemp("", "sortkey-pg"); err != nil {
		return nil, err
	}
	if err := own(c.dir); err != nil {
		return nil, err
	}
	err = c.run(
		"initdb", "--pgdata", c.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale",
		"C", "--no-sync",
	)
	if err == nil {
		err = c.start()
	}
	if err != nil {
		_ = os.RemoveAll(c.dir)
		return nil, err
	}
	return c, nil
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	asUser(cmd)
	return cmd
}

// run runs a PostgreSQL program and waits for it.
func (c *Cluster) run(name string, args ...string) error {
	if out, err := c.command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: %s: %w\n%s", name, err, out)
	}
	return nil
}

// watched is a shell script that runs the server until its standard input is closed. The system also closes it when
// somebody kills the test.
const watched = `"$@" & server=$!; cat >/dev/null; kill -QUIT $server 2>/dev/null; wait $server`

func (c *Cluster) start() error {
	args := []string{
		"-c", watched, "sh", filepath.Join(c.bin, "postgres"), "-D", c.data(), "-k", c.dir, "-c", "listen_addresses=",
	}
	for _, s := range append([]string{"fsync=off", "max_connections=200"}, c.settings...) {
		args = append(args, "-c", s)
	}

	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("/bin/sh", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	asUser(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}

	c.server, c.stop = cmd, stdin
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := c.run("pg_isready", "--quiet", "--host", c.dir, "--username", "postgres")
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			_ = c.halt()
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("pgtest: the server does not start:\n%s", text)
		}
	}
}

func (c *Cluster) halt() error {
	if c.server.ProcessState != nil {
		return nil // Crash has stopped the server
	}
	_ = c.stop.Close()
	err := c.server.Wait()
	if _, ok := err.(*exec.ExitError); ok {
		err = nil // expected: watched kills the server
	}
	return err
}

// Crash stops the server at once without a checkpoint, like pg_ctl stop -m immediate. The next Start recovers from
// the log.
func (c *Cluster) Crash(t testing.TB) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.halt(); err != nil {
		t.Fatal(err)
	}
}

// Start starts the server after a Crash.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
}

func (c *Cluster) remove() error {
	err := c.halt()
	if failed := os.RemoveAll(c.dir); err == nil {
		err = failed
	}
	return err
}

// Database creates an empty database and returns its URL.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", c.names.Add(1))
	c.SQL(t, "postgres", "create database "+name)
	return c.url(name, url.Values{})
}

// Schema creates an empty schema and returns a URL with it in search_path. It is ten times faster than Database.
func (c *Cluster) Schema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", c.names.Add(1))
	c.SQL(t, "postgres", "create schema "+name)
	return c.url("postgres", url.Values{"search_path": {name}})
}

func (c *Cluster) url(database string, query url.Values) string {
	query.Set("host", c.dir)
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database, RawQuery: query.Encode()}
	return u.String()
}

// SQL runs statements in a database and returns the result, one line per row with columns separated by |.
func (c *Cluster) SQL(t testing.TB, database, sql string) string {
	t.Helper()
	cmd := c.command(
		"psql", "--host", c.dir, "--username", "postgres",
		"--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1",
		"--dbname", database, "--command", sql,
	)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pgtest: %s: %v\n%s", sql, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// Standby starts a synchronous standby of the cluster: each commit of the cluster waits until the standby has it too.
func (c *Cluster) Standby(t testing.TB) *Cluster {
	t.Helper()
	s := &Cluster{bin: c.bin, settings: c.settings}
	var err error
	if s.dir, err = os.MkdirTemp("", "sortkey-pg"); err == nil {
		err = own(s.dir)
	}
	if err == nil {
		err = s.run(
			"pg_basebackup", "--host", c.dir, "--username", "postgres", "--pgdata", s.data(), "--write-recovery-conf",
			"--checkpoint", "fast", "--no-sync",
		)
	}
	if err == nil {
		err = s.start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.remove(); err != nil {
			t.Error(err)
		}
	})
	c.SQL(t, "postgres", "alter system set synchronous_standby_names = '*'")
	c.SQL(t, "postgres", "select pg_reload_conf()")

	const inSync = "select count(*) from pg_stat_replication where sync_state = 'sync'"
	deadline := time.Now().Add(time.Minute)
	for ; c.SQL(t, "postgres", inSync) != "1"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("pgtest: the standby does not replicate")
		}
	}
	return s
}

// Promote makes a standby accept writes.
func (c *Cluster) Promote(t testing.TB) {
	t.Helper()
	if got := c.SQL(t, "postgres", "select pg_promote()"); got != "t" {
		t.Fatalf("pgtest: pg_promote returned %s", got)
	}
}

// Failover returns a URL that connects to the cluster or its standby, whichever accepts writes. At is the URL of the
// database on the cluster.
func (c *Cluster) Failover(at string, standby *Cluster) string {
	u, err := url.Parse(at)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	q.Set("host", c.dir+","+standby.dir)
	q.Set("target_session_attrs", "read-write")
	u.RawQuery = q.Encode()
	return u.String()
}
