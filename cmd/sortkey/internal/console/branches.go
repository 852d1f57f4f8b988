package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
)

// A branch is a copy of the database in which a person tries writes.
type branch struct {
	N     int
	Name  string
	Since time.Time
	// base is the database as it was when the branch began. Writes on the branch go to work.
	base, work *sortkey.DB
	site       *Server
	pages      http.Handler // of the site
}

func (b *branch) close() error { return errors.Join(b.site.Close(), b.base.Close(), b.work.Close()) }

const maxBranches = 8 // at once

// fork begins a branch.
func (s *Server) fork() (*branch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.branches) == maxBranches {
		return nil, bad("there are %d branches already: discard one", maxBranches)
	}
	base, err := s.opts.DB.Fork()
	if err != nil {
		return nil, err
	}
	work, err := base.Fork() // of the same state as base
	if err != nil {
		return nil, errors.Join(err, base.Close())
	}
	s.begun++
	b := &branch{N: s.begun, Name: fmt.Sprintf("branch %d", s.begun), Since: time.Now(), base: base, work: work}
	b.site = New(Options{
		Target: explain.InProcess(work), Name: s.opts.Name, Models: s.opts.Models,
		Branch: b.Name,
	})
	b.pages = b.site.Handler()
	s.branches[b.N] = b
	return b, nil
}

// Close discards all branches.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undos = nil
	var errs []error
	for n, b := range s.branches {
		errs = append(errs, b.close())
		delete(s.branches, n)
	}
	return errors.Join(errs...)
}

// branch returns the branch whose number is in the path of the request.
func (s *Server) branch(r *http.Request) (*branch, error) {
	n, _ := strconv.Atoi(r.PathValue("n"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.branches[n]; b != nil {
		return b, nil
	}
	return nil, bad("there is no branch %s any more", r.PathValue("n"))
}

// takeBranch removes a branch from the list, so that no other request can use it. It returns an error if another
// request has already removed it.
func (s *Server) takeBranch(b *branch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.branches[b.N] != b {
		return bad("there is no branch %s any more", text.Quote(b.Name))
	}
	delete(s.branches, b.N)
	return nil
}

// handleBranches adds the handlers of branches to mux.
func (s *Server) handleBranches(mux *http.ServeMux) {
	of := func(do func(r *http.Request, b *branch) error) handler {
		return act(func(r *http.Request) (string, error) {
			b, err := s.branch(r)
			if err == nil {
				err = do(r, b)
			}
			return "branches", err
		})
	}
	mux.Handle("GET /branches", s.page(s.branchPage))
	mux.Handle("POST /branches", act(func(*http.Request) (string, error) {
		b, err := s.fork()
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("branch/%d/", b.N), nil
	}))
	mux.Handle("POST /branches/{n}/discard", of(func(_ *http.Request, b *branch) error {
		if err := s.takeBranch(b); err != nil {
			return err
		}
		return b.close()
	}))
	mux.Handle("POST /branches/{n}/keep", of(func(r *http.Request, b *branch) error {
		return s.keep(event.Quiet(r.Context()), b)
	}))
	mux.Handle("/branch/{n}/", handler(func(w http.ResponseWriter, r *http.Request) error {
		b, err := s.branch(r)
		if err == nil {
			http.StripPrefix(fmt.Sprintf("/branch/%d", b.N), b.pages).ServeHTTP(w, r)
		}
		return err
	}))
}

// A branchRow is a branch in the list of branches, with the changes that a person has made on it.
type branchRow struct {
	*branch
	Tables []tableChanges
	Total  int
}

// Began returns the time at which the branch began.
func (b branchRow) Began() string { return b.Since.Format("15:04:05") }

// tableChanges are the changes of a branch to one table.
type tableChanges struct {
	Table   string
	N       int
	Changes []changeRow // the first of them
	Other   string      // how the table itself has changed, or ""
}

// A changeRow is an item that a branch has changed, with its differences.
type changeRow struct {
	Sign, Key string
	Diffs     []difference
	More      int // number of differences beyond those in Diffs
}

// maxChanges is the number of changed items that a page shows for a table.
const maxChanges = 100

func (s *Server) branchPage(r *http.Request) (string, any, error) {
	s.mu.Lock()
	rows := []branchRow{}
	for _, b := range slices.SortedFunc(maps.Values(s.branches), func(a, b *branch) int { return a.N - b.N }) {
		rows = append(rows, branchRow{branch: b})
	}
	s.mu.Unlock()
	for i := range rows {
		row, b := &rows[i], rows[i].branch
		tables, err := b.tables(r.Context())
		if err != nil {
			return "", nil, err
		}

		for _, name := range tables {
			t, err := b.changes(r.Context(), name, func(attr.Item, attr.Item, *keyschema.Table) error { return nil })
			if err != nil {
				return "", nil, err
			}
			if t.N > 0 || t.Other != "" {
				row.Tables = append(row.Tables, t)
				row.Total += t.N
			}
		}
	}

	return "branches", rows, nil
}

// tables returns the names of all tables that exist on the branch, or existed when the branch began.
func (b *branch) tables(ctx context.Context) ([]string, error) {
	ctx = event.Quiet(ctx)
	was, err := b.base.Tables(ctx)
	if err != nil {
		return nil, err
	}
	is, err := b.work.Tables(ctx)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(was, is)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// The texts of a page about a branch that has created, deleted or replaced a table.
const (
	tableGone     = "the table is gone"
	tableNew      = "the table is new"
	tableOtherKey = "the table has another key"
)

// changes calls visit with each item that the branch has changed in a table. It returns the number of these items,
// and the first maxChanges of them in the form in which a page shows them.
func (b *branch) changes(
	ctx context.Context, name string, visit func(was, is attr.Item, t *keyschema.Table) error,
) (tableChanges, error) {
	out := tableChanges{Table: name}
	ctx = event.Quiet(ctx)
	t, err := describe(ctx, b.work, name)
	if err != nil {
		return out, err
	}
	if t == nil {
		out.Other = tableGone
		return out, nil
	}

	old, err := describe(ctx, b.base, name)
	if err != nil {
		return out, err
	}
	before := engine.Of(b.base).Service
	switch {
	case old == nil:
		out.Other, before = tableNew, nil
	case old.Key.String() != t.Key.String():
		out.Other = tableOtherKey
		return out, nil
	}
	err = engine.Of(b.work).Service.Changes(ctx, before, name, func(was, is attr.Item) error {
		if out.N++; out.N <= maxChanges {
			out.Changes = append(out.Changes, changeOf(t, was, is))
		}
		return visit(slices.Clone(was), slices.Clone(is), t)
	})
	return out, err
}

// describe returns a table of a database, or nil if the database has no such table.
func describe(ctx context.Context, db *sortkey.DB, name string) (*keyschema.Table, error) {
	t, err := explain.Describe(ctx, explain.InProcess(db), name)
	if refused, ok := errors.AsType[*explain.ServiceError](err); ok && refused.Code == "ResourceNotFoundException" {
		return nil, nil
	}
	return t, err
}

func changeOf(t *keyschema.Table, was, is attr.Item) changeRow {
	c := changeRow{Sign: "~"}
	key := is
	switch {
	case len(was) == 0:
		c.Sign = "+"
	case len(is) == 0:
		c.Sign, key = "−", was
	}

	c.Key = clip(valuesText(key, t.Key.Attributes()), maxKey)
	c.Diffs, c.More = differences(was, is, maxShown)
	return c
}

// names returns the names of the attributes of two items, sorted.
func names(a, b attr.Item) []string {
	var all []string
	for _, it := range []attr.Item{a, b} {
		for name := range it.All() {
			all = append(all, string(name))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// keep writes the changes of a branch to the database. It skips an item that somebody has changed in the database
// since the branch began. If keep has written all changes, it closes the branch. Otherwise it puts the branch with
// all its changes back into the list. No other request can use the branch while keep runs.
func (s *Server) keep(ctx context.Context, b *branch) (err error) {
	if err := s.takeBranch(b); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = b.close()
			return
		}
		s.mu.Lock()
		s.branches[b.N] = b
		s.mu.Unlock()
	}()

	tables, err := b.tables(ctx)
	if err != nil {
		return err
	}
	kept, moved, other := 0, 0, ""
	for _, name := range tables {
		t, err := b.changes(ctx, name, func(was, is attr.Item, t *keyschema.Table) error {
			err := s.atOnce(ctx, func(ctx context.Context) error { return s.apply(ctx, t, was, is) })
			_, failed := operation.Unmet(err)
			switch {
			case failed, errors.Is(err, errMoved):
				moved++
				return nil
			case err == nil:
				kept++
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%s kept, then: %w", text.Count(kept, "change"), err)
		}
		if t.Other != "" {
			other += "; table " + name + ": " + t.Other + ", which you make in the database yourself"
		}
	}
	if moved > 0 || other != "" {
		return bad(
			"%s kept, %s not, because somebody has changed the item since the branch began%s; they stay in the branch",
			text.Count(kept, "change"), text.Count(moved, "change"), other)
	}
	return nil
}

// apply changes an item of the database from was to is. If the item is already equal to is, apply does nothing. If it
// is equal to neither, apply returns errMoved.
func (s *Server) apply(ctx context.Context, t *keyschema.Table, was, is attr.Item) error {
	if len(was) == 0 {
		was = nil
	}
	if len(is) == 0 {
		is = nil
	}
	key := was
	if key == nil {
		key = is
	}

	now, err := s.read(ctx, t, keyOf(t, key))
	switch {
	case err != nil:
		return err
	case same(now, is):
		return nil
	case !same(now, was): // the condition of the write does not detect attributes that others have added
		return errMoved
	}
	in, err := s.writeOf(t, was, is)
	if err != nil {
		return err
	}
	_, err = operation.Send(ctx, s.opts.Target, in)
	return err
}
