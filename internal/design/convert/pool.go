package convert

import (
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/table"
)

// A pool has the items of one table, in their original order and without duplicates.
type pool struct {
	rows  []*row
	byKey map[string]*row
}

// A facet is a view in NoSQL Workbench. It has a name for its kind of items, and names for the values in their keys.
type facet struct {
	name    string
	aliases map[string]string
	used    bool
}

// A group has the items of one kind. The importer makes an entity of them.
type group struct {
	name string
	rows []*row
	// aliases are names for the values of key attributes.
	aliases map[string]string
	// constant is the attribute that contains the kind of the items, or "".
	constant string
}

// put adds an item to the pool of its table. If the pool already has an item with the same key, put only adds to it
// the attributes that it lacks.
func (im *importer) put(o row) {
	it := o.it
	for _, a := range o.t.AllKeys() {
		if v := convertKind(it.Get(a.Name), a.Kind); v.Kind() != it.Get(a.Name).Kind() {
			var key attr.Builder
			key.Add(a.Name, v)
			it = joined(it, key.Item())
		}
	}
	if why := unfit(o.t, it); why != "" {
		im.loss(o.n, "an item of table "+o.t.Name, why, "")
		return
	}

	p := im.pools[o.t]
	if p == nil {
		p = &pool{byKey: map[string]*row{}}
		im.pools[o.t] = p
	}
	var key []byte
	for _, a := range o.t.Keys() {
		key = item.AppendKey(key, it.Get(a.Name))
	}
	if r := p.byKey[string(key)]; r != nil {
		if r.facet == nil {
			r.facet = o.facet
		}
		if both := joined(it, r.it); both.Size() <= table.MaxItemBytes {
			r.it = both
		}
		return
	}
	o.it = it
	p.rows = append(p.rows, &o)
	p.byKey[string(key)] = &o
}

// unfit returns why a table cannot store an item, or "".
func unfit(t *model.Table, it attr.Item) string {
	if it.Size() > table.MaxItemBytes {
		return fmt.Sprintf("it has %d bytes, and the limit is %d", it.Size(), table.MaxItemBytes)
	}
	if _, _, err := t.Schema(nil).Place(it); err != nil {
		return err.Error()
	}
	for x, a := range t.AllKeys() {
		v := it.Get(a.Name)
		if x == nil || v.IsZero() {
			continue
		}
		if v.Kind() != a.Kind {
			return fmt.Sprintf("it has type %s, but the key %s has type %s", v.Kind(), a.Name, a.Kind)
		}
		if err := t.Schema(x).CheckValue(a, v); err != nil {
			return err.Error()
		}
	}
	return ""
}

// convertKind converts a value to another kind if possible. Programs often store numbers as S.
func convertKind(v attr.Value, kind attr.Kind) attr.Value {
	switch {
	case v.Kind() == attr.String && kind == attr.Number:
		if n, err := attr.NewNumber(string(v.Raw())); err == nil {
			return n
		}
	case v.Kind() == attr.Number && kind == attr.String:
		return attr.NewString(model.TextOf(v))
	}
	return v
}
