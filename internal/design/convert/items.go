package convert

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// itemsIn reads the items in a value: a list of items, the response of a scan, or a single item.
func (im *importer) itemsIn(n *node, file string) {
	switch {
	case n.isList():
		for _, m := range n.list {
			im.itemsIn(m, file)
		}
	case n.get("Items").isList():
		im.itemsIn(n.get("Items"), file)
	case n.get("Item").isObject() && !isTyped(n):
		im.itemIn(n.get("Item"), file)
	default:
		im.itemIn(n, file)
	}
}

// itemIn puts an item into the table that the file is named after, or into the only table whose keys it has.
func (im *importer) itemIn(n *node, file string) {
	it, ok := im.item(n)
	if !ok {
		return
	}
	switch t, several := im.tableOf(it, file); {
	case t == nil:
		im.loss(n, "an item", "no table has its keys", "")
	case several:
		im.loss(n, "an item", "several tables have its keys", "name the file after its table")
	default:
		im.held = append(im.held, row{t: t, it: it, n: n})
	}
}

// tableOf returns the table whose key attributes an item has. If several tables fit, it prefers the one whose name is
// in the name of the file, then one with a sort key. several is true if more than one table fits and the file names
// none.
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
