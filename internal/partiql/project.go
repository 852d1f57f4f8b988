package partiql

import (
	"iter"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// Selected yields the paths that a SELECT returns. For SELECT * it yields none.
func (s *Statement) Selected() iter.Seq[ast.Path] {
	return func(yield func(ast.Path) bool) {
		for _, o := range s.Paths {
			if !yield(o.Path) {
				return
			}
		}
	}
}

// AppendResult appends the JSON of what a SELECT returns for an item. The result has the value at each path under the
// name of the path's last step. Source: conformance executeStatement, "SELECT with nested map path".
func (s *Statement) AppendResult(dst []byte, it attr.Item) []byte {
	if s.Paths == nil {
		return append(dst, it...)
	}
	var b attr.Builder
	for _, path := range s.Paths {
		b.Add(resultName(path.Path), path.Path.Get(it))
	}
	return b.AppendItem(dst)
}

// resultName returns the name that the value at a path has in the result: the last name in the path, with the indexes
// that follow it.
func resultName(path ast.Path) string {
	name := ""
	for _, step := range path {
		if step.Name != "" {
			name = step.Name
		} else {
			name += "[" + strconv.Itoa(step.Index) + "]"
		}
	}
	return name
}
