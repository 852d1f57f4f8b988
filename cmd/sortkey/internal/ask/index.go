package ask

import (
	"regexp"
	"strings"

	"github.com/sortkey/sortkey/internal/keyschema"
)

// backquoted matches a name in backquotes. In such a name, two backquotes stand for one; backquoted then matches the
// name as several names, one after the other.
var backquoted = regexp.MustCompile("`[^`]*`")

// Index parses the definition of an index, such as "ByCity: city / placed (total, name)".
func Index(text string, local bool) (ix keyschema.IndexSpec, err error) {
	name, key, ok := strings.Cut(text, ":")
	ix = keyschema.IndexSpec{Name: strings.TrimSpace(name), Key: strings.TrimSpace(key), Local: local}
	if open := strings.LastIndexByte(ix.Key, '('); open >= 0 && strings.HasSuffix(ix.Key, ")") {
		ix.Only = []string{}
		for name := range strings.SplitSeq(ix.Key[open+1:len(ix.Key)-1], ",") {
			if name = strings.TrimSpace(name); name != "" {
				ix.Only = append(ix.Only, name)
			}
		}
		ix.Key = strings.TrimSpace(ix.Key[:open])
	}
	if unquoted := backquoted.ReplaceAllString(ix.Key, ""); strings.ContainsAny(unquoted, "()") {
		return ix, UsageError(
			"put the projected attributes in one pair of parentheses at the end, and names with parentheses in "+
				"backquotes",
			"the parentheses in %q do not match", text,
		)
	}
	if !ok || ix.Name == "" || ix.Key == "" {
		return ix, UsageError(
			"write it as 'ByCity: city / placed:N'", "%q is not a name, a colon and a key", text,
		)
	}
	return ix, nil
}
