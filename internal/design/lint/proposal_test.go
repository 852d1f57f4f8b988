package lint_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/proptest"
)

// TestProposals applies every proposal that is printed for the examples and for
// the models of the rules, with more items than [lint.Run] tries them with. The
// finding must be gone, and no other error or warning may have come. A short run
// applies one proposal in four.
func TestProposals(t *testing.T) {
	slow(t)
	files, err := filepath.Glob("../../../design/examples/*/model.yaml")
	require.NoError(t, err)
	bad, err := filepath.Glob("testdata/*/bad.yaml")
	require.NoError(t, err)
	seen := 0
	for _, file := range slices.Concat(files, bad) {
		m, err := modelfile.Load(file)
		require.NoError(t, err)
		w, err := world.Build(t.Context(), m, world.Options{MaxItems: min(proptest.Cases(250), 1000)})
		require.NoError(t, err)
		printed, proposed, base, err := lint.Proposals(t.Context(), w)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		for _, f := range printed {
			concrete := quotedTemplate.MatchString(f.Advice) || strings.Contains(f.Advice, "{partition:")
			if concrete && !slices.ContainsFunc(proposed, func(p lint.Proposed) bool { return p.Advice == f.Advice }) {
				t.Errorf("%s: printed, but not tried:\n%s", file, text([]model.Finding{f}))
			}
		}
		unchanged := lintAll(t, base)
		before, everything := subjects(unchanged, model.Warning), subjects(unchanged, model.Note)
		for _, p := range proposed {
			if seen++; !proptest.Long() && seen%4 != 0 {
				continue
			}
			changed, err := p.Apply()
			require.NoError(t, err)
			found := lintAll(t, changed)
			if n := subjects(found, model.Note)[subject(p.Finding)]; n > 0 && n >= everything[subject(p.Finding)] {
				t.Errorf("%s: the finding is still there:\n%s\nthen:\n%s", file, text([]model.Finding{p.Finding}), text(found))
			}
			for other, n := range subjects(found, model.Warning) {
				if n > before[other] {
					t.Errorf("%s: a proposal brings a new finding:\n%s\nthen:\n%s", file, text([]model.Finding{p.Finding}), text(found))
				}
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d proposals", seen)
	}
}

// slow skips a test of many items with -short, which goes with the race detector:
// one goroutine builds and reads them.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many items in one goroutine")
	}
}

func lintAll(t *testing.T, m *model.Model) []model.Finding {
	t.Helper()
	w, err := world.Build(t.Context(), m, world.Options{MaxItems: min(proptest.Cases(250), 1000)})
	require.NoError(t, err)
	defer w.Close()
	found, err := lint.Run(t.Context(), w)
	require.NoError(t, err)
	return found
}

// subject identifies what a finding is about, but for its place.
func subject(f model.Finding) string {
	return strings.Join([]string{f.Rule, f.Table, f.Index, f.Entity, f.Pattern}, " ")
}

// subjects counts the findings of at least a severity by subject.
func subjects(found []model.Finding, least model.Severity) map[string]int {
	all := map[string]int{}
	for _, f := range found {
		if f.Severity >= least {
			all[subject(f)]++
		}
	}
	return all
}
