package convert

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// itemsIn reads the items in a value into the named table, or into the one whose keys they have: a list, the answer
// of a scan, put requests, those of several tables, or an item.
func (im *importer) itemsIn(n *node, file, table string) {
	if m := n.get("RequestItems"); m.isObject() {
		n = m
	}
	switch {
	case n.isList():
		for _, m := range n.list {
			im.itemsIn(m, file, table)
		}
	case n.get("Items").isList():
		im.itemsIn(n.get("Items"), file, table)
	case isPuts(n):
		for _, list := range n.list {
			if im.m.Table(list.key) == nil {
				im.loss(list, text.Count(len(list.list), "item")+" of table "+list.key, "the table is not defined", "")
				continue
			}
			im.itemsIn(list, file, list.key)
		}
	case n.get("PutRequest").isObject():
		im.itemsIn(n.get("PutRequest"), file, table)
	case n.get("Item").isObject() && !isTyped(n):
		im.itemIn(n.get("Item"), file, table)
	case n.get("DeleteRequest").isObject():
		im.loss(n, "a delete request", "a model has items, not changes", "")
	default:
		im.itemIn(n, file, table)
	}
}

// itemIn puts an item into the named table, or into the one named in the file name, or into the only
// one whose keys it has.
func (im *importer) itemIn(n *node, file, table string) {
	it, ok := im.item(n)
	if !ok {
		return
	}
	t, several := im.m.Table(table), false
	if t == nil {
		t, several = im.tableOf(it, file)
	}
	switch {
	case t == nil:
		im.loss(n, "an item", "no table has its keys", "")
	case several:
		im.loss(
			n, "an item", "several tables have its keys",
			"name the file after its table, or write its items as a BatchWriteItem request",
		)
	default:
		im.held = append(im.held, row{t: t, it: it, n: n})
	}
}

// tableOf returns the table whose keys an item has: the one that the name of a file names,
// or the one with a sort key. It reports whether several have them.
func (im *importer) tableOf(it attr.Item, file string) (best *model.Table, several bool) {
	for _, t := range im.m.Tables {
		fits := true
		for _, a := range t.Keys() {
			kind := it.Get(a.Name).Kind()
			fits = fits && kind == a.Kind
		}
		if !fits {
			continue
		}
		if strings.Contains(strings.ToLower(file), strings.ToLower(t.Name)) {
			return t, false
		}
		several = several || best != nil
		if best == nil || len(t.Sort) > len(best.Sort) {
			best = t
		}
	}
	return best, several
}

func noDefinition(file string) error {
	return &Error{
		Pos: model.Pos{File: file}, Msg: "the items have no table definition",
		Hint: "add the table definition that aws dynamodb describe-table prints, or the template of the table",
	}
}
