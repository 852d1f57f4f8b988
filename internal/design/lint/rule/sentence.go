package rule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// clip shortens text to about one line.
func clip(s string) string { return terminal.ClipMiddle(s, 120) }

// Quoted returns text in quotes, for sentences.
func Quoted(s string) string { return clip(text.Quote(s)) }

// sentence formats text. A []string among args is formatted as a [List].
func sentence(format string, args []any) string {
	for i, a := range args {
		if names, ok := a.([]string); ok {
			args[i] = List(names)
		}
	}
	return fmt.Sprintf(format, args...)
}

// List joins names for a sentence. It shows at most five and counts the rest.
func List(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	return text.Join(names, "and")
}

// AndMore returns ", and n more" for n further cases, or "" if n is 0.
func AndMore(n int) string {
	if n <= 0 {
		return ""
	}
	return ", and " + text.Thousands(n) + " more"
}

// Others returns "; n others are … too" with how in place of the dots, or "" if n is 0.
func Others(n int, how string) string {
	if n <= 0 {
		return ""
	}
	return "; " + text.Thousands(n) + text.Agree(n, " other is ", " others are ") + how + " too"
}

// Value returns the text of an item's attribute.
func Value(it *dataset.Item, attribute string) string {
	return string(it.Attributes.Get(attribute).Raw())
}

// Writing returns the advice to give an attribute the template src.
func Writing(attribute, src string) string { return fmt.Sprintf("write %s: %q", attribute, src) }
