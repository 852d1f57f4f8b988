package show

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sortkey/sortkey/attr"
)

// gap is what stands between columns; ellipsis ends a value that was cut.
const (
	gap      = "  "
	ellipsis = "…"
	minWidth = 8 // no column is cut below this
)

// Rows returns items as an aligned table, one line each: the attributes named
// in first before the others, numbers to the right. If width is positive, long
// values are cut until the table is no wider. Each line ends in a newline and
// starts with indent.
func Rows(items []attr.Item, first []string, width int, indent string, p Paint) string {
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
	if width > 0 {
		fit(names, cells, width-text.StringWidthWithoutEscSequences(indent))
	}
	return render(names, cells, right, indent, p)
}

// columns returns the attributes of all items, those of first before the rest.
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

// fit cuts the widest columns until all of them together are no wider than
// width.
func fit(names []string, cells [][]string, width int) {
	widths := make([]int, len(names))
	total := len(gap) * (len(names) - 1)
	for c, name := range names {
		widths[c] = text.StringWidthWithoutEscSequences(name)
		for _, row := range cells {
			widths[c] = max(widths[c], text.StringWidthWithoutEscSequences(row[c]))
		}
		total += widths[c]
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
		names[c] = text.Snip(names[c], widths[c], ellipsis)
		for _, row := range cells {
			row[c] = text.Snip(row[c], widths[c], ellipsis)
		}
	}
}

func render(names []string, cells [][]string, right []bool, indent string, p Paint) string {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Box = table.BoxStyle{MiddleVertical: gap, MiddleHorizontal: "─", MiddleSeparator: gap}
	style.Format.Header = text.FormatDefault
	style.Options = table.Options{SeparateColumns: true, SeparateHeader: true}
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	configs := make([]table.ColumnConfig, len(names))
	for c := range names {
		align := text.AlignLeft
		if right[c] {
			align = text.AlignRight
		}
		configs[c] = table.ColumnConfig{Number: c + 1, Align: align, AlignHeader: align}
	}
	w.SetColumnConfigs(configs)
	w.AppendHeader(row(names))
	for _, r := range cells {
		w.AppendRow(row(r))
	}
	var b strings.Builder
	for i, line := range strings.Split(w.Render(), "\n") {
		if i == 0 {
			line = p.Strong(line)
		}
		b.WriteString(indent + strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func row(cells []string) table.Row {
	r := make(table.Row, len(cells))
	for i, c := range cells {
		r[i] = c
	}
	return r
}
