package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// An undo is a change that a page has made, with what its items were and became. Taking it back writes an item only if
// it is exactly as the change left it.
type undo struct {
	N     int
	Since time.Time
	table string
	what  string // was done, such as "put" or "deleted"
	steps []step
	// refused are the steps that a run of the undo could not take back, the last first: another run may.
	refused []step
	bytes   int // of the items of all steps, with those that were refused
}

// A step is what a change made of one item. An item that is not there is nil.
type step struct{ was, is attr.Item }

func (s step) bytes() int { return len(s.was) + len(s.is) }

// item returns the item as the change left it or, if that deleted it, as it was.
func (s step) item() attr.Item {
	if s.is == nil {
		return s.was
	}
	return s.is
}

// What is kept to be undone, in the memory of this program.
const (
	maxUndos  = 20
	undoBytes = 32 << 20 // of all items
	undoTime  = 15 * time.Minute
)

// tooLarge is the number of a change that cannot be undone, as its items take more than undoBytes, or as it was
// forgotten before it ended.
const tooLarge = -1

// remember keeps what a change has done, so that it can be undone, and returns its number. N is 0 for a change that
// begins, and otherwise the number that the change has already.
func (s *Server) remember(n int, table, what string, steps ...step) int {
	if n == tooLarge || len(steps) == 0 {
		return n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	i := slices.IndexFunc(s.undos, func(u *undo) bool { return u.N == n && u.table == table })
	switch {
	case n != 0 && i < 0:
		return tooLarge
	case n == 0:
		s.changes++
		s.undos = append(s.undos, &undo{N: s.changes, Since: time.Now(), table: table, what: what})
		s.forgetLater()
	}
	if n == 0 {
		i = len(s.undos) - 1
	}

	u := s.undos[i]
	for _, one := range steps { // what was read may keep other rows in memory
		u.steps = append(u.steps, step{slices.Clone(one.was), slices.Clone(one.is)})
		u.bytes += one.bytes()
	}
	s.forget()
	if !slices.Contains(s.undos, u) {
		return tooLarge
	}
	return u.N
}

// forgetLater has the changes forgotten in time, also if nobody loads a page. The caller holds s.mu.
func (s *Server) forgetLater() {
	if s.forgetting || len(s.undos) == 0 {
		return
	}
	s.forgetting = true
	time.AfterFunc(time.Minute, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forgetting = false
		s.forget()
		s.forgetLater()
	})
}

// forget drops changes that are too large themselves, then the oldest, until the others are within the bounds. The
// caller holds s.mu.
func (s *Server) forget() {
	s.undos = slices.DeleteFunc(s.undos, func(u *undo) bool { return u.bytes > undoBytes })
	bytes := 0
	for _, u := range s.undos {
		bytes += u.bytes
	}
	for len(s.undos) > 0 {
		oldest := s.undos[0]
		if len(s.undos) <= maxUndos && bytes <= undoBytes && time.Since(oldest.Since) <= undoTime {
			return
		}
		bytes -= oldest.bytes
		s.undos = slices.Delete(s.undos, 0, 1)
	}
}

// forks reports whether a change can be made on a branch in place of the database.
func (s *Server) forks() bool {
	if s.opts.DB == nil {
		return false
	}
	_, ok := inside.Store(s.opts.DB).(store.Forker)
	return ok
}

// An undoRow is a change that can be undone, in the list of a page.
type undoRow struct {
	N        int
	At, What string
}

// undoRows returns the changes to a table that can be undone, the last first: those of one item if its key is not nil.
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

// An undoResult says what became of a part of an undo.
type undoResult struct {
	Undone  int       `json:"undone"`
	Refused []refusal `json:"refused"`
	Left    int       `json:"left"` // items to go on with
}

// undo takes back the last items of a change: as many as one request of a page changes.
func (s *Server) undo(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("n"))
	out, err := s.takeBack(r.Context(), n)
	if err != nil {
		fail(w, &badRequest{err})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

// errUndone is the reason why there is nothing to undo.
var errUndone = fmt.Errorf(
	"there is nothing to undo: the change is undone already, or was forgotten after %d minutes or %d further changes",
	int(undoTime.Minutes()), maxUndos,
)

func (s *Server) takeBack(ctx context.Context, n int) (*undoResult, error) {
	s.mu.Lock()
	u := s.findUndo(n)
	s.mu.Unlock()
	if u == nil {
		return nil, errUndone
	}
	t, err := explain.Describe(ctx, s.opts.Target, u.table)
	if err != nil {
		return nil, fmt.Errorf("the change cannot be undone: %w", err)
	}
	steps := s.takeSteps(n)
	if steps == nil {
		return nil, errUndone
	}
	if !hasKey(t, steps[0].item()) {
		s.giveBack(u, steps)
		return nil, fmt.Errorf("the change cannot be undone: table %s has another key now", u.table)
	}

	out := &undoResult{Refused: []refusal{}}
	var refused []step
	for i, one := range steps {
		err := s.atOnce(ctx, func(ctx context.Context) error { return s.apply(ctx, t, one.is, one.was) })
		if ctx.Err() != nil { // this one is undone, or can be like the rest
			s.giveBack(u, steps[i:])
			s.retry(u, refused)
			return nil, context.Cause(ctx)
		}
		_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
		switch {
		case err == nil:
			out.Undone++
			continue
		case failed, errors.Is(err, errMoved):
			err = errors.New("somebody has changed it since")
		}
		refused = append(refused, one)
		out.Refused = append(out.Refused, refusal{
			clip(valuesText(one.item(), t.Key.Attributes()), maxKey), clip(text.Visible(message(err)), 4*maxKey),
		})
	}

	out.Left = s.retry(u, refused)
	return out, nil
}

// hasKey reports whether an item has a key of a table, which may have been created again with another one.
func hasKey(t *keyschema.Table, it attr.Item) bool {
	return !slices.ContainsFunc(t.Key.Attributes(), func(a keycond.Attribute) bool {
		return it.Get(a.Name).Kind() != a.Kind
	})
}

// retry keeps the steps of a change that were refused, and returns how many this run of the undo has yet to try.
// When none are left, the refused steps become a change with its own number, so that they can be undone later: after
// a newer change of the same items has been undone, or when the server answers again.
func (s *Server) retry(u *undo, refused []step) (left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range refused {
		u.refused = append(u.refused, one)
		u.bytes += one.bytes()
	}
	if left = len(u.steps); left > 0 || len(u.refused) == 0 {
		return left
	}
	s.changes++
	u.N, u.steps, u.refused = s.changes, u.refused, nil
	slices.Reverse(u.steps)
	s.insert(u)
	return 0
}

// insert adds a change to the others by its age, unless it is there. The caller holds s.mu.
func (s *Server) insert(u *undo) {
	if !slices.Contains(s.undos, u) {
		i := slices.IndexFunc(s.undos, func(other *undo) bool { return other.Since.After(u.Since) })
		if i < 0 {
			i = len(s.undos)
		}
		s.undos = slices.Insert(s.undos, i, u)
	}
	s.forget()
	s.forgetLater()
}

// findUndo returns a change that can be undone, or nil. The caller holds s.mu.
func (s *Server) findUndo(n int) *undo {
	s.forget()
	if i := slices.IndexFunc(s.undos, func(u *undo) bool { return u.N == n }); i >= 0 {
		return s.undos[i]
	}
	return nil
}

// takeSteps removes the last steps of a change, which only one request gets, and returns them, the last first.
func (s *Server) takeSteps(n int) []step {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.findUndo(n)
	if u == nil {
		return nil
	}
	from := max(len(u.steps)-mostBulk, 0)
	steps := slices.Clone(u.steps[from:])
	u.steps = slices.Delete(u.steps, from, len(u.steps))
	for _, one := range steps {
		u.bytes -= one.bytes()
	}
	if from == 0 {
		s.undos = slices.DeleteFunc(s.undos, func(other *undo) bool { return other == u })
	}
	slices.Reverse(steps)
	return steps
}

// giveBack adds steps to a change again that were taken, the last first.
func (s *Server) giveBack(u *undo, steps []step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range slices.Backward(steps) {
		u.steps = append(u.steps, one)
		u.bytes += one.bytes()
	}
	s.insert(u)
}
