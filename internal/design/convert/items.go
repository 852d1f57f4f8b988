package convert

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// itemsIn reads items into the tables.
func (im *importer) itemsIn(n *node, file string) {
	if m := n.get("RequestItems"); m != nil && m.isObject() {
		n = m
	}
	if isPuts(n) {
		im.puts(n)
		return
	}
	switch {
	case n.isList():
		for _, m := range n.list {
			im.itemsIn(m, file)
		}
	case n.get("Items").isList():
		for _, m := range n.get("Items").list {
			im.itemIn(m, file)
		}
	case n.get("PutRequest").isObject():
		im.itemIn(n.get("PutRequest").get("Item"), file)
	case n.get("Item").isObject() && !isTyped(n):
		im.itemIn(n.get("Item"), file)
	default:
		im.itemIn(n, file)
	}
}

// puts reads the items of each table: a list of put requests or items.
func (im *importer) puts(n *node) {
	for _, list := range n.members() {
		t := im.m.Table(list.key)
		if t == nil {
			im.loss(list, text.Count(len(list.list), "item")+" of table "+list.key, "the table is not defined", "")
			continue
		}

		for _, m := range list.elems() {
			switch {
			case m.get("PutRequest").isObject():
				m = m.get("PutRequest").get("Item")
			case m.get("Item").isObject() && !isTyped(m):
				m = m.get("Item")
			case m.get("DeleteRequest").isObject():
				im.loss(m, "a delete request", "a model has items, not changes", "")
				continue
			}
			if m == nil {
				im.loss(list, "a put request", "it has no item", "")
				continue
			}
			if it, ok := im.item(m); ok {
				im.offer(offered{t: t, it: it, n: m})
			}
		}
	}
}

// itemIn puts an item into the table named in the file name, or into the only
// table whose keys it has.
func (im *importer) itemIn(n *node, file string) {
	if n == nil {
		return
	}
	it, ok := im.item(n)
	if !ok {
		return
	}
	best, several := im.tableOf(it, file)
	switch {
	case best == nil:
		im.loss(n, "an item", "no table has its keys", "")
	case several:
		im.loss(
			n, "an item", "several tables have its keys",
			"name the file after its table, or write its items as a BatchWriteItem request",
		)
	default:
		im.offer(offered{t: best, it: it, n: n})
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
