package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

type thing struct {
	ID string `dynamodbav:"id"`
}

// newShell returns a shell on a database with a table Things. Its commands besides those of
// every shell are put, count, which prints the number of items, and interrupted, which ends
// as if it had been.
func newShell(t *testing.T, st store.Store) (s *shell, stdout, stderr *bytes.Buffer) {
	t.Helper()
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	require.NoError(t, db.CreateTable(t.Context(), "Things", "id"))
	things := sortkey.Table[thing](db, "Things")
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	root := func(env *app.Env) *cobra.Command {
		root := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(
			&cobra.Command{Use: "put ID", RunE: func(cmd *cobra.Command, args []string) error {
				return things.Put(cmd.Context(), thing{args[0]})
			}},
			&cobra.Command{Use: "count", RunE: func(cmd *cobra.Command, _ []string) error {
				n := 0
				for _, err := range things.Scan(cmd.Context()) {
					if err != nil {
						return err
					}
					n++
				}
				_, err := fmt.Fprintln(env.Stdout, n)
				return err
			}},
			&cobra.Command{Use: "interrupted", RunE: func(*cobra.Command, []string) error { return context.Canceled }},
		)
		return root
	}
	env := &app.Env{Stdout: stdout, Stderr: stderr, Source: &app.Source{DB: db}}
	s = &shell{env: env, root: root}
	t.Cleanup(func() { require.NoError(t, errors.Join(s.rollback(), db.Close())) })
	return s, stdout, stderr
}

func TestTransaction(t *testing.T) {
	s, stdout, _ := newShell(t, memory.Open())
	for _, line := range []string{
		"begin", "put a", "count", "rollback", "count", "begin", "put a", "put b", "commit", "count",
	} {
		require.NoError(t, s.run(t.Context(), line), line)
	}
	require.Equal(t, "1\nrolled back\n0\ncommitted\n2\n", stdout.String())
	require.ErrorIs(t, s.run(t.Context(), "commit"), errNone)
	require.ErrorIs(t, s.run(t.Context(), "rollback"), errNone)

	require.NoError(t, s.run(t.Context(), "begin"))
	require.ErrorContains(t, s.run(t.Context(), "begin"), "a transaction is open")
	require.NoError(t, s.run(t.Context(), "put c"))
	require.ErrorContains(t, s.run(t.Context(), "interrupted"), "interrupted; the transaction is rolled back")
	require.NoError(t, s.run(t.Context(), "count"))
	require.True(t, strings.HasSuffix(stdout.String(), "committed\n2\n2\n"))
}

// twice is a store whose first Update with a condition meets a conflict: it runs again.
type twice struct {
	store.Store
	on bool
}

func (s *twice) Update(ctx context.Context, fn func(store.Writer) error) error {
	if !s.on {
		return s.Store.Update(ctx, fn)
	}
	s.on = false
	lost := errors.New("lost")
	err := s.Store.Update(ctx, func(w store.Writer) error {
		if err := fn(w); err != nil {
			return err
		}
		return lost
	})
	if !errors.Is(err, lost) {
		return err
	}
	return s.Store.Update(ctx, fn)
}

func TestConflict(t *testing.T) {
	st := &twice{Store: memory.Open()}
	s, stdout, _ := newShell(t, st)
	st.on = true
	require.NoError(t, s.run(t.Context(), "begin"))
	require.NoError(t, s.run(t.Context(), "put a"))
	require.ErrorContains(t, s.run(t.Context(), "commit"), "the transaction met a conflict and is rolled back")
	require.NoError(t, s.run(t.Context(), "count"))
	require.Equal(t, "0\n", stdout.String())
}

// TestBeginWaits has a transaction that another keeps waiting, and an interrupt.
func TestBeginWaits(t *testing.T) {
	s, _, _ := newShell(t, memory.Open())
	require.NoError(t, s.run(t.Context(), "begin"))
	waiting, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := newTransaction(t.Context(), waiting, s.env.Source.DB)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.run(t.Context(), "put a"))
	require.NoError(t, s.run(t.Context(), "commit"))
}

func TestScript(t *testing.T) {
	for _, tt := range []struct{ script, stdout, want string }{
		{"put a\n\n# a comment\n  count", "1\n", ""},
		{"put a\nexit\ncount\n", "", ""},
		{"begin\nput a\n", "", "the script ends in a transaction"},
		{"put a\nfly\ncount", "", `line 2: unknown command "fly"`},
		{"count 'x", "", "line 1: the quote ' is not closed"},
		{"count > file", "", "line 1: a line is one command, and > is not in quotes"},
		{"trace maybe", "", "line 1: trace takes on or off"},
		{"count\nbegin now", "0\n", "line 2: begin takes no arguments"},
	} {
		s, stdout, _ := newShell(t, memory.Open())
		err := s.script(t.Context(), strings.NewReader(tt.script))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%q ends with %v, want %s", tt.script, err, tt.want)
		}
		if stdout.String() != tt.stdout {
			t.Errorf("%q prints %q, want %q", tt.script, stdout, tt.stdout)
		}
	}
}

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	getenv := func(name string) string {
		if name == "XDG_STATE_HOME" {
			return dir
		}
		return ""
	}
	h, err := openHistory(getenv)
	require.NoError(t, err)
	require.Empty(t, h.lines)
	for i := range mostLines + 10 {
		h.add(fmt.Sprintf("get Things %d", i))
	}
	h.add(strings.Repeat("x", longestLine+1))

	file := filepath.Join(dir, "sortkey", "history")
	require.NoError(t, os.Chmod(file, 0o666))
	h, err = openHistory(getenv)
	require.NoError(t, err)
	require.Len(t, h.lines, mostLines)
	require.Equal(t, "get Things 10", h.lines[0])
	require.Equal(t, fmt.Sprintf("get Things %d", mostLines+9), h.lines[mostLines-1])
	info, err := os.Stat(file)
	require.NoError(t, err)
	if os.PathSeparator == '/' {
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}

	// A folder that cannot be written is told once; the shell goes on.
	blocked := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	h, err = openHistory(func(string) string { return blocked })
	require.Error(t, err)
	h.add("lost")
	require.Empty(t, h.lines)
}

func TestQuote(t *testing.T) {
	for _, tt := range []struct {
		words []string
		open  string
		want  string
	}{
		{[]string{"query"}, "", "query "},
		{[]string{"get", "put"}, "", "get|put"},
		{[]string{"a#b"}, "", "'a#b' "},
		{[]string{"ab", "a b"}, "", "'ab'|'a b'"},
		{[]string{"it's"}, "'", `'it'\''s' `},
		{[]string{"a$b", `"`}, `"`, `"a\$b"|"\""`},
	} {
		if got := strings.Join(quote(tt.words, tt.open), "|"); got != tt.want {
			t.Errorf("quote(%q, %q) = %s, want %s", tt.words, tt.open, got, tt.want)
		}
	}
}
