// Package server is the HTTP API of a database: it speaks the protocol of DynamoDB and DynamoDB Streams. A [Server]
// is an [http.Handler]. [Server.Client] sends it requests without a socket, and [Server.Serve] listens on one.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/admission"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/engine"
	protocol "github.com/sortkey/sortkey/internal/server"
)

func init() { api.LinkJobs() } // must run before any code opens a database that has jobs

// A Server answers DynamoDB's protocol from a database, so that programs in any language can use the database as
// DynamoDB. [New] returns it. It is safe for concurrent use.
type Server struct {
	db      *sortkey.DB
	opts    Options
	engine  *engine.DB
	handler http.Handler
	counts  admission.Counts
	// isolated has the databases of Options.Isolate. It is nil if there are none.
	isolated *isolated
}

// New returns a server of a database. The server needs no Close; the caller closes the database.
func New(db *sortkey.DB, opts Options) *Server {
	s := &Server{db: db, opts: opts, engine: engine.Of(db)}
	s.handler = traceHandler(protocol.New(engine.Of(db).Service, s.protocol()))
	if opts.Isolate > 0 {
		s.isolated = &isolated{db: db, engine: s.engine, opts: opts, databases: map[string]*isolatedDB{}}
	}
	return s
}

// protocol converts the options to those of internal/server.
func (s *Server) protocol() protocol.Options {
	o := &s.opts
	return protocol.Options{
		Logger: s.engine.Logger, Clock: s.engine.Clock, Observer: s.engine.Observer, RequestID: s.engine.RequestID,
		Health: s.engine.Health, Credentials: o.Credentials, Open: o.Open, CORS: o.CORS, AllowHosts: o.AllowHosts,
		MaxBodyBytes: o.MaxBodyBytes, MaxPendingBytes: o.MaxPendingBytes, MaxRequests: o.MaxRequests,
		MaxConnections: o.MaxConnections, Connections: &s.counts, ShutdownTimeout: o.ShutdownTimeout,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, IdleTimeout: o.IdleTimeout,
	}
}

// ServeHTTP implements [http.Handler], for a program that has an HTTP server of its own. GET /healthz answers with
// status 200 while the database can be used.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Client returns an HTTP client for tests of code that speaks HTTP. The server answers its requests in this process,
// without a socket and whatever their address. The context of a request reaches the database.
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &protocol.Transport{Handler: s.handler}}
}

// Connections returns figures of [Server.Serve] for metrics: how many connections are open, how many idle connections
// the server has closed at the limit to accept new ones, and how many requests and connections it has refused because
// all connections were busy.
func (s *Server) Connections() (open, closed, refused int64) {
	return s.counts.Open(), s.counts.Closed(), s.counts.Refused()
}

// Serve answers requests on ln, with the limits and timeouts of the options, until ctx ends and the requests under
// way are done. It closes ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	opts := s.protocol()
	if s.isolated == nil {
		return protocol.Serve(ctx, ln, s.handler, opts)
	}
	switch by := cmp.Or(s.opts.IsolateBy, "key"); by {
	case "key":
		opts.Isolation = protocol.ByKey
	case byRegion:
		opts.Isolation = protocol.ByKeyAndRegion
	case "path":
		opts.Isolation = protocol.ByPath
	default:
		err := fmt.Errorf("server: Options.IsolateBy is %q: want key, or key,region, or path", by)
		return errors.Join(err, ln.Close())
	}
	err := protocol.Serve(ctx, ln, traceHandler(protocol.New(s.isolated, opts)), opts)
	return errors.Join(err, s.isolated.close())
}
