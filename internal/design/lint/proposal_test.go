package lint_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestProposals applies every proposal that becomes advice for the examples, for the models of the rules and for
// those of [TestAdvised]. It uses more items than [lint.Run] does. The finding must be gone, and the proposal must
// cause no other error or warning, break no pattern and empty no index. A short run takes one model in three, and one
// in four of its proposals.
func TestProposals(t *testing.T) {
	slow(t)
	files, err := filepath.Glob("../../../design/examples/*/model.yaml")
	require.NoError(t, err)
	bad, err := filepath.Glob("testdata/*/bad.yaml")
	require.NoError(t, err)
	models := map[string]*model.Model{}
	for _, file := range slices.Concat(files, bad) {
		models[file], err = modelfile.Load(file)
		require.NoError(t, err)
	}
	for _, tt := range advised {
		models[tt.name], err = modelfile.Parse(tt.name, []byte(tt.src))
		require.NoError(t, err)
	}

	seen := 0
	for i, file := range slices.Sorted(maps.Keys(models)) {
		if !proptest.Long() && i%3 != 0 {
			continue
		}
		w, err := dataset.Build(t.Context(), models[file], dataset.Options{MaxItems: min(proptest.Cases(250), 1000)})
		require.NoError(t, err)
		printed, proposed, base, err := lint.Proposals(t.Context(), w)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		for _, f := range printed {
			concrete := strings.Contains(f.Advice, "{partition:")
			if concrete && !slices.ContainsFunc(proposed, func(p lint.Proposed) bool { return p.Advice == f.Advice }) {
				t.Errorf("%s: printed, but not tried:\n%s", file, text([]model.Finding{f}))
			}
		}
		unchanged := checkAll(t, base)
		before, everything := subjects(unchanged.Findings, model.Warning), subjects(unchanged.Findings, model.Note)
		for _, p := range proposed {
			if seen++; !proptest.Long() && seen%4 != 0 {
				continue
			}
			about := text([]model.Finding{p.Finding})
			changed, err := p.Apply()
			require.NoError(t, err)
			after := checkAll(t, changed)
			found := text(after.Findings)
			if n := subjects(after.Findings, model.Note)[subject(p.Finding)]; n > 0 && n >= everything[subject(p.Finding)] {
				t.Errorf("%s: the finding is still there:\n%s\nthen:\n%s", file, about, found)
			}
			for other, n := range subjects(after.Findings, model.Warning) {
				if n > before[other] {
					t.Errorf("%s: a proposal brings a new finding:\n%s\nthen:\n%s", file, about, found)
				}
			}
			if harm := harmOf(unchanged, after); harm != "" {
				t.Errorf("%s: a proposal does harm: %s:\n%s", file, harm, about)
			}
		}
	}
	if proptest.Long() && seen < 4 {
		t.Errorf("only %d proposals", seen)
	}
}

// harmOf returns a description of a pattern that a change breaks, or of an index that loses most of its rows, or "".
func harmOf(before, after *check.Result) string {
	for i, was := range before.Patterns {
		is := after.Patterns[i]
		switch {
		case was.Report == nil || was.Report.Refused != nil || was.Report.Returned == 0:
		case is.Report == nil || is.Report.Refused != nil:
			return was.Pattern.Name + " is refused"
		case is.Report.Returned == 0 && (is.Spread == nil || is.Spread.Worst.Rows == 0):
			return was.Pattern.Name + " returns nothing"
		case is.Report.Returned < was.Report.Returned:
			return was.Pattern.Name + " returns fewer rows"
		}
	}
	for _, was := range before.Tables {
		for _, is := range after.Tables {
			if was.Table.Name != is.Table.Name || (was.Index == nil) != (is.Index == nil) ||
				was.Index != nil && was.Index.Name != is.Index.Name {
				continue
			}
			if is.Items*2 < was.Items || was.Index == nil && is.Items < was.Items {
				return fmt.Sprintf("%s %v has %d of %d rows", was.Table.Name, was.Index, is.Items, was.Items)
			}
		}
	}
	return ""
}

// slow skips a test of many items with -short, which is used with the race detector. One goroutine builds and reads
// the items, so there is nothing to detect.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many items in one goroutine")
	}
}

func checkAll(t *testing.T, m *model.Model) *check.Result {
	t.Helper()
	w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: min(proptest.Cases(250), 1000)})
	require.NoError(t, err)
	defer w.Close()
	r, err := check.Run(t.Context(), w, check.Options{Lint: lint.Run})
	require.NoError(t, err)
	r.Findings = slices.DeleteFunc(r.Findings, func(f model.Finding) bool { return f.Rule == check.Rule })
	return r
}

// subject identifies what a finding is about, whatever line it is on.
func subject(f model.Finding) string {
	return strings.Join([]string{f.Rule, f.Table, f.Index, f.Entity, f.Pattern}, " ")
}

// subjects counts the findings of severity least or higher by subject.
func subjects(found []model.Finding, least model.Severity) map[string]int {
	all := map[string]int{}
	for _, f := range found {
		if f.Severity >= least {
			all[subject(f)]++
		}
	}
	return all
}
