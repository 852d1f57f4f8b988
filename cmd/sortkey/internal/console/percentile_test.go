package console

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPercentiles holds which of the last requests of a shape its percentiles are.
func TestPercentiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n            int
		median, high float64
	}{{1, 1, 1}, {2, 1, 2}, {3, 2, 3}, {20, 10, 19}, {100, 50, 95}, {200, 100, 190}} {
		s := Shape{}
		for i := range tt.n {
			s.recent = append(s.recent, sample{float32(tt.n - i), float32(i+1) / 2})
		}
		s.percentiles()
		require.Equal(t, []float64{tt.median, tt.high}, []float64{s.Units50, s.Units95}, "of 1 to %d", tt.n)
		require.Equal(t, []float64{tt.median / 2, tt.high / 2}, []float64{s.Millis50, s.Millis95})
	}
}
