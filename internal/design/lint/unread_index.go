package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/keycond"
)

var unreadIndex = rule.Rule{
	ID: "unread-index", Title: "An index that no pattern reads", Severity: model.Note,
	Help: "Every write of an item is also a write to each index that holds it. An index, or an entity's rows in an " +
		"index, that no access pattern reads costs writes and storage for nothing; or the model lacks a pattern.",
	Example: []string{`GSI2: "STATUS#Done", "TASK#T2"`},
	Cure:    "Remove the index or the entity's key attributes for it, or add the pattern that needs it to the model.",
	Source:  guide + "bp-indexes-general.html",

	Index: checkUnreadIndex,
}

// An indexReader is a query and an entity whose rows it reads.
type indexReader struct {
	q *rule.Query
	e *model.Entity
}

func checkUnreadIndex(p *rule.Pass, v *rule.View) {
	if len(p.Model.Patterns) == 0 {
		return
	}

	var readers []indexReader
	asked := false
	for _, q := range p.Queries {
		if q.View != v {
			continue
		}
		asked = true
		if q.Entity == nil && q.Operation == "Scan" {
			return
		}
		for _, e := range append([]*model.Entity{q.Entity}, q.Entities...) {
			if e != nil {
				readers = append(readers, indexReader{q, e})
			}
		}
	}

	f := v.Finding("")
	var unread []string
	for _, e := range p.Entities {
		at := slices.IndexFunc(v.Rows, func(r world.Row) bool { return r.Item.Entity == e })
		if at < 0 || slices.ContainsFunc(readers, func(r indexReader) bool {
			return r.e == e || reaches(p, r, v.Rows[at].Item)
		}) {
			continue
		}
		unread = append(unread, e.Name)
		if len(f.Keys) < 2 {
			f.Keys = append(f.Keys, v.Shown(v.Rows[at].Item)...)
		}
	}

	switch {
	case !asked && len(v.Rows) > 0:
		f.Say("no pattern reads %s", v)
		f.Advice = "add the pattern that needs it"
		if inverts(v) {
			f.Say(", which inverts the key of table %s: it finds the items with one %s", v.Table.Name, v.Hash[0].Name)
			break // other programs often need that, and it is cheap to keep
		}
		f.Propose("remove it, or "+f.Advice, rule.RemoveIndex(v.Table.Name, v.Index.Name))
	case asked && len(unread) > 0:
		f.Say("no pattern reads the rows of %s in %s", unread, v)
		f.Advice = "add the patterns that need them"
		if own := v.Own(); len(own) > 0 { // an index of the table's own key holds every item
			var edits []rule.Edit
			for _, name := range unread {
				edits = append(edits, rule.RemoveAttributes(name, own))
			}
			f.Propose("remove "+rule.List(own)+" from them, or "+f.Advice, edits...)
		}
	default:
		return
	}

	p.Report(f)
}

// inverts reports whether an index has the key of its table the other way round.
func inverts(v *rule.View) bool {
	return slices.Equal(v.Hash, v.Table.Sort) && slices.Equal(v.Sort, v.Table.Partition)
}

// reaches reports whether the same query with other values can read an item:
// the entity can have rows in the item's partition, and if the query has a
// condition on the sort key, the item's sort key begins like the entity's.
func reaches(p *rule.Pass, r indexReader, it *world.Item) bool {
	for i, a := range r.q.View.Keys {
		t, value := r.e.Attribute(a.Name), it.Attributes.Get(a.Name)
		inHash := i < len(r.q.View.Hash)
		asked := inHash ||
			slices.ContainsFunc(r.q.Clauses, func(c keycond.Clause) bool { return c.Attribute == a.Name })
		switch {
		case !asked:
		case t == nil:
			return false
		case t.Template == nil:
			if !attr.Equal(t.Const, value) {
				return false
			}
		case a.Kind != attr.String:
		case inHash:
			if _, ok := t.Template.Match(string(value.Raw())); !ok {
				return false
			}
		default:
			if s := p.Slot(r.e, a.Name); s != nil && !strings.HasPrefix(string(value.Raw()), s.Literal()) {
				return false
			}
		}
	}
	return true
}
