package cli

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
	"github.com/sortkey/sortkey/internal/server"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// scrapeTimeout bounds how long a scrape may go on after the end.
const scrapeTimeout = time.Second

// figures serves the metrics of a database at an address of their own, where
// they need no signature and disturb no client.
type figures struct {
	ln   net.Listener
	stop func()
}

// newMetrics returns the metrics of a database over a store.
func newMetrics(st store.Store) *metrics.Metrics {
	var opts metrics.Options
	if st, ok := st.(*disk.Store); ok {
		opts.Store = func() metrics.StoreStats { return metrics.StoreStats(st.Stats()) }
	}
	return metrics.New(opts)
}

// serveFigures begins to serve the figures of db on addr.
func serveFigures(ctx context.Context, addr string, db *sortkey.DB, m *metrics.Metrics, log logs) (*figures, error) {
	ln, err := listen(ctx, "--metrics", addr)
	if err != nil {
		return nil, err
	}
	f := &figures{ln: ln}
	m.Watch(db)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	// They go on while requests under way finish.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() {
		done <- server.Serve(ctx, ln, mux, server.Options{Logger: log.Logger, Open: true, ShutdownTimeout: scrapeTimeout})
	}()
	f.stop = func() {
		cancel()
		if err := <-done; err != nil {
			log.Warn("metrics", "err", err)
		}
	}
	return f, nil
}
