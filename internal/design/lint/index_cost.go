package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

var indexCost = Rule{
	ID: "index-cost", Title: "What an index costs, and who reads it", Severity: model.Note,
	Help: "Every write of an item is also a write to each index that holds it, charged by the projected size: " +
		"an update of one small attribute writes the whole row of an index that projects it. Changing an " +
		"index key costs two. An index that no pattern reads costs that for nothing; one that copies more than " +
		"its patterns read costs more than it must. A query reads whole rows, and drops what its projection " +
		"does not name only then, so a list of titles of articles of 50 KB costs as much as the articles. The " +
		"rule says what writes cost in money on demand, and is a warning from 100 dollars a month, or from " +
		"ten read units that a smaller index would save.",

	View: func(p *Pass, v *View) {
		if v.Index != nil {
			checkUnread(p, v)
			checkWide(p, v)
		}
	},
	Entity: checkWrites,
	Query:  checkLate,
}

const (
	muchMoney      = 100     // dollars a month: from this cost on, a finding is a warning, not a note
	unitsThatCount = 10      // read units per request: from this saving on, a finding is a warning, not a note
	savedBytes     = 1 << 10 // bytes; a smaller projection must save at least this many per row on average
)

// sayCost adds to a finding how much the given write units per second cost a month. From muchMoney dollars on, it
// makes the finding a warning.
func sayCost(f *Finding, how string, units float64) {
	prices := bill.Known()
	cost := prices.OnDemandFor(0, units)
	if units == 0 {
		return
	}
	f.Say("; %s %s a month", how, prices.Money(cost))
	if cost >= muchMoney {
		f.Severity = model.Warning
	}
}

// checkUnread reports an index that no pattern reads.
func checkUnread(p *Pass, v *View) {
	reads := func(q *Query) bool { return q.View == v }
	if len(p.Model.Patterns) == 0 || len(v.Rows) == 0 || slices.ContainsFunc(p.Queries, reads) {
		return
	}
	f := v.Finding("no pattern reads %s", v)
	f.Keys = v.Shown(v.Rows[0].Item)
	f.Advice = "add the pattern that needs it"
	f.Propose("remove it, or "+f.Advice, removeIndex(v.Table.Name, v.Index.Name))
	if s := v.Load(); s != nil {
		sayCost(f, "its writes cost", s.Written)
	}
	p.Report(f)
}

// checkWide reports an index that projects all attributes although its patterns need only a few.
func checkWide(p *Pass, v *View) {
	if v.Index.Projection != "ALL" || len(v.Rows) == 0 {
		return
	}
	var readers []*Query
	for _, q := range p.Queries {
		if q.View == v {
			readers = append(readers, q)
		}
	}
	if len(readers) == 0 || !allProject(p, v) {
		return
	}

	better := narrow(v, v.Entities(), readers)
	now, then := rowBytes(p, v, nil, v.Index), rowBytes(p, v, nil, &better)
	if now-then < savedBytes {
		return
	}
	returned := "keys"
	if len(better.Include) > 0 {
		returned = "keys and " + listed(better.Include)
	}
	f := v.Finding(
		"%s copies all attributes, %s per row on average, but the %s only %s", v, text.Size(now),
		text.Agree(len(readers), "pattern that reads it returns", "patterns that read it return"), returned,
	)
	if s := v.Load(); s != nil {
		sayCost(f, "its writes cost", s.Written)
	}
	f.Keys = v.Shown(v.Rows[0].Item)
	if e := v.Rows[0].Item.Entity; e != nil {
		f.Entity = e.Name
	}
	f.Advice = "declare projection: " + projectionText(&better) + ", with " + text.Size(then) + " per row"
	f.Propose(f.Advice, writeIndex(v.Table.Name, better))
	p.Report(f)
}

// rowBytes returns the average size in bytes that the rows of v would have in the index x. If e is not nil, it counts
// only the rows of e.
func rowBytes(p *Pass, v *View, e *model.Entity, x *model.Index) float64 {
	sizes, sum, n := v.Table.RowSizes(x), 0.0, 0.0
	for i := range v.Rows {
		it := v.Rows[i].Item
		if size, ok := sizes.Of(it.Attributes); ok && (e == nil || it.Entity == e) {
			times := p.Dataset.Represents(it)
			sum += times * float64(size)
			n += times
		}
	}
	return sum / max(n, 1)
}

// projectionText returns a projection as a model file writes it.
func projectionText(x *model.Index) string {
	if x.Projection == "KEYS_ONLY" {
		return "keys"
	}
	return "[" + strings.Join(x.Include, ", ") + "]"
}

// manyIndexes is how many indexes must have rows of an entity for the rule to report the entity.
const manyIndexes = 3

// checkWrites reports an entity for which writes to indexes cost much. There are two reasons for this: many indexes
// have rows of the entity, or updates that change no index key still write whole rows to an index.
func checkWrites(p *Pass, e *model.Entity) {
	var own, inIndexes, rewritten float64 // write units per second
	var holders []*View
	for _, v := range p.Views {
		s := v.Load()
		if v.Table != e.Table || s == nil {
			continue
		}
		if v.Index != nil && slices.ContainsFunc(v.Rows, func(r dataset.Row) bool { return r.Item.Entity == e }) {
			holders = append(holders, v)
		}
		for _, one := range s.Sources {
			switch {
			case one.Entity != e || !one.Write:
			case v.Index == nil:
				own += one.Total
			default:
				inIndexes += one.Total
				if rewrites(one.Pattern, v, e) {
					rewritten += one.Total
				}
			}
		}
	}
	prices := bill.Known()
	many, costly := len(holders) >= manyIndexes, prices.OnDemandFor(0, rewritten) >= muchMoney
	if !many && !costly {
		return
	}

	var names []string
	for _, v := range holders {
		names = append(names, v.Index.Name)
	}
	f := p.TableView(e.Table).Finding("a write of %s is also written to %s", e.Name, names)
	f.Pos, f.Entity = e.Pos, e.Name
	if own > 0 {
		f.Say(": %s per second in the table, and %s there", text.Amount(text.Figure(own), "write unit"),
			text.Figure(inIndexes))
		sayCost(f, "together they cost", own+inIndexes)
		f.Severity = 0
	}
	f.Advice = "project only what the patterns read from each index, or leave " + e.Name +
		" out of indexes that no pattern needs"
	if costly {
		f.Say(", %s of it for rows that are written again without a change of their keys",
			prices.Money(prices.OnDemandFor(0, rewritten)))
		f.Severity = model.Warning
		f.Advice = "keep what changes often in an item of its own, or project only what the patterns read"
	}
	for _, it := range p.Items(e)[:min(1, len(p.Items(e)))] {
		f.Keys = append(p.TableView(e.Table).Shown(it), holders[0].Shown(it)...)
	}
	p.Report(f)
}

// rewrites reports whether a pattern updates items of an entity without changing their keys in v.
func rewrites(q *model.Pattern, v *View, e *model.Entity) bool {
	if q == nil {
		return false
	}
	i := slices.IndexFunc(q.Writes, func(w model.Write) bool { return w.Entity == e && w.Operation == model.Update })
	return i >= 0 && !slices.ContainsFunc(v.Keys, func(a model.Attribute) bool {
		t := e.Attribute(a.Name)
		return t != nil && slices.ContainsFunc(q.Writes[i].Changes(), t.DependsOn)
	})
}

// checkLate reports a query whose projection discards most bytes of the rows that the query reads.
func checkLate(p *Pass, q *Query) {
	all, e := q.Reads().Slices, q.Entity
	if e == nil || len(q.Project) == 0 || q.Operation != "Query" || !q.Ran() || q.Expect.Error != "" || len(all) == 0 ||
		q.View.Index != nil && (q.View.Index.Projection != "ALL" || allProject(p, q.View)) {
		return
	}
	small := narrow(q.View, []*model.Entity{e}, []*Query{q})
	each := rowBytes(p, q.View, e, &small)
	worst := all[0] // the largest comes first
	rows, bytes := float64(worst.Rows)*worst.Growth, worst.DeclaredBytes()
	now, then := worst.Units(q.Consistent), table.ReadUnits(int(rows*each), q.Consistent)
	if rows == 0 || bytes/rows-each < savedBytes || now < 2*then || now-then < 2 {
		return
	}
	shown := q.View.Rows[worst.Part.From].Item
	f := q.Finding("%q returns only %s, but reads whole items: in partition %s, %s of %s on average for %s read units",
		q.Name, q.Project, q.View.PartitionKey(shown), text.Count(int(rows), "row"), text.Size(bytes/rows),
		text.Figure(now))
	f.Keys = q.View.Shown(shown)
	if now-then >= unitsThatCount {
		f.Severity = model.Warning
	}
	f.Advice = "keep what is large in an item of its own, or query an index that projects only what the pattern returns"
	p.Report(f)
}

// allProject reports whether every pattern that reads v has a projection. If so, the index needs to project only the
// attributes in these projections.
func allProject(p *Pass, v *View) bool {
	return !slices.ContainsFunc(p.Queries, func(q *Query) bool { return q.View == v && len(q.Project) == 0 })
}

// narrow returns an index with the keys of v that projects only the attributes that the queries return or filter by.
func narrow(v *View, entities []*model.Entity, queries []*Query) model.Index {
	x := model.Index{Partition: v.Hash, Sort: v.Sort, Projection: "KEYS_ONLY"}
	if v.Index != nil {
		x = *v.Index
		x.Projection, x.Include = "KEYS_ONLY", nil
	}
	have := slices.Concat(keyNames(v.Keys), keyNames(v.Table.Keys()))
	for _, q := range queries {
		names := slices.Clone(q.Project)
		for _, e := range entities {
			for _, t := range e.Attributes {
				if strings.Contains(q.Filter, t.Name) {
					names = append(names, t.Name)
				}
			}
		}
		for _, name := range names {
			if !slices.Contains(have, name) {
				have, x.Include, x.Projection = append(have, name), append(x.Include, name), "INCLUDE"
			}
		}
	}
	slices.Sort(x.Include)
	return x
}
