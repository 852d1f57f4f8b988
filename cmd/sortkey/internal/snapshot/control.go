package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/store"
)

// A process that has a database open listens on a Unix socket in the database's folder. Over that socket, another
// process asks it to take a snapshot. The socket needs no password, because it is in a folder that only the owner can
// enter.
const (
	controlName = "control" // in the database's folder
	socketName  = "socket"
)

// maxMessage bounds the size of a request or a response, in bytes.
const maxMessage = 1 << 20

// maxSocketPath is the length in bytes that every system supports for the path of a socket.
const maxSocketPath = 100

type request struct{ Target string }

type response struct {
	Info  *Info  `json:",omitempty"`
	Error string `json:",omitempty"`
	Hint  string `json:",omitempty"`
}

// A Control is a server that takes snapshots of a store when other processes ask for them.
type Control struct {
	srv   *http.Server
	dir   string
	stop  context.CancelFunc
	ended chan struct{}
}

// errStopped is the error of a snapshot that was in progress when the server stopped. The server has removed the
// unfinished snapshot.
var errStopped = advice.New(
	"take it again, from the folder or from a running server; serve --drain gives snapshots more time",
	"the server stopped before the snapshot was complete; removed the snapshot",
)

// Listen starts a Control for st, which is the store that this process has open in the folder data. [Make] in another
// process can then ask for snapshots of st, until ctx ends or the caller closes the Control. A snapshot that is then
// in progress has the time drain to finish. After that, the Control cancels the snapshot and removes it.
// receive bounds the time for receiving a request.
func Listen(ctx context.Context, data string, st store.Snapshotter, drain, receive time.Duration) (*Control, error) {
	dir := filepath.Join(data, controlName)
	if err := os.RemoveAll(dir); err != nil { // a killed process may have left it
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}

	path := filepath.Join(dir, socketName)
	ln, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if errors.Is(err, syscall.EINVAL) && len(path) > maxSocketPath {
		err = fmt.Errorf(
			"the path %s is too long for a socket: serve the folder under a shorter path, such as a link to it", path,
		)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}

	c := &Control{dir: dir, ended: make(chan struct{})}
	snapshots, quit := context.WithCancelCause(context.WithoutCancel(ctx))
	c.srv = &http.Server{
		ReadHeaderTimeout: receive,
		BaseContext:       func(net.Listener) context.Context { return snapshots },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, err := take(w, r, receive, st, data)
			out := response{Info: info}
			if err != nil {
				out.Error, out.Hint = err.Error(), advice.Of(err)
			}
			_ = json.NewEncoder(w).Encode(out) // fails if the client has gone
		}),
	}

	ctx, c.stop = context.WithCancel(ctx)
	go func() { _ = c.srv.Serve(ln) }() // returns after Shutdown
	go func() {
		defer close(c.ended)
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		_ = c.srv.Shutdown(grace)
		quit(errStopped)
		_ = c.srv.Shutdown(context.WithoutCancel(ctx)) // waits until clients have received errStopped
	}()
	return c, nil
}

// take decodes a request for a snapshot and takes the snapshot.
func take(
	w http.ResponseWriter, r *http.Request, timeout time.Duration, st store.Snapshotter, data string,
) (*Info, error) {
	// Bound the time for the body: a request that does not end must not block Close.
	body := http.NewResponseController(w)
	_ = body.SetReadDeadline(time.Now().Add(timeout))
	var in request
	if err := json.NewDecoder(io.LimitReader(r.Body, maxMessage)).Decode(&in); err != nil {
		return nil, err
	}
	_ = body.SetReadDeadline(time.Time{}) // a snapshot may take longer
	return makeNew(r.Context(), st, data, in.Target)
}

// Close stops serving requests. It waits for snapshots in progress, but no longer
// than their drain time.
func (c *Control) Close() error {
	c.stop()
	<-c.ended
	return os.RemoveAll(c.dir)
}

// errNoControl means that no process has a Control for the folder.
var errNoControl = errors.New("no process is listening")

// ask asks the process that has the database in the folder data open to take a snapshot. It returns errNoControl if
// no process listens for such requests.
func ask(ctx context.Context, data, target string) (*Info, error) {
	target, err := filepath.Abs(target)
	if err != nil {
		return nil, err
	}

	body, err := json.Marshal(request{target})
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(data, controlName, socketName))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNoControl, err)
		}
		return conn, nil
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control/snapshot", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	resp, err := client.Do(req)
	if err != nil {
		return nil, lost(ctx, target, err)
	}
	defer resp.Body.Close()
	var out response
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxMessage)).Decode(&out); err != nil {
		return nil, lost(ctx, target, err)
	}

	switch {
	case out.Error != "":
		return nil, advice.New(out.Hint, "%s", out.Error)
	case out.Info == nil:
		return nil, errors.New("empty response from the server")
	}
	return out.Info, nil
}

// lost returns the error for a request that got no response.
func lost(ctx context.Context, target string, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errNoControl):
		return err
	}
	return &advice.Error{
		Msg: "the server ended during the snapshot", Err: err,
		Advice: fmt.Sprintf("if %s exists, it is complete; otherwise take the snapshot again", target),
	}
}
