package mcp

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/sdk"
)

// A side is the database or its fork.
type side struct {
	client *dynamodb.Client
	target explain.Target
	db     *sortkey.DB // nil if it is not in this process
}

// read calls use with the fork, or with the database as long as there is no fork.
func (s *Server) read(use func(*side) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.fork != nil {
		return use(s.fork)
	}
	return use(s.origin)
}

// write calls use with what may be written to. Unless that is the database itself, it is a fork.
func (s *Server) write(ctx context.Context, use func(*side) error) error {
	if s.o.Write {
		return use(s.origin)
	}
	if err := s.ensureFork(); err != nil {
		return err
	}
	return s.read(func(d *side) error {
		if d == s.origin {
			return advice.New("call the tool again", "the fork was discarded at the same moment, and nothing is written")
		}
		return use(d)
	})
}

// ensureFork makes the fork unless there is one.
func (s *Server) ensureFork() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fork != nil {
		return nil
	}
	const help = "ask the user to start sortkey mcp with --write, which lets tools write to it, or with a copy"
	if s.o.DB == nil {
		return advice.New(help, "nothing is written: a server cannot be forked")
	}
	db, err := s.o.DB.Fork()
	if errors.Is(err, sortkey.ErrFork) {
		return advice.New(help, "nothing is written: this database cannot be forked")
	}
	if err != nil {
		return err
	}
	s.fork = &side{client: sdk.Client(db), target: explain.InProcess(db), db: db}
	return nil
}

// discard closes the fork, and reports whether there was one.
func (s *Server) discard() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fork == nil {
		return false, nil
	}
	err := s.fork.db.Close()
	s.fork = nil
	return true, err
}
