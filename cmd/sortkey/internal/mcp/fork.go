package mcp

import (
	"context"
	"errors"

	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/sdk"
)

// A side is the database or its fork.
type side struct {
	client *dynamodb.Client
	target explain.Target
	db     *sortkey.DB // nil if it is not in this process
	// model describes its items; nil for none.
	model atomic.Pointer[model.Model]
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
			return advice.New(
				"call the tool again", "the fork was discarded at the same moment, and nothing is written",
			)
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
	if !s.forkable() {
		return advice.New(help, "nothing is written: this database cannot be forked")
	}
	db, err := s.o.DB.Fork()
	if errors.Is(err, errors.ErrUnsupported) {
		return advice.New(help, "nothing is written: this database cannot be forked")
	}
	if err != nil {
		return err
	}
	s.fork = &side{client: sdk.Client(db), target: explain.InProcess(db), db: db}
	s.fork.model.Store(s.origin.model.Load())
	return nil
}

// forkable reports whether the database can have a fork, as far as is known.
func (s *Server) forkable() bool { return s.o.DB != nil && !s.o.NoFork }

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

// addForks adds the tools about the fork.
func (s *Server) addForks() {
	add(s, forkDiffTool, s.forkDiff)
	add(s, forkDiscardTool, s.forkDiscard)
}

type forkDiffArgs struct {
	Table word `json:"table,omitempty" jsonschema:"only the changes of this table"`
	Skip  int  `json:"skip,omitempty" jsonschema:"leave out so many changes, to go on after a cut"`
}

var forkDiffTool = tool{name: "fork_diff", title: "What the fork changes", description: `
Shows what the tools have written to the fork so far: how its items differ from those of the database, which
they leave alone. The answer is JSON with a line for each item: its table and key, "was" with its attributes in
the database and "is" with those in the fork. An item that is new has no "was", one that is gone no "is", and of
one that changed they have only the attributes that differ. Use it to tell the user what a series of writes
would do.`}

func (s *Server) forkDiff(ctx context.Context, in forkDiffArgs) (answer string, err error) {
	err = s.read(func(d *side) error {
		if d == s.origin {
			return advice.New("write with put, update or delete first", "there is no fork: writes %s", s.writes(d))
		}
		names, err := d.tables(ctx)
		if err != nil {
			return err
		}
		before, err := s.origin.tables(ctx)
		if err != nil {
			return err
		}
		var lines list
		size, count := 0, 0
		show := func(line any) error {
			if count++; count <= in.Skip {
				return nil
			}
			raw, err := text.JSON(line)
			if size += len(raw); err == nil && size <= s.o.MaxAnswer {
				lines = append(lines, raw)
			}
			return err
		}
		for _, name := range names {
			if in.Table != "" && string(in.Table) != name {
				continue
			}
			if !slices.Contains(before, name) {
				if err := show(change{Table: name, Note: "the table is new, with all its items"}); err != nil {
					return err
				}
				continue
			}
			t, err := d.describe(ctx, name)
			if err != nil {
				return err
			}
			visit := func(was, is attr.Item) error { return show(changeOf(t, was, is)) }
			if err := inside.Service(d.db).Changes(ctx, inside.Service(s.o.DB), name, visit); err != nil {
				return err
			}
		}

		var o object
		o.add("changes", lines)
		o.add("count", count)
		if shown := max(in.Skip, 0) + len(lines); shown < count {
			o.add("note", fmt.Sprintf("cut here; for the rest call fork_diff again with skip: %d", shown))
		}
		answer, err = o.text()
		return err
	})
	return answer, err
}

// A change is one item that differs.
type change struct {
	Table string          `json:"table"`
	Key   json.RawMessage `json:"key,omitempty"`
	Was   json.RawMessage `json:"was,omitempty"`
	Is    json.RawMessage `json:"is,omitempty"`
	Note  string          `json:"note,omitempty"`
}

func changeOf(t *keyschema.Table, was, is attr.Item) change {
	c := change{Table: t.Name}
	for _, it := range []attr.Item{was, is} {
		if it != nil {
			c.Key = item.AppendPlain(nil, some(it, t.Key.Has))
		}
	}
	differs := func(name string) bool {
		return !t.Key.Has(name) && (was == nil || is == nil || !attr.Equal(was.Get(name), is.Get(name)))
	}
	if was != nil {
		c.Was = item.AppendPlain(nil, some(was, differs))
	}
	if is != nil {
		c.Is = item.AppendPlain(nil, some(is, differs))
	}
	return c
}

var forkDiscardTool = tool{name: "fork_discard", title: "Throw the fork away", effect: changes, description: `
Throws the fork away with everything that the tools have written to it. The tools then see the database as it
is, and the next write makes a new fork.`}

func (s *Server) forkDiscard(context.Context, noArgs) (string, error) {
	was, err := s.discard()
	switch {
	case err != nil:
		return "", err
	case !was:
		return "there was no fork\n", nil
	}
	return "the fork is gone; the tools see the database as it is\n", nil
}
