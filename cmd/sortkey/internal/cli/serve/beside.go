package serve

import (
	"context"
	"net"
	"net/http"
	"time"

	protocol "github.com/sortkey/sortkey/internal/server"
)

// besideTimeout is the time that a stopping beside waits for its requests in progress.
const besideTimeout = time.Second

// A beside is an HTTP server for what is not part of the DynamoDB protocol, such as metrics. It has its own address,
// where requests need no signature and do not disturb clients.
type beside struct {
	ln   net.Listener
	stop func()
}

// serveBeside starts to serve h at addr, which is the value of the flag. It accepts only requests whose Host is a
// name of this machine or one of hosts.
func serveBeside(
	ctx context.Context, flag, addr string, h http.Handler, hosts []string, log logs,
) (*beside, error) {
	ln, err := listen(ctx, flag, addr)
	if err != nil {
		return nil, err
	}
	s := &beside{ln: ln}
	// The handlers outlive ctx, so that they still answer while the main server finishes its requests in progress.
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
