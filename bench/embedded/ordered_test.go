package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"unsafe"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/dgraph-io/badger/v4"
	google "github.com/google/btree"
	"github.com/stretchr/testify/require"
	tidwall "github.com/tidwall/btree"
	"go.etcd.io/bbolt"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	sortkey "github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// An ordered is a map or store that keeps rows in the order of their addresses, which [address.Append] makes.
type ordered interface {
	load(rows []orderedRow) error
	get(r *orderedRow) (value []byte, err error) // nil if it is not there
	// scan reads up to n rows of a partition, starting at r, and returns their number.
	scan(r *orderedRow, n int) (int, error)
	put(r *orderedRow, value []byte) error
	close() error
}

// An orderedRow is one of the 1,000 rows of its partition.
type orderedRow struct{ partition, sort, value []byte }

// address makes the address each time, as every read must.
func (r *orderedRow) address(dst []byte) []byte {
	return address.Append(dst, 1, r.partition, r.sort)
}

func orderedRows(n int) []orderedRow {
	rows := make([]orderedRow, n)
	for i := range rows {
		rows[i] = orderedRow{
			partition: fmt.Appendf(nil, "customer#%07d", i/1000),
			sort:      binary.BigEndian.AppendUint32([]byte("order#"), uint32(i%1000)),
			value:     bytes.Repeat([]byte{byte(i)}, 71),
		}
	}
	return rows
}

var orderedStores = []struct {
	name string
	open func(dir string) (ordered, error)
}{
	{"sortkey", func(string) (ordered, error) { return &oursOrdered{memory.Open()}, nil }},
	{"google", func(string) (ordered, error) {
		less := func(a, b pair) bool { return bytes.Compare(a.key, b.key) < 0 }
		return googleOrdered{google.NewG(32, less)}, nil
	}},
	{"tidwall", func(string) (ordered, error) { return &tidwallOrdered{}, nil }},
	{"pebble", openPebble},
	{"badger", openBadger},
	{"bbolt", openBbolt},
}

// TestOrdered compares what all stores answer.
func TestOrdered(t *testing.T) {
	rows := orderedRows(5000)
	for _, s := range orderedStores {
		t.Run(s.name, func(t *testing.T) {
			o, err := s.open(t.TempDir())
			require.NoError(t, err)
			defer func() { require.NoError(t, o.close()) }()
			require.NoError(t, o.load(rows))
			for _, i := range []int{0, 17, 999, 1000, 4999} {
				value, err := o.get(&rows[i])
				require.NoError(t, err)
				require.Equal(t, rows[i].value, value)
				n, err := o.scan(&rows[i], 10)
				require.NoError(t, err)
				require.Equal(t, min(10, 1000-i%1000), n, "from row %d", i)
			}
			require.NoError(t, o.put(&rows[17], []byte("new")))
			value, err := o.get(&rows[17])
			require.NoError(t, err)
			require.Equal(t, "new", string(value))
			absent := orderedRow{partition: []byte("nobody"), sort: []byte("x")}
			value, err = o.get(&absent)
			require.NoError(t, err)
			require.Nil(t, value)
		})
	}
}

// BenchmarkOrdered measures ordered maps and stores with a million rows of about 100 bytes, with the same addresses.
// It reads rows anywhere (cold), and the same thousand rows again and again (cached). Load reports how many bytes of
// the heap a row keeps, and the share of processor time that the garbage collector takes. Pebble, Badger and bbolt
// keep most of their rows outside of the Go heap: in memory of their own, or in a file.
func BenchmarkOrdered(b *testing.B) {
	const n = 1_000_000
	rows := orderedRows(n)
	for _, s := range orderedStores {
		b.Run(s.name, func(b *testing.B) {
			o, err := s.open(b.TempDir())
			require.NoError(b, err)
			defer func() { require.NoError(b, o.close()) }()

			heap, before := heapBytes(), processorTimes()
			require.NoError(b, o.load(rows))
			after := processorTimes()
			kept := float64(heapBytes()) - float64(heap)
			b.Run("load", func(b *testing.B) {
				for b.Loop() { // it has been done
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric((after.all-before.all)/n*1e9, "cpu-ns/row")
				b.ReportMetric(100*(after.collector-before.collector)/(after.all-before.all), "gc-%")
				b.ReportMetric(kept/n, "heap-B/row")
			})

			for _, of := range []struct {
				name string
				n    int
			}{{"cold", n}, {"cached", 1000}} {
				rng := rand.New(rand.NewPCG(1, 2))
				at := make([]int, 1<<16)
				for i := range at {
					at[i] = rng.IntN(of.n)
				}
				b.Run("get-"+of.name, func(b *testing.B) {
					for i := 0; b.Loop(); i++ {
						if value, err := o.get(&rows[at[i%len(at)]]); value == nil || err != nil {
							b.Fatal("no row", err)
						}
					}
				})
				b.Run("scan10-"+of.name, func(b *testing.B) {
					for i := 0; b.Loop(); i++ {
						if _, err := o.scan(&rows[at[i%len(at)]], 10); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			b.Run("put", func(b *testing.B) {
				rng := rand.New(rand.NewPCG(3, 4))
				for b.Loop() {
					r := &rows[rng.IntN(n)]
					if err := o.put(r, r.value); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
		runtime.GC()
	}
}

// heapBytes returns the bytes of the heap that are in use, after a collection.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// processor has the seconds of processor time of this process, and how many of these the garbage collector took.
type processor struct{ all, collector float64 }

func processorTimes() processor {
	runtime.GC() // the runtime updates its counts in a collection
	s := []metrics.Sample{
		{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
	}
	metrics.Read(s)
	return processor{s[0].Value.Float64() - s[1].Value.Float64(), s[2].Value.Float64()}
}

type oursOrdered struct{ sortkey.Forker }

func (o *oursOrdered) close() error { return o.Close() }

func (o *oursOrdered) load(rows []orderedRow) error {
	return o.Update(context.Background(), func(w sortkey.Writer) error {
		for i := range rows {
			if err := w.Put(1, rows[i].partition, rows[i].sort, rows[i].value); err != nil {
				return err
			}
		}
		return nil
	})
}

func (o *oursOrdered) get(r *orderedRow) ([]byte, error) {
	value, _, err := o.Forker.(capability.Getter).Get(context.Background(), 1, r.partition, r.sort)
	return value, err
}

func (o *oursOrdered) scan(r *orderedRow, n int) (k int, err error) {
	err = o.View(context.Background(), func(v sortkey.Reader) error {
		for _, err := range v.Query(1, r.partition, sortkey.Range{Lo: r.sort}, false) {
			if err != nil {
				return err
			}
			if k++; k == n {
				break
			}
		}
		return nil
	})
	return k, err
}

func (o *oursOrdered) put(r *orderedRow, value []byte) error {
	return o.Update(context.Background(), func(w sortkey.Writer) error {
		return w.Put(1, r.partition, r.sort, value)
	})
}

// A pair is a row in a map that compares addresses.
type pair struct{ key, value []byte }

type googleOrdered struct{ *google.BTreeG[pair] }

func (o googleOrdered) close() error { return nil }

func (o googleOrdered) load(rows []orderedRow) error {
	for i := range rows {
		o.ReplaceOrInsert(pair{rows[i].address(nil), rows[i].value})
	}
	return nil
}

func (o googleOrdered) get(r *orderedRow) ([]byte, error) {
	var scratch [64]byte
	p, _ := o.Get(pair{key: r.address(scratch[:0])})
	return p.value, nil
}

func (o googleOrdered) scan(r *orderedRow, n int) (k int, err error) {
	var scratch [64]byte
	from := r.address(scratch[:0])
	partition := from[:len(from)-len(r.sort)]
	o.AscendGreaterOrEqual(pair{key: from}, func(p pair) bool {
		if !bytes.HasPrefix(p.key, partition) {
			return false
		}
		k++
		return k < n
	})
	return k, nil
}

func (o googleOrdered) put(r *orderedRow, value []byte) error {
	o.ReplaceOrInsert(pair{r.address(nil), value})
	return nil
}

type tidwallOrdered struct{ tidwall.Map[string, []byte] }

// textOf returns bytes as a string without copying. The bytes must not change.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (o *tidwallOrdered) close() error { return nil }

func (o *tidwallOrdered) load(rows []orderedRow) error {
	for i := range rows {
		o.Set(textOf(rows[i].address(nil)), rows[i].value)
	}
	return nil
}

func (o *tidwallOrdered) get(r *orderedRow) ([]byte, error) {
	var scratch [64]byte
	value, _ := o.Get(textOf(r.address(scratch[:0])))
	return value, nil
}

func (o *tidwallOrdered) scan(r *orderedRow, n int) (k int, err error) {
	var scratch [64]byte
	from := r.address(scratch[:0])
	partition := textOf(from[:len(from)-len(r.sort)])
	o.Ascend(textOf(from), func(key string, _ []byte) bool {
		if len(key) < len(partition) || key[:len(partition)] != partition {
			return false
		}
		k++
		return k < n
	})
	return k, nil
}

func (o *tidwallOrdered) put(r *orderedRow, value []byte) error {
	o.Set(textOf(r.address(nil)), value)
	return nil
}

type pebbleOrdered struct{ *pebble.DB }

func openPebble(string) (ordered, error) {
	db, err := pebble.Open("ordered", &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}})
	return pebbleOrdered{db}, err
}

// quiet drops Pebble's log.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

func (o pebbleOrdered) close() error { return o.Close() }

func (o pebbleOrdered) load(rows []orderedRow) error {
	for i := range rows {
		if err := o.put(&rows[i], rows[i].value); err != nil {
			return err
		}
	}
	return o.Flush()
}

func (o pebbleOrdered) get(r *orderedRow) ([]byte, error) {
	var scratch [64]byte
	value, closer, err := o.Get(r.address(scratch[:0]))
	switch {
	case err == pebble.ErrNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return bytes.Clone(value), closer.Close()
}

func (o pebbleOrdered) scan(r *orderedRow, n int) (k int, err error) {
	var scratch [64]byte
	from := r.address(scratch[:0])
	end := append(bytes.Clone(from[:len(from)-len(r.sort)-1]), 2) // past the partition's end mark
	it, err := o.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: end})
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok && k < n; ok = it.Next() {
		k++
	}
	return k, it.Close()
}

func (o pebbleOrdered) put(r *orderedRow, value []byte) error {
	var scratch [64]byte
	return o.Set(r.address(scratch[:0]), value, pebble.NoSync)
}

type badgerOrdered struct{ *badger.DB }

func openBadger(string) (ordered, error) {
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	return badgerOrdered{db}, err
}

func (o badgerOrdered) close() error { return o.Close() }

func (o badgerOrdered) load(rows []orderedRow) error {
	batch := o.NewWriteBatch()
	defer batch.Cancel()
	for i := range rows {
		if err := batch.Set(rows[i].address(nil), rows[i].value); err != nil {
			return err
		}
	}
	return batch.Flush()
}

func (o badgerOrdered) get(r *orderedRow) (value []byte, err error) {
	err = o.View(func(tx *badger.Txn) error {
		item, err := tx.Get(r.address(nil))
		if err == badger.ErrKeyNotFound {
			return nil
		}
		if err == nil {
			value, err = item.ValueCopy(nil)
		}
		return err
	})
	return value, err
}

func (o badgerOrdered) scan(r *orderedRow, n int) (k int, err error) {
	err = o.View(func(tx *badger.Txn) error {
		from := r.address(nil)
		it := tx.NewIterator(badger.IteratorOptions{Prefix: from[:len(from)-len(r.sort)]})
		defer it.Close()
		for it.Seek(from); it.Valid() && k < n; it.Next() {
			k++
		}
		return nil
	})
	return k, err
}

func (o badgerOrdered) put(r *orderedRow, value []byte) error {
	return o.Update(func(tx *badger.Txn) error { return tx.Set(r.address(nil), value) })
}

type bboltOrdered struct{ *bbolt.DB }

var orderedBucket = []byte("rows")

func openBbolt(dir string) (ordered, error) {
	options := *bbolt.DefaultOptions
	options.NoSync = true
	db, err := bbolt.Open(filepath.Join(dir, "ordered"), 0o600, &options)
	if err != nil {
		return nil, err
	}
	return bboltOrdered{db}, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(orderedBucket)
		return err
	})
}

func (o bboltOrdered) close() error { return o.Close() }

func (o bboltOrdered) load(rows []orderedRow) error {
	return o.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(orderedBucket)
		for i := range rows {
			if err := b.Put(rows[i].address(nil), rows[i].value); err != nil {
				return err
			}
		}
		return nil
	})
}

func (o bboltOrdered) get(r *orderedRow) (value []byte, err error) {
	err = o.View(func(tx *bbolt.Tx) error {
		var scratch [64]byte
		value = bytes.Clone(tx.Bucket(orderedBucket).Get(r.address(scratch[:0])))
		return nil
	})
	return value, err
}

func (o bboltOrdered) scan(r *orderedRow, n int) (k int, err error) {
	err = o.View(func(tx *bbolt.Tx) error {
		var scratch [64]byte
		from := r.address(scratch[:0])
		c := tx.Bucket(orderedBucket).Cursor()
		partition := from[:len(from)-len(r.sort)]
		for key, _ := c.Seek(from); k < n && bytes.HasPrefix(key, partition); key, _ = c.Next() {
			k++
		}
		return nil
	})
	return k, err
}

func (o bboltOrdered) put(r *orderedRow, value []byte) error {
	return o.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(orderedBucket).Put(r.address(nil), value)
	})
}
