package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A server is a child process that serves Sortkey.
type server struct {
	url  string
	cmd  *exec.Cmd
	done chan error
}

// serverPatience bounds the time of a child to start and to end.
const serverPatience = 20 * time.Second

// serve starts a command that prints its address as sortkey serve does.
func serve(ctx context.Context, command []string) (*server, error) { return feed(ctx, command, nil) }

// feed is serve of a command that first reads its standard input.
func feed(ctx context.Context, command []string, input io.Reader) (*server, error) {
	if len(command) == 0 {
		return nil, errors.New("no command given that serves Sortkey")
	}

	s := &server{
		cmd:  exec.CommandContext(ctx, command[0], command[1:]...), //nolint:gosec // the caller's own program
		done: make(chan error, 1),
	}
	s.cmd.Stderr, s.cmd.Stdin = os.Stderr, input
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}

	line := make(chan string, 1)
	go func() {
		r := bufio.NewReader(out)
		text, _ := r.ReadString('\n')
		line <- text
		_, _ = io.Copy(io.Discard, r)
		s.done <- s.cmd.Wait()
	}()

	select {
	case text := <-line:
		_, rest, ok := strings.Cut(text, "listening on ")
		if fields := strings.Fields(rest); ok && len(fields) > 0 {
			s.url = fields[0]
			return s, nil
		}
		s.stop()
		return nil, fmt.Errorf("%s printed %q instead of its address", command[0], text)
	case <-time.After(serverPatience):
		s.stop()
		return nil, fmt.Errorf("%s did not print its address in %s", command[0], serverPatience)
	}
}

// stop ends the process and waits for it.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(serverPatience):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
}
