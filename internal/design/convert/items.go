package convert

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// items reads items into the tables.
func (im *importer) items(d *document) error {
	if len(im.m.Tables) == 0 {
		return &Error{
			Pos: model.Pos{File: d.name}, Msg: "the items have no table definition",
			Hint: "add the table definition that aws dynamodb describe-table prints",
		}
	}
	im.derived = true
	for _, n := range d.roots {
		im.itemsIn(n, d.name)
	}
	return nil
}

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
				im.put(t, it, nil, m)
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
	var best *model.Table
	several := false
	for _, t := range im.m.Tables {
		fits := true
		for _, a := range t.Keys() {
			fits = fits && it.Get(a.Name).Kind() == a.Kind
		}
		if !fits {
			continue
		}
		if strings.Contains(strings.ToLower(file), strings.ToLower(t.Name)) {
			best, several = t, false
			break
		}
		several = several || best != nil
		if best == nil || len(t.Sort) > len(best.Sort) {
			best = t
		}
	}
	switch {
	case best == nil:
		im.loss(n, "an item", "no table has its keys", "")
	case several:
		im.loss(
			n, "an item", "several tables have its keys",
			"name the file after its table, or write its items as a BatchWriteItem request",
		)
	default:
		im.put(best, it, nil, n)
	}
}
