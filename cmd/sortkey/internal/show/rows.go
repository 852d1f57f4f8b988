package show

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

const (
	gap      = "  " // between columns
	minWidth = 8    // no column is truncated below this width
)

// A Style configures output for people. The zero value is plain text.
type Style struct {
	// Width is the maximum width of a table in columns, or 0 for no limit.
	Width int
	Paint terminal.Paint
}

// Rows returns items as an aligned table with one line for each item: the
// attributes in first before all others, numbers aligned to the right. If width
// is positive, Rows truncates long values to fit the table into it. Each line
// starts with indent and ends with a newline.
func Rows(items []attr.Item, first []string, width int, indent string, p terminal.Paint) string {
	names := columns(items, first)
	if len(names) == 0 {
		return ""
	}
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
	for c, name := range names {
		if !plain(name) {
			names[c] = text.Quote(name)
		}
	}
	if width > 0 {
		fit(names, cells, width-terminal.Width(indent))
	}
	return render(names, cells, right, indent, p)
}

// columns returns the attribute names of all items, those in first before the
// others.
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

// fit truncates the widest columns until the table is no wider than width, or
// no column is wider than minWidth.
func fit(names []string, cells [][]string, width int) {
	widths := columnWidths(names, cells)
	total := len(gap) * (len(names) - 1)
	for _, w := range widths {
		total += w
	}
	for total > width {
		widest := 0
		for c, w := range widths {
			if w > widths[widest] {
				widest = c
			}
		}
		if widths[widest] <= minWidth {
			break
		}
		widths[widest]--
		total--
	}
	for c := range names {
		names[c] = terminal.Clip(names[c], widths[c])
		for _, row := range cells {
			row[c] = terminal.Clip(row[c], widths[c])
		}
	}
}

func columnWidths(names []string, cells [][]string) []int {
	widths := make([]int, len(names))
	for c, name := range names {
		widths[c] = terminal.Width(name)
		for _, row := range cells {
			widths[c] = max(widths[c], terminal.Width(row[c]))
		}
	}
	return widths
}

func render(names []string, cells [][]string, right []bool, indent string, p terminal.Paint) string {
	widths := columnWidths(names, cells)
	line := func(row []string) string {
		parts := make([]string, len(row))
		for c, s := range row {
			if right[c] {
				parts[c] = strings.Repeat(" ", widths[c]-terminal.Width(s)) + s
			} else {
				parts[c] = terminal.Pad(s, widths[c])
			}
		}
		return strings.TrimRight(strings.Join(parts, gap), " ")
	}
	rule := make([]string, len(names))
	for c, w := range widths {
		rule[c] = strings.Repeat("─", w)
	}
	var b strings.Builder
	b.WriteString(indent + p.Strong(line(names)) + "\n" + indent + line(rule) + "\n")
	for _, row := range cells {
		b.WriteString(indent + line(row) + "\n")
	}
	return b.String()
}
