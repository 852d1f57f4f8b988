package layer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"unsafe"

	"github.com/sortkey/sortkey/bench/work"
)

// Answers are answers made beforehand, by the body of their request. They are served
// by a bare net/http handler, the yardstick of a server.
type Answers struct {
	byBody map[string][]byte
	size   int // bytes of all answers
	last   map[work.Op][]byte
}

// answersBytes bounds the answers kept, because a server's own buffers are in a
// cache too. Further requests share the last answer of their operation: the
// answers of a workload are about equally long.
const answersBytes = 4 << 20

// NewAnswers asks an endpoint for the answers to calls.
func NewAnswers(ctx context.Context, r *Remote, calls []work.Call) (*Answers, error) {
	a := &Answers{byBody: map[string][]byte{}, last: map[work.Op][]byte{}}
	for i := range calls {
		err := a.prepare(&calls[i], r.Shape, func(target string, body []byte) ([]byte, int, error) {
			return r.Wire.Do(ctx, r.Wire.Request(target, body), nil)
		})
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// prepare keeps the answer to a call, which ask gives.
func (a *Answers) prepare(
	c *work.Call, shape work.Shape, ask func(target string, body []byte) ([]byte, int, error),
) error {
	body := c.Body(shape)
	if a.size < answersBytes || a.last[c.Op] == nil {
		out, status, err := ask(c.Op.Target(), body)
		if err != nil {
			return err
		}
		if _, _, err := answer(c, status, out); err != nil {
			return err
		}
		a.last[c.Op], a.size = out, a.size+len(out)
	}
	a.byBody[string(body)] = a.last[c.Op]
	return nil
}

// A shared answer goes to [ServeAnswers] once, with all bodies that it answers.
type sharedAnswer struct {
	Answer []byte
	Bodies [][]byte
}

// Write writes the answers for [ServeAnswers].
func (a *Answers) Write(w io.Writer) error {
	var all []*sharedAnswer
	found := map[*byte]*sharedAnswer{}
	for body, out := range a.byBody {
		at := unsafe.SliceData(out)
		if found[at] == nil {
			found[at] = &sharedAnswer{Answer: out}
			all = append(all, found[at])
		}
		found[at].Bodies = append(found[at].Bodies, []byte(body))
	}
	return json.NewEncoder(w).Encode(all)
}

// ServeAnswers reads what [Answers.Write] wrote, prints its address as sortkey serve
// does, and answers requests until ctx ends.
func ServeAnswers(ctx context.Context, in io.Reader, out io.Writer) error {
	var all []*sharedAnswer
	if err := json.NewDecoder(in).Decode(&all); err != nil {
		return fmt.Errorf("cannot read the answers: %w", err)
	}
	a := Answers{byBody: map[string][]byte{}}
	for _, shared := range all {
		for _, body := range shared.Bodies {
			a.byBody[string(body)] = shared.Answer
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "canned answers: listening on http://%s\n", ln.Addr()); err != nil {
		return errors.Join(err, ln.Close())
	}
	return a.serve(ctx, ln)
}

func (a *Answers) serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{Handler: a} //nolint:gosec // a yardstick has no time-outs
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

var answerBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// ServeHTTP implements [http.Handler].
func (a *Answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buf := answerBuffers.Get().(*bytes.Buffer)
	defer answerBuffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, ok := a.byBody[string(buf.Bytes())]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out) // the client may be gone
}
