package mcp

import (
	"cmp"
	"context"
	"errors"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
)

// Options configure a [Server].
type Options struct {
	// Target is the database.
	Target explain.Target
	// Model is the design model of the database, or nil.
	Model *model.Model
	// About names the database, without credentials, such as "the example shop".
	About string
	// Write adds the tools that write.
	Write bool
	// MaxAnswer bounds the size of an answer, in bytes. Default: 32 KB.
	MaxAnswer int
	// Version is the version of the command.
	Version string
	// Explain adds advice to an error of a client or a design model.
	Explain func(error) *advice.Error
}

// defaultAnswer is the default of Options.MaxAnswer, about ten thousand tokens. Clients warn about longer answers, or
// cut them without saying how to get the rest.
const defaultAnswer = 32 << 10

// A Server serves the tools. It is safe for concurrent use.
type Server struct {
	o      Options
	server *protocol.Server
	checks chan struct{} // full while the server checks a model
}

// New returns a server. It does not close the database.
func New(o Options) *Server {
	o.MaxAnswer = cmp.Or(o.MaxAnswer, defaultAnswer)
	o.Version = cmp.Or(o.Version, "(devel)")
	s := &Server{o: o, checks: make(chan struct{}, 1)}
	s.server = protocol.NewServer(
		&protocol.Implementation{Name: "sortkey", Title: "Sortkey", Version: o.Version},
		&protocol.ServerOptions{
			Instructions: instructions, Capabilities: &protocol.ServerCapabilities{Tools: &protocol.ToolCapabilities{}},
		},
	)

	s.add(listTables, s.tables)
	for _, op := range operation.All {
		if op.Tool.Example != "" && (o.Write || !op.Writes) {
			s.add(op, func(ctx context.Context, v *operation.Values) (string, error) { return s.operate(ctx, op, v) })
		}
	}
	s.add(operation.Explain, s.explain)
	s.add(designCheck, s.check)
	return s
}

// instructions describe the server. A client passes them to its language model.
const instructions = `Sortkey is a database that answers like Amazon DynamoDB, and a workbench for the design of keys.
A table keeps its items in partitions, and the items of a partition in the order of the sort key. A query reads one
contiguous range of one partition, and pays for every row in that range, also for those that its filter drops.

Begin with the tool tables. Use query to read and explain to see why a request reads what it reads; every answer says
how many rows were examined and returned. There are tools that write only if the user has allowed it.`

// Connect serves one client until it ends the connection or ctx is done.
func (s *Server) Connect(ctx context.Context, t protocol.Transport) error {
	err := s.server.Run(ctx, t)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
