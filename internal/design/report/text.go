package report

import (
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// short returns visible text of at most width columns, cut in the middle.
func short(s string, width int) string { return terminal.ClipMiddle(text.Visible(s), width) }

// width returns the number of columns of a text when shown.
func width(s string) int { return terminal.Width(text.Visible(s)) }

// wrap breaks a text into at most lines lines of at most n columns.
func wrap(s string, n, lines int) []string {
	out := terminal.Wrap(text.Visible(s), n)
	for i, l := range out {
		out[i] = short(l, n)
	}
	if len(out) > lines {
		out = out[:lines]
		out[lines-1] = strings.TrimRight(terminal.Clip(out[lines-1], n-1), " ,…") + "…"
	}
	return out
}

// plain returns a key value without quotes.
func plain(v attr.Value) string {
	shown := text.Literal(v)
	if v.Kind() == attr.String {
		if s, err := strconv.Unquote(shown); err == nil && text.Visible(s) == s {
			return s
		}
		return strings.TrimSuffix(strings.TrimPrefix(shown, `"`), `"`)
	}
	return shown
}

// values returns the values of an item's key attributes as text.
func values(it attr.Item, keys []model.Attribute) string {
	parts := make([]string, 0, len(keys))
	for _, a := range keys {
		if v := it.Get(a.Name); !v.IsZero() {
			parts = append(parts, plain(v))
		}
	}
	return strings.Join(parts, " · ")
}

// named returns an entity's name for sentences.
func named(entity string) string {
	if entity == "" {
		return "no entity"
	}
	return entity
}
