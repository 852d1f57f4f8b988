package disk_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

func partition(i int) []byte { return fmt.Appendf(nil, "customer#%07d", i) }
func sortKey(i int) []byte   { return binary.BigEndian.AppendUint32([]byte("order#"), uint32(i)) }

// fill puts rows of 100 bytes into a number of partitions, the same number of rows into each.
func fill(t testing.TB, s store.Store, partitions, rows int) {
	t.Helper()
	for p := range partitions {
		require.NoError(t, s.Update(context.Background(), func(w store.Writer) error {
			for i := range rows {
				if err := w.Put(1, partition(p), sortKey(i), make([]byte, 100)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// bare opens Pebble without the store, with the same configuration.
func bare(b *testing.B, dir string) *pebble.DB {
	b.Helper()
	o := &pebble.Options{
		CacheSize:          64 << 20,
		MemTableSize:       16 << 20,
		FormatMajorVersion: pebble.FormatValueSeparation,
		Logger:             quiet{slog.New(slog.NewTextHandler(io.Discard, nil))},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, o)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	return db
}

type quiet struct{ *slog.Logger }

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}

const (
	benchPartitions = 20
	benchRows       = 10_000 // rows of a partition, more than a page of 1 MB
)

// both runs a benchmark on the store, and on Pebble alone with the same files.
func both(b *testing.B, onStore func(*testing.B, *disk.Store), onBare func(*testing.B, *pebble.DB)) {
	dir := b.TempDir()
	s := open(b, dir, disk.Options{})
	fill(b, s, benchPartitions, benchRows)
	require.NoError(b, s.Close())
	b.Run("store", func(b *testing.B) {
		s := open(b, dir, disk.Options{})
		defer s.Close()
		onStore(b, s)
	})
	b.Run("bare", func(b *testing.B) { onBare(b, bare(b, dir)) })
}

func BenchmarkGet(b *testing.B) {
	at := func(i int) (p, k []byte) {
		return partition(i * 7919 % benchPartitions), sortKey(i * 104729 % benchRows)
	}
	both(b, func(b *testing.B, s *disk.Store) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p, k := at(i)
			err := s.View(context.Background(), func(r store.Reader) error {
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
	}, func(b *testing.B, db *pebble.DB) {
		b.ReportAllocs()
		var key []byte
		for i := 0; b.Loop(); i++ {
			p, k := at(i)
			key = address.Append(key[:0], 1, p, k)
			_, c, err := db.Get(key)
			if err != nil {
				b.Fatal(err)
			}
			_ = c.Close()
		}
	})
}

// BenchmarkPut runs 32 writers that put one row at a time, durably.
func BenchmarkPut(b *testing.B) {
	const writers = 32
	share := func(b *testing.B, put func(i int) error) {
		b.ReportAllocs()
		var next atomic.Int64
		var wg sync.WaitGroup
		b.ResetTimer()
		for range writers {
			wg.Go(func() {
				for i := int(next.Add(1)); i <= b.N; i = int(next.Add(1)) {
					if err := put(i); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	value := make([]byte, 100)
	b.Run("store", func(b *testing.B) {
		s := open(b, b.TempDir(), disk.Options{})
		defer s.Close()
		share(b, func(i int) error {
			p, k := partition(i%100), sortKey(i)
			return s.Update(context.Background(), func(w store.Writer) error { return w.Put(1, p, k, value) })
		})
	})
	b.Run("bare", func(b *testing.B) {
		db := bare(b, b.TempDir())
		share(b, func(i int) error {
			batch := db.NewBatch()
			defer batch.Close()
			if err := batch.Set(address.Append(nil, 1, partition(i%100), sortKey(i)), value, nil); err != nil {
				return err
			}
			return batch.Commit(pebble.Sync)
		})
	})
}

// BenchmarkReplace reads a row and puts it again, as a put of a table does, without a sync.
func BenchmarkReplace(b *testing.B) {
	value := make([]byte, 100)
	at := func(i int) (p, k []byte) {
		return partition(i * 7919 % benchPartitions), sortKey(i * 104729 % benchRows)
	}
	dir := b.TempDir()
	s := open(b, dir, disk.Options{})
	fill(b, s, benchPartitions, benchRows)
	require.NoError(b, s.Close())
	b.Run("store", func(b *testing.B) {
		s := open(b, dir, disk.Options{SyncEvery: time.Second})
		defer s.Close()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p, k := at(i)
			err := s.Update(context.Background(), func(w store.Writer) error {
				if _, _, err := w.Get(1, p, k); err != nil {
					return err
				}
				return w.Put(1, p, k, value)
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		db := bare(b, dir)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p, k := at(i)
			key := address.Append(nil, 1, p, k)
			_, closer, err := db.Get(key)
			if err != nil {
				b.Fatal(err)
			}
			_ = closer.Close()
			batch := db.NewBatch()
			if err := batch.Set(key, value, nil); err != nil {
				b.Fatal(err)
			}
			if err := batch.Commit(pebble.NoSync); err != nil {
				b.Fatal(err)
			}
			_ = batch.Close()
		}
	})
}
