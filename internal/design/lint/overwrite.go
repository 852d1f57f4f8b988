package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var overwrite = Rule{
	ID: "overwrite", Title: "One item replaces another", Severity: model.Warning,
	Help: "If nothing in the keys of two entities distinguishes them, an item of one silently replaces an item " +
		"of the other. It is an error if both build the key from the same fields, a warning if the words " +
		"before their ids are equal, and a note if the ids alone make the difference. A put without a " +
		"condition replaces what others have updated; in a transaction, the condition of another member " +
		"helps only if it can fail. A field that the model declares unique must be the table's key, or have a " +
		"marker item with such a key that each transaction puts under a condition: no index keeps it unique. Two " +
		"writes of one item in a transaction are refused, and those of one entity with the same values in where " +
		"are such. An index keyed by names that are unique only within a partition mixes the partitions.",

	Whole: func(p *Pass) {
		checkKeys(p)
		for _, e := range p.Entities {
			checkUnique(p, e)
		}
		for _, q := range p.Model.Patterns {
			checkPuts(p, q)
			checkMembers(p, q)
		}
	},
	View: func(p *Pass, v *View) {
		if v.Index != nil && !v.Index.Local {
			for _, e := range v.Entities() {
				checkMixed(p, v, e)
			}
		}
	},
}

// checkPuts reports a put that has no condition and can replace an item that other patterns update. It reports no put
// in a transaction if a condition of any of the transaction's writes can fail, because then the put fails too.
func checkPuts(p *Pass, q *model.Pattern) {
	canFail := func(w model.Write) bool { return w.If != "" && !alwaysHolds().MatchString(w.If) }
	if slices.ContainsFunc(q.Writes, canFail) {
		return
	}
	for i := range q.Writes {
		w := &q.Writes[i]
		if w.Operation != model.Put || w.If != "" || !slices.Contains(p.Entities, w.Entity) {
			continue
		}
		at := slices.IndexFunc(p.Model.Patterns, func(o *model.Pattern) bool {
			return slices.ContainsFunc(o.Writes, func(u model.Write) bool {
				return u.Operation == model.Update && u.Entity == w.Entity
			})
		})
		if at < 0 {
			continue
		}
		condition := "attribute_not_exists(" + text.Name(w.Entity.Table.Partition[0].Name) + ")"
		f := writeFinding(p, q, w.Entity, "%q puts %s without a condition: "+
			"an item with the same key loses what %q wrote",
			q.Name, w.Entity.Name, p.Model.Patterns[at].Name)
		f.Advise("add the condition %s", condition)
		p.Report(f)
	}
}

// alwaysHolds matches a condition that does not prevent a second, equal write: after the first write it still holds.
var alwaysHolds = text.Pattern(`^\s*attribute_exists\s*\([^()]*\)\s*$`)

// checkMembers reports a transaction in which two writes write the same item, which the service refuses.
func checkMembers(p *Pass, q *model.Pattern) {
	for i := range q.Writes {
		for j := range q.Writes[:i] {
			a, b := &q.Writes[j], &q.Writes[i]
			if !slices.Contains(p.Entities, b.Entity) || !oneItem(p, a, b) {
				continue
			}
			f := writeFinding(p, q, b.Entity, "%q writes or checks one item of %s twice in a transaction: "+
				"the service refuses it",
				q.Name, b.Entity.Name)
			f.Severity = model.Error
			f.Advice = "do both in one update, or if they are of two items, say so with where: {…} of each"
			p.Report(f)
			return
		}
	}
}

// oneItem reports whether two writes in a transaction write the same item. Three things must be true. Both writes
// choose their item by the same values. Their entities are the same, or build their keys from the same fields. If the
// entities are the same and one write is a put, these values are the whole key; otherwise the put creates another
// item.
func oneItem(p *Pass, a, b *model.Write) bool {
	key := func(w *model.Write) map[string]string {
		all := map[string]string{}
		for _, c := range w.Where {
			all[c.Field] = strings.Join(c.Args, "\x00")
		}
		return all
	}
	if !maps.Equal(key(a), key(b)) {
		return false
	}
	if a.Entity != b.Entity {
		x, ok1 := shapeOfKey(p, a.Entity)
		y, ok2 := shapeOfKey(p, b.Entity)
		return a.Entity.Table == b.Entity.Table && ok1 && ok2 && x.same == y.same
	}
	if a.Operation != model.Put && b.Operation != model.Put {
		return true
	}
	given := key(a)
	return !slices.ContainsFunc(a.Entity.KeyFields(), func(f *model.Field) bool { _, ok := given[f.Name]; return !ok })
}

// writeFinding returns a finding about a write of a pattern.
func writeFinding(p *Pass, q *model.Pattern, e *model.Entity, format string, args ...any) *Finding {
	v := p.TableView(e.Table)
	f := v.Finding(format, args...)
	f.Pos, f.Pattern, f.Entity = q.Pos, q.Name, e.Name
	return f
}

// checkMixed reports items with equal keys in a global index that are in different partitions of the table. It checks
// an index only if its key has all fields of the table's sort key and no field of the table's partition key.
func checkMixed(p *Pass, v *View, e *model.Entity) {
	inIndex := e.ComponentsOf(v.Keys)
	own := slices.Sorted(maps.Keys(e.ComponentsOf(v.Table.Partition)))
	inside := slices.Sorted(maps.Keys(e.ComponentsOf(v.Table.Sort)))
	missing := func(name string) bool { return !inIndex[name] }
	if len(own) == 0 || len(inside) == 0 || slices.ContainsFunc(inside, missing) ||
		slices.ContainsFunc(own, func(name string) bool { return !missing(name) }) {
		return
	}
	a, b, n := sharedKey(v, e)
	if n == 0 {
		return
	}

	table := p.TableView(v.Table)
	f := v.Finding("rows of %s and %s have equal keys in %s%s: its key does not include %s",
		table.PartitionKey(a), table.PartitionKey(b), v, andMore(n-1), own)
	f.Entity, f.Keys = e.Name, table.Shown(a, b)
	where := "give the index a sort key that ends with " + listed(own)
	if n := len(v.Sort); n > 0 && !v.Table.Has(v.Sort[n-1].Name) {
		where = "add " + listed(own) + " at the end of " + v.Sort[n-1].Name + ", the sort key of the index"
	}
	f.Advise("%s: queries find the same rows, and can tell them apart", where)
	t := e.Attribute(v.Hash[0].Name)
	f.Pos = t.Pos

	p.Report(f)
}

// sharedKey returns two items of an entity that have equal keys in an index but different partition keys in the
// table. n is the number of such pairs, of which a and b are the first. sharedKey skips generated items, because
// their keys may be equal by chance.
func sharedKey(v *View, e *model.Entity) (a, b *dataset.Item, n int) {
	for _, part := range v.Parts {
		var last *dataset.Item
		for _, r := range v.In(part) {
			if r.Item.Entity != e || r.Item.Generated {
				continue
			}
			if last != nil && equalIn(v.Keys, last, r.Item) && !equalIn(v.Table.Partition, last, r.Item) {
				if n++; n == 1 {
					a, b = last, r.Item
				}
			}
			last = r.Item
		}
	}
	return a, b, n
}

// equalIn reports whether two items have equal key attributes.
func equalIn(key []model.Attribute, a, b *dataset.Item) bool {
	return !slices.ContainsFunc(key, func(k model.Attribute) bool {
		return !attr.Equal(a.Attributes.Get(k.Name), b.Attributes.Get(k.Name))
	})
}
