package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var numberOrder = rule.Rule{
	ID: "number-order", Title: "Rows that are wanted by a number and ordered by something else",
	Severity: model.Warning,
	Help: "The cheapest products are the first rows only if the sort key begins with the price, as a number or " +
		"padded. If a name, an id or a time orders the rows, a limit keeps any of them. The rule looks for words in " +
		"the names of patterns with a limit or an order: cheapest, most expensive, highest, largest, longest, top ten.",
	Example: []string{`"PRODUCT#bag" (price 60)`, `"PRODUCT#cup" (price 9)`},
	Cure: "Query an index whose sort key is the number: {partition: category, sort: {name: price, type: N}}. Or read " +
		"all rows, and sort them in the program.",
	Source: guide + "Query.html (results are sorted by the sort key)",

	Query: checkNumberOrder,
}

// The words for rows in the order of a number. What is also a time or a text is
// not among them.
var (
	leastNumbers = text.Pattern(`(?i)\b(cheapest|lowest|smallest|shortest|lightest|least expensive|fewest)\b`)
	mostNumbers  = text.Pattern(`(?i)\b(most expensive|dearest|highest|largest|biggest|greatest|longest|heaviest|` +
		`most popular|most (viewed|liked|sold|read)|best[- ]selling|best rated|top (\d+|three|five|ten|hundred))\b`)
)

func checkNumberOrder(p *rule.Pass, q *rule.Query) {
	word, descending := numberWanted(q)
	for c := range q.Orders {
		ordered := rule.Numeric(c.Type) || len(levelsOf(c)) > 0 || c.AllWritten(isNumber)
		if _, _, prefixed := prefixedNumbers(c); prefixed {
			ordered = true // see unpadded-number
		}
		if word == "" || q.Report.Limit == 0 && !q.Ordered || ordered {
			return
		}
		f := q.Finding("%q wants the %s rows, but rows of %s are ordered by %s in %s",
			q.Name, strings.ToLower(word), c.Entity.Name, c, c.Slot)
		f.Entity = c.Entity.Name
		f.Keys = q.TwoRows(c)
		f.Advice = "query an index whose sort key begins with the number"
		if field := numberFor(c.Entity, q.Name+" "+word); field != "" && q.Entity == c.Entity {
			fix, _ := q.View.ByFields(c.Entity, nil, []string{field}, q.Name)
			fix.Edits = append(fix.Edits, rule.OnPattern(q.Name, func(_ *model.Model, p *model.Pattern) bool {
				p.Ordered, p.Descending = true, descending
				return true
			}))
			fix.Text += " with order: " + direction(descending)
			f.Proposals = append(f.Proposals, fix)
		}
		p.Report(f)
		return
	}
}

// numberWanted returns the word in a query's name or about that asks for rows in the order
// of a number, or "", and whether the highest come first.
func numberWanted(q *rule.Query) (word string, descending bool) {
	name := q.Name
	named := leastNumbers().MatchString(name) || mostNumbers().MatchString(name)
	if at := strings.Index(q.About, " first"); at >= 0 && !named {
		name = q.About[:at] // such as: the cheapest first
	}
	least, most := leastNumbers().FindString(name), mostNumbers().FindString(name)
	if least != "" && most != "" || lastInTime().MatchString(q.Name) || firstInTime().MatchString(q.Name) {
		return "", false
	}
	return least + most, most != ""
}

// numberWanter returns a query that by its name wants rows in the order of a
// component, which has numbers, or nil.
func numberWanter(p *rule.Pass, c rule.Component) *rule.Query {
	for _, q := range p.Queries {
		word, _ := numberWanted(q)
		for o := range q.Orders {
			if word != "" && o.Slot == c.Slot && o.At == c.At {
				return q
			}
		}
	}
	return nil
}

// priceWords are words of the fields that cheap and expensive are about.
var priceWords = []string{"price", "cost", "amount", "fee"}

// numberFor returns the attribute that is a number and in the words of a pattern,
// or the only number of the entity, or "".
func numberFor(e *model.Entity, asked string) (only string) {
	words, numbers := wordsOf(asked), 0
	if slices.Contains(words, "cheapest") || slices.Contains(words, "expensive") {
		words = append(words, priceWords...)
	}
	for _, t := range e.Attributes {
		if t.Kind != attr.Number || t.Template == nil || !rule.Natural(t.Name, t.Template) {
			continue
		}
		if hasWord(t.Name, words...) {
			return t.Name
		}
		numbers++
		only = t.Name
	}
	if numbers > 1 {
		return ""
	}
	return only
}

func isNumber(text string) bool { return decimalText().MatchString(text) }

// direction returns the order of a pattern as in a model file.
func direction(descending bool) string {
	if descending {
		return "desc"
	}
	return "asc"
}
