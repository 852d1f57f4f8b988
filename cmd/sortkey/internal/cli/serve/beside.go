package serve

import (
	"context"
	"net"
	"net/http"
	"time"

	protocol "github.com/sortkey/sortkey/internal/server"
)

// besideTimeout bounds the time that a beside gives its requests in progress when it stops.
const besideTimeout = time.Second

// A beside serves what is not part of the DynamoDB protocol, such as metrics. It has its own address, where requests
// need no signature and do not disturb clients.
type beside struct {
	ln   net.Listener
	stop func()
}

// serveBeside starts to serve h at addr, which is the value of a flag. It accepts requests to this machine's names
// and to hosts.
func serveBeside(
	ctx context.Context, flag, addr string, h http.Handler, hosts []string, log logs,
) (*beside, error) {
	ln, err := listen(ctx, flag, addr)
	if err != nil {
		return nil, err
	}
	s := &beside{ln: ln}
	// It outlives ctx, to serve while the main server finishes its requests in progress.
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
