package convert

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/item"
)

// A pool is the items of one table, in order and without duplicates.
type pool struct {
	rows   []*row
	byKey  map[string]*row
	over   int
	groups []*group
}

// A row is an item and where it comes from.
type row struct {
	it    attr.Item
	n     *node
	group *group // nil when nothing says what it is
}

// A group is items of one kind, and what is known of it.
type group struct {
	name, about string
	long        string // another name, when there is one of the first already
	// aliases name what the key attributes hold.
	aliases map[string]string
	// attributes are the names of others that its items may have.
	attributes []string
	rows       []*row
	n          *node
	// entity is there when the design says its templates.
	entity *design.Entity
	// constant is the attribute that tells the kind of an item.
	constant string
	bare     bool // nothing tells its templates
}

func (im *importer) pool(t *design.Table) *pool {
	p := im.pools[t]
	if p == nil {
		p = &pool{byKey: map[string]*row{}}
		im.pools[t] = p
	}
	return p
}

// put adds an item to a table. One with the same key as another adds only the
// attributes that the other has not.
func (im *importer) put(t *design.Table, it attr.Item, g *group, n *node) {
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
		var b attr.Builder
		for name, v := range it.All() {
			b.AddBytes(name, v)
		}
		for name, v := range r.it.All() {
			b.AddBytes(name, v)
		}
		if both := b.Item(); both.Size() <= maxItemBytes {
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

// The most bytes of an item and of its keys. Source: DG/Constraints.html.
const (
	maxItemBytes      = 400 << 10
	maxPartitionBytes = 2048
	maxSortBytes      = 1024
)

// fit makes an item one that the table takes: its keys have their types, and
// index keys that cannot be are left out.
func (im *importer) fit(t *design.Table, it attr.Item, n *node) (attr.Item, bool) {
	var b attr.Builder
	change := false
	for name, v := range it.All() {
		b.AddBytes(name, v)
	}
	drop := map[string]bool{}
	look := func(a design.Attribute, most int, own bool) bool {
		v := it.Get(a.Name)
		if v.Kind() == 0 || drop[a.Name] {
			return !own
		}
		if v.Kind() != a.Kind {
			if as, ok := turn(v, a.Kind); ok {
				b.Add(a.Name, as)
				change = true
				v = as
			}
		}
		why := ""
		switch {
		case v.Kind() != a.Kind:
			why = fmt.Sprintf("it is of type %s, and the key %s is of type %s", v.Kind(), a.Name, a.Kind)
		case a.Kind != attr.Number && len(v.Raw()) == 0:
			why = "a key cannot be empty"
		case len(v.Raw()) > most:
			why = fmt.Sprintf("a key has at most %d bytes", most)
		}
		if why == "" {
			return true
		}
		if own {
			im.lose(n, "an item of table "+t.Name, a.Name+": "+why, "")
			return false
		}
		drop[a.Name], change = true, true
		im.lose(n, "the attribute "+a.Name+" of an item of table "+t.Name, why+", so the item is not in the index", "")
		return true
	}
	for i, a := range t.Keys() {
		if it.Get(a.Name).Kind() == 0 {
			im.lose(n, "an item of table "+t.Name, "it has no "+a.Name+", a key of the table", "")
			return nil, false
		}
		if !look(a, []int{maxPartitionBytes, maxSortBytes}[min(i, 1)], true) {
			return nil, false
		}
	}
	for _, x := range t.Indexes {
		for _, a := range x.Partition {
			if !isKey(t, a.Name) {
				look(a, maxPartitionBytes, false)
			}
		}
		for _, a := range x.Sort {
			if !isKey(t, a.Name) {
				look(a, maxSortBytes, false)
			}
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
		im.lose(n, "an item of table "+t.Name, fmt.Sprintf("it has %d bytes, more than the %d that items may have", it.Size(), maxItemBytes), "")
		return nil, false
	}
	return it, true
}

// isKey reports whether the attribute is in the table's own key.
func isKey(t *design.Table, name string) bool {
	return slices.ContainsFunc(t.Keys(), func(a design.Attribute) bool { return a.Name == name })
}

// turn makes a value one of another kind when its text allows it: numbers are
// often kept as S.
func turn(v attr.Value, kind attr.Kind) (attr.Value, bool) {
	switch {
	case v.Kind() == attr.String && kind == attr.Number:
		n, err := attr.NewNumber(string(v.Raw()))
		return n, err == nil
	case v.Kind() == attr.Number && kind == attr.String:
		return attr.NewString(string(v.AppendNumber(nil))), true
	}
	return v, false
}
