package serve

import (
	"context"
	"net"
	"net/http"
	"time"

	protocol "github.com/sortkey/sortkey/internal/server"
)

// besideTimeout is the time that requests in progress have to finish when a beside stops.
const besideTimeout = time.Second

// A beside is an HTTP server for requests outside the DynamoDB protocol, such as scrapes of metrics. It has an
// address of its own, so its requests need no signature and do not compete with those of DynamoDB clients.
type beside struct {
	ln   net.Listener
	stop func()
}

// serveBeside starts to serve h at addr, the value of flag. It accepts only requests whose Host header is a name of
// this machine or one of hosts.
func serveBeside(
	ctx context.Context, flag, addr string, h http.Handler, hosts []string, log logs,
) (*beside, error) {
	ln, err := listen(ctx, flag, addr)
	if err != nil {
		return nil, err
	}
	s := &beside{ln: ln}
	// Do not stop when ctx ends: the main server then still finishes its requests, and this server should still
	// answer.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() {
		done <- protocol.Serve(
			ctx, ln, protocol.LocalOnly(h, hosts),
			protocol.Options{Logger: log.Logger, Open: true, ShutdownTimeout: besideTimeout},
		)
	}()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			log.Warn(flag, "err", err)
		}
	}
	return s, nil
}
