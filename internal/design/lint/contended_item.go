package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var contendedItem = rule.Rule{
	ID: "contended-item", Title: "Many writes that meet on one item", Severity: model.Warning,
	Help: "Writes of one item come one after the other. A transaction that meets another write of one of its items " +
		"is cancelled with a TransactionConflict, and one that expects what it read before fails if another came " +
		"first; both are tried again, and paid for again. The rates of the patterns that write are divided evenly " +
		"over the items of each entity.",
	Example: []string{`"COUNTER", "VISITS": 200 transactions per second`},
	Cure: "Divide the item: a write picks one of several counters, and a read adds them up. Or write rows of their " +
		"own and let a stream add them up.",
	Source: guide + "transaction-apis.html#transaction-conflict-handling",

	Entity: checkContendedItem,
}

// From these rates on, writes of one item meet often: a transaction takes some milliseconds.
const (
	manyTransactions = 10
	manyWrites       = 100
)

func checkContendedItem(p *rule.Pass, e *model.Entity) {
	items := float64(max(len(p.Items(e)), e.Count+len(e.Samples), 1))
	var most *model.Pattern
	transactions, writes := 0.0, 0.0
	for _, q := range p.Model.Patterns {
		for i := range q.Writes {
			w := &q.Writes[i]
			if w.Entity != e || w.Operation == model.Put {
				continue // a put is usually of a new item
			}
			if q.Operation == model.Transaction {
				transactions += q.Rate / items
			} else {
				writes += q.Rate / items
			}
			if most == nil || q.Rate > most.Rate {
				most = q
			}
		}
	}
	if transactions < manyTransactions && transactions+writes < manyWrites {
		return
	}

	v := p.TableView(e.Table)
	f := v.Finding("each item of %s gets %s writes per second, %s of them in transactions", e.Name,
		text.Figure(transactions+writes), text.Figure(transactions))
	if items == 1 {
		f = v.Finding("the only item of %s gets %s writes per second, %s of them in transactions", e.Name,
			text.Figure(transactions+writes), text.Figure(transactions))
	}
	f.Say(": they come one after the other, and transactions that meet are cancelled")
	f.Pos, f.Entity, f.Pattern = most.Pos, e.Name, most.Name
	f.Advice = "divide " + e.Name + " into several items by a shard number, and add them up when they are read"
	p.Report(f)
}
