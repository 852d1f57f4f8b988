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
	*metrics.Metrics
	ln   net.Listener
	stop func()
}

// serveFigures begins to serve the figures of db on addr.
func serveFigures(ctx context.Context, addr string, db *sortkey.DB, st store.Store, log logs) (*figures, error) {
	ln, err := listen(ctx, "--metrics", addr)
	if err != nil {
		return nil, err
	}
	opts := metrics.Options{DB: db}
	if st, ok := st.(*disk.Store); ok {
		opts.Store = func() metrics.StoreStats { return metrics.StoreStats(st.Stats()) }
	}
	f := &figures{Metrics: metrics.New(opts), ln: ln}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", f.Handler())
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
