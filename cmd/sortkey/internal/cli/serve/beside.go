package serve

import (
	"context"
	"net"
	"net/http"
	"time"

	protocol "github.com/sortkey/sortkey/internal/server"
)

// besideTimeout bounds the time of a request beside the server after that has stopped.
const besideTimeout = time.Second

// A beside serves what is not of the protocol on an address of its own, where it needs no signature and
// does not disturb clients.
type beside struct {
	ln   net.Listener
	stop func()
}

// serveBeside starts to serve h at the address in a flag, for hosts besides those of this machine.
func serveBeside(
	ctx context.Context, flag, addr string, h http.Handler, hosts []string, log logs,
) (*beside, error) {
	ln, err := listen(ctx, flag, addr)
	if err != nil {
		return nil, err
	}
	s := &beside{ln: ln}
	// It goes on while requests in progress finish.
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
