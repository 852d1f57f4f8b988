package expr

import (
	"iter"
	"reflect"

	"github.com/sortkey/sortkey/internal/expr/ast"
)

// A Condition is a condition on an item: a condition, filter or key condition
// expression. It is immutable and safe for concurrent use. The nil Condition and the zero Condition are
// true for every item.
type Condition struct{ tree ast.Node }

// NewCondition returns the condition of a tree, which nobody may change afterwards. It returns nil for a nil tree.
// For a tree that [ParseCondition] cannot return, Match is lenient: a comparison with a nil operand is false, for
// example, and a condition with a nil pointer, such as a nil [*ast.And], is false for every item. Match recurses once
// for each level, so bound the depth of trees that you build.
func NewCondition(tree ast.Node) *Condition {
	if tree == nil {
		return nil
	}
	for n := range ast.Nodes(tree) {
		if isNil(n) {
			return &Condition{&ast.Or{}}
		}
	}
	for o := range ast.Operands(tree) {
		if isNil(o) {
			return &Condition{&ast.Or{}}
		}
	}
	return &Condition{tree}
}

// isNil reports whether an interface holds a nil pointer.
func isNil(v any) bool {
	of := reflect.ValueOf(v)
	return of.Kind() == reflect.Pointer && of.IsNil()
}

// Node returns the tree of a condition, nil for the nil Condition. The caller must not change it.
func Node(c *Condition) ast.Node {
	if c == nil {
		return nil
	}
	return c.tree
}

// A tree is a parsed expression: a [Condition], a [Projection] or an [Update]. Methods of these types are part of the
// public API, by the aliases in package expr. So [Node], [Actions] and [Paths], which return internal types, are
// functions instead.
type tree interface {
	paths() iter.Seq[ast.Path]
	topLevel() iter.Seq[string]
}

// Paths yields the document paths in an expression in the order in which they are written, including those that an
// update only reads. It may yield a path more than once. The caller must not change paths.
func Paths(t tree) iter.Seq[ast.Path] { return t.paths() }

// TopLevel yields names of top-level attributes. For a condition, it yields all names in the order in which they are
// written, perhaps more than once. For a projection or an update, it yields each name once, in byte order. Of an
// update, it yields only the attributes that the update changes.
func TopLevel(t tree) iter.Seq[string] { return t.topLevel() }

func (c *Condition) paths() iter.Seq[ast.Path] {
	return func(yield func(ast.Path) bool) {
		if c != nil {
			for o := range ast.Operands(c.tree) {
				path, ok := o.(*ast.PathOperand)
				if ok && len(path.Path) > 0 && !yield(path.Path) {
					return
				}
			}
		}
	}
}

func (c *Condition) topLevel() iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range c.paths() {
			if !yield(p[0].Name) {
				return
			}
		}
	}
}

// String returns the condition in the form of [ast.Format], or "" for nil.
func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	return ast.Format(c.tree)
}
