package show

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

const (
	gap      = "  " // between columns
	minWidth = 8    // no column is truncated below this width
)

// Rows formats items as an aligned table with one line for each item. The columns of attributes in first precede all
// others, and columns of numbers are aligned to the right. If width is positive, Rows truncates long values so that
// the table is at most width columns wide. Each line starts with indent and ends with a newline.
func Rows(items []attr.Item, first []string, width int, indent string, p terminal.Paint) string {
	names := columns(items, first)
	if len(names) == 0 {
		return ""
	}
	g := newGrid(items, names)
	if width > 0 {
		g.fit(width-terminal.Width(indent), 0)
	}
	return g.render(indent, p)
}

// A grid is a table of cells. The columns in right are aligned to the right.
type grid struct {
	names []string
	cells [][]string
	right []bool
}

// newGrid returns a grid with a row for each item and a column for each name.
func newGrid(items []attr.Item, names []string) *grid {
	cells, right := make([][]string, len(items)), make([]bool, len(names))
	for c, name := range names {
		numbers := 0
		for r, item := range items {
			v := item.Get(name)
			cells[r] = append(cells[r], Cell(v))
			switch v.Kind() {
			case attr.Number:
				numbers++
			case 0:
			default:
				numbers = -len(items)
			}
		}
		right[c] = numbers > 0
	}
	titles := make([]string, len(names))
	for c, name := range names {
		titles[c] = title(name)
	}
	return &grid{titles, cells, right}
}

// title returns the name of an attribute, in quotes if it needs them.
func title(name string) string {
	if plain(name) {
		return name
	}
	return text.Quote(name)
}

// columns returns the attribute names of all items. The names in first precede all others.
func columns(items []attr.Item, first []string) []string {
	seen := map[string]bool{}
	var rest []string
	for _, item := range items {
		for i := range item.Len() {
			name, _ := item.At(i)
			if !seen[string(name)] {
				seen[string(name)] = true
				rest = append(rest, string(name))
			}
		}
	}

	var names []string
	for _, name := range first {
		if seen[name] {
			names = append(names, name)
			seen[name] = false
		}
	}

	slices.Sort(rest)
	for _, name := range rest {
		if seen[name] {
			names = append(names, name)
		}
	}
	return names
}

// fit makes the table at most width columns wide. It repeatedly narrows the widest of its columns, and truncates the
// texts there. It does not narrow the columns to the left of the column first, nor any column to less than minWidth.
func (g *grid) fit(width, first int) {
	widths := g.widths()
	total := sum(widths)
	for total > width && first < len(widths) {
		widest := first
		for c := first; c < len(widths); c++ {
			if widths[c] > widths[widest] {
				widest = c
			}
		}
		if widths[widest] <= minWidth {
			break
		}
		widths[widest]--
		total--
	}
	for c := first; c < len(widths); c++ {
		g.names[c] = terminal.Clip(g.names[c], widths[c])
		for _, row := range g.cells {
			row[c] = terminal.Clip(row[c], widths[c])
		}
	}
}

// sum returns the width of a table whose columns have the given widths, including the gaps between them.
func sum(widths []int) int {
	total := len(gap) * max(0, len(widths)-1)
	for _, w := range widths {
		total += w
	}
	return total
}

// widths returns the widths of the columns.
func (g *grid) widths() []int {
	widths := make([]int, len(g.names))
	for c, name := range g.names {
		widths[c] = terminal.Width(name)
		for _, row := range g.cells {
			widths[c] = max(widths[c], terminal.Width(row[c]))
		}
	}
	return widths
}

func (g *grid) render(indent string, p terminal.Paint) string {
	widths := g.widths()
	line := func(row []string) string {
		parts := make([]string, len(row))
		for c, s := range row {
			if g.right[c] {
				parts[c] = strings.Repeat(" ", widths[c]-terminal.Width(s)) + s
			} else {
				parts[c] = terminal.Pad(s, widths[c])
			}
		}
		return strings.TrimRight(strings.Join(parts, gap), " ")
	}
	rule := make([]string, len(widths))
	for c, w := range widths {
		rule[c] = strings.Repeat("─", w)
	}
	var b strings.Builder
	b.WriteString(indent + p.Strong(line(g.names)) + "\n" + indent + line(rule) + "\n")
	for _, row := range g.cells {
		b.WriteString(indent + line(row) + "\n")
	}
	return b.String()
}
