package expr

import (
	"iter"

	"github.com/sortkey/sortkey/expr/ast"
)

// A Condition is a condition on an item: a condition, filter or key condition
// expression, or equivalent legacy parameters. It is immutable and safe for
// concurrent use. The nil Condition is true for every item.
type Condition struct {
	Root ast.Node
	// Param is the request parameter of the condition.
	Param Param
}

// Paths yields the document paths in the condition, in the order they are
// written. A path may occur more than once. The caller must not change paths.
func (c *Condition) Paths() iter.Seq[ast.Path] {
	return func(yield func(ast.Path) bool) {
		if c != nil {
			for o := range ast.Operands(c.Root) {
				if path, ok := o.(*ast.PathOperand); ok && !yield(path.Path) {
					return
				}
			}
		}
	}
}

// TopLevel yields the names of the top-level attributes in the condition, in
// the order they are written. A name may occur more than once.
func (c *Condition) TopLevel() iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range c.Paths() {
			if !yield(p[0].Name) {
				return
			}
		}
	}
}

// String returns the condition in the form of [Format], or "" for nil.
func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	return ast.Format(c.Root)
}
