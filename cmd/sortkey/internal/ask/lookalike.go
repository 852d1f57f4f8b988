package ask

import (
	"regexp"
	"strings"

	"github.com/sortkey/sortkey/internal/text"
)

const operator = `(?:<=|>=|<>|!=|==|=|<|>)`

// lookalikes match unquoted text that looks like a condition but is not one. If ParseCondition took it for a value,
// the query would silently find nothing.
var lookalikes = []struct {
	pattern func() *regexp.Regexp
	instead string
}{
	{
		text.Pattern(`(?i)^[^"']*\s(?:and|or)\s+(?:\w+\s*)?(?:` + operator + `|(?:between|begins_with)\b)`),
		"a query reads one range: write 'between x and y', or run one query for each range",
	},
	{
		text.Pattern(`^\w+\s+` + operator + `\s+\S`),
		"write a condition on the sort key without its name, as in '> 5', and one on another attribute as the filter " +
			"(--filter), which drops rows after they are read and paid for",
	},
	{
		text.Pattern(
			`(?i)^(?:begins? with|starts? with|(?:begin|start)[_-]with|(?:begins?|starts?)with)(?:\s+|\s*\()`),
		"write 'x*'",
	},
	{text.Pattern(`(?i)^between\(`), "write 'between x and y'"},
	{
		text.Pattern(`(?i)^(?:contains|ends?[ _-]?with|like)(?:\s+|\s*\()`),
		"a query reads one range, such as 'x*' or 'between x and y'",
	},
}

// beginsKey matches begins_with(NAME, …), the form in requests to the service. afterName matches the rest of a
// condition that begins with the name of the sort key, such as "> 5" of "sk > 5".
var (
	beginsKey = text.Pattern(`(?i)^(?:begins|starts)[_-]with\s*\(\s*(\w+)\s*,`)
	afterName = text.Pattern(`(?i)^\s*(?:` + operator + `|(?:between|begins_with)\s)`)
)

// lookalike returns an error if s resembles a condition on the attribute called name but is not one.
func lookalike(name, s string) error {
	refuse := func(instead string) error {
		return UsageError(instead+"; write '= "+s+"' for exactly this text", "%q is not a sort condition", s)
	}
	for _, one := range lookalikes {
		if one.pattern().MatchString(s) {
			return refuse(one.instead)
		}
	}
	if m := beginsKey().FindStringSubmatch(s); m != nil && strings.EqualFold(m[1], name) {
		return refuse("write 'x*'")
	}
	if len(s) > len(name) && strings.EqualFold(s[:len(name)], name) && afterName().MatchString(s[len(name):]) {
		return refuse("write '" + strings.TrimSpace(s[len(name):]) + "'")
	}
	return nil
}
