package memory_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/memory"
)

// engines has this engine and the reference engine.
var engines = []struct {
	name string
	open func() store.Store
}{
	{"memory", func() store.Store { return memory.Open() }},
	{"btree", func() store.Store { return btree.Open() }},
}

// load fills a store with n rows of 100 bytes, 1,000 per partition.
func load[S store.Store](b *testing.B, s S, n int) S {
	b.Helper()
	err := s.Update(b.Context(), func(w store.Writer) error {
		for i := range n {
			if err := w.Put(1, partition(i/1000), sortKey(i%1000), make([]byte, 100)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func partition(i int) []byte { return fmt.Appendf(nil, "customer#%07d", i) }
func sortKey(i int) []byte   { return binary.BigEndian.AppendUint32([]byte("order#"), uint32(i)) }

var sizes = []int{1_000, 1_000_000}

func BenchmarkGet(b *testing.B) {
	for _, e := range engines {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/rows=%d", e.name, n), func(b *testing.B) {
				s := load(b, e.open(), n)
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i = (i + 7919) % n
					p, k := partition(i/1000), sortKey(i%1000)
					err := s.View(b.Context(), func(r store.Reader) error {
						_, ok, err := r.Get(1, p, k)
						if !ok {
							b.Fatal("missing row")
						}
						return err
					})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkQuery10(b *testing.B) {
	for _, e := range engines {
		for _, n := range sizes {
			for _, reverse := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/rows=%d/reverse=%t", e.name, n, reverse), func(b *testing.B) {
					s := load(b, e.open(), n)
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						i = (i + 7919) % n
						p, rows := partition(i/1000), 0
						rng := store.Range{Lo: sortKey(100), Hi: sortKey(110)}
						err := s.View(b.Context(), func(r store.Reader) error {
							for _, err := range r.Query(1, p, rng, reverse) {
								if err != nil {
									return err
								}
								rows++
							}
							return nil
						})
						if err != nil || rows != 10 {
							b.Fatal(rows, err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkPut(b *testing.B) {
	for _, e := range engines {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/rows=%d", e.name, n), func(b *testing.B) {
				s, value, i := load(b, e.open(), n), make([]byte, 100), 0
				b.ReportAllocs()
				for b.Loop() {
					i = (i + 7919) % n
					p, k := partition(i/1000), sortKey(i%1000)
					err := s.Update(b.Context(), func(w store.Writer) error { return w.Put(1, p, k, value) })
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkWalk scans a million rows and sums their bytes.
func BenchmarkWalk(b *testing.B) {
	const n = 1_000_000
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			s := load(b, e.open(), n)
			b.ReportAllocs()
			for b.Loop() {
				sum := 0
				err := s.View(b.Context(), func(r store.Reader) error {
					for row, err := range r.Scan(1, store.Everything()) {
						if err != nil {
							return err
						}
						sum += len(row.Value) + len(row.Sort) + len(row.Partition)
					}
					return nil
				})
				if err != nil || sum == 0 {
					b.Fatal(sum, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

// BenchmarkSmall measures partitions with one row each, as in tables without a
// sort key: the time and memory of putting a new one.
func BenchmarkSmall(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			s, i := e.open(), 0
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				i++
				p := partition(i)
				err := s.Update(b.Context(), func(w store.Writer) error { return w.Put(1, p, nil, p) })
				if err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(i), "bytes-kept/row")
			runtime.KeepAlive(s)
		})
	}
}
