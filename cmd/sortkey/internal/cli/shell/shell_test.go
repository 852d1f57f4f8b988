package shell

import (
	"bytes"
	"context"
	"fmt"
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
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return s, stdout, stderr
}

func TestScript(t *testing.T) {
	for _, tt := range []struct{ script, stdout, want string }{
		{"put a\n\n# a comment\n  count", "1\n", ""},
		{"put a\nexit\ncount\n", "", ""},
		{"put a\nfly\ncount", "", `line 2: unknown command "fly"`},
		{"count 'x", "", "line 1: the quote ' is not closed"},
		{"count > file", "", "line 1: a line is one command, and > is not in quotes"},
		{"count\nexit now", "0\n", "line 2: exit takes no arguments"},
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
