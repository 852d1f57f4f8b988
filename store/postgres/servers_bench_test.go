package postgres_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/store/postgres"
)

// BenchmarkServers measures one, two and four servers on one database across a network. 8 and 64 clients are spread
// over the servers. One in five of their calls is a put, either all over the table or on one item. Each server has
// only four connections. So the limit is what a server can have under way, and not the database or the processor,
// which all servers share here.
//
//	go test ./store/postgres -run '^$' -bench Servers
func BenchmarkServers(b *testing.B) {
	const items, network = 1000, time.Millisecond
	near := pgtest.New(b).Database(b)
	require.NoError(b, postgres.Init(b.Context(), near))
	first := serve(b, near)
	const name = "T"
	_, err := first.Create(b.Context(), definition(name))
	require.NoError(b, err)
	for i := range items {
		require.NoError(b, first.put(b.Context(), name, itemOf("p", i, "")))
	}
	at := distant(b, near, network)
	for _, n := range []int{1, 2, 4} {
		servers := make([]*node, n)
		for i := range servers {
			servers[i] = serveWith(b, at, postgres.Options{MaxConns: 4, Timeout: time.Minute})
		}
		for _, clients := range []int{8, 64} {
			for _, keys := range []struct {
				name  string
				items int
			}{{"spread", items}, {"hot", 1}} {
				b.Run(fmt.Sprintf("servers=%d/clients=%d/keys=%s", n, clients, keys.name), func(b *testing.B) {
					var next atomic.Int64
					var running sync.WaitGroup
					errs, took := make(chan error, clients), make([]time.Duration, b.N+1)
					b.ResetTimer()
					for c := range clients {
						running.Go(func() {
							for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
								s, item, begin := servers[c%n], int(i*7919)%keys.items, time.Now()
								var err error
								if i%5 == 0 {
									err = s.put(b.Context(), name, itemOf("p", item, ""))
								} else {
									_, err = s.get(b.Context(), name, keyed("p", item))
								}
								if err != nil {
									errs <- err
									return
								}
								took[i] = time.Since(begin)
							}
						})
					}
					running.Wait()
					b.StopTimer()
					close(errs)
					require.NoError(b, <-errs)
					took = took[1:]
					slices.Sort(took)
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
					b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
				})
			}
		}
	}
}

// distant returns the URL of a proxy that delays what it passes on, in both directions, by half the time of a round
// trip.
func distant(t testing.TB, at string, roundTrip time.Duration) string {
	t.Helper()
	u, err := url.Parse(at)
	require.NoError(t, err)
	q := u.Query()
	server := filepath.Join(q.Get("host"), ".s.PGSQL.5432")
	dir, err := os.MkdirTemp("", "distant") // the path of a socket must be short
	require.NoError(t, err)
	ln, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			running.Go(func() { forward(far, near, roundTrip/2) })
			running.Go(func() { forward(near, far, roundTrip/2) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		running.Wait()
		_ = os.RemoveAll(dir)
	})
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return u.String()
}

func forward(to, from net.Conn, delay time.Duration) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			time.Sleep(delay)
			if _, err := to.Write(buf[:n]); err != nil {
				_, _ = io.Copy(io.Discard, from)
				return
			}
		}
		if err != nil {
			return
		}
	}
}
