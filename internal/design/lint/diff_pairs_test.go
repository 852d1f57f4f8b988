package lint_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// tally counts what TestPairs carried out.
type tally struct{ pairs, refused, asked, unanswered, steps, writes, reads int }

// A thing is one item in both versions: its entity and the values of its fields in each.
type thing struct {
	was, made     string // entities; made is "" if the new version does not have it
	before, after map[string]string
	raw           int            // number of a raw item in the file, from 1; 0 for others
	listed        *model.RawItem // the raw item in the new version, once the plan has put it
}

// A failer is a test or a case of a property.
type failer interface {
	require.TestingT
	Fatalf(format string, args ...any)
}

// A team carries out a plan while a program continues to write.
type team struct {
	carrier
	need    failer
	d       *diff.Diff
	was     *model.Model
	becomes map[string]string // new names of entities and tables; "" for an entity that is gone
	things  []*thing          // items that exist now
	both    map[string]bool   // new entities that the program writes in both forms
	retired map[string]bool   // old entities that the program no longer writes in their old form
	deleted map[string]bool   // entities that are gone and whose items are deleted
	// switched says that the program uses the new version. stopped says that it no longer uses the patterns that are
	// gone.
	switched, stopped bool
	steps, reads      int
}

// TestPairs carries out the plans of random pairs of versions on a database, while a program writes. After each step,
// the patterns of the version in use must return what they would return if only the items of that version existed. At
// the end, the database must have exactly the items of the new version.
func TestPairs(t *testing.T) {
	t.Parallel()
	db := opened(t)
	var sum tally
	proptest.Check(t, 150, func(c *proptest.T) {
		old := randomVersion(c)
		for range c.IntN(3) {
			old.change(c)
		}
		made := old.clone()
		for range c.Between(1, 4) {
			made.change(c)
		}
		carryOut(c, db, old, made, &sum)
	})
	t.Logf("%+v", sum)
}

// sideOf builds and checks a version. It returns nil if the version is not valid, for example if two items have one
// key.
func sideOf(c *proptest.T, v *version) (*diff.Side, func()) {
	m, err := modelfile.Parse("m.yaml", []byte(v.source()))
	if err != nil {
		c.Fatalf("%v\n%s", err, v.source())
	}
	w, err := dataset.Build(c.TB().Context(), m, dataset.Options{})
	if _, invalid := errors.AsType[model.Errors](err); invalid {
		return nil, nil
	}
	require.NoError(c, err)
	r, err := check.Run(c.TB().Context(), w, check.Options{})
	require.NoError(c, err)
	return &diff.Side{Dataset: w, Result: r}, func() { w.Close() }
}

func carryOut(c *proptest.T, db *sortkey.DB, old, made *version, sum *tally) {
	was, closeWas := sideOf(c, old)
	if was == nil {
		sum.refused++
		return
	}
	defer closeWas()
	is, closeIs := sideOf(c, made)
	if is == nil {
		sum.refused++
		return
	}
	defer closeIs()

	ctx := c.TB().Context()
	c.Logf("%s\n===\n%s\n%s", old.source(), made.source(), strings.Join(made.done, "\n"))
	answers := diff.Renames(renames(old, made))
	d, err := diff.Of(ctx, *was, *is, nil)
	require.NoError(c, err)
	silent := slices.ContainsFunc(made.entities, func(e *anEntity) bool { return e.split }) ||
		slices.ContainsFunc(was.Dataset.Model.Entities, func(e *model.Entity) bool {
			_, renamed := answers[e.Name]
			return renamed && is.Dataset.Model.Entity(e.Name) != nil
		})
	if len(d.Questions) > 0 || silent {
		sum.asked++
		c.Logf("%v, renames %v", d.Questions, answers)
		d, err = diff.Of(ctx, *was, *is, answers)
		require.NoError(c, err)
	}
	for _, q := range d.Questions {
		c.Logf("still %s", q.Ask)
	}
	if len(d.Questions) > 0 {
		require.Empty(c, d.Plan)
		sum.unanswered++
		return
	}
	sum.pairs++
	for i, s := range d.Plan {
		c.Logf("%d. %s", i+1, s.Do)
	}

	becomes := map[string]string{}
	var things, later []*thing
	for _, e := range old.entities {
		i := slices.IndexFunc(made.entities, func(other *anEntity) bool { return other.id == e.id })
		for n := e.from; n < len(e.items); n++ {
			g := &thing{was: e.name, before: e.values(n)}
			if i >= 0 {
				g.made, g.after = made.entities[i].name, made.entities[i].values(n)
			}
			becomes[e.name] = g.made
			if n < e.to {
				things = append(things, g)
			} else if !e.split { // if e was split, an item of the other half has the key
				later = append(later, g)
			}
		}
	}
	for _, t := range old.tables {
		becomes[t.name] = made.table(t.id).name
	}
	w := newTeam(ctx, c, db, was.Dataset.Model, d, becomes, things)
	var live func()
	if c.Bool() {
		live = func() { later = w.live(c, later) }
	}
	n := len(later)
	w.carryOut(live)
	sum.steps += w.steps
	sum.reads += w.reads
	sum.writes += n - len(later)
}

// newTeam returns a team whose database has the tables and the items of the old version.
func newTeam(
	ctx context.Context, need failer, db *sortkey.DB, was *model.Model, d *diff.Diff, becomes map[string]string,
	things []*thing,
) *team {
	w := &team{
		need: need, carrier: carrier{need: need, ctx: ctx, db: db}, d: d, was: was, becomes: becomes, things: things,
		both: map[string]bool{}, retired: map[string]bool{}, deleted: map[string]bool{},
	}
	for _, name := range w.send("ListTables", map[string]any{})["TableNames"].([]any) { // tables of an earlier pair
		w.send("DeleteTable", map[string]any{"TableName": name})
	}
	for i := range was.Items {
		w.things = append(w.things, &thing{raw: i + 1})
	}
	for _, t := range was.Tables {
		if w.create(t); t.TTL != "" {
			w.expire(t.Name, t.TTL, true)
		}
	}
	for _, g := range w.things {
		w.put(w.oldForm(g))
	}
	return w
}

// carryOut carries out the plan. It calls live, unless that is nil, to let a program write between the steps.
func (w *team) carryOut(live func()) {
	for i, s := range w.d.Plan {
		when := fmt.Sprintf("after step %d, %s", i+1, s.Do)
		before := w.units
		items := w.step(s)
		w.steps++
		if s.Kind == diff.PutListed {
			require.Equal(w.need, s.Items, items, when)
		}
		if live != nil {
			live()
		} else if slices.Contains([]diff.Kind{
			diff.PutItems, diff.SetItems, diff.StopWriting, diff.DeleteOld, diff.DeleteItems,
		}, s.Kind) {
			require.Equal(w.need, s.Items, items, when)
			require.Equal(w.need, s.Units, math.Ceil(w.units-before), when)
		}
		w.look(when)
	}
	if !w.switched { // the plan had no Switch, as no request changes
		w.switched = true
		w.look("at the end")
	}
	w.end()
}

func (w *team) create(t *model.Table) {
	var request map[string]any
	require.NoError(w.need, json.Unmarshal(t.CreateRequest(), &request))
	w.send("CreateTable", request)
}

func (w *team) put(t *model.Table, it attr.Item) {
	w.send("PutItem", map[string]any{"TableName": t.Name, "Item": jsonOf(it)})
}

// expire turns time to live of a table on or off.
func (w *team) expire(table, attribute string, on bool) {
	w.send("UpdateTimeToLive", map[string]any{
		"TableName": table, "TimeToLiveSpecification": map[string]any{"AttributeName": attribute, "Enabled": on},
	})
}

// oldForm returns an item as it is in the old version.
func (w *team) oldForm(g *thing) (*model.Table, attr.Item) {
	if g.listed != nil {
		return g.listed.Table, g.listed.Item
	}
	if g.raw > 0 {
		r := w.was.Items[g.raw-1]
		return r.Table, r.Item
	}
	return w.form(w.was, g.was, g.before)
}

// newForm returns an item as it is in the new version, or nil if its entity is gone.
func (w *team) newForm(g *thing) (*model.Table, attr.Item) {
	if g.listed != nil {
		return g.listed.Table, g.listed.Item
	}
	if g.raw > 0 {
		return w.newRaw(g.raw - 1)
	}
	if g.made == "" {
		return nil, nil
	}
	return w.form(w.d.Target, g.made, g.after)
}

// newRaw returns the i-th raw item as it is in the new version. If it has the key attributes of its new table, it
// stays as it was, even if the new version does not list it.
func (w *team) newRaw(i int) (*model.Table, attr.Item) {
	old := w.was.Items[i]
	nth := len(itemsOf(w.was.Items[:i], old.Table.Name))
	name := cmp.Or(w.becomes[old.Table.Name], old.Table.Name)
	for _, n := range w.d.Names {
		if n.Table == name && n.Index+n.Attribute == "" {
			name = n.Now
		}
	}
	t := w.d.Target.Table(name)
	if t == nil {
		t = w.d.Target.Tables[0]
	}
	for _, a := range t.Keys() {
		if old.Item.Get(a.Name).Kind() != a.Kind {
			return t, itemsOf(w.d.Target.Items, t.Name)[nth].Item
		}
	}
	return t, old.Item
}

func itemsOf(all []*model.RawItem, table string) (list []*model.RawItem) {
	for _, r := range all {
		if r.Table.Name == table {
			list = append(list, r)
		}
	}
	return list
}

func (w *team) form(m *model.Model, entity string, values map[string]string) (*model.Table, attr.Item) {
	it, err := m.Entity(entity).Item(values)
	require.NoError(w.need, err)
	return m.Entity(entity).Table, it
}

func placeOf(t *model.Table, it attr.Item) string {
	if t == nil {
		return ""
	}
	return t.Name + fmt.Sprint(keyOf(t, it))
}

// step carries out a step as its text says, and returns how many items it wrote.
func (w *team) step(s diff.Step) (items int) {
	if s.Kind == diff.Keep {
		s.Kind = diff.StopWriting // this team needs no old values
	}
	switch s.Kind {
	case diff.CreateTable:
		w.create(w.d.Target.Table(s.Table))
	case diff.CreateIndex:
		w.createIndex(w.d.Target.Table(s.Table), s)
	case diff.DeleteTable:
		w.send("DeleteTable", map[string]any{"TableName": s.Table})
		for _, e := range w.was.Entities {
			if e.Table.Name == s.Table {
				w.retired[e.Name], w.deleted[e.Name] = true, true
			}
		}
		w.things = slices.DeleteFunc(w.things, func(g *thing) bool {
			return g.raw == 0 && g.made == "" && w.was.Entity(g.was).Table.Name == s.Table
		})
	case diff.DeleteIndex:
		w.send("UpdateTable", map[string]any{"TableName": s.Table, "GlobalSecondaryIndexUpdates": []any{
			map[string]any{"Delete": map[string]any{"IndexName": s.Index}},
		}})
	case diff.WriteBoth:
		w.both[s.Entity] = true
	case diff.Retire:
		w.retired[s.Entity] = true
	case diff.Switch:
		w.switched = true
	case diff.StopAsking:
		w.stopped = true
	case diff.StopExpiring:
		w.expire(s.Table, w.was.Table(s.Table).TTL, false)
	case diff.Expire:
		w.expire(s.Table, w.d.Target.Table(s.Table).TTL, true)
	case diff.PutItems, diff.SetItems, diff.StopWriting, diff.DeleteOld, diff.DeleteItems:
		for _, e := range w.was.Entities {
			stops := s.Kind == diff.StopWriting || s.Kind == diff.DeleteOld
			if stops && w.becomes[e.Name] == s.Entity && e.Table.Name == s.Table {
				w.retired[e.Name] = true
			}
		}
		for _, g := range slices.Clone(w.things) {
			if w.item(s, g) {
				items++
			}
		}
		if s.Kind == diff.DeleteItems {
			w.deleted[s.Entity] = true
			w.things = slices.DeleteFunc(w.things, func(g *thing) bool {
				return g.raw == 0 && g.made == "" && g.was == s.Entity
			})
		}
	case diff.PutListed:
		for _, r := range w.d.Target.Items {
			if r.Table.Name == s.Table && w.putListed(r) {
				items++
			}
		}
	default:
		w.need.Fatalf("the plan has a step %s", s.Kind)
	}
	return items
}

func (w *team) createIndex(t *model.Table, s diff.Step) {
	var request map[string]any
	require.NoError(w.need, json.Unmarshal(t.CreateRequest(), &request))
	for _, x := range request["GlobalSecondaryIndexes"].([]any) {
		if x.(map[string]any)["IndexName"] == s.Index {
			w.send("UpdateTable", map[string]any{
				"TableName": s.Table, "AttributeDefinitions": request["AttributeDefinitions"],
				"GlobalSecondaryIndexUpdates": []any{map[string]any{"Create": x}},
			})
			return
		}
	}
	w.need.Fatalf("the target has no index %s", s.Index)
}

// item carries out a step for one item. It returns false if the step is not about the item.
func (w *team) item(s diff.Step, g *thing) bool {
	oldTable, oldItem := w.oldForm(g)
	newTable, newItem := w.newForm(g)
	if s.Kind == diff.DeleteItems && g.made != "" {
		return false // the item's new entity may have the name of the one that is gone
	}
	// If the entity was split or merged, the step names the old one.
	whole := w.becomes[g.was] == g.was || w.merged(g.made)
	if cmp.Or(g.made, g.was) != s.Entity && !(whole && g.was == s.Entity) {
		return false
	}
	stays := placeOf(oldTable, oldItem) == placeOf(newTable, newItem)
	switch s.Kind {
	case diff.PutItems:
		if stays || newTable == nil || newTable.Name != s.Table {
			return false
		}
		w.putNew(newTable, newItem)
	case diff.SetItems, diff.StopWriting:
		if !stays || oldTable.Name != s.Table {
			return false
		}
		return w.update(oldTable, s, oldItem, newItem)
	case diff.DeleteOld:
		if stays || oldTable.Name != s.Table {
			return false
		}
		w.send("DeleteItem", map[string]any{"TableName": s.Table, "Key": keyOf(oldTable, oldItem)})
	case diff.DeleteItems:
		if oldTable.Name != s.Table {
			return false
		}
		w.send("DeleteItem", map[string]any{"TableName": s.Table, "Key": keyOf(oldTable, oldItem)})
	}
	return true
}

// putListed puts a raw item of the new version, unless the same item is there.
func (w *team) putListed(r *model.RawItem) bool {
	i := slices.IndexFunc(w.things, func(g *thing) bool {
		t, it := w.newForm(g)
		return t != nil && placeOf(t, it) == placeOf(r.Table, r.Item)
	})
	if i < 0 {
		i = len(w.things)
		w.things = append(w.things, &thing{raw: len(w.was.Items) + 1})
	} else if _, it := w.newForm(w.things[i]); it.Equal(r.Item) {
		return false
	}
	w.things[i].listed = r
	w.put(r.Table, r.Item)
	return true
}

// merged reports whether several old entities become the entity made.
func (w *team) merged(made string) bool {
	n := 0
	for _, name := range w.becomes {
		if name == made {
			n++
		}
	}
	return n > 1 && made != ""
}

// putNew puts an item unless its key exists. If the key exists, the program must have put the same item.
func (w *team) putNew(t *model.Table, it attr.Item) {
	if there := w.send("GetItem", map[string]any{"TableName": t.Name, "Key": keyOf(t, it)})["Item"]; there != nil {
		require.Equal(w.need, jsonOf(it), there, "an item of another kind has the key")
		return
	}
	w.put(t, it)
}

// update sets the attributes that a step names, or removes those that the new form does not have.
func (w *team) update(t *model.Table, s diff.Step, old, made attr.Item) bool {
	names, values, parts := map[string]any{}, map[string]any{}, []string{}
	verb := "REMOVE"
	if s.Kind == diff.SetItems {
		verb = "SET"
	}
	for i, name := range s.Attributes {
		placeholder := fmt.Sprint("#", i)
		switch is := made.Get(name); {
		case s.Kind == diff.SetItems && is.Kind() != 0:
			values[fmt.Sprint(":", i)] = jsonOf(made)[name]
			parts = append(parts, placeholder+" = "+fmt.Sprint(":", i))
		case s.Kind == diff.StopWriting && is.Kind() == 0 && old.Get(name).Kind() != 0:
			parts = append(parts, placeholder)
		default:
			continue
		}
		names[placeholder] = name
	}
	if len(parts) == 0 {
		return false
	}
	in := map[string]any{
		"TableName": t.Name, "Key": keyOf(t, old), "UpdateExpression": verb + " " + strings.Join(parts, ", "),
		"ExpressionAttributeNames": names,
	}
	if len(values) > 0 {
		in["ExpressionAttributeValues"] = values
	}
	w.send("UpdateItem", in)
	return true
}

// live lets the program put one item of later or delete an item. It returns the items that the program may still put.
func (w *team) live(c *proptest.T, later []*thing) []*thing {
	if len(w.things) > 0 && c.Often(30) {
		i := c.IntN(len(w.things))
		g := w.things[i]
		if g.raw > 0 {
			return later
		}
		w.things = slices.Delete(w.things, i, i+1)
		for t, it := range w.forms(g) {
			w.send("DeleteItem", map[string]any{"TableName": t.Name, "Key": keyOf(t, it)})
		}
		return later
	}
	i := slices.IndexFunc(later, func(g *thing) bool {
		// The new program does not know an entity that is gone.
		return !w.deleted[g.was] && !(g.made == "" && w.switched)
	})
	if i < 0 {
		return later
	}
	g := later[i]
	w.things = append(w.things, g)
	places := map[string]attr.Item{}
	for t, it := range w.forms(g) { // both may have the same key
		var b attr.Builder
		for name, v := range it.All() {
			b.AddBytes(name, v)
		}
		for name, v := range places[placeOf(t, it)].All() {
			if it.Get(string(name)).Kind() == 0 {
				b.AddBytes(name, v)
			}
		}
		places[placeOf(t, it)] = b.Item()
		w.put(t, b.Item())
	}
	return slices.Delete(later, i, i+1)
}

// forms yields the forms in which the program currently writes an item.
func (w *team) forms(g *thing) func(func(*model.Table, attr.Item) bool) {
	return func(yield func(*model.Table, attr.Item) bool) {
		oldTable, oldItem := w.oldForm(g)
		newTable, newItem := w.newForm(g)
		if g.made == "" || !w.retired[g.was] && (!w.switched || w.both[g.made]) {
			if !yield(oldTable, oldItem) {
				return
			}
		}
		if g.made != "" && (w.both[g.made] || w.retired[g.was] || w.switched) {
			yield(newTable, newItem)
		}
	}
}

// look checks that the patterns of the version in use read the right items.
func (w *team) look(when string) {
	m, form := w.was, w.oldForm
	if w.switched {
		m, form = w.d.Target, w.newForm
	}
	gone := map[string]bool{} // items of entities that the new program does not know
	var items []dataset.Item
	for _, g := range w.things {
		if t, it := form(g); t != nil {
			items = append(items, dataset.Item{Table: t, Attributes: it})
			if g.raw == 0 {
				items[len(items)-1].Entity = m.Entity(map[bool]string{false: g.was, true: g.made}[w.switched])
			}
		} else {
			t, it := w.oldForm(g)
			gone[placeOf(t, it)] = true
		}
	}
	reference, err := dataset.Holding(w.ctx, m.Tables, items)
	require.NoError(w.need, err)
	defer reference.Close()
	server := explain.InProcess(w.db)
	for _, p := range m.Patterns {
		if !w.switched && w.stopped && w.d.Target.Pattern(p.Name) == nil {
			continue
		}
		for _, q := range tries(p, items) {
			read := func(target explain.Target) (keys []string) {
				pr, err := check.Through(w.ctx, target, m, q, explain.Options{Brief: true})
				require.NoError(w.need, err)
				require.NotNil(w.need, pr.Total, "%s: %s", when, p.Name)
				require.Nil(w.need, pr.Total.Refused, "%s: %s", when, p.Name)
				for _, row := range pr.Total.Rows {
					if key := placeOf(m.Table(pr.Total.Table), row.Key); row.Returned && !gone[key] {
						keys = append(keys, key)
					}
				}
				w.reads++
				return keys
			}
			want, got := read(explain.InProcess(reference.DB)), read(server)
			if q.Operation == "Scan" { // a Scan's order depends on a hash of the table's name
				slices.Sort(want)
				slices.Sort(got)
			}
			require.Equal(w.need, want, got, "%s: %s %v", when, p.Name, q.Where)
		}
	}
}

// tries returns copies of a pattern: with its own values, and with the values of some items.
func tries(p *model.Pattern, items []dataset.Item) []*model.Pattern {
	all := []*model.Pattern{p}
	if p.Entity == nil {
		return all
	}
	for _, it := range items {
		if it.Entity != p.Entity || len(all) > 4 {
			continue
		}
		values := p.Entity.FieldsOf(it.Attributes)
		q := *p
		q.Where = slices.Clone(p.Where)
		for i, c := range q.Where {
			if c.Op == ast.Equal {
				q.Where[i].Args = []string{values[c.Field]}
			}
		}
		all = append(all, &q)
	}
	return all
}

// end checks that the tables of the target have all items in their new form, and that there are no other tables.
func (w *team) end() {
	want := map[string]map[string]any{}
	for _, g := range w.things {
		if t, it := w.newForm(g); t != nil {
			want[placeOf(t, it)] = jsonOf(it)
		}
	}
	for _, r := range w.d.Target.Items {
		require.Equal(w.need, jsonOf(r.Item), want[placeOf(r.Table, r.Item)], "an item of no entity")
	}
	got := map[string]map[string]any{}
	tables := map[string]bool{}
	for _, name := range w.send("ListTables", map[string]any{})["TableNames"].([]any) {
		tables[name.(string)] = true
	}
	for _, t := range w.d.Target.Tables {
		require.True(w.need, tables[t.Name], "table %s", t.Name)
		delete(tables, t.Name)
		ttl := w.send("DescribeTimeToLive", map[string]any{"TableName": t.Name})["TimeToLiveDescription"]
		name, _ := ttl.(map[string]any)["AttributeName"].(string)
		require.Equal(w.need, t.TTL, name, "time to live of %s", t.Name)
		for _, it := range w.scan(t) {
			key := map[string]any{}
			for _, a := range t.Keys() {
				key[a.Name] = it[a.Name]
			}
			got[t.Name+fmt.Sprint(key)] = it
		}
	}
	require.Empty(w.need, slices.Collect(maps.Keys(tables)), "tables that should be gone")
	require.Equal(w.need, want, got)
}
