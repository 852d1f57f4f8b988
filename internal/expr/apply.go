package expr

import (
	"sync"

	"github.com/sortkey/sortkey/internal/expr/ast"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/item/number"
)

// Errors of [Update.Apply], which depend on the item. Each is an [*Error].
// Source: dynalite, test/updateItem.js (captured).
var (
	// ErrPath means that the parent of a path does not exist in the item or is not a document.
	ErrPath error = &Error{Message: "The document path provided in the update expression is invalid for update"}
	// ErrMissing means that the update reads a path that the item does not have.
	ErrMissing error = &Error{
		Message: "The provided expression refers to an attribute that does not exist in the item",
	}
	// ErrOperand means that the item has a value of a kind that the update cannot use.
	ErrOperand error = &Error{Message: "An operand in the update expression has an incorrect data type"}
)

// Apply returns the item after the update: a new item that shares nothing with the old one. If the old item does not
// exist (the nil Item), the new one starts with the attributes of key, or is nil when the update does not create
// items. The error is an [*Error].
//
// Every right-hand side and every list index refers to the old item. Once Apply has processed an item of similar
// size, it allocates only the new item, unless it adds numbers of more than 18 digits.
func (u *Update) Apply(old, key attr.Item) (attr.Item, error) {
	if old.Len() == 0 {
		if !u.creates() {
			return nil, nil
		}
		old = key
	}
	if len(Actions(u)) == 0 {
		return item.AppendWith(nil, old, nil), nil
	}
	s := updaters.Get().(*updater)
	defer s.release()
	s.u, s.old = u, old
	if err := s.resolve(); err != nil {
		return nil, err
	}
	return item.AppendWith(nil, old, s.changes(u.touched.root.below, old, 0)), nil
}

// An updater holds the reusable state of one call of Apply.
type updater struct {
	u   *Update
	old attr.Item
	// values holds the new value at the path of each action; the zero Value removes the path.
	values []attr.Value
	levels [MaxPathSteps]struct {
		changes []item.Change
		elems   []item.ListChange
	}
	used int // number of levels used
	// bytes holds values that are neither in the old item nor in the request.
	// When it grows, earlier values stay in the previous array.
	bytes []byte
}

var updaters = sync.Pool{New: func() any { return new(updater) }}

func (s *updater) release() {
	for i := range s.levels[:s.used] {
		l := &s.levels[i]
		clear(l.changes[:cap(l.changes)])
		clear(l.elems[:cap(l.elems)])
	}
	clear(s.values[:cap(s.values)])
	s.u, s.old, s.used = nil, nil, 0
	s.values, s.bytes = s.values[:0], s.bytes[:0]
	if cap(s.bytes) <= maxScratchBytes {
		updaters.Put(s)
	}
}

// resolve computes the new value at the path of each action. It first evaluates
// all right-hand sides of SET and then processes action by action, checking
// that the path has a parent.
func (s *updater) resolve() error {
	for _, a := range s.u.actions {
		var v attr.Value
		if a.Clause == ast.SetClause {
			var err error
			if v, err = s.eval(a.Value); err != nil {
				return err
			}
		}
		s.values = append(s.values, v)
	}
	for i, a := range s.u.actions {
		path := a.Path.Path
		if !hasParent(s.old, path) {
			return ErrPath
		}
		var err error
		switch a.Clause {
		case ast.AddClause:
			s.values[i], err = s.add(path.Get(s.old), a.Value.(*ast.ValueOperand).Value)
		case ast.DeleteClause:
			s.values[i], err = s.delete(path.Get(s.old), a.Value.(*ast.ValueOperand).Value)
		}
		if err != nil {
			return err
		}
		if tooDeep(path, s.values[i]) {
			return &Error{Message: attr.ErrNesting.Error()}
		}
	}
	return nil
}

// hasParent reports whether the parent of the path exists and is a document of
// the right kind.
func hasParent(it attr.Item, path ast.Path) bool {
	last := len(path) - 1
	if last == 0 {
		return true
	}
	parent := path[:last].Get(it)
	if path[last].Name == "" {
		return parent.Kind() == attr.List
	}
	return parent.Kind() == attr.Map
}

// minLevelBytes is the least number of bytes that one level of nesting adds to a value: the head of a document, an
// offset and a kind. It lets tooDeep skip values that are too short to be nested too deeply.
const minLevelBytes = len(doc.Empty) + 2

// tooDeep reports whether a value at a path exceeds the deepest allowed level.
func tooDeep(path ast.Path, v attr.Value) bool {
	above := len(path) - 1
	return above+1+len(v.Raw())/minLevelBytes > attr.MaxNesting && above+item.Depth(v) > attr.MaxNesting && !v.IsZero()
}

// eval evaluates the right-hand side of a SET.
func (s *updater) eval(o ast.Operand) (attr.Value, error) {
	switch o := o.(type) {
	case *ast.ValueOperand:
		return o.Value, nil
	case *ast.PathOperand:
		if v := o.Path.Get(s.old); !v.IsZero() {
			return v, nil
		}
	case *ast.Arithmetic:
		return s.arithmetic(o)
	case *ast.Call:
		if o.Func == ast.ListAppend {
			return s.listAppend(o)
		}
		if path, ok := o.Args[0].(*ast.PathOperand); ok {
			if v := path.Path.Get(s.old); !v.IsZero() {
				return v, nil
			}
		}
		return s.eval(o.Args[1])
	}
	return attr.Value{}, ErrMissing
}

// evalKind is eval for an operand that must have a certain kind.
func (s *updater) evalKind(o ast.Operand, k attr.Kind) (attr.Value, error) {
	v, err := s.eval(o)
	if err == nil && v.Kind() != k {
		err = ErrOperand
	}
	return v, err
}

func (s *updater) arithmetic(o *ast.Arithmetic) (attr.Value, error) {
	l, err := s.evalKind(o.L, attr.Number)
	if err != nil {
		return attr.Value{}, err
	}
	r, err := s.evalKind(o.R, attr.Number)
	if err != nil {
		return attr.Value{}, err
	}
	return s.sum(l, r, o.Op == ast.Minus)
}

// sum returns l + r, or l - r if minus is set.
func (s *updater) sum(l, r attr.Value, minus bool) (attr.Value, error) {
	start := len(s.bytes)
	var msg string
	if s.bytes, msg = number.AppendSum(s.bytes, l.Raw(), r.Raw(), minus); msg != "" {
		return attr.Value{}, &Error{Message: msg}
	}
	return attr.MakeValue(attr.Number, s.bytes[start:]), nil
}

func (s *updater) listAppend(o *ast.Call) (attr.Value, error) {
	l, err := s.evalKind(o.Args[0], attr.List)
	if err != nil {
		return attr.Value{}, err
	}
	r, err := s.evalKind(o.Args[1], attr.List)
	if err != nil {
		return attr.Value{}, err
	}
	return s.concat(l, r), nil
}

func (s *updater) concat(l, r attr.Value) attr.Value {
	start := len(s.bytes)
	s.bytes = item.AppendConcat(s.bytes, l, r)
	return attr.MakeValue(attr.List, s.bytes[start:])
}

// add returns old with v added: it sums numbers, unites sets and joins lists. Only AttributeUpdates can add lists.
func (s *updater) add(old, v attr.Value) (attr.Value, error) {
	switch {
	case old.IsZero():
		return v, nil
	case old.Kind() != v.Kind():
		return attr.Value{}, ErrOperand
	case v.Kind() == attr.Number:
		return s.sum(old, v, false)
	case v.Kind() == attr.List:
		return s.concat(old, v), nil
	}
	start := len(s.bytes)
	s.bytes = item.AppendUnion(s.bytes, old, v)
	return attr.MakeValue(v.Kind(), s.bytes[start:]), nil
}

// delete returns the old set without the members of v, or the zero Value if
// none remain.
func (s *updater) delete(old, v attr.Value) (attr.Value, error) {
	if old.IsZero() {
		return attr.Value{}, nil
	}
	if old.Kind() != v.Kind() {
		return attr.Value{}, ErrOperand
	}
	start := len(s.bytes)
	var ok bool
	if s.bytes, ok = item.AppendDifference(s.bytes, old, v); !ok {
		return attr.Value{}, nil
	}
	return attr.MakeValue(v.Kind(), s.bytes[start:]), nil
}

// changes returns the changes that the branches make to the attributes of a map at the given depth.
func (s *updater) changes(below []branch, it attr.Item, depth int) []item.Change {
	s.used = max(s.used, depth+1)
	out := s.levels[depth].changes[:0]
	for i := range below {
		b := &below[i]
		out = append(out, item.Change{Name: b.step.Name, Value: s.changed(b, it.Get(b.step.Name), depth+1)})
	}
	s.levels[depth].changes = out
	return out
}

// changed returns the new value for v, the value at branch b.
func (s *updater) changed(b *branch, v attr.Value, depth int) attr.Value {
	if len(b.below) == 0 {
		return s.values[b.path]
	}
	if depth >= MaxPathSteps {
		return v
	}
	if b.below[0].step.Name != "" {
		changes := s.changes(b.below, v.Map(), depth)
		start := len(s.bytes)
		s.bytes = item.AppendWith(s.bytes, v.Map(), changes)
		return attr.MakeValue(attr.Map, s.bytes[start:])
	}

	s.used = max(s.used, depth+1)
	out := s.levels[depth].elems[:0]
	for i := range b.below {
		e := &b.below[i]
		out = append(out, item.ListChange{Index: e.step.Index, Value: s.changed(e, v.Index(e.step.Index), depth+1)})
	}
	s.levels[depth].elems = out
	start := len(s.bytes)
	s.bytes = item.AppendListWith(s.bytes, v, out)
	return attr.MakeValue(attr.List, s.bytes[start:])
}
