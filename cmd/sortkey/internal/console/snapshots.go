package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/sdk"
)

// A moment is the database as it was, kept under a name while the program runs.
type moment struct {
	N     int
	Name  string
	Since time.Time
	db    *sortkey.DB
	undo  bool // from before a restore; the next restore replaces it
}

const (
	maxMoments   = 8  // that people have taken
	maxGivenName = 60 // characters of the name of a branch or a snapshot
	batchWrites  = 25
)

// givenName returns the name that somebody gives a branch or a snapshot.
func givenName(kind, name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", bad("give the %s a name", kind)
	case utf8.RuneCountInString(name) > maxGivenName || text.Visible(name) != name:
		return "", bad("the name of a %s has at most %d visible characters", kind, maxGivenName)
	}
	return name, nil
}

// take keeps the database as it is now.
func (s *Server) take(name string) error {
	name, err := givenName("snapshot", name)
	if err != nil {
		return err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	taken := 0
	for _, m := range s.moments {
		if m.Name == name {
			return bad("there is a snapshot %s already", text.Quote(name))
		}
		if !m.undo {
			taken++
		}
	}

	if taken == maxMoments {
		return bad("there are %d snapshots already: drop one", maxMoments)
	}
	db, err := s.opts.DB.Fork()
	if err != nil {
		return err
	}

	s.keepMoment(&moment{Name: name, db: db})
	return nil
}

// keepMoment adds a snapshot to the list. The caller holds s.mu.
func (s *Server) keepMoment(m *moment) {
	s.takenMoments++
	m.N, m.Since = s.takenMoments, time.Now()
	s.moments[m.N] = m
}

// takeMoment removes the snapshot with the number in the path from the list, so that only one request has it.
func (s *Server) takeMoment(r *http.Request) (*moment, error) {
	n, _ := strconv.Atoi(r.PathValue("n"))
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.moments[n]
	if m == nil {
		return nil, bad("there is no snapshot %s any more", text.Quote(r.PathValue("n")))
	}
	delete(s.moments, n)
	return m, nil
}

// handleSnapshots adds the actions on snapshots.
func (s *Server) handleSnapshots(mux *http.ServeMux) {
	act(mux, "/snapshots", func(r *http.Request) (string, error) { return "branches", s.take(r.FormValue("name")) })
	act(mux, "/snapshots/{n}/drop", func(r *http.Request) (string, error) {
		m, err := s.takeMoment(r)
		if err != nil {
			return "", err
		}
		s.restoring.Lock()
		defer s.restoring.Unlock()
		return "branches", m.db.Close()
	})
	act(mux, "/snapshots/{n}/restore", func(r *http.Request) (string, error) {
		m, err := s.takeMoment(r)
		if err != nil {
			return "", err
		}
		err = s.restore(event.Quiet(r.Context()), m)
		if err == nil && m.undo { // the new one has taken its place
			return "branches", m.db.Close()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.moments[m.N] = m
		return "branches", err
	})
}

// restore makes the database what it was at a moment. It keeps the database as it is now, to undo that.
func (s *Server) restore(ctx context.Context, m *moment) error {
	s.restoring.Lock()
	defer s.restoring.Unlock()

	db, err := s.opts.DB.Fork()
	if err != nil {
		return err
	}
	now := &moment{Name: "before the last restore", db: db, undo: true}
	s.mu.Lock()
	var errs []error
	for n, old := range s.moments {
		if old.undo {
			delete(s.moments, n)
			errs = append(errs, old.db.Close())
		}
	}
	s.keepMoment(now)
	s.mu.Unlock()
	if err := errors.Join(errs...); err != nil {
		return err
	}

	w := &rewriter{s: s, then: m.db}
	since := &branch{base: m.db, work: now.db}
	tables, err := since.tables(ctx)
	if err != nil {
		return err
	}
	for _, name := range tables {
		if err := w.table(ctx, since, name); err != nil {
			return fmt.Errorf("%s brought back, then table %s: %w", text.Count(w.n, "item"), name, err)
		}
	}
	return nil
}

// A rewriter brings a database back to what it was.
type rewriter struct {
	s     *Server
	then  *sortkey.DB
	n     int
	batch []types.WriteRequest
}

// table brings back one table.
func (w *rewriter) table(ctx context.Context, since *branch, name string) error {
	client := w.s.opts.Client
	then, err := describe(ctx, w.then, name)
	if err != nil {
		return err
	}
	if then == nil { // it is new
		_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
		return err
	}

	is, err := describe(ctx, since.work, name)
	if err != nil {
		return err
	}
	anew := is == nil || keyText(is.Key) != keyText(then.Key)
	if !anew { // before the items, which indexes can refuse
		same, err := w.define(ctx, name)
		if err != nil {
			return err
		}
		anew = !same
	}
	if !anew {
		_, err := since.changes(ctx, name, func(was, is attr.Item, t *keyschema.Table) error {
			return w.write(ctx, t, was, is)
		})
		if err != nil {
			return err
		}
		return w.flush(ctx, name)
	}

	if is != nil {
		if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			return err
		}
	}

	if err := w.create(ctx, name); err != nil {
		return err
	}
	err = inside.Service(w.then).Changes(ctx, nil, name, func(_, it attr.Item) error {
		return w.write(ctx, then, slices.Clone(it), nil)
	})
	if err != nil {
		return err
	}
	return w.flush(ctx, name)
}

// create makes a table as it was, without items.
func (w *rewriter) create(ctx context.Context, name string) error {
	then, err := definitionOf(ctx, sdk.Client(w.then), name)
	if err != nil {
		return err
	}
	made, err := w.s.opts.Client.CreateTable(ctx, then.schema.CreateTable(name))
	if err != nil {
		return err
	}
	return w.settings(ctx, name, then, &definition{arn: made.TableDescription.TableArn})
}

// write brings back one item.
func (w *rewriter) write(ctx context.Context, t *keyschema.Table, was, is attr.Item) error {
	one := types.WriteRequest{PutRequest: &types.PutRequest{Item: sdkvalue.Of(was)}}
	if len(was) == 0 {
		one = types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: sdkvalue.Of(keyOf(t, is))}}
	}
	if w.batch = append(w.batch, one); len(w.batch) < batchWrites {
		return nil
	}
	return w.flush(ctx, t.Name)
}

// flush sends the batch.
func (w *rewriter) flush(ctx context.Context, name string) error {
	if len(w.batch) == 0 {
		return nil
	}
	all := map[string][]types.WriteRequest{name: w.batch}
	for len(all) > 0 {
		out, err := w.s.opts.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: all})
		if err != nil {
			return err
		}
		all = out.UnprocessedItems
	}
	w.n += len(w.batch)
	w.batch = nil
	return nil
}

// A momentRow is a snapshot in the list.
type momentRow struct {
	*moment
	Differs string // what has changed since, in words
}

// Began says when the snapshot was taken.
func (m momentRow) Began() string { return m.Since.Format("15:04:05") }

// momentRows returns the snapshots, with what has changed since.
func (s *Server) momentRows(ctx context.Context) (rows []momentRow, err error) {
	s.mu.Lock()
	all := slices.SortedFunc(maps.Values(s.moments), func(a, b *moment) int { return a.N - b.N })
	s.mu.Unlock()
	for _, m := range all {
		since := &branch{base: m.db, work: s.opts.DB}
		tables, err := since.tables(ctx)
		if err != nil {
			return nil, err
		}

		n, others := 0, []string{}
		for _, name := range tables {
			t, err := since.changes(ctx, name, func(attr.Item, attr.Item, *keyschema.Table) error { return nil })
			if err != nil {
				return nil, err
			}
			n += t.N
			if t.Other != "" {
				others = append(others, name+": "+t.Other)
			}
		}

		row := momentRow{moment: m, Differs: text.Count(n, "item") + " changed since"}
		if len(others) > 0 {
			row.Differs += "; " + strings.Join(others, "; ")
		}
		rows = append(rows, row)
	}
	return rows, nil
}
