package lint

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

// quoted returns text in quotes, for sentences.
func quoted(s string) string { return clip(text.Quote(s)) }

// sentence formats text. It joins the elements of a []string in args as [listed] does.
func sentence(format string, args []any) string {
	for i, a := range args {
		if names, ok := a.([]string); ok {
			args[i] = listed(names)
		}
	}
	return fmt.Sprintf(format, args...)
}

// listed joins names for a sentence. It shows at most five and counts the rest.
func listed(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	return text.Join(names, "and")
}

// andMore returns ", and n more" for n further cases, or "" if n is 0.
func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return ", and " + text.Thousands(n) + " more"
}

// othersToo returns "; n others are … too", in which how replaces the dots. It returns "" if n is 0.
func othersToo(n int, how string) string {
	if n <= 0 {
		return ""
	}
	return "; " + text.Thousands(n) + text.Agree(n, " other is ", " others are ") + how + " too"
}

// valueText returns the text of an item's attribute.
func valueText(it *dataset.Item, attribute string) string {
	return string(it.Attributes.Get(attribute).Raw())
}

// writing returns the advice to give an attribute the template src.
func writing(attribute, src string) string { return fmt.Sprintf("write %s: %q", attribute, src) }
