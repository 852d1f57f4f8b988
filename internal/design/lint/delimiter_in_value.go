package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

var delimiterInValue = Rule{
	ID: "delimiter-in-value", Title: "A delimiter inside a value", Severity: model.Warning,
	Help: "A value that contains the delimiter looks like two values: the product TV#55 is in the slice of the " +
		"product TV, and a program that splits the key at # gets one part too many. If the value is meant to be " +
		"a path, type it so: {category:path}.",

	Component: checkDelimiterInValue,
}

func checkDelimiterInValue(p *Pass, c Component) {
	if c.Kind != attr.String || !plain(c.Type) {
		return
	}
	hits, mark := valuesContaining(c.Written(), delimitersOf(c))
	if len(hits) == 0 {
		return
	}
	f := c.Finding("%s in %s contains the delimiter %s: %s%s", c, c.Slot, quoted(mark),
		hits[0], andMore(len(hits)-1))
	f.Advise("replace %s in %s when you build the key, or use another delimiter in %s",
		quoted(mark), c.Name, c.Slot)
	f.Keys = c.KeyWith(hits[0])
	p.Report(f)
}

// delimitersOf returns the delimiters between the parts of the component's slot. It also returns the delimiters that
// follow the component in longer keys of other entities.
func delimitersOf(c Component) (marks []string) {
	for i := 1; i+1 < len(c.Parts); i++ {
		if c.Parts[i].Name == "" {
			marks = append(marks, delimiterAfter(c.Parts[i].Literal))
		}
	}
	for _, mark := range c.Longer {
		marks = append(marks, mark)
	}
	return marks
}

// valuesContaining returns the values that contain a delimiter. mark is the delimiter in the last of these values.
func valuesContaining(words []Written, marks []string) (hits []Written, mark string) {
	for _, w := range words {
		at := slices.IndexFunc(marks, func(m string) bool { return m != "" && strings.Contains(w.Text, m) })
		if at >= 0 {
			hits, mark = append(hits, w), marks[at]
		}
	}
	return hits, mark
}
