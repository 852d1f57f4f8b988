package mcp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A lineConn is a transport with one connection, which sends and receives each message as a line. The transport of
// the SDK closes its connection when it reads a line that is not a message. At the end of its input it also closes
// the connection before it has sent all answers. A lineConn does neither.
type lineConn struct {
	in    *bufio.Scanner
	close func() error // closes the pipe that in reads
	out   io.Writer

	mu       sync.Mutex
	due      map[jsonrpc.ID]bool // nil if closed
	answered *sync.Cond
}

// Lines returns a transport with one connection, which reads messages as lines from in and writes messages as lines
// to out.
func Lines(in io.Reader, out io.Writer) protocol.Transport {
	from, to := io.Pipe() // Close can end a read from a pipe, but perhaps not a read from in
	go func() {
		_, err := io.Copy(to, in)
		_ = to.CloseWithError(err)
	}()
	c := &lineConn{in: bufio.NewScanner(from), close: to.Close, out: out, due: map[jsonrpc.ID]bool{}}
	c.in.Buffer(nil, protocol.DefaultMaxLineLength)
	c.answered = sync.NewCond(&c.mu)
	return c
}

// Connect implements [protocol.Transport].
func (c *lineConn) Connect(ctx context.Context) (protocol.Connection, error) {
	context.AfterFunc(ctx, func() { _ = c.Close() })
	return c, nil
}

// SessionID implements [protocol.Connection].
func (*lineConn) SessionID() string { return "" }

// Read implements [protocol.Connection]. At the end of the input it waits until the server has answered all calls,
// and then returns io.EOF.
func (c *lineConn) Read(context.Context) (jsonrpc.Message, error) {
	for c.in.Scan() {
		if len(c.in.Bytes()) == 0 {
			continue
		}
		message, err := jsonrpc.DecodeMessage(c.in.Bytes())
		c.mu.Lock()
		if err != nil {
			err = c.refuse()
		} else if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() && c.due != nil {
			c.due[call.ID] = true
		}
		c.mu.Unlock()
		if err != nil || message != nil {
			return message, err
		}
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.due) > 0 {
		c.answered.Wait()
	}
	return nil, cmp.Or(c.in.Err(), io.EOF)
}

// refuse sends an error in answer to a line that is not a message.
func (c *lineConn) refuse() error {
	wrong := `{"code":-32600,"message":"the line is not a message of JSON-RPC 2.0"}`
	if !json.Valid(c.in.Bytes()) {
		wrong = `{"code":-32700,"message":"the line is not JSON"}`
	}
	_, err := fmt.Fprintf(c.out, `{"jsonrpc":"2.0","id":null,"error":%s}`+"\n", wrong)
	return err
}

// Write implements [protocol.Connection].
func (c *lineConn) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := message.(*jsonrpc.Response); ok {
		delete(c.due, answer.ID)
		c.answered.Signal()
	}
	_, err = fmt.Fprintf(c.out, "%s\n", data)
	return err
}

// Close implements [protocol.Connection].
func (c *lineConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = nil
	c.answered.Signal()
	return c.close()
}
