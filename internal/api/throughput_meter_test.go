package api_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/api/throughput"
)

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestMeter(t *testing.T) {
	table := throughput.Bucket{Resource: "t", Write: true}
	limit := throughput.Limit{Rate: 10, Burst: 3000}
	for _, tt := range []struct {
		name  string
		since time.Time
		take  []float64 // one a second
		want  float64   // a second after the last
	}{
		{"new", began, nil, 20},
		{"without a beginning", time.Time{}, nil, 3000},
		{"unused for long", began.Add(-time.Hour), nil, 3000},
		{"in debt", began, []float64{100}, -80},
		{"used as fast as it fills", began, []float64{10, 10, 10}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m throughput.Meter
			now := began
			for _, units := range tt.take {
				m.Take(table, limit, tt.since, now, units)
				now = now.Add(time.Second)
			}
			if len(tt.take) == 0 {
				now = now.Add(time.Second)
			}
			if got := m.Level(table, limit, tt.since, now); got != tt.want {
				t.Errorf("Level = %v, want %v", got, tt.want)
			}
			if got := m.Level(throughput.Bucket{Resource: "t"}, limit, time.Time{}, now); got != 3000 {
				t.Errorf("Level of another bucket = %v, want 3000", got)
			}
		})
	}
}

// TestMeterForgets uses many more buckets than a meter keeps. The meter may forget full buckets, but not a bucket
// that is negative.
func TestMeterForgets(t *testing.T) {
	var m throughput.Meter
	limit := throughput.Limit{Rate: 1000, Burst: 1000}
	hot := throughput.Bucket{Resource: "t", Partition: "hot"}
	m.Take(hot, limit, time.Time{}, began, 1_000_000)
	now := began
	for n := range 30_000 {
		now = now.Add(time.Millisecond)
		m.Take(throughput.Bucket{Resource: "t", Partition: strconv.Itoa(n)}, limit, time.Time{}, now, 1)
	}
	if got := m.Level(hot, limit, time.Time{}, now); got >= 0 {
		t.Errorf("Level = %v, want a debt", got)
	}
}
