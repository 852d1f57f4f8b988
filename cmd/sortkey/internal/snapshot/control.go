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
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sortkey/sortkey/internal/advice"
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

// A Control takes orders for snapshots of a store.
type Control struct {
	srv   *http.Server
	dir   string
	stop  context.CancelFunc
	ended chan struct{}

	drain  time.Duration
	mu     sync.Mutex
	broken []string // snapshots that there was no time for
}

// errStopped is what a snapshot ends with that there is no more time for.
var errStopped = advice.New("take it again, of the folder itself or when it is served again; serve --drain gives a snapshot longer",
	"the server was stopped before the snapshot was whole; nothing of it is left")

// Listen lets [Make] take snapshots of st, which this process has open in the
// folder data, until ctx ends or the Control is closed. A snapshot under way
// then has the time of drain to end, and is broken off and removed after it.
func Listen(ctx context.Context, data string, st *disk.Store, drain time.Duration) (*Control, error) {
	return listen(ctx, data, st, drain, orderTimeout)
}

func listen(ctx context.Context, data string, st *disk.Store, drain, patience time.Duration) (*Control, error) {
	dir := filepath.Join(data, controlName)
	if err := os.RemoveAll(dir); err != nil { // what a crash has left
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, socketName)
	ln, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if errors.Is(err, syscall.EINVAL) && len(path) > maxSocketPath {
		err = fmt.Errorf("%s is too long a path for a socket: serve the folder by a shorter one, such as a link to it", path)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &Control{dir: dir, ended: make(chan struct{}), drain: drain}
	making, quit := context.WithCancelCause(context.WithoutCancel(ctx))
	c.srv = &http.Server{
		ReadHeaderTimeout: orderTimeout,
		BaseContext:       func(net.Listener) context.Context { return making },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.take(w, r, patience, func(ctx context.Context, target string) (*Info, error) {
				return makeNew(ctx, st, data, target)
			})
		}),
	}
	ctx, c.stop = context.WithCancel(ctx)
	go func() { _ = c.srv.Serve(ln) }() // ends with the Control
	go func() {
		defer close(c.ended)
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		_ = c.srv.Shutdown(grace)
		quit(errStopped)
		_ = c.srv.Shutdown(context.WithoutCancel(ctx)) // they are told
	}()
	return c, nil
}

// take has an order done and answers it.
func (c *Control) take(w http.ResponseWriter, r *http.Request, patience time.Duration, do func(ctx context.Context, target string) (*Info, error)) {
	// An order is short, and one that never ends must not keep Close waiting.
	body := http.NewResponseController(w)
	_ = body.SetReadDeadline(time.Now().Add(patience))
	var o order
	if err := json.NewDecoder(io.LimitReader(r.Body, maxOrder)).Decode(&o); err != nil {
		answer(w, nil, err)
		return
	}
	_ = body.SetReadDeadline(time.Time{}) // a snapshot takes its time
	info, err := do(r.Context(), o.Target)
	if errors.Is(err, errStopped) {
		c.mu.Lock()
		c.broken = append(c.broken, o.Target)
		c.mu.Unlock()
	}
	answer(w, info, err)
}

func answer(w http.ResponseWriter, info *Info, err error) {
	out := reply{Info: info}
	if err != nil {
		out.Error = err.Error()
		if h, ok := errors.AsType[*advice.Error](err); ok {
			out.Hint = h.Advice
		}
	}
	_ = json.NewEncoder(w).Encode(out) // or the client has gone
}

// Close takes no more orders. It waits for a snapshot under way, no longer than
// it may take. The error says that one was broken off.
func (c *Control) Close() error {
	c.stop()
	<-c.ended
	err := os.RemoveAll(c.dir)
	if len(c.broken) > 0 {
		err = errors.Join(advice.New("take it again; --drain gives it longer",
			"the snapshot %s was still under way after %s; it was broken off, and nothing of it is left", strings.Join(c.broken, ", "), c.drain), err)
	}
	return err
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
		return nil, lost(ctx, target, err)
	}
	defer resp.Body.Close()
	var out reply
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxOrder)).Decode(&out); err != nil {
		return nil, lost(ctx, target, err)
	}
	switch {
	case out.Error != "":
		return nil, advice.New(out.Hint, "%s", out.Error)
	case out.Info == nil:
		return nil, errors.New("the server's answer is empty")
	}
	return out.Info, nil
}

// lost says that there was no answer to an order.
func lost(ctx context.Context, target string, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errNoControl):
		return err
	}
	return &advice.Error{
		Msg: "the server ended while it made the snapshot", Err: err,
		Advice: fmt.Sprintf("what it may have left, %s-*, can be removed; then take the snapshot again", tempName(target)),
	}
}
