package sortkey_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
)

// A Reading is an item of the benchmarks: five attributes, about 200 bytes.
type Reading struct {
	Sensor string `dynamodbav:"sensor"`
	At     int    `dynamodbav:"at"`
	Place  string `dynamodbav:"place"`
	Value  int    `dynamodbav:"value"`
	Note   string `dynamodbav:"note"`
}

func reading(i int) Reading {
	return Reading{
		Sensor: fmt.Sprintf("sensor-%03d", i%100), At: i / 100, Place: fmt.Sprintf("hall-%d", i%7), Value: i,
		Note: fmt.Sprintf("%0150d", i),
	}
}

const benchItems = 100_000

func readings(tb testing.TB, items int) (*sortkey.DB, *sortkey.TableOf[Reading]) {
	tb.Helper()
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() { db.Close() })
	ctx := context.Background()
	require.NoError(tb, db.CreateTable(ctx, "Readings", "sensor / at:N", sortkey.Global("ByPlace", "place / value:N")))
	t := sortkey.Table[Reading](db, "Readings")
	for i := range items {
		require.NoError(tb, t.Put(ctx, reading(i)))
	}
	return db, t
}

// BenchmarkEmbedded measures the store in Go; TableGet is what lies below Get: the engine with
// its tables, without operations and structs.
func BenchmarkEmbedded(b *testing.B) {
	ctx := context.Background()
	db, t := readings(b, benchItems)
	count := func(b *testing.B, want int, args ...any) {
		n := 0
		for _, err := range t.Query(ctx, args...) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != want {
			b.Fatalf("%d rows, want %d", n, want)
		}
	}

	var sensors []string
	for i := range 100 {
		sensors = append(sensors, fmt.Sprintf("sensor-%03d", i))
	}

	b.Run("Get", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i = (i + 7919) % benchItems
			if _, err := t.Get(ctx, fmt.Sprintf("sensor-%03d", i%100), i/100); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Query10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			count(b, 10, "sensor-007", sortkey.Between(100, 109))
		}
	})
	b.Run("Page10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page, err := t.QueryPage(ctx, "sensor-007", sortkey.Between(100, 109))
			if err != nil || len(page.Items) != 10 {
				b.Fatal(len(page.Items), err)
			}
		}
	})
	b.Run("Query1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			count(b, 1000, "sensor-007")
		}
	})
	b.Run("Index10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for _, err := range t.Index("ByPlace").Query(ctx, "hall-3", sortkey.Limit(10)) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
		}
	})
	b.Run("Put", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i = (i + 7919) % benchItems
			if err := t.Put(ctx, reading(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Counter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := t.Update(ctx, sortkey.Key{"sensor-007", 5}, "SET value = value + :n", 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Update", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			err := db.Update(ctx, func(ctx context.Context) error {
				r, err := t.Get(ctx, "sensor-007", 5)
				if err != nil {
					return err
				}
				r.Value++
				return t.Put(ctx, r)
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, goroutines := range []int{1, 8} {
		b.Run(fmt.Sprintf("GetBy%d", goroutines), func(b *testing.B) {
			var next atomic.Int64
			var wg sync.WaitGroup
			each := b.N/goroutines + 1
			for range goroutines {
				start := int(next.Add(7919 * 13))
				wg.Go(func() {
					for i := range each {
						k := (start + i*7919) % benchItems
						if _, err := t.Get(ctx, sensors[k%100], k/100); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
	b.Run("TableGet", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i = (i + 7919) % benchItems
			var key attr.Builder
			at, _ := attr.Marshal(i / 100)
			key.Add("sensor", attr.NewString(fmt.Sprintf("sensor-%03d", i%100)))
			key.Add("at", at)
			if err := sortkey.GetBelow(ctx, db, "Readings", key.Item(), func(attr.Item) {}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkForks puts into a database of 10,000 items of which many forks are kept, each with a put of its own.
func BenchmarkForks(b *testing.B) {
	for _, forks := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(forks), func(b *testing.B) {
			ctx := context.Background()
			db, t := readings(b, 10_000)
			before := held()
			for i := range forks {
				fork, err := db.Fork()
				require.NoError(b, err)
				defer fork.Close()
				require.NoError(b, sortkey.Table[Reading](fork, "Readings").Put(ctx, reading(i)))
				require.NoError(b, t.Put(ctx, reading(i)))
			}
			kept := held() - before

			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 7919) % 10_000
				if err := t.Put(ctx, reading(i)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(kept)/float64(forks), "B/fork")
		})
	}
}

// held returns the bytes of the heap that are in use.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkConsumers puts into a table whose stream many loops follow, until all have seen the last put.
func BenchmarkConsumers(b *testing.B) {
	for _, consumers := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(consumers), func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background())
			db, err := sortkey.Open(sortkey.Options{})
			require.NoError(b, err)
			defer db.Close()
			require.NoError(b, db.CreateTable(ctx, "Readings", "sensor / at:N", sortkey.Stream()))
			t := sortkey.Table[Reading](db, "Readings")

			// A loop that has seen everything looks again 50 ms later, so puts come in large groups.
			const group = 10_000
			var wg sync.WaitGroup
			var seen sync.WaitGroup
			for range consumers {
				wg.Go(func() {
					n := 0
					for _, err := range t.Changes(ctx, "") {
						if err != nil {
							return // the benchmark has ended
						}
						if n++; n%group == 0 {
							seen.Done()
						}
					}
				})
			}

			i := 0
			for b.Loop() {
				seen.Add(consumers)
				for range group {
					if err := t.Put(ctx, reading(i)); err != nil {
						b.Fatal(err)
					}
					i++
				}
				seen.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/group, "ns/put")
			cancel()
			wg.Wait()
		})
	}
}
