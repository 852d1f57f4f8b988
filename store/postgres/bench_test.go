package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/processor"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

const (
	benchPartitions = 50
	benchRows       = 1200 // rows of 1 KB in a partition, more than a page of 1 MB
	benchSpace      = store.Space(1)
)

func benchPartition(i int) []byte { return fmt.Appendf(nil, "customer#%07d", i%benchPartitions) }
func benchSort(i int) []byte {
	return binary.BigEndian.AppendUint32([]byte("order#"), uint32(i%benchRows))
}

var benchValue = bytes.Repeat([]byte("0123456789abcdef"), 64)

// BenchmarkBeside runs each operation in three ways, in the same run and on the same rows: on the store; on pgx, as a
// program without Sortkey would use it; and on the store with a row that it expects, as servers that share tables use
// it. The database syncs each commit. Loads are 1, 16 and 32 goroutines. Besides the time of an operation it reports
// the processor time of the database's processes and of this process, which includes the goroutines that call.
//
//	go test ./store/postgres -run '^$' -bench Beside
func BenchmarkBeside(b *testing.B) {
	cluster := pgtest.New(b, "fsync=on", "shared_buffers=256MB")
	url := cluster.Database(b)
	require.NoError(b, postgres.Init(b.Context(), url))
	s := open(b, url, postgres.Options{})
	for p := range benchPartitions {
		require.NoError(b, s.Update(b.Context(), func(w store.Writer) error {
			for i := range benchRows {
				if err := w.Put(benchSpace, benchPartition(p), benchSort(i), benchValue); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	config, err := pgxpool.ParseConfig(url)
	require.NoError(b, err)
	config.MaxConns = 32
	bare, err := pgxpool.NewWithConfig(b.Context(), config)
	require.NoError(b, err)
	defer bare.Close()
	version := []byte("1")
	require.NoError(b, s.Update(b.Context(), func(w store.Writer) error { return w.Put(0, nil, nil, version) }))
	expecting := s.Expecting(0, nil, nil, version)
	exec(b, url, "vacuum analyze sortkey_rows")

	const get = `select value from sortkey_rows where address = $1`
	const page = `select address, value from sortkey_rows where address >= $1 and address < $2 order by address limit $3`
	const upsert = `insert into sortkey_rows (address, value) values ($1, $2) on conflict (address) do update set value = excluded.value`
	serializable := pgx.TxOptions{IsoLevel: pgx.Serializable}
	addressOf := func(i int) []byte { return address.Append(nil, benchSpace, benchPartition(i), benchSort(i*7)) }
	read := func(ctx context.Context, i, limit int) error {
		lo, hi := address.AppendRange(nil, nil, benchSpace, benchPartition(i), store.Range{})
		rows, err := bare.Query(ctx, page, lo, hi, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		n := 0
		var addr, value []byte
		for rows.Next() {
			if err := rows.Scan(&addr, &value); err != nil {
				return err
			}
			n++
		}
		return expect(n, limit, rows.Err())
	}
	query := func(ctx context.Context, s store.Store, i, limit int) error {
		return s.View(ctx, func(r store.Reader) error {
			n := 0
			for _, err := range r.Query(benchSpace, benchPartition(i), store.Range{}, false) {
				if err != nil {
					return err
				}
				if n++; n == limit {
					break
				}
			}
			return expect(n, limit, nil)
		})
	}
	put := func(ctx context.Context, s store.Store, i, indexes int) error {
		return s.Update(ctx, func(w store.Writer) error {
			if _, _, err := w.Get(benchSpace, benchPartition(i), benchSort(i*7)); err != nil { // the condition
				return err
			}
			for x := range indexes {
				if err := w.Put(benchSpace+1+store.Space(x), benchSort(i*7), benchPartition(i), benchValue); err != nil {
					return err
				}
			}
			return w.Put(benchSpace, benchPartition(i), benchSort(i*7), benchValue)
		})
	}
	// transact puts four items, each with a condition
	transact := func(ctx context.Context, s store.Store, i int) error {
		return s.Update(ctx, func(w store.Writer) error {
			for k := i * 4; k < i*4+4; k++ {
				if _, _, err := w.Get(benchSpace, benchPartition(k), benchSort(k*7)); err != nil {
					return err
				}
				if err := w.Put(benchSpace, benchPartition(k), benchSort(k*7), benchValue); err != nil {
					return err
				}
			}
			return nil
		})
	}
	putBare := func(ctx context.Context, i, indexes int) error {
		return pgx.BeginTxFunc(ctx, bare, serializable, func(tx pgx.Tx) error {
			for x := range indexes {
				if _, err := tx.Exec(ctx, upsert, address.Append(nil, benchSpace+3+store.Space(x), benchSort(i*7), benchPartition(i)), benchValue); err != nil {
					return err
				}
			}
			_, err := tx.Exec(ctx, upsert, addressOf(i), benchValue)
			return err
		})
	}
	for _, op := range []struct {
		name  string
		store func(ctx context.Context, s store.Store, i int) error
		bare  func(ctx context.Context, i int) error
	}{
		{
			"GetItem",
			func(ctx context.Context, s store.Store, i int) error {
				_, ok, err := s.(capability.Getter).Get(ctx, benchSpace, benchPartition(i), benchSort(i*7))
				return expect(ok, true, err)
			},
			func(ctx context.Context, i int) error {
				var value []byte
				return bare.QueryRow(ctx, get, addressOf(i)).Scan(&value)
			},
		},
		{"Query10", func(ctx context.Context, s store.Store, i int) error { return query(ctx, s, i, 10) }, func(ctx context.Context, i int) error { return read(ctx, i, 10) }},
		{"Page1MB", func(ctx context.Context, s store.Store, i int) error { return query(ctx, s, i, 1000) }, func(ctx context.Context, i int) error { return read(ctx, i, 1000) }},
		{"Put", func(ctx context.Context, s store.Store, i int) error { return put(ctx, s, i, 0) }, func(ctx context.Context, i int) error { return putBare(ctx, i, 0) }},
		{"PutIndex", func(ctx context.Context, s store.Store, i int) error { return put(ctx, s, i, 1) }, func(ctx context.Context, i int) error { return putBare(ctx, i, 1) }},
		{"Transact4", transact, func(ctx context.Context, i int) error { return putBare(ctx, i, 3) }},
	} {
		for _, load := range []int{1, 16, 32} {
			for _, on := range []struct {
				name string
				do   func(ctx context.Context, i int) error
			}{
				{"bare", op.bare},
				{"store", func(ctx context.Context, i int) error { return op.store(ctx, s, i) }},
				{"expecting", func(ctx context.Context, i int) error { return op.store(ctx, expecting, i) }},
			} {
				b.Run(fmt.Sprintf("%s/load=%d/on=%s", op.name, load, on.name), func(b *testing.B) {
					var next atomic.Int64
					errs := make(chan error, load)
					database, own := cluster.Processor(b), processor.Time(os.Getpid())
					for range load {
						go func() {
							for {
								i := next.Add(1)
								if i > int64(b.N) {
									errs <- nil
									return
								}
								if err := on.do(b.Context(), int(i)); err != nil && !isConflict(err) {
									errs <- err
									return
								}
							}
						}()
					}
					for range load {
						require.NoError(b, <-errs)
					}
					each := func(d time.Duration) float64 { return float64(d) / float64(b.N) }
					if own > 0 { // the system reports it
						b.ReportMetric(each(cluster.Processor(b)-database), "ns-database/op")
						b.ReportMetric(each(processor.Time(os.Getpid())-own), "ns-own/op")
					}
				})
			}
		}
	}
	b.Logf("%+v", s.Stats())
}

func expect[T comparable](got, want T, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("got %v, want %v", got, want)
	}
	return err
}

// isConflict reports whether err is an error that a program with its own transactions must handle. The store handles
// it itself.
func isConflict(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "40001"
}
