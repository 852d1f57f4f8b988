package check_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// TestBudget holds that budgets from one run pass in the next, whatever the size of the dataset. It also holds that a
// budget is at most one step above the worst figure, and that Budget changes nothing else in the model.
func TestBudget(t *testing.T) {
	for _, scale := range []int{0, 20} {
		m, err := modelfile.Load("../modelfile/testdata/shop.yaml")
		require.NoError(t, err)
		given := map[string]float64{}
		for _, p := range m.Patterns {
			if p.Expect.Units != nil {
				given[p.Name] = *p.Expect.Units
			}
		}
		run := func() *check.Result {
			w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: scale})
			require.NoError(t, err)
			defer w.Close()
			r, err := check.Run(context.Background(), w, check.Options{})
			require.NoError(t, err)
			return r
		}
		first := run()
		failed := first.Count(model.Error)
		require.Positive(t, first.Budget())
		require.Zero(t, first.Budget(), "each has one")

		var b bytes.Buffer
		require.NoError(t, modelfile.Write(&b, m))
		m, err = modelfile.Parse("m.yaml", b.Bytes())
		require.NoError(t, err)
		next := run()
		require.Equal(t, failed, next.Count(model.Error))
		for i, p := range next.Patterns {
			if was, ok := given[p.Pattern.Name]; ok {
				require.Equal(t, was, *p.Pattern.Expect.Units)
				continue
			}
			units := p.Pattern.Expect.Units
			require.Equal(t, first.Patterns[i].Pattern.Expect.Units, units)
			if units == nil {
				require.True(t, p.Compile != nil || p.Pattern.Expect.Error != "" || !p.OK(), p.Pattern.Name)
				continue
			}
			worst := p.Units()
			if p.Total != nil {
				worst = max(worst, p.Own().DeclaredUnits())
			}
			if s := p.Spread; s != nil {
				for _, r := range s.Readings {
					worst = max(worst, r.DeclaredUnits())
				}
			}
			if p.Writes != nil {
				worst = p.Writes.Worst
			}
			require.GreaterOrEqual(t, *units, worst*(1-1e-9), p.Pattern.Name)
			require.LessOrEqual(t, *units, max(2*worst, 0.5), p.Pattern.Name)
		}
	}
}

// TestStarterBudgets holds that the starter model has the budgets that its first run would set.
func TestStarterBudgets(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", modelfile.Starter())
	require.NoError(t, err)
	given := map[string]float64{}
	for _, p := range m.Patterns {
		if p.Expect.Units != nil && p.Expect.Budget == "" {
			given[p.Name], p.Expect.Units = *p.Expect.Units, nil
		}
	}
	w, err := dataset.Build(t.Context(), m, dataset.Options{})
	require.NoError(t, err)
	defer w.Close()
	r, err := check.Run(t.Context(), w, check.Options{})
	require.NoError(t, err)
	require.Len(t, given, r.Budget())
	for _, p := range m.Patterns {
		if want, ok := given[p.Name]; ok {
			require.Equal(t, want, *p.Expect.Units, p.Name)
		}
	}
}

// TestRoundUp holds that RoundUp adds at most two thirds.
func TestRoundUp(t *testing.T) {
	for range 10_000 {
		f := rand.Float64() * 1000
		up := check.RoundUp(f)
		require.GreaterOrEqual(t, up, f*(1-1e-9))
		require.LessOrEqual(t, up, max(f*5/3+1e-9, 1))
		require.InDelta(t, up, check.RoundUp(up), 1e-9)
	}
}
