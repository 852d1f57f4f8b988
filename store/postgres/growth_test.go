package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// BenchmarkGrowth measures a query of 10 rows in a table of 1,000,000 rows and the same query in a table of 1,000, by
// turns, so that a machine that is slow for a while is slow for both. The metrics are medians and their ratio, on the
// store and on pgx alone. SORTKEY_BENCH_ROWS sets the size of the larger table:
//
//	go test ./store/postgres -run '^$' -bench Growth
//	SORTKEY_BENCH_ROWS=10000000 go test ./store/postgres -run '^$' -bench Growth
func BenchmarkGrowth(b *testing.B) {
	most := 1_000_000
	if s := os.Getenv("SORTKEY_BENCH_ROWS"); s != "" {
		var err error
		most, err = strconv.Atoi(s)
		require.NoError(b, err)
	}
	cluster := pgtest.New(b, "fsync=off", "shared_buffers=256MB", "max_wal_size=4GB")
	small, large := newGrown(b, cluster, 1000), newGrown(b, cluster, most)
	i := 0 // never reset, so that no page is in a cache because the other side has read it
	for _, on := range []struct {
		name  string
		query func(g *grown, ctx context.Context, i int) (int, error)
	}{
		{"bare", (*grown).bareQuery}, {"store", (*grown).query},
	} {
		b.Run("on="+on.name, func(b *testing.B) {
			timed := func(g *grown, i int) time.Duration {
				start := time.Now()
				n, err := on.query(g, b.Context(), i)
				require.NoError(b, expect(n, 10, err))
				return time.Since(start)
			}
			var first, last []time.Duration
			for b.Loop() {
				i++
				first = append(first, timed(small, i))
				last = append(last, timed(large, i))
			}
			b.ReportMetric(0, "ns/op") // an operation is two queries
			b.ReportMetric(median(first), "ns/query-of-1000")
			b.ReportMetric(median(last), fmt.Sprintf("ns/query-of-%d", most))
			b.ReportMetric(median(last)/median(first), "ratio")
		})
	}
}

func median(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)/2].Nanoseconds())
}

const (
	grownRows  = 20 // rows of a partition
	grownSpace = store.Space(1)
)

// A grown is a database with a given number of rows of 100 bytes.
type grown struct {
	partitions int
	store      *postgres.Store
	pool       *pgxpool.Pool
}

func newGrown(b *testing.B, cluster *pgtest.Cluster, rows int) *grown {
	url := cluster.Database(b)
	require.NoError(b, postgres.Init(b.Context(), url))
	g := &grown{partitions: rows / grownRows}
	c, err := pgx.Connect(b.Context(), url)
	require.NoError(b, err)
	value := bytes.Repeat([]byte("0123456789"), 10)
	n, err := c.CopyFrom(b.Context(), pgx.Identifier{"sortkey_rows"}, []string{"address", "value"},
		pgx.CopyFromSlice(g.partitions*grownRows, func(i int) ([]any, error) {
			sort := binary.BigEndian.AppendUint32([]byte("order#"), uint32(i%grownRows))
			return []any{address.Append(nil, grownSpace, g.partition(i/grownRows), sort), value}, nil
		}))
	require.NoError(b, expect(n, int64(g.partitions*grownRows), err))
	require.NoError(b, c.Close(b.Context()))
	exec(b, url, "vacuum analyze sortkey_rows")
	g.store = open(b, url, postgres.Options{})
	g.pool, err = pgxpool.New(b.Context(), url)
	require.NoError(b, err)
	b.Cleanup(g.pool.Close)
	return g
}

func expect[T comparable](got, want T, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("got %v, want %v", got, want)
	}
	return err
}

// partition returns partition i. Partitions with consecutive numbers are far apart in the table.
func (g *grown) partition(i int) []byte { return fmt.Appendf(nil, "customer#%07d", i%g.partitions) }

func (g *grown) query(ctx context.Context, i int) (n int, err error) {
	err = g.store.View(ctx, func(r store.Reader) error {
		for _, err := range r.Query(grownSpace, g.partition(i), store.Range{}, false) {
			if err != nil {
				return err
			}
			if n++; n == 10 {
				break
			}
		}
		return nil
	})
	return n, err
}

func (g *grown) bareQuery(ctx context.Context, i int) (n int, err error) {
	lo, hi := address.AppendRange(nil, nil, grownSpace, g.partition(i), store.Range{})
	rows, err := g.pool.Query(ctx, `select address, value from sortkey_rows where address >= $1 and address < $2 order by address limit 10`, lo, hi)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var address, value []byte
	for rows.Next() {
		if err := rows.Scan(&address, &value); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}
