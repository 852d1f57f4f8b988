package convert

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// kindAttributes are names that programs often give the attribute with the kind of an item, such as its entity.
var kindAttributes = []string{
	"_type", "__edb_e__", "__typename", "entityType", "EntityType", "entity_type", "_et", "entity", "type", "Type",
	"kind",
}

// mostKinds is the largest number of groups into which an attribute may divide a table's items. If it gives more
// groups, its values are not kinds.
const mostKinds = 40

// groups groups items by kind. It tries three criteria in turn and takes the first that does not give too many
// groups: an attribute that contains the kind, the facets of the items, and the words in their keys.
func groups(t *model.Table, rows []*row) []*group {
	for _, name := range kindAttributes {
		if t.Has(name) {
			continue
		}
		g := groupBy(rows, func(r *row) string { return kindIn(r.it, name) })
		if len(g) > 0 && len(g) <= min(mostKinds, 1+len(rows)/2) {
			for _, one := range g {
				one.constant = name
			}
			return g
		}
	}

	g := groupBy(rows, func(r *row) string {
		if r.facet == nil {
			return ""
		}
		return shapes(t.Keys(), r.it) + "\x00" + r.facet.name
	})
	for _, list := range [][]model.Attribute{t.Keys(), t.Partition, nil} {
		if g != nil && len(g) <= min(mostKinds, 6+2*len(rows)/3) {
			break
		}
		g = groupBy(rows, func(r *row) string { return shapes(list, r.it) + "\x00" })
	}
	for _, one := range g {
		one.name, _, _ = strings.Cut(one.name, "\x00\x00")
		one.name = shapeName(one.name, t.Name)
	}
	return g
}

// kindIn returns the kind of an item: the text of the named attribute. It returns "" if that is not a text or is too
// long for a kind.
func kindIn(it attr.Item, name string) string {
	if v := it.Get(name); v.Kind() == attr.String && len(v.Raw()) < 50 {
		return string(v.Raw())
	}
	return ""
}

// groupBy returns the groups in the order of their first items. It returns nil if an item has no kind.
func groupBy(rows []*row, kind func(*row) string) (all []*group) {
	byName := map[string]*group{}
	for _, r := range rows {
		k := kind(r)
		if k == "" {
			return nil
		}
		g := byName[k]
		if g == nil {
			g = &group{name: k}
			byName[k] = g
			all = append(all, g)
		}
		g.rows = append(g.rows, r)
	}
	return all
}

// shapes returns the shapes of an item's keys, each followed by a zero byte.
func shapes(list []model.Attribute, it attr.Item) string {
	var b strings.Builder
	for _, a := range list {
		if a.Kind == attr.String {
			b.WriteString(shape(model.TextOf(it.Get(a.Name))) + "\x00")
		}
	}
	return b.String()
}

// shape returns the labels in a key, separated by spaces, with * in place of the values between them.
func shape(key string) string {
	parts := strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune(strong, r) })
	if !strings.ContainsAny(key, strong) {
		head, _, ok := strings.Cut(key, ":")
		if !ok {
			head, _, ok = strings.Cut(key, "_")
		}
		switch {
		case ok && alphabet().MatchString(head):
			return head + " *"
		case upper().MatchString(key) && !ok:
			return key
		}
		return "*"
	}

	// If the first part is in capitals, only parts in capitals are labels. The same is true of a path, in which other
	// words are values.
	label, isLabel := true, word()
	if strings.IndexAny(key, strong) == strings.IndexByte(key, '/') ||
		len(parts) > 0 && upper().MatchString(parts[0]) {
		isLabel = upper()
	}
	for i, p := range parts {
		if label = !label || !isLabel.MatchString(p); label {
			parts[i] = "*"
		}
	}
	return strings.Join(slices.Compact(parts), " ")
}
