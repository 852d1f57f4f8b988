package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

var itemSize = rule.Rule{
	ID: "item-size", Title: "Items near 400 KB", Severity: model.Warning,
	Help: "An item has at most 400 KB, names and values together; its rows in local indexes count too. A write or " +
		"an update beyond that is refused: a list that only grows gets there. Large items are expensive long " +
		"before: every read takes a unit for each 4 KB, and every write, even of one byte, a unit for each 1 KB.",
	Example: []string{`an item of 390 KB: 98 units to read, 390 to write`},
	Cure: "Put large values into separate items, DOC#{doc} with PART#{n:int(4)}, or into an object store and its " +
		"key into the item. Store growing lists as items.",
	Source: guide + "Constraints.html; " + guide + "bp-use-s3-too.html",

	Entity: checkItemSize,
}

// maxItemBytes is the limit of an item. Source: DG/Constraints.html.
const maxItemBytes = 400 << 10

func checkItemSize(p *rule.Pass, e *model.Entity) {
	largest, at := 0, (*world.Item)(nil)
	for _, it := range p.Items(e) {
		n := it.Attributes.Size()
		for _, v := range p.Views {
			if v.Table == e.Table && v.Index != nil && v.Index.Local {
				size, _ := v.Size(it.Attributes)
				n += size
			}
		}
		if n > largest {
			largest, at = n, it
		}
	}

	most, bytes := 0, 0
	large := &model.Template{} // the largest attribute, with its bytes
	for _, t := range e.Attributes {
		n := len(t.Name)
		if t.Template == nil {
			n += t.Const.Size()
		} else {
			n += rule.Longest(e, t.Template.Parts())
		}
		most += n
		if n > bytes {
			large, bytes = t, n
		}
	}

	v := p.TableView(e.Table)
	f := v.Finding("")
	f.Entity, f.Pos = e.Name, e.Pos
	if large.Pos.Line > 0 {
		f.Pos = large.Pos
	}

	f.Keys = v.Shown(at)
	f.Advise("put %s into separate items, or into an object store", large.Name)
	switch {
	case most > maxItemBytes:
		f.Severity = model.Error
		f.Say("an item of %s can have %s, and the limit is 400 KB: writes will be refused", e.Name, text.Size(most))
	case largest > maxItemBytes*3/4:
		f.Say("items of %s have up to %s, and the limit is 400 KB", e.Name, text.Size(largest))
	default:
		return
	}

	p.Report(f)
}
