package postgres_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store/postgres"
)

// A standin is a proxy between pgx and PostgreSQL. At the borders of messages it causes the faults that CockroachDB
// documents, and those of networks. Source of the messages: PostgreSQL, protocol-message-formats.
type standin struct {
	ln     net.Listener
	server string // socket of PostgreSQL

	mu     sync.Mutex
	decide func(statement string) action
	hits   int           // actions other than pass since the last call of on
	trips  int           // round trips since on
	held   chan struct{} // closed by deliver
	all    sync.WaitGroup
	late   []chan struct{} // closed when the server has answered what was held
	conns  map[net.Conn]bool
	closed bool
}

// An action is what the stand-in does with a statement.
type action int

const (
	pass        action = iota
	refuse40001        // the statement fails with serialization_failure
	refuse40P01        // fails with deadlock_detected
	refuse40003        // the statement does not run, and fails with statement_completion_unknown
	answer40003        // the statement runs, but the client gets statement_completion_unknown
	drain              // the connection ends with admin_shutdown
	cutBefore          // the connection ends before the server sees the statement
	cutAfter           // the server runs the whole round trip; its answer is lost
	cutAndHold         // the connection ends; the server sees the rest of the round trip later
	actions            // their number
)

func (a action) String() string {
	return [...]string{"pass", "40001", "40P01", "40003 of a failure", "40003 of a success", "drain", "cut before", "cut after", "deliver late"}[a]
}

// newStandin returns a stand-in for the database of a URL, and its own URL.
func newStandin(t testing.TB, at string) (*standin, string) {
	t.Helper()
	u, err := url.Parse(at)
	require.NoError(t, err)
	q := u.Query()
	dir, err := os.MkdirTemp("", "standin") // the path of a socket must be short
	require.NoError(t, err)
	s := &standin{server: filepath.Join(q.Get("host"), ".s.PGSQL.5432"), held: make(chan struct{}), conns: map[net.Conn]bool{}}
	s.ln, err = net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	require.NoError(t, err)
	s.all.Go(s.accept)
	t.Cleanup(func() {
		s.deliver()
		s.mu.Lock()
		s.closed = true
		for c := range s.conns {
			_ = c.Close()
		}
		s.mu.Unlock()
		_ = s.ln.Close()
		s.all.Wait()
		require.NoError(t, os.RemoveAll(dir))
	})
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return s, u.String()
}

// on sets the function that decides what happens to each statement from now on.
func (s *standin) on(decide func(statement string) action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide, s.hits, s.trips = decide, 0, 0
}

// once causes an action for one statement: the one with the given number, from 1, among those that begin with prefix.
func (s *standin) once(prefix string, number int, do action) {
	n := 0
	s.on(func(statement string) action {
		if strings.HasPrefix(statement, prefix) {
			if n++; n == number {
				return do
			}
		}
		return pass
	})
}

// deliver sends the messages that were held, and waits until the server has answered them.
func (s *standin) deliver() {
	s.mu.Lock()
	close(s.held)
	s.held = make(chan struct{})
	late := s.late
	s.late = nil
	s.mu.Unlock()
	for _, answered := range late {
		<-answered
	}
}

func (s *standin) choose(statement string) action {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.decide == nil {
		return pass
	}
	do := s.decide(statement)
	if do != pass {
		s.hits++
	}
	return do
}

// happened reports whether any action has happened since on, and stops further ones.
func (s *standin) happened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide = nil
	return s.hits > 0
}

func (s *standin) accept() {
	for {
		client, err := s.ln.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", s.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		s.mu.Lock()
		s.conns[client], s.conns[server] = true, true
		if s.closed {
			_, _ = client.Close(), server.Close()
		}
		s.mu.Unlock()
		l := &link{standin: s, client: client, server: server, answered: make(chan struct{})}
		s.all.Go(l.up)
		s.all.Go(l.down)
	}
}

// A link is one connection of a client.
type link struct {
	*standin
	client, server net.Conn
	answered       chan struct{} // closed at the end of down

	lock    sync.Mutex
	code    string        // replaces the code of the next error, if not empty
	unsure  bool          // answer the next COMMIT with an error
	release chan struct{} // closed to deliver the messages that are held
	mute    bool          // lose the answers up to the end of the round trip
}

// message reads one message with its head: its kind, which the first message of a client lacks, and its length.
func message(r *bufio.Reader, typed bool) ([]byte, error) {
	head := 4
	if typed {
		head = 5
	}
	m := make([]byte, head)
	if _, err := io.ReadFull(r, m); err != nil {
		return nil, err
	}
	m = append(m, make([]byte, binary.BigEndian.Uint32(m[head-4:])-4)...)
	_, err := io.ReadFull(r, m[head:])
	return m, err
}

// bound returns the statement of a Bind message, or "".
func bound(m []byte) string {
	if m[0] != 'B' {
		return ""
	}
	_, rest, _ := bytes.Cut(m[5:], []byte{0}) // the name of the portal
	name, _, _ := bytes.Cut(rest, []byte{0})
	i, err := strconv.Atoi(strings.TrimPrefix(string(name), "sortkey_"))
	if err != nil {
		return ""
	}
	return postgres.Prepared(i)
}

// up passes messages of the client to the server.
func (l *link) up() {
	defer l.client.Close()
	defer l.server.Close()
	r := bufio.NewReader(l.client)
	for first := true; ; first = false {
		m, err := message(r, !first)
		if err != nil {
			return
		}
		if !first {
			m, err = l.intercept(m, r)
			if err == errHold {
				_ = l.client.Close()
				<-l.release
				_, _ = l.server.Write(m)
				<-l.answered
			}
			if err != nil {
				return
			}
		}
		if _, err := l.server.Write(m); err != nil {
			return
		}
	}
}

var (
	errCut  = errors.New("stand-in: cut the link")
	errHold = errors.New("stand-in: cut the link to the client, and deliver later")
)

// intercept returns the bytes to send in place of a message.
func (l *link) intercept(m []byte, r *bufio.Reader) ([]byte, error) {
	if m[0] == 'S' {
		l.standin.mu.Lock()
		l.trips++
		l.standin.mu.Unlock()
	}
	statement := bound(m)
	if statement == "" {
		return m, nil
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	switch l.choose(statement) {
	case refuse40001:
		l.code = "40001"
	case refuse40P01:
		l.code = "40P01"
	case refuse40003:
		l.code = "40003"
	case answer40003:
		l.unsure = true
		return m, nil
	case drain:
		_, _ = l.client.Write(errorMessage("FATAL", "57P01"))
		return nil, errCut
	case cutBefore:
		return nil, errCut
	case cutAfter:
		l.mute = true
		return m, nil
	case cutAndHold:
		rest := m
		for m[0] != 'S' {
			var err error
			if m, err = message(r, true); err != nil {
				return nil, err
			}
			rest = append(rest, m...)
		}
		l.mute = true
		l.standin.mu.Lock()
		l.late, l.release = append(l.late, l.answered), l.held
		l.standin.mu.Unlock()
		return rest, errHold
	default:
		return m, nil
	}
	// The server fails at a statement that it cannot parse, aborts the
	// transaction and skips the rest of the round trip.
	bad, err := (&pgproto3.Parse{Query: "fail"}).Encode(nil)
	return bad, err
}

func errorMessage(severity, code string) []byte {
	m, err := (&pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: "the stand-in says so"}).Encode(nil)
	if err != nil {
		panic(err)
	}
	return m
}

// down passes messages of the server to the client.
func (l *link) down() {
	defer close(l.answered)
	defer l.client.Close()
	defer l.server.Close()
	r := bufio.NewReader(l.server)
	for {
		m, err := message(r, true)
		if err != nil {
			return
		}
		l.lock.Lock()
		mute := l.mute
		switch {
		case m[0] == 'E' && l.code != "":
			m, l.code = errorMessage("ERROR", l.code), ""
		case m[0] == 'C' && l.unsure && bytes.HasPrefix(m[5:], []byte("COMMIT")):
			m, l.unsure = errorMessage("ERROR", "40003"), false
		}
		l.lock.Unlock()
		if mute {
			if m[0] == 'Z' {
				return
			}
			continue // the client is gone, or must not get the message
		}
		if _, err := l.client.Write(m); err != nil {
			return
		}
	}
}
