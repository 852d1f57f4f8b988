package expr

import "github.com/sortkey/sortkey/internal/expr/ast"

// A nodeBlock holds the nodes of a typical expression in a single allocation.
// Further nodes are allocated one by one.
type nodeBlock struct {
	condition Condition
	paths     [2]onePath
	values    [3]ast.ValueOperand
	compares  [2]ast.Compare
	betweens  [1]ast.Between
	ands      [1]ast.And
}

// allocate allocates a nodeBlock for p.
func (p *parser) allocate() *nodeBlock {
	b := new(nodeBlock)
	p.spare = spareNodes{
		paths: b.paths[:], values: b.values[:], compares: b.compares[:], betweens: b.betweens[:], ands: b.ands[:],
	}
	return b
}

// An updateBlock is a nodeBlock for an update: it holds an update of one action with its parts.
type updateBlock struct {
	update   Update
	touched  Projection
	paths    [2]onePath
	values   [2]ast.ValueOperand
	sums     [1]ast.Arithmetic
	actions  [1]ast.Action
	branches [1]branch
	// touchedPaths is initial memory for the paths of the actions.
	touchedPaths [1]ast.Path
}

// allocateUpdate allocates an updateBlock for p.
func (p *parser) allocateUpdate() *updateBlock {
	b := new(updateBlock)
	p.spare = spareNodes{paths: b.paths[:], values: b.values[:], sums: b.sums[:], actions: b.actions[:0]}
	return b
}

// init sets the block's update to the given actions, which have been checked, and returns the update.
func (b *updateBlock) init(actions []ast.Action) *Update {
	paths := b.touchedPaths[:0]
	for _, a := range actions {
		paths = append(paths, a.Path.Path)
	}
	b.touched.init(paths, b.branches[:0])
	b.update = Update{actions: actions, touched: &b.touched}
	return &b.update
}
