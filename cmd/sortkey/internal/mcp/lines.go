package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sortkey/sortkey/internal/lines"
)

// Lines returns a transport that reads messages from the lines of in and writes them to the lines of out. A
// line that is not a message is answered with an error of JSON-RPC, and the next one is read: the SDK would
// end the session, and the fork with it.
func Lines(in io.Reader, out io.Writer) protocol.Transport {
	w := &lineWriter{w: out}
	from, to := io.Pipe()
	go func() { _ = to.CloseWithError(relay(in, to, w)) }()
	return &protocol.IOTransport{Reader: from, Writer: w, MaxLineLength: -1} // relay bounds them
}

// relay writes the messages in the lines of in to to, each as a line.
func relay(in io.Reader, to, out io.Writer) error {
	r := lines.New(bufio.NewReader(in), protocol.DefaultMaxLineLength)
	for {
		line, err := r.Next()
		if err == nil && len(line) == 0 {
			continue
		}
		if err == nil {
			line, err = messages(line)
		} else if errors.Is(err, lines.ErrTooLong) {
			err = &jsonrpc.Error{
				Code:    jsonrpc.CodeInvalidRequest,
				Message: fmt.Sprintf("the line has more than %d bytes", protocol.DefaultMaxLineLength),
			}
		}

		if wrong, ok := errors.AsType[*jsonrpc.Error](err); ok {
			answer, err := json.Marshal(struct {
				Version string         `json:"jsonrpc"`
				ID      *int           `json:"id"`
				Error   *jsonrpc.Error `json:"error"`
			}{"2.0", nil, wrong})
			if err != nil {
				return err
			}
			if _, err := out.Write(append(answer, '\n')); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err // the end
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}

// messages returns the messages of a line, each as a line. Those of a batch are answered one by one. The
// error is a [*jsonrpc.Error].
func messages(line []byte) ([]byte, error) {
	if !json.Valid(line) {
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeParseError, Message: "the line is not JSON; send a message on each line",
		}
	}
	all := []json.RawMessage{line}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &all); err != nil || len(all) == 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the batch is empty"}
		}
	}

	var out []byte
	for _, one := range all {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return nil, &jsonrpc.Error{
				Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a message of JSON-RPC 2.0: " + err.Error(),
			}
		}
		out = append(append(out, bytes.TrimSpace(one)...), '\n')
	}
	return out, nil
}

// A lineWriter writes lines, each with one call, and stays open when the other side has gone.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements [io.Writer].
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

// Close implements [io.Closer].
func (*lineWriter) Close() error { return nil }
