package expr

import (
	"slices"

	"github.com/sortkey/sortkey/internal/ast"
)

// parseProjection reads document paths with commas between them.
func (p *parser) parseProjection() []ast.Path {
	var paths []ast.Path
	var toks []int
	for {
		tok := p.pos
		path := p.path(nil)
		if path == nil {
			return nil
		}
		p.endLeaf()
		paths, toks = append(paths, path.Path), append(toks, tok)
		if p.kind() != ast.TokComma {
			break
		}
		p.next()
	}
	if p.kind() != ast.TokEOF {
		p.fail()
		return nil
	}
	p.checkPaths(paths, toks)
	return paths
}

// checkPaths notes paths that are the same or one within the other, and paths
// that want one attribute to be both a map and a list.
func (p *parser) checkPaths(paths []ast.Path, toks []int) {
	if !clash(paths) {
		return
	}
	// Only the pair to be named remains to be found, in the order that
	// dynalite found the service to look: overlaps before conflicts, the
	// first of those and the last of these.
	for j, b := range paths {
		for _, a := range paths[:j] {
			switch relate(a, b) {
			case overlapping:
				p.note(faultOverlap, toks[j], "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", a.Message(), b.Message())
				return
			case conflicting:
				p.faults[faultConflict] = fault{"Two document paths conflict with each other; must remove or rewrite one of these paths; path one: " + a.Message() + ", path two: " + b.Message(), toks[j]}
			}
		}
	}
}

// relation is what two paths have to do with each other.
type relation uint8

const (
	separate relation = iota
	overlapping
	conflicting
)

func relate(a, b ast.Path) relation {
	for i := range min(len(a), len(b)) {
		if (a[i].Name == "") != (b[i].Name == "") {
			return conflicting
		}
		if a[i] != b[i] {
			return separate
		}
	}
	return overlapping
}

// clash reports whether any two paths overlap or conflict. In sorted order a
// path comes right before those within it, and the indexes below a path come
// right before the names, so neighbours are all that need a look.
func clash(paths []ast.Path) bool {
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, comparePaths)
	for i := 1; i < len(sorted); i++ {
		if relate(sorted[i-1], sorted[i]) != separate {
			return true
		}
	}
	return false
}
