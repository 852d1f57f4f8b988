package lint_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keys"
)

// maxItems limits the generated items of the models in testdata. Some declare 100,000 and more, which would be slow.
const maxItems = 400

func find(t *testing.T, path string) []model.Finding {
	t.Helper()
	found, ok := foundIn[path]
	if !ok {
		found = findIn(t, path, maxItems)
		foundIn[path] = found
	}
	return slices.Clone(found)
}

// foundIn caches the findings in a file for several tests. These tests do not run in parallel.
var foundIn = map[string][]model.Finding{}

func findIn(t *testing.T, path string, items int) []model.Finding {
	t.Helper()
	m, err := modelfile.Load(path)
	require.NoError(t, err)
	w, err := dataset.Build(context.Background(), m, dataset.Options{MaxItems: items})
	require.NoError(t, err)
	defer w.Close()
	found, err := lint.RunAlone(context.Background(), w)
	require.NoError(t, err)
	return found
}

// text formats findings as a person sees them.
func text(found []model.Finding) string {
	var b strings.Builder
	for i, f := range found {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s %s at %d:%d", f.Severity, f.Rule, f.Pos.Line, f.Pos.Col)
		for _, about := range [][2]string{{"table", f.Table}, {"index", f.Index}, {"entity", f.Entity}, {"pattern", f.Pattern}} {
			if about[1] != "" {
				fmt.Fprintf(&b, ", %s %s", about[0], about[1])
			}
		}
		fmt.Fprintf(&b, "\n  %s\n", f.Message)
		for _, k := range f.Keys {
			fmt.Fprintf(&b, "    %s\n", k)
		}
		if f.Advice != "" {
			fmt.Fprintf(&b, "  do: %s\n", f.Advice)
		}
		if f.Accepted != "" {
			fmt.Fprintf(&b, "  accepted: %s\n", f.Accepted)
		}
	}
	return b.String()
}

// golden compares text with a file, or writes the file with -rewrite.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if flag.Lookup("rewrite").Value.String() == "true" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run go test ./internal/design/lint -rewrite and review the difference")
	if string(want) == got {
		return
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("%s is stale from line %d on: run go test ./internal/design/lint -rewrite and review the difference:\nwas %s\n is %s",
				file, i+1, strings.Join(was[i:min(i+3, len(was))], "\n    "), strings.Join(is[i:min(i+3, len(is))], "\n    "))
		}
	}
}

// quotedTemplate matches a template in the advice of a finding.
var quotedTemplate = regexp.MustCompile(`"[^"]*\{[^"]*"`)

// TestRules checks the models in testdata: each rule has models that trigger it, and the same designs without the
// hazard.
func TestRules(t *testing.T) {
	known := map[string]bool{}
	for _, r := range lint.Rules() {
		require.False(t, known[r.ID], "two rules %s", r.ID)
		known[r.ID] = true
		t.Run(r.ID, func(t *testing.T) {
			dir := filepath.Join("testdata", r.ID)
			files, err := filepath.Glob(filepath.Join(dir, "bad*.yaml"))
			require.NoError(t, err)
			require.NotEmpty(t, files)
			for _, file := range files {
				bad := of(find(t, file), r.ID)
				require.NotEmpty(t, bad, "%s does not trigger the rule", file)
				golden(t, strings.TrimSuffix(file, ".yaml")+".txt", text(bad))
				for _, f := range of(find(t, strings.Replace(file, "bad", "good", 1)), r.ID) {
					if f.Severity > model.Note {
						t.Errorf("%s, fixed, triggers the rule:\n%s", file, text([]model.Finding{f}))
					}
				}
				for _, f := range bad {
					if f.Pos.Line == 0 || f.Message == "" || f.Advice == "" {
						t.Errorf("not all is said:\n%s", text([]model.Finding{f}))
					}
					for _, m := range quotedTemplate.FindAllString(f.Advice, -1) {
						src, err := strconv.Unquote(m)
						require.NoError(t, err)
						_, err = keys.Parse(src)
						require.NoError(t, err, "advised: %s", f.Advice)
					}
				}
			}
		})
	}
	dirs, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, d := range dirs {
		if d.IsDir() && d.Name() != "mistakes" && !known[d.Name()] {
			t.Errorf("testdata/%s is of no rule", d.Name())
		}
	}
}

// TestClean holds that good designs have no findings, and that the examples have only the errors and warnings that
// they explain. A long run (SORTKEY_CHECKS) generates all 100,000 items of each large design.
func TestClean(t *testing.T) {
	slow(t)
	large, err := filepath.Glob("testdata/large-*.yaml")
	require.NoError(t, err)
	require.Len(t, large, 3)
	for _, file := range append(large, "testdata/clean.yaml") {
		found := findIn(t, file, min(proptest.Cases(3*maxItems), 100_000))
		if len(found) > 0 {
			t.Errorf("%s:\n%s", file, text(found))
		}
	}
	explained := map[string][]string{
		"composite-patterns": {"natural-order", "natural-order"},
		"content-management": {"natural-order"},
		"file-tree":          {"overwrite"},
		"shop":               {"loads", "natural-order"},
	}
	examples, err := filepath.Glob("../../../design/examples/*/model.yaml")
	require.NoError(t, err)
	for _, file := range examples {
		var loud []string
		for _, f := range findIn(t, file, min(proptest.Cases(3*maxItems), dataset.DefaultMaxItems)) {
			if f.Severity >= model.Warning {
				loud = append(loud, f.Rule)
			}
		}
		require.Equal(t, explained[filepath.Base(filepath.Dir(file))], loud, file)
	}
}
