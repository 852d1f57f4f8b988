package serve

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// listen listens on the address addr, which is the value of a flag.
func listen(ctx context.Context, flag, addr string) (net.Listener, error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = net.JoinHostPort("127.0.0.1", addr)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, app.UsageError("write HOST:PORT, such as 127.0.0.1:8000", "%s: %q is not an address", flag, addr)
	}

	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, advice.New(
			"stop the program that listens there, or use any free port with "+flag+" 127.0.0.1:0",
			"%s is already in use", addr,
		)
	case err != nil:
		return nil, advice.New(
			"give an address of this machine, such as 127.0.0.1:8000",
			"cannot listen on %s: %v", addr, app.RootCause(err),
		)
	}
	return ln, nil
}

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// clientURL returns the URL for a client on this machine: localhost if the server
// listens on all addresses.
func clientURL(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return "http://localhost:" + strconv.Itoa(tcp.Port)
	}
	return "http://" + addr.String()
}
