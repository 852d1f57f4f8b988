package sortkey_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
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

// BenchmarkEmbedded measures the operations of the Go API.
func BenchmarkEmbedded(b *testing.B) {
	ctx := context.Background()
	_, t := readings(b, benchItems)
	count := func(b *testing.B, want int, partition any, opts ...sortkey.QueryOption) {
		n := 0
		for _, err := range t.Query(ctx, partition, opts...) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != want {
			b.Fatalf("%d rows, want %d", n, want)
		}
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
}

// BenchmarkForks puts into a database of 10,000 items while many forks of it are open, each with a put of its own.
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

// held returns the bytes of the heap in use, after a garbage collection.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkConsumers measures puts into a table while many loops follow its stream, until all loops have seen the
// last put.
func BenchmarkConsumers(b *testing.B) {
	for _, consumers := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(consumers), func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background())
			db, err := sortkey.Open(sortkey.Options{})
			require.NoError(b, err)
			defer db.Close()
			require.NoError(b, db.CreateTable(ctx, "Readings", "sensor / at:N", sortkey.Stream()))
			t := sortkey.Table[Reading](db, "Readings")

			// A loop that has seen everything polls again after 50 ms, so measure puts in large groups.
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
