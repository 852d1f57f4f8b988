package expr

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/internal/expr/ast"

	"github.com/sortkey/sortkey/attr"
)

// A Projection selects parts of an item: a projection expression, or whole attributes. It is immutable and safe for
// concurrent use. The nil Projection selects the whole item.
type Projection struct {
	// parts are the selected paths, in the order of the expression.
	parts []ast.Path
	root  branch
}

// A branch is an attribute or a list element on the path of a projection or an update. Its child branches are sorted
// by step. A branch without children is the end of a path and stands for all that is below it.
type branch struct {
	step ast.Step
	// the index of the path that ends here, for a branch without children
	path  int
	below []branch
}

// Attributes returns the projection of whole top-level attributes. Repeated names count once.
func Attributes(names []string) *Projection {
	paths := make([]ast.Path, len(names))
	for i, n := range names {
		paths[i] = ast.Path{{Name: n}}
	}
	return newProjection(paths)
}

// newProjection returns the projection of paths. They must not conflict, and
// only equal paths may overlap.
func newProjection(paths []ast.Path) *Projection {
	p := new(Projection)
	p.init(paths, nil)
	return p
}

// init makes p the projection that [newProjection] returns. Buf is initial memory of the branches.
func (p *Projection) init(paths []ast.Path, buf []branch) {
	order := make([]int, len(paths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return comparePaths(paths[i], paths[j]) })
	*p = Projection{parts: paths, root: branch{below: grow(buf, paths, order, 0)}}
}

// grow appends the branches for the steps at depth. Order lists the indexes of the paths, sorted by path. All of
// these paths have the same steps before depth.
func grow(out []branch, paths []ast.Path, order []int, depth int) []branch {
	for i := 0; i < len(order); {
		path := paths[order[i]]
		if len(path) <= depth {
			i++
			continue
		}
		j := i + 1
		for j < len(order) && len(paths[order[j]]) > depth && paths[order[j]][depth] == path[depth] {
			j++
		}
		out = append(out, branch{path[depth], order[i], grow(nil, paths, order[i:j], depth+1)})
		i = j
	}
	return out
}

func comparePaths(a, b ast.Path) int {
	return slices.CompareFunc(a, b, func(s, t ast.Step) int {
		return cmp.Or(cmp.Compare(s.Name, t.Name), cmp.Compare(s.Index, t.Index))
	})
}

func (p *Projection) paths() iter.Seq[ast.Path] {
	if p == nil {
		return slices.Values[[]ast.Path](nil)
	}
	return slices.Values(p.parts)
}

func (p *Projection) topLevel() iter.Seq[string] {
	return func(yield func(string) bool) {
		if p == nil {
			return
		}
		for _, b := range p.root.below {
			if !yield(b.step.Name) {
				return
			}
		}
	}
}

// Append appends to dst a new item with the projected parts of it, and returns the extended dst. It omits parts that
// the item does not have, closes gaps in lists, and does not add key attributes. Once it has processed an item of
// similar size, it allocates only to grow dst.
func (p *Projection) Append(dst []byte, it attr.Item) []byte {
	if p == nil && it.Len() > 0 {
		return append(dst, it...)
	}
	s := scratches.Get().(*scratch)
	defer s.release()
	b := s.builder(0)
	switch {
	case p == nil:
	case it.Len() < len(p.root.below): // look up the names of the item, because they are fewer
		for name, v := range it.All() {
			i, ok := slices.BinarySearchFunc(p.root.below, name, func(br branch, name []byte) int {
				return strings.Compare(br.step.Name, string(name))
			})
			if ok {
				br := &p.root.below[i]
				b.Add(br.step.Name, s.project(br, v, 1))
			}
		}
	default:
		for i := range p.root.below {
			br := &p.root.below[i]
			b.Add(br.step.Name, s.project(br, it.Get(br.step.Name), 1))
		}
	}

	return b.AppendItem(dst)
}

// scratch is reusable memory of one projection.
type scratch struct {
	levels [MaxPathSteps]struct {
		builder attr.Builder
		elems   []attr.Value
	}
	used int // number of levels used
	// bytes holds the documents between the top and the leaves. When it grows,
	// earlier documents stay in the previous array.
	bytes []byte
}

// maxScratchBytes limits the memory that pools keep.
const maxScratchBytes = 1 << 20

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) release() {
	for i := range s.levels[:s.used] {
		l := &s.levels[i]
		l.builder.Reset()
		clear(l.elems[:cap(l.elems)])
	}
	s.used = 0
	s.bytes = s.bytes[:0]
	if cap(s.bytes) <= maxScratchBytes {
		scratches.Put(s)
	}
}

// builder returns an empty builder for documents at depth.
func (s *scratch) builder(depth int) *attr.Builder {
	s.used = max(s.used, depth+1)
	b := &s.levels[depth].builder
	b.Reset()
	return b
}

// project returns the part of v that br selects, or the zero Value if v does not have it. v is at depth.
func (s *scratch) project(br *branch, v attr.Value, depth int) attr.Value {
	switch {
	case len(br.below) == 0 || v.IsZero():
		return v
	case depth >= MaxPathSteps:
		return attr.Value{}
	case br.below[0].step.Name == "":
		return s.projectList(br, v, depth)
	}
	return s.projectMap(br, v, depth)
}

func (s *scratch) projectMap(br *branch, v attr.Value, depth int) attr.Value {
	m := v.Map()
	if m == nil {
		return attr.Value{}
	}
	b := s.builder(depth)
	for i := range br.below {
		sub := &br.below[i]
		b.Add(sub.step.Name, s.project(sub, m.Get(sub.step.Name), depth+1))
	}
	if b.Len() == 0 {
		return attr.Value{}
	}
	start := len(s.bytes)
	s.bytes = b.AppendItem(s.bytes)
	return attr.MakeValue(attr.Map, s.bytes[start:])
}

func (s *scratch) projectList(br *branch, v attr.Value, depth int) attr.Value {
	if v.Kind() != attr.List {
		return attr.Value{}
	}
	s.used = max(s.used, depth+1)
	elems := s.levels[depth].elems[:0]
	for i := range br.below {
		sub := &br.below[i]
		if e := s.project(sub, v.Index(sub.step.Index), depth+1); !e.IsZero() {
			elems = append(elems, e)
		}
	}
	s.levels[depth].elems = elems
	if len(elems) == 0 {
		return attr.Value{}
	}
	start := len(s.bytes)
	s.bytes = attr.AppendList(s.bytes, elems)
	return attr.MakeValue(attr.List, s.bytes[start:])
}
