package convert

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/item"
)

// A pool has the items of one table, in order and without duplicates.
type pool struct {
	rows   []*row
	byKey  map[string]*row
	over   int
	groups []*group
}

// A row is an item with its origin.
type row struct {
	it    attr.Item
	n     *node
	group *group // nil if its kind is unknown
}

// A group is the items of one kind.
type group struct {
	name, about string
	long        string // a longer name, if the name is taken
	// aliases are names for the values of key attributes.
	aliases map[string]string
	// attributes are the names of other attributes that its items can have.
	attributes []string
	rows       []*row
	n          *node
	// entity is set if the design declares its templates.
	entity *model.Entity
	// constant is the attribute with the kind of an item.
	constant string
	bare     bool // its templates are unknown
}

func (im *importer) pool(t *model.Table) *pool {
	p := im.pools[t]
	if p == nil {
		p = &pool{byKey: map[string]*row{}}
		im.pools[t] = p
	}
	return p
}

// put adds an item to a table. If the key exists, it adds missing attributes to
// the existing item.
func (im *importer) put(t *model.Table, it attr.Item, g *group, n *node) {
	it, ok := im.fit(t, it, n)
	if !ok {
		return
	}

	p := im.pool(t)
	var key []byte
	for _, a := range t.Keys() {
		key = item.AppendKey(key, it.Get(a.Name))
	}

	if r := p.byKey[string(key)]; r != nil {
		if r.group == nil && g != nil {
			r.group = g
			g.rows = append(g.rows, r)
		}
		if both := joined(it, r.it); both.Size() <= maxItemBytes {
			r.it = both
		}
		return
	}

	if len(p.rows) >= im.o.Items {
		p.over++
		return
	}
	r := &row{it: it, n: n, group: g}
	p.rows = append(p.rows, r)
	p.byKey[string(key)] = r
	if g != nil {
		g.rows = append(g.rows, r)
	}
}

// Limits of an item and its keys in bytes. Source: DG/Constraints.html.
const (
	maxItemBytes      = 400 << 10
	maxPartitionBytes = 2048
	maxSortBytes      = 1024
)

// fit makes an item valid for the table: it converts keys to their types and
// removes invalid index keys.
func (im *importer) fit(t *model.Table, it attr.Item, n *node) (attr.Item, bool) {
	var b attr.Builder
	change := false
	for name, v := range it.All() {
		b.AddBytes(name, v)
	}

	drop := map[string]bool{}
	look := func(a model.Attribute, most int, own bool) bool {
		v := it.Get(a.Name)
		if v.Kind() == 0 || drop[a.Name] {
			return !own
		}
		if v.Kind() != a.Kind {
			if as, ok := convertKind(v, a.Kind); ok {
				b.Add(a.Name, as)
				change = true
				v = as
			}
		}
		why := ""
		switch {
		case v.Kind() != a.Kind:
			why = fmt.Sprintf("it has type %s, but the key %s has type %s", v.Kind(), a.Name, a.Kind)
		case a.Kind != attr.Number && len(v.Raw()) == 0:
			why = "a key cannot be empty"
		case len(v.Raw()) > most:
			why = fmt.Sprintf("a key has at most %d bytes", most)
		}
		if why == "" {
			return true
		}
		if own {
			im.loss(n, "an item of table "+t.Name, a.Name+": "+why, "")
			return false
		}
		drop[a.Name], change = true, true
		im.loss(n, "the attribute "+a.Name+" of an item of table "+t.Name, why+", so the item is not in the index", "")
		return true
	}
	for i, a := range t.Keys() {
		if it.Get(a.Name).Kind() == 0 {
			im.loss(n, "an item of table "+t.Name, "it has no "+a.Name+", a key of the table", "")
			return nil, false
		}
		if !look(a, []int{maxPartitionBytes, maxSortBytes}[min(i, 1)], true) {
			return nil, false
		}
	}

	for x, a := range t.AllKeys() {
		switch {
		case x == nil || t.Has(a.Name):
		case slices.Contains(x.Partition, a):
			look(a, maxPartitionBytes, false)
		default:
			look(a, maxSortBytes, false)
		}
	}

	if change {
		whole := b.Item()
		var kept attr.Builder
		for name, v := range whole.All() {
			if !drop[string(name)] {
				kept.AddBytes(name, v)
			}
		}
		it = kept.Item()
	}

	if it.Size() > maxItemBytes {
		im.loss(
			n, "an item of table "+t.Name, fmt.Sprintf("it has %d bytes, and the limit is %d", it.Size(), maxItemBytes),
			"",
		)
		return nil, false
	}
	return it, true
}

// convertKind converts a value to another kind if possible: numbers are often
// stored as S.
func convertKind(v attr.Value, kind attr.Kind) (attr.Value, bool) {
	switch {
	case v.Kind() == attr.String && kind == attr.Number:
		n, err := attr.NewNumber(string(v.Raw()))
		return n, err == nil
	case v.Kind() == attr.Number && kind == attr.String:
		return attr.NewString(string(v.AppendNumber(nil))), true
	}
	return v, false
}
