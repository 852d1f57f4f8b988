package memory_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// load fills a store with n rows of 100 bytes, 1,000 a partition.
func load(b *testing.B, n int) *memory.Store {
	b.Helper()
	s := memory.Open()
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
	for _, n := range sizes {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			s := load(b, n)
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

func BenchmarkQuery10(b *testing.B) {
	for _, n := range sizes {
		for _, reverse := range []bool{false, true} {
			b.Run(fmt.Sprintf("rows=%d/reverse=%t", n, reverse), func(b *testing.B) {
				s := load(b, n)
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

func BenchmarkPut(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			s, value, i := load(b, n), make([]byte, 100), 0
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

func BenchmarkFork(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			s := load(b, n)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = s.Fork()
			}
		})
	}
}

// BenchmarkWalk compares a Scan of every row with the walk of a bare B-tree of
// the same addresses; both add up the bytes of the rows.
func BenchmarkWalk(b *testing.B) {
	const n = 1_000_000
	type pair struct{ key, value []byte }
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
	}
	b.Run("store", func(b *testing.B) {
		s := load(b, n)
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
		report(b)
	})
	b.Run("bare", func(b *testing.B) {
		t := btree.NewG(32, func(x, y pair) bool { return bytes.Compare(x.key, y.key) < 0 })
		for i := range n {
			key := store.AppendAddress(nil, 1, partition(i/1000), sortKey(i%1000))
			t.ReplaceOrInsert(pair{key, make([]byte, 100)})
		}
		b.ReportAllocs()
		for b.Loop() {
			sum := 0
			t.Ascend(func(p pair) bool {
				sum += len(p.key) + len(p.value)
				return true
			})
			if sum == 0 {
				b.Fatal("no rows")
			}
		}
		report(b)
	})
}
