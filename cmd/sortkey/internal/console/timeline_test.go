package console

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
)

// TestTimeline compares the requests of each second with a count of all that have ended, while time goes on in steps of
// any length, and back.
func TestTimeline(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 43))
		r := NewRecorder()
		now := r.began
		r.now = func() time.Time { return now }
		all, refused, latest := map[int]int{}, map[int]int{}, 0
		for range 2000 {
			switch rnd.IntN(20) {
			case 0:
				now = now.Add(time.Duration(rnd.IntN(2000)) * time.Second)
			case 1:
				now = now.Add(-time.Duration(rnd.IntN(3000)) * time.Millisecond)
			default:
				now = now.Add(time.Duration(rnd.IntN(900)) * time.Millisecond)
			}
			see := func() { latest = max(latest, int(now.Sub(r.began)/time.Second)) } // the recorder has seen this time
			for range rnd.IntN(4) {
				see()
				e := &sortkey.Event{Operation: "GetItem"}
				all[latest]++
				if rnd.IntN(3) == 0 {
					e.Error = "ValidationException"
					refused[latest]++
				}
				r.End(t.Context(), e)
			}

			if rnd.IntN(50) > 0 {
				continue
			}
			see()
			got, n := r.seconds()
			require.Len(t, got.All, timelineSeconds)
			sum := 0
			for i := range got.All {
				at := latest - timelineSeconds + i
				require.Equal(t, all[at], got.All[i], "second %d of seed %d", at, seed)
				require.Equal(t, refused[at], got.Refused[i], "second %d of seed %d", at, seed)
				sum += got.All[i]
			}
			require.Equal(t, sum == 0, got.quiet)
			require.LessOrEqual(t, n, latest)
		}
	}
}
