package show

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// Items returns items of a table or an index as [Rows] does. If the width is limited, it
// never truncates the key: the key of the partition stands above the table if all items have
// the same, attributes are truncated and then left out, and if the key alone is too wide, the
// items are [Lines]. The attributes left out are counted as hidden. The schema may be nil.
func Items(items []attr.Item, schema *keycond.Schema, style Style) (rows string, hidden int) {
	first := KeyNames(schema)
	if style.Width <= 0 || schema == nil {
		return Rows(items, first, style.Width, "", style.Paint), 0
	}

	names := columns(items, first)
	fixed := 0
	for fixed < len(names) && schema.Has(names[fixed]) {
		fixed++
	}
	heading := partition(items, schema)
	if heading != "" {
		names, fixed = names[len(schema.Partition()):], fixed-len(schema.Partition())
		heading = style.Paint.Strong(heading) + "\n"
	}
	if len(names) == 0 { // the items have nothing but the key of the partition
		return Lines(items, first, style.Paint), 0
	}

	widths := newGrid(items, names).widths()
	for c := fixed; c < len(widths); c++ {
		widths[c] = min(widths[c], minWidth)
	}
	shown := len(names)
	for shown > max(fixed, 1) && sum(widths[:shown]) > style.Width {
		shown--
	}
	if sum(widths[:shown]) > style.Width {
		return Lines(items, first, style.Paint), 0
	}
	g := newGrid(items, names[:shown])
	g.fit(style.Width, fixed)
	return heading + g.render("", style.Paint), len(names) - shown
}

// KeyNames returns the names of all attributes of a key, none if the schema is nil.
func KeyNames(schema *keycond.Schema) (names []string) {
	if schema == nil {
		return nil
	}
	for _, a := range schema.Attributes() {
		names = append(names, a.Name)
	}
	return names
}

// partition describes the partition of all items, or is "" if they have no common one.
func partition(items []attr.Item, schema *keycond.Schema) string {
	var parts []string
	for _, a := range schema.Partition() {
		for _, it := range items {
			if v := it.Get(a.Name); v.IsZero() || !attr.Equal(v, items[0].Get(a.Name)) {
				return ""
			}
		}
		if len(items) > 0 {
			parts = append(parts, text.Name(a.Name)+" = "+text.Literal(items[0].Get(a.Name)))
		}
	}
	return strings.Join(parts, ", ")
}

// Lines returns each item as a block with one line for each attribute, those in first before
// all others. Nothing is truncated; an empty line separates the blocks.
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
