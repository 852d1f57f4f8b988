package expr

import (
	"slices"

	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/lex"
)

// parseProjection parses document paths separated by commas.
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
		if p.kind() != lex.TokComma {
			break
		}
		p.next()
	}

	if p.kind() != lex.TokEOF {
		p.fail()
		return nil
	}
	p.checkPaths(paths, toks)
	return paths
}

// checkPaths records the error for two paths that overlap or conflict. Paths overlap if they are equal or one
// contains the other. They conflict if they require an attribute to be both a map and a list.
func (p *parser) checkPaths(paths []ast.Path, toks []int) {
	if !clash(paths) {
		return
	}
	// The message names one pair. Dynalite found that the service prefers overlaps to conflicts, and that it reports
	// the first overlap but the last conflict.
	for j, b := range paths {
		for _, a := range paths[:j] {
			switch relate(a, b) {
			case overlapping:
				p.note(
					faultOverlap, toks[j],
					"Two document paths overlap with each other; must remove or rewrite one of these paths; "+
						"path one: %s, path two: %s",
					a.Message(), b.Message(),
				)
				return
			case conflicting:
				p.faults[faultConflict] = fault{
					"Two document paths conflict with each other; " +
						"must remove or rewrite one of these paths; path one: " + a.Message() + ", path two: " +
						b.Message(),
					toks[j],
				}
			}
		}
	}
}

// A relation says how two paths relate to each other.
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

// clash reports whether any two paths overlap or conflict. It sorts the paths and compares only neighbours. That is
// enough: paths within a path directly follow it, and the indexes below a path come right before the names.
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
