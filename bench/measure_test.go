package bench_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/bench/measure"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{5, 1, 3}, 3},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{1, 1000, 2}, 2},
	} {
		if got := measure.Median(tt.in); got != tt.want {
			t.Errorf("Median(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
	if got := measure.Median(nil); !math.IsNaN(got) {
		t.Errorf("Median(nil) = %v, want NaN", got)
	}
}

func TestRatio(t *testing.T) {
	for _, tt := range []struct {
		name    string
		x, base []float64
		want    float64
	}{
		// Both get twice as slow with every round, so the ratios stay the same.
		{"drift", []float64{10, 20, 40}, []float64{5, 10, 20}, 2},
		{"spread", []float64{10, 30, 20}, []float64{10, 10, 10}, 2},
		{"fewer rounds", []float64{10}, []float64{5, 1, 1}, 2},
		{"round without figures", []float64{10, 20}, []float64{0, 10}, 2},
		{"nothing", nil, []float64{1}, math.NaN()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := measure.Ratio(tt.x, tt.base)
			if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
				t.Errorf("Ratio(%v, %v) = %v, want %v", tt.x, tt.base, got, tt.want)
			}
		})
	}
}

func TestAlternate(t *testing.T) {
	var order []string
	op := func(name string, rows int) measure.Op {
		return func(context.Context, *measure.Scratch) (int, int, error) {
			if len(order) == 0 || order[len(order)-1] != name {
				order = append(order, name)
			}
			return rows, 10, nil
		}
	}
	a := measure.NewSeries("a", []measure.Op{op("a", 1)}, 1)
	b := measure.NewSeries("b", []measure.Op{op("b", 2), op("b", 2)}, 1)
	require.NoError(t, measure.Alternate(t.Context(), []*measure.Series{a, b}, 4, 2*time.Microsecond))
	// Warm-up of a and b, then rounds that begin with a, b, a, b.
	require.Equal(t, []string{"a", "b", "a", "b", "a", "b", "a"}, order)
	for _, s := range []*measure.Series{a, b} {
		require.Len(t, s.Rounds, 4)
		for _, r := range s.Rounds {
			want := map[string]int64{"a": 1, "b": 2}[s.Name]
			require.Positive(t, r.Ops)
			require.Equal(t, r.Ops*want, r.Rows)
			require.Equal(t, r.Ops*10, r.Bytes)
			require.Positive(t, r.Nanos)
		}
		require.Positive(t, s.Latency.TotalCount())
		require.Positive(t, s.Latency.Max())
	}
}

func TestFailures(t *testing.T) {
	wrong := errors.New("wrong")
	bad := func(context.Context, *measure.Scratch) (int, int, error) { return 0, 0, wrong }
	for _, workers := range []int{1, 3} {
		s := measure.NewSeries("s", []measure.Op{bad}, workers)
		require.ErrorIs(t, measure.Alternate(t.Context(), []*measure.Series{s}, 1, time.Microsecond), wrong)
		require.ErrorIs(t, s.Round(t.Context(), time.Second), wrong)
		require.Empty(t, s.Rounds, "a failed round is kept")
	}
	require.ErrorIs(t, measure.NewSeries("s", nil, 1).Round(t.Context(), 1), measure.ErrNoOps)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	good := func(context.Context, *measure.Scratch) (int, int, error) { return 0, 0, nil }
	require.ErrorIs(t, measure.NewSeries("s", []measure.Op{good}, 1).Round(ctx, time.Hour), context.Canceled)
}
