package lint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var versionOrder = rule.Rule{
	ID: "version-order", Title: "Version numbers with points as text", Severity: model.Warning,
	Help: "Text is compared byte by byte, so 1.10.0 comes before 1.9.0: the tenth minor version is not the last row, " +
		"and a range of versions is not a range of keys. It is a note if no two versions of the data are out of " +
		"order yet, and a pattern needs the order.",
	Example: []string{`"RELEASE#1.10.0"`, `"RELEASE#1.9.0"`},
	Cure: "Pad each number: {major:int(4)}.{minor:int(4)}.{patch:int(4)} gives 0001.0009.0000 and 0001.0010.0000. Or " +
		"order releases by their time.",
	Source: guide + "Query.html (strings are ordered by their UTF-8 bytes)",

	Component: func(p *rule.Pass, c rule.Component) {
		if !c.SortedText() || !rule.Plain(c.Type) || !c.AllWritten(isVersion) {
			return
		}
		a, b, n := rule.Disorder(c.Written(), compareVersions)
		pattern := c.NeededBy(false)
		if n == 0 && pattern == nil {
			return
		}
		f := c.Finding("%s in %s of %s is a version number in text", c, c.Slot, c.View())
		switch {
		case n > 0:
			f.Say(": %s sorts before %s%s", a, b, rule.AndMore(n-1))
			f.Keys = c.Pair(a, b)
		default:
			f.Severity = model.Note
			f.Say(": 1.10.0 would sort before 1.9.0")
			f.Keys = c.Pair(rule.Written{Text: "1.10.0"}, rule.Written{Text: "1.9.0"})
		}
		if pattern != nil {
			f.Say("; %q needs their order", pattern.Name)
		}
		if n > 0 && pattern != nil {
			f.Severity = model.Error
		}
		f.Advice = "pad each number to one width, as in " + padded(c.Written()[0].Text) + ", or put a time first"
		p.Report(f)
	},
}

var versionText = text.Pattern(`^[vV]?\d{1,4}\.\d{1,4}\.\d{1,5}([-+.][0-9A-Za-z.+-]*)?$`)

// isVersion reports whether text is a version number of three parts. Four numbers
// are an address of the Internet.
func isVersion(text string) bool {
	return versionText().MatchString(text) && (strings.Count(text, ".") != 3 || strings.ContainsAny(text, "-+vV"))
}

// versionNumbers returns the numbers of a version, without what follows them.
func versionNumbers(version string) (all []int) {
	version = strings.TrimLeft(version, "vV")
	if at := strings.IndexAny(version, "-+"); at >= 0 {
		version = version[:at]
	}
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // what is no number sorts first
		all = append(all, n)
	}
	return all
}

// compareVersions compares the numbers of versions; what follows them may be in
// any order.
func compareVersions(a, b string) int { return slices.Compare(versionNumbers(a), versionNumbers(b)) }

// padded returns the numbers of a version in four digits each.
func padded(version string) string {
	var parts []string
	for _, n := range versionNumbers(version) {
		digits := strconv.Itoa(n)
		parts = append(parts, strings.Repeat("0", max(4-len(digits), 0))+digits)
	}
	return cmp.Or(strings.Join(parts, "."), version)
}
