package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var randomOrder = rule.Rule{
	ID: "random-order", Title: "Random ids where time order is wanted", Severity: model.Warning,
	Help: "A UUID or a random id does not contain the time of its creation, so rows whose sort key begins with one " +
		"are in a meaningless order. The newest row can be anywhere, and a page of ten is a random ten. The rule " +
		"applies to patterns that declare an order, asc or desc, and to patterns whose name implies one (newest, " +
		"latest, recent, timeline, last ten); a pattern with only a limit, on rows with a time, gets a note.",
	Example: []string{`"EVENT#0f3c…" (of Friday)`, `"EVENT#a91b…" (of Monday)`},
	Cure: "Put the time before the id: EVENT#{at:millis}#{id:uuid}. Or use an id that begins with its time: " +
		"{id:ulid}, {id:ksuid}, or a UUID of version 7.",
	Source: guide + "bp-sort-keys.html",

	Query: func(p *rule.Pass, q *rule.Query) { compareOrders(p, q, true) },
}
