package show

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/keycond"
)

// Items formats items of a table or an index as a table, as [Rows] does. If the style limits the width, Items
// truncates the values of attributes that are not in the key. If the table is still too wide, Items formats the items
// as [Lines] does instead. The schema may be nil.
func Items(items []attr.Item, schema *keycond.Schema, style Style) string {
	first := KeyNames(schema)
	names := columns(items, first)
	if len(names) == 0 {
		return ""
	}
	g := newGrid(items, names)
	if style.Width > 0 {
		attributes := slices.IndexFunc(names, func(name string) bool { return !slices.Contains(first, name) })
		if attributes >= 0 {
			g.fit(style.Width, attributes)
		}
		if sum(g.widths()) > style.Width {
			return Lines(items, first, style.Paint)
		}
	}
	return g.render("", style.Paint)
}

// KeyNames returns the names of the attributes of a key. It returns none if the schema is nil.
func KeyNames(schema *keycond.Schema) (names []string) {
	if schema == nil {
		return nil
	}
	for _, a := range schema.Attributes() {
		names = append(names, a.Name)
	}
	return names
}

// Lines formats each item as a block with one line for each attribute. Attributes in first precede all others. Lines
// truncates no value. An empty line separates the blocks.
func Lines(items []attr.Item, first []string, p terminal.Paint) string {
	var b strings.Builder
	for i, it := range items {
		if i > 0 {
			b.WriteByte('\n')
		}
		names := columns(items[i:i+1], first)
		width := 0
		for _, name := range names {
			width = max(width, terminal.Width(title(name)))
		}
		for _, name := range names {
			b.WriteString(p.Strong(terminal.Pad(title(name), width)) + gap + Cell(it.Get(name)) + "\n")
		}
	}
	return b.String()
}
