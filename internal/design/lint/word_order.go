package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var wordOrder = rule.Rule{
	ID: "word-order", Title: "Levels as words where their order is needed", Severity: model.Warning,
	Help: "Words are in the order of the alphabet: HIGH, LOW, MEDIUM. A pattern that reads a range of levels, reads " +
		"them in descending order, or asks for the highest gets them in that order, not by their meaning. The rule " +
		"knows the words of common scales, such as priorities, sizes, log levels, months and days of the week.",
	Example: []string{`"HIGH#t1"`, `"LOW#t2"`, `"MEDIUM#t3"`},
	Cure:    "Write the place in the scale before the word: 1-LOW, 2-MEDIUM, 3-HIGH. Or use a number.",
	Source:  guide + "Query.html (strings are ordered by their UTF-8 bytes)",

	Component: func(p *rule.Pass, c rule.Component) {
		if c.SortView() == nil || !rule.Textual(c.Type) && c.Type.Name != "enum" {
			return
		}
		q := orderWanter(p, c)
		levels := levelsOf(c)
		if q == nil || len(levels) < 2 {
			return
		}
		alphabetical := slices.Sorted(slices.Values(levels))
		if slices.Equal(alphabetical, levels) || slices.Equal(alphabetical, reversed(levels)) {
			return
		}
		f := c.Finding("%q wants rows in the order of %s, but %s in %s of %s is in that of the alphabet: %s",
			q.Name, c, c, c.Slot, c.View(), rule.List(alphabetical))
		f.Keys = c.Pair(writtenAs(c, alphabetical[0]), writtenAs(c, alphabetical[1]))
		var better []string
		for i, level := range levels {
			better = append(better, strconv.Itoa(i+1)+"-"+level)
		}
		f.Advice = "write the place in the scale before the word: " + strings.Join(better, ", ")
		p.Report(f)
	},
}

// scales are words in the order of their meaning. Words in one place mean the
// same.
var scales = func() (all []map[string]int) {
	for _, scale := range []string{
		"none trivial/lowest/minimal low/minor medium/normal/moderate/default high/major/important " +
			"highest/critical/severe urgent/blocker/emergency",
		"xxs xs/tiny s/small m/medium l/large xl xxl/huge",
		"trace debug info/information/notice warn/warning error fatal/critical emergency",
		"free/basic bronze/starter silver/standard gold/professional/pro platinum/enterprise diamond",
		"beginner/novice/junior intermediate advanced/senior expert/principal",
		"poor fair good great excellent",
		"monday/mon tuesday/tue wednesday/wed thursday/thu friday/fri saturday/sat sunday/sun",
		"january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep october/oct " +
			"november/nov december/dec",
		"first/one second/two third/three fourth/four fifth/five",
	} {
		places := map[string]int{}
		for i, words := range strings.Fields(scale) {
			for word := range strings.SplitSeq(words, "/") {
				places[word] = i
			}
		}
		all = append(all, places)
	}
	return all
}()

// levelsOf returns the values of a component in the order of a scale that has all
// of them, or nil.
func levelsOf(c rule.Component) []string {
	var all []string
	for _, w := range c.Written() {
		all = append(all, w.Text)
	}
	for _, value := range c.Type.Values {
		if !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	for _, scale := range scales {
		place := func(level string) (int, bool) { i, ok := scale[strings.ToLower(level)]; return i, ok }
		if slices.ContainsFunc(all, func(level string) bool { _, ok := place(level); return !ok }) {
			continue
		}
		slices.SortStableFunc(all, func(a, b string) int {
			i, _ := place(a)
			j, _ := place(b)
			return i - j
		})
		return all
	}
	return nil
}

// writtenAs returns a value of a component, with an item that has it if there is
// one.
func writtenAs(c rule.Component, value string) rule.Written {
	for _, w := range c.Written() {
		if w.Text == value {
			return w
		}
	}
	return rule.Written{Text: value}
}

func reversed(all []string) []string {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

// byLevel matches words in the name of a pattern that asks for rows in the order
// of levels.
var byLevel = text.Pattern(`(?i)\b(highest|lowest|(most|least) (urgent|important|severe)|urgent first|` +
	`largest|smallest|by (priority|level|severity|size|tier|rank|weekday|month|day of the week))\b`)

// orderWanter returns a pattern that needs rows in the order of a component, or
// nil.
func orderWanter(p *rule.Pass, c rule.Component) *rule.Query {
	if q := c.NeededBy(false); q != nil {
		return q
	}
	for _, q := range p.Queries {
		for o := range q.Orders {
			if o.Slot == c.Slot && o.At == c.At && byLevel().MatchString(q.Name) {
				return q
			}
		}
	}
	return nil
}
