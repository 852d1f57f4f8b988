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

	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/store/disk"
)

// A process that has a database open is asked for snapshots through a socket
// in the database's folder. The socket lies in a folder that only the owner can
// enter, and the file system keeps everybody else out: there is no password.
const (
	controlName = "control" // in the database's folder
	socketName  = "socket"
)

// maxOrder bounds what is read of a request or an answer.
const maxOrder = 1 << 20

// orderTimeout is how long an order may take to arrive.
const orderTimeout = 5 * time.Second

// maxSocketPath is the longest path of a socket that every system takes.
const maxSocketPath = 100

type order struct{ Target string }

type reply struct {
	Info  *Info  `json:",omitempty"`
	Error string `json:",omitempty"`
	Hint  string `json:",omitempty"`
}

// Listen lets [Make] take snapshots of st, which this process has open in the
// folder data, until the Closer is closed. Close waits for a snapshot under
// way.
func Listen(data string, st *disk.Store) (io.Closer, error) {
	return listen(data, st, orderTimeout)
}

func listen(data string, st *disk.Store, patience time.Duration) (io.Closer, error) {
	dir := filepath.Join(data, controlName)
	if err := os.RemoveAll(dir); err != nil { // what a crash has left
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, socketName)
	ln, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if errors.Is(err, syscall.EINVAL) && len(path) > maxSocketPath {
		err = fmt.Errorf("%s is too long a path for a socket: serve the folder by a shorter one, such as a link to it", path)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	srv := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An order is short, and one that never ends must not keep Close waiting.
		body := http.NewResponseController(w)
		_ = body.SetReadDeadline(time.Now().Add(patience))
		var o order
		if err := json.NewDecoder(io.LimitReader(r.Body, maxOrder)).Decode(&o); err != nil {
			answer(w, nil, err)
			return
		}
		_ = body.SetReadDeadline(time.Time{}) // a snapshot takes its time
		info, err := makeNew(r.Context(), st, data, o.Target)
		answer(w, info, err)
	})}
	go func() { _ = srv.Serve(ln) }() // ends with Close
	return &control{srv, dir}, nil
}

func answer(w http.ResponseWriter, info *Info, err error) {
	out := reply{Info: info}
	if err != nil {
		out.Error = err.Error()
		if h, ok := errors.AsType[*hint.Error](err); ok {
			out.Hint = h.Hint
		}
	}
	_ = json.NewEncoder(w).Encode(out) // or the client has gone
}

type control struct {
	srv *http.Server
	dir string
}

// Close implements [io.Closer].
func (c *control) Close() error {
	return errors.Join(c.srv.Shutdown(context.Background()), os.RemoveAll(c.dir))
}

// errNoControl says that nobody listens for orders in a folder.
var errNoControl = errors.New("nobody answers there")

// ask has the process that has the database in data open take the snapshot.
func ask(ctx context.Context, data, target string) (*Info, error) {
	target, err := filepath.Abs(target)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(order{target})
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
		return nil, err
	}
	defer resp.Body.Close()
	var out reply
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxOrder)).Decode(&out); err != nil {
		return nil, fmt.Errorf("the server's answer: %w", err)
	}
	switch {
	case out.Error != "":
		return nil, hint.New(out.Hint, "%s", out.Error)
	case out.Info == nil:
		return nil, errors.New("the server's answer is empty")
	}
	return out.Info, nil
}
