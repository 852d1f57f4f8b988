package ask

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/text"
)

const operator = `(?:<=|>=|<>|!=|==|=|<|>)`

var (
	// beginsWith matches what people write for begins_with, and beginsKey begins_with with
	// the key in the parentheses, as requests have it.
	beginsWith = text.Pattern(
		`(?i)^(?:begins? with|starts? with|(?:begin|start)[_-]with|(?:begins?|starts?)with)(?:\s+|\s*\()(.*)$`)
	beginsKey = text.Pattern(`(?i)^(?:begins|starts)[_-]with\s*\(\s*(\w+)\s*,(.*)$`)
	betweenOf = text.Pattern(`(?i)^between\(`)
	otherTest = text.Pattern(`(?i)^(?:contains|ends?[ _-]?with|like)(?:\s+|\s*\()`)
	joined    = text.Pattern(
		`(?i)\s(and|or)\s+(?:(\w+)\s*)?(?:` + operator + `|(?:between|begins_with)\b)`)
	compared = text.Pattern(`^(\w+)\s+(` + operator + `\s+\S.*)$`)
	afterKey = text.Pattern(`(?i)^\s*(` + operator + `.*|(?:between|begins_with)\s.*)$`)
)

// lookalike returns the error for text without quotes that reads like a condition on the
// attribute with a name, but is not a sort condition. Taken for a value it would find
// nothing.
func lookalike(name, s string) error {
	refuse := func(instead, format string, args ...any) error {
		return UsageError(instead+fmt.Sprintf("; write '= %s' for exactly this text", s), format, args...)
	}
	if !strings.ContainsAny(s, `"'`) {
		if m := joined().FindStringSubmatch(s); m != nil {
			instead := "write 'between x and y', which includes both ends"
			switch {
			case strings.EqualFold(m[1], "or"):
				instead = "run one query for each range"
			case m[2] != "" && !strings.EqualFold(m[2], name):
				instead = fmt.Sprintf("write the condition on %s as the filter (--filter)", m[2])
			}
			return refuse(instead, "a query reads one range, but %q joins two conditions", s)
		}
	}

	if m := compared().FindStringSubmatch(s); m != nil && !strings.EqualFold(m[1], name) {
		return refuse(
			fmt.Sprintf("for a condition on %s write it as the filter (--filter '%s'), which drops rows after they "+
				"are read and paid for: an index with %[1]s as its sort key would read only those; "+
				"for one on %[3]s write '%[4]s'", m[1], s, name, m[2]),
			"a sort condition is on %s, and %q is on %s", name, s, m[1],
		)
	}
	if rest, ok := afterName(name, s); ok {
		return refuse(fmt.Sprintf("write '%s'", rest), "a sort condition is on %s without naming it, not %q", name, s)
	}
	prefix := func(text string) error {
		text = strings.Trim(strings.TrimSuffix(strings.TrimSpace(text), ")"), `"'* `)
		return refuse(fmt.Sprintf("write '%s*'", text), "%q is not a sort condition", s)
	}
	if m := beginsWith().FindStringSubmatch(s); m != nil {
		return prefix(m[1])
	}
	if m := beginsKey().FindStringSubmatch(s); m != nil && strings.EqualFold(m[1], name) {
		return prefix(m[2])
	}
	if betweenOf().MatchString(s) {
		return refuse("write 'between x and y'", "%q is not a sort condition", s)
	}
	if otherTest().MatchString(s) {
		return refuse(
			"a query reads one range, such as 'x*' or 'between x and y'", "%q is not a sort condition", s,
		)
	}
	return nil
}

// afterName returns the condition in s after the name of the sort key.
func afterName(name, s string) (rest string, ok bool) {
	if len(s) > len(name) && strings.EqualFold(s[:len(name)], name) {
		if m := afterKey().FindStringSubmatch(s[len(name):]); m != nil {
			return m[1], true
		}
	}
	return "", false
}
