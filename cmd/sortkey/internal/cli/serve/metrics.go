package serve

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
	protocol "github.com/sortkey/sortkey/internal/server"
)

// scrapeTimeout bounds the time of a scrape after the server has stopped.
const scrapeTimeout = time.Second

// A metricsServer serves the metrics of a database on an address of its own, where
// scrapers need no signature and do not disturb clients.
type metricsServer struct {
	ln   net.Listener
	stop func()
}

// serveMetrics starts to serve the metrics of db on addr, for hosts besides those
// of this machine.
func serveMetrics(
	ctx context.Context, addr string, db *sortkey.DB, m *metrics.Metrics, hosts []string, log logs,
) (*metricsServer, error) {
	ln, err := listen(ctx, "--metrics", addr)
	if err != nil {
		return nil, err
	}
	s := &metricsServer{ln: ln}
	m.Watch(db)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	// Scrapes continue while requests in progress finish.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() {
		done <- protocol.Serve(
			ctx, ln, protocol.LocalOnly(mux, hosts),
			protocol.Options{Logger: log.Logger, Open: true, ShutdownTimeout: scrapeTimeout},
		)
	}()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			log.Warn("metrics", "err", err)
		}
	}
	return s, nil
}
