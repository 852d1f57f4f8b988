package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/store"
)

// An undo is a change that a page has made and that a person can undo. It has the items before and after the change.
// Undoing the change restores an item only if the item is still equal to the item after the change.
type undo struct {
	N     int
	Since time.Time
	table string
	id    string // of the table
	what  string // what the change has done, such as "put" or "deleted"
	steps []step
}

// bytes returns the size of the items of all steps.
func (u *undo) bytes() (n int) {
	for _, one := range u.steps {
		n += len(one.was) + len(one.is)
	}
	return n
}

// A step is the change of one item, from was to is. An item that does not exist is nil.
type step struct{ was, is attr.Item }

// item returns the item after the change. If the change deleted the item, it returns the item before.
func (s step) item() attr.Item {
	if s.is == nil {
		return s.was
	}
	return s.is
}

// The bounds of the changes that the server keeps for undo.
const (
	maxUndos  = 20
	undoBytes = 32 << 20 // of all items
	undoTime  = 15 * time.Minute
)

// tooLarge takes the place of the number of a change that a person cannot undo, because its items take more than
// undoBytes.
const tooLarge = -1

// remember keeps a change for undo and returns its number. It returns 0 if there are no steps, and tooLarge if the
// items of the steps take more than undoBytes.
func (s *Server) remember(table, id, what string, steps ...step) int {
	if len(steps) == 0 {
		return 0
	}
	u := &undo{Since: time.Now(), table: table, id: id, what: what}
	for _, one := range steps { // clone, because an item may share memory with a whole page of rows
		u.steps = append(u.steps, step{slices.Clone(one.was), slices.Clone(one.is)})
	}
	if u.bytes() > undoBytes {
		return tooLarge
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	u.N = s.changes
	s.undos = append(s.undos, u)
	s.forget()
	return u.N
}

// forget drops the oldest changes until the remaining ones are within the bounds for undo. The caller holds s.mu.
func (s *Server) forget() {
	bytes := 0
	for _, u := range s.undos {
		bytes += u.bytes()
	}
	for len(s.undos) > 0 {
		oldest := s.undos[0]
		if len(s.undos) <= maxUndos && bytes <= undoBytes && time.Since(oldest.Since) < undoTime {
			return
		}
		bytes -= oldest.bytes()
		s.undos = slices.Delete(s.undos, 0, 1)
	}
}

// forks reports whether the database can have branches.
func (s *Server) forks() bool {
	if s.opts.DB == nil {
		return false
	}
	_, ok := engine.Of(s.opts.DB).Store.(store.Forker)
	return ok
}

// An undoRow is a change in the list of changes that a person can undo.
type undoRow struct {
	N        int
	At, What string
}

// undoRows returns the changes to a table that can be undone, the newest first. If key is not nil, it returns only
// changes to that item.
func (s *Server) undoRows(t *keyschema.Table, key attr.Item) (rows []undoRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	for _, u := range slices.Backward(s.undos) {
		about := func(one step) bool { return keyOf(t, one.item()).Equal(key) }
		if u.table == t.Name && (key == nil || slices.ContainsFunc(u.steps, about)) {
			what := u.what + " " + text.Count(len(u.steps), "item")
			rows = append(rows, undoRow{u.N, u.Since.Format("15:04:05"), clip(what, maxKey)})
		}
	}
	return rows
}

// An undoResult says how many items an undo has restored, and which items it could not restore.
type undoResult struct {
	Undone  int       `json:"undone"`
	Refused []refusal `json:"refused"`
}

// undo takes a change back.
func (s *Server) undo(w http.ResponseWriter, r *http.Request) error {
	n, _ := strconv.Atoi(r.FormValue("n"))
	out, err := s.takeBack(r.Context(), n)
	if err != nil {
		return &badRequest{err}
	}
	return replyJSON(w, out)
}

// errUndone is the error for the number of a change that is not in the list of changes to undo.
var errUndone = fmt.Errorf(
	"there is nothing to undo: the change is undone already, or was forgotten after %d minutes or %d further changes",
	int(undoTime.Minutes()), maxUndos,
)

// takeBack undoes a change, the last item first. If it cannot restore some items, the change stays in the list with
// only these items. A person can then undo it again, for example after undoing a newer change of the same items, or
// when the server answers again.
func (s *Server) takeBack(ctx context.Context, n int) (*undoResult, error) {
	u := s.takeUndo(n)
	if u == nil {
		return nil, errUndone
	}
	defer s.putUndo(u)
	t, err := explain.Describe(ctx, s.opts.Target, u.table)
	if err != nil {
		return nil, fmt.Errorf("the change cannot be undone: %w", err)
	}
	id, err := s.tableID(ctx, u.table)
	if err != nil {
		return nil, fmt.Errorf("the change cannot be undone: %w", err)
	}
	if id != u.id || !hasKey(t, u.steps[0].item()) { // some servers give tables no ID, so compare the key too
		return nil, fmt.Errorf("the change cannot be undone: table %s was deleted and created again since", u.table)
	}

	out := &undoResult{Refused: []refusal{}}
	for i, one := range slices.Backward(u.steps) {
		err := s.atOnce(ctx, func(ctx context.Context) error { return s.apply(ctx, t, one.is, one.was) })
		_, failed := operation.Unmet(err)
		switch {
		case ctx.Err() != nil: // the change stays in the list; it does no harm to undo this item again
			return nil, context.Cause(ctx)
		case err == nil:
			u.steps = slices.Delete(u.steps, i, i+1)
			out.Undone++
			continue
		case failed, errors.Is(err, errMoved):
			err = errors.New("somebody has changed it since")
		}
		out.Refused = append(out.Refused, refusalOf(t, one.item(), err))
	}
	return out, nil
}

// tableID returns the ID of a table. If somebody deletes the table and creates it again, the new table has another
// ID.
func (s *Server) tableID(ctx context.Context, name string) (string, error) {
	d, err := s.description(ctx, name)
	if err != nil {
		return "", err
	}
	return aws.ToString(d.TableId), nil
}

// takeUndo removes a change from the list and returns it, so that no other request can undo it at the same time. It
// returns nil if the change is not in the list.
func (s *Server) takeUndo(n int) *undo {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	i := slices.IndexFunc(s.undos, func(u *undo) bool { return u.N == n })
	if i < 0 {
		return nil
	}
	u := s.undos[i]
	s.undos = slices.Delete(s.undos, i, i+1)
	return u
}

// putUndo puts a change back into the list, unless it has no steps left.
func (s *Server) putUndo(u *undo) {
	if len(u.steps) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undos = append(s.undos, u)
	slices.SortFunc(s.undos, func(a, b *undo) int { return a.N - b.N })
	s.forget()
}
