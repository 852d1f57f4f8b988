package diff_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// tally counts what TestPairs carried out.
type tally struct{ pairs, refused, asked, unanswered, steps, writes, reads int }

// A thing is an item by its entity and number, or one of no entity. Its forms differ between versions.
type thing struct {
	old, made *anEntity // made is nil if the entity is gone
	n         int
	table     *model.Table // of the old version, for an item of no entity
	raw       attr.Item
}

// A team carries out a plan with a program that goes on writing.
type team struct {
	*proptest.T
	carrier
	d        *diff.Diff
	v        *version
	was      *model.Model
	renames  diff.Renames
	things   []*thing        // those that exist
	both     map[string]bool // entities of the new version that the program writes in both forms
	retired  map[string]bool // entities of which it does not write the old form any more, by their old names
	switched bool
	stopped  bool            // nothing asks for the patterns that are gone
	deleted  map[string]bool // entities that are gone, once their items are deleted
	tally    *tally
}

// TestPairs carries out the plans of random pairs of versions on a server, while a program writes. After each
// step the patterns of the old version, and once the program has switched those of the new, return what they
// return where only the items of their version are. At the end the server has the items of the new version, each
// of them and nothing else.
func TestPairs(t *testing.T) {
	t.Parallel()
	url := sortkeytest.New(t).URL()
	var sum tally
	proptest.Check(t, 200, func(c *proptest.T) {
		old := randomVersion(c)
		made := old.clone()
		for range c.Between(1, 4) {
			made.change(c)
		}
		carryOut(c, url, old, made, &sum)
	})
	t.Logf("%+v", sum)
}

// sideOf returns a version, or nil if it is not a valid one, such as one in which two items have one key.
func sideOf(c *proptest.T, v *version) (*diff.Side, func()) {
	m, err := modelfile.Parse("m.yaml", []byte(v.source()))
	if err != nil {
		c.Fatalf("%v\n%s", err, v.source())
	}
	w, err := world.Build(c.TB().Context(), m, world.Options{})
	if _, invalid := errors.AsType[model.Errors](err); invalid {
		return nil, nil
	}
	require.NoError(c, err)
	r, err := check.Run(c.TB().Context(), w, check.Options{})
	require.NoError(c, err)
	return &diff.Side{World: w, Result: r}, func() { w.Close() }
}

func carryOut(c *proptest.T, url string, old, made *version, sum *tally) {
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
	split := slices.ContainsFunc(made.entities, func(e *anEntity) bool { return e.split })
	if len(d.Questions) > 0 || split {
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

	w := &team{
		T: c, d: d, v: made, was: was.World.Model, tally: sum, both: map[string]bool{}, retired: map[string]bool{},
		deleted: map[string]bool{},
	}
	w.carrier = carrier{need: c, ctx: ctx, url: url}
	w.reset()
	for _, e := range old.entities {
		for n := e.from; n < e.to; n++ {
			w.things = append(w.things, &thing{old: e, made: w.made(e), n: n})
		}
	}
	for _, r := range was.World.Model.Items {
		w.things = append(w.things, &thing{table: r.Table, raw: r.Item})
	}
	for _, t := range w.was.Tables {
		w.create(t)
	}
	for _, g := range w.things {
		w.put(w.oldForm(g))
	}

	writes := c.Bool()
	for i, s := range d.Plan {
		when := fmt.Sprintf("after step %d, %s", i+1, s.Do)
		items := w.step(s)
		sum.steps++
		if !writes && slices.Contains([]diff.Kind{
			diff.PutItems, diff.SetItems, diff.StopWriting, diff.DeleteOld, diff.DeleteItems,
		}, s.Kind) {
			require.Equal(c, s.Items, items, when)
		}
		if writes {
			w.live()
		}
		w.look(when)
	}
	if !w.switched { // no request changes
		w.switched = true
		w.look("at the end")
	}
	w.end()
}

// made returns the new version of an entity, or nil if it is gone.
func (w *team) made(e *anEntity) *anEntity {
	i := slices.IndexFunc(w.v.entities, func(other *anEntity) bool { return other.id == e.id })
	if i < 0 {
		return nil
	}
	return w.v.entities[i]
}

// reset deletes what another pair left.
func (w *team) reset() {
	for _, name := range w.send("ListTables", map[string]any{})["TableNames"].([]any) {
		w.send("DeleteTable", map[string]any{"TableName": name})
	}
}

func (w *team) create(t *model.Table) {
	var request map[string]any
	require.NoError(w, json.Unmarshal(t.CreateRequest(), &request))
	w.send("CreateTable", request)
}

func (w *team) put(t *model.Table, it attr.Item) {
	w.send("PutItem", map[string]any{"TableName": t.Name, "Item": jsonOf(it)})
}

// oldForm returns an item of the old version.
func (w *team) oldForm(g *thing) (*model.Table, attr.Item) {
	if g.old == nil {
		return g.table, g.raw
	}
	e := w.was.Entity(g.old.name)
	it, err := e.Item(g.old.values(g.n))
	require.NoError(w, err)
	return e.Table, it
}

// newForm returns an item of the new version, or nil if its entity is gone.
func (w *team) newForm(g *thing) (*model.Table, attr.Item) {
	if g.old == nil {
		return w.newRaw(g)
	}
	if g.made == nil {
		return nil, nil
	}
	e := w.d.Target.Entity(g.made.name)
	it, err := e.Item(g.made.values(g.n))
	require.NoError(w, err)
	return e.Table, it
}

// newRaw returns an item of no entity in the table of the target that was its table.
func (w *team) newRaw(g *thing) (*model.Table, attr.Item) {
	for _, r := range w.d.Target.Items {
		if attr.Equal(r.Item.Get("value"), g.raw.Get("value")) && w.tableID(r.Table) == w.tableID(g.table) {
			return r.Table, r.Item
		}
	}
	w.Fatalf("the target has no item %v", g.raw)
	return nil, nil
}

// tableID returns the id of a table of the old version or of the target.
func (w *team) tableID(t *model.Table) int {
	for i, other := range w.d.Target.Tables {
		if other == t {
			return w.v.tables[i].id
		}
	}
	for _, e := range w.v.before.tables {
		if e.name == t.Name {
			return e.id
		}
	}
	return 0
}

func placeOf(t *model.Table, it attr.Item) string {
	if t == nil {
		return ""
	}
	return t.Name + fmt.Sprint(keyOf(t, it))
}

// step carries out a step as its text says, and returns the number of items that it wrote.
func (w *team) step(s diff.Step) (items int) {
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
			return g.old != nil && g.made == nil && w.was.Entity(g.old.name).Table.Name == s.Table
		})
	case diff.DeleteIndex:
		w.send("UpdateTable", map[string]any{"TableName": s.Table, "GlobalSecondaryIndexUpdates": []any{
			map[string]any{"Delete": map[string]any{"IndexName": s.Index}},
		}})
	case diff.WriteBoth:
		w.both[s.Entity] = true
	case diff.Switch:
		w.switched = true
	case diff.StopAsking:
		w.stopped = true
	case diff.StopExpiring, diff.Expire:
	case diff.PutItems, diff.SetItems, diff.StopWriting, diff.DeleteOld, diff.DeleteItems:
		for _, e := range w.v.before.entities {
			stops := s.Kind == diff.StopWriting || s.Kind == diff.DeleteOld
			if made := w.made(e); stops && made != nil && made.name == s.Entity && e.table.name == s.Table {
				w.retired[e.name] = true
			}
		}
		for _, g := range slices.Clone(w.things) {
			if w.item(s, g) {
				items++
			}
		}
		if s.Kind == diff.DeleteItems {
			w.deleted[s.Entity] = true
			w.things = slices.DeleteFunc(w.things, func(g *thing) bool { return g.old != nil && g.old.name == s.Entity })
		}
	default:
		w.Fatalf("the plan has a step %s", s.Kind)
	}
	return items
}

func (w *team) createIndex(t *model.Table, s diff.Step) {
	var request map[string]any
	require.NoError(w, json.Unmarshal(t.CreateRequest(), &request))
	for _, x := range request["GlobalSecondaryIndexes"].([]any) {
		if x.(map[string]any)["IndexName"] == s.Index {
			w.send("UpdateTable", map[string]any{
				"TableName": s.Table, "AttributeDefinitions": request["AttributeDefinitions"],
				"GlobalSecondaryIndexUpdates": []any{map[string]any{"Create": x}},
			})
			return
		}
	}
	w.Fatalf("the target has no index %s", s.Index)
}

// item does to one item what a step says, and reports whether it concerns it.
func (w *team) item(s diff.Step, g *thing) bool {
	oldTable, oldItem := w.oldForm(g)
	newTable, newItem := w.newForm(g)
	name := ""
	switch {
	case g.made != nil:
		name = g.made.name
	case g.old != nil:
		name = g.old.name
	}
	if name != s.Entity {
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

// putNew puts an item unless its key is there. What is there then must be the item, which the program wrote.
func (w *team) putNew(t *model.Table, it attr.Item) {
	if there := w.send("GetItem", map[string]any{"TableName": t.Name, "Key": keyOf(t, it)})["Item"]; there != nil {
		require.Equal(w, jsonOf(it), there, "an item of another kind has the key")
		return
	}
	w.put(t, it)
}

// update sets the attributes of a step, or removes those that the new form lacks.
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

// live lets the program put or delete an item: in its old form, in both, or in the new one.
func (w *team) live() {
	if len(w.things) > 0 && w.Often(30) {
		i := w.IntN(len(w.things))
		g := w.things[i]
		if g.old == nil {
			return
		}
		w.tally.writes++
		w.things = slices.Delete(w.things, i, i+1)
		for t, it := range w.forms(g) {
			w.send("DeleteItem", map[string]any{"TableName": t.Name, "Key": keyOf(t, it)})
		}
		return
	}
	for _, e := range w.v.before.entities {
		if e.to == len(e.items) || w.deleted[e.name] || w.Bool() {
			continue
		}
		g := &thing{old: e, made: w.made(e), n: e.to}
		if g.made == nil && w.switched {
			continue // the new program does not know it
		}
		e.to++
		w.tally.writes++
		w.things = append(w.things, g)
		oldTable, oldItem := w.oldForm(g)
		newTable, newItem := w.newForm(g)
		if placeOf(oldTable, oldItem) == placeOf(newTable, newItem) && !w.retired[e.name] && w.both[g.made.name] {
			var b attr.Builder
			for name, v := range oldItem.All() {
				b.AddBytes(name, v)
			}
			for name, v := range newItem.All() {
				if oldItem.Get(string(name)).Kind() == 0 {
					b.AddBytes(name, v)
				}
			}
			w.put(oldTable, b.Item())
			return
		}
		for t, it := range w.forms(g) {
			w.put(t, it)
		}
		return
	}
}

// forms yields the forms in which the program writes an item at this moment.
func (w *team) forms(g *thing) func(func(*model.Table, attr.Item) bool) {
	return func(yield func(*model.Table, attr.Item) bool) {
		oldTable, oldItem := w.oldForm(g)
		newTable, newItem := w.newForm(g)
		if g.made == nil || !w.retired[g.old.name] && (!w.switched || w.both[g.made.name]) {
			if !yield(oldTable, oldItem) {
				return
			}
		}
		if g.made != nil && (w.both[g.made.name] || w.retired[g.old.name] || w.switched) {
			yield(newTable, newItem)
		}
	}
}

// look holds that the patterns of the version in use read what they should.
func (w *team) look(when string) {
	m, form := w.was, w.oldForm
	if w.switched {
		m, form = w.d.Target, w.newForm
	}
	gone := map[string]bool{} // the new program knows nothing of these
	var items []world.Item
	for _, g := range w.things {
		if t, it := form(g); t != nil {
			items = append(items, world.Item{Table: t, Attributes: it})
			if g.old != nil {
				items[len(items)-1].Entity = m.Entity(map[bool]*anEntity{false: g.old, true: g.made}[w.switched].name)
			}
		} else {
			t, it := w.oldForm(g)
			gone[placeOf(t, it)] = true
		}
	}
	reference, err := world.Holding(w.ctx, m.Tables, items)
	require.NoError(w, err)
	defer reference.Close()
	server := explain.HTTP(w.url, http.DefaultClient, nil)
	for _, p := range m.Patterns {
		if !w.switched && w.stopped && w.d.Target.Pattern(p.Name) == nil {
			continue
		}
		for _, q := range w.tries(p, items) {
			read := func(target explain.Target) (keys []string) {
				pr, err := check.Through(w.ctx, target, m, q, explain.Options{Brief: true})
				require.NoError(w, err)
				require.NotNil(w, pr.Total, "%s: %s", when, p.Name)
				require.Nil(w, pr.Total.Refused, "%s: %s", when, p.Name)
				for _, row := range pr.Total.Rows {
					if key := placeOf(m.Table(pr.Total.Table), row.Key); row.Returned && !gone[key] {
						keys = append(keys, key)
					}
				}
				w.tally.reads++
				return keys
			}
			want, got := read(explain.InProcess(reference.DB)), read(server)
			if q.Operation == "Scan" { // in the order of a hash of the table's name
				slices.Sort(want)
				slices.Sort(got)
			}
			require.Equal(w, want, got, "%s: %s %v", when, p.Name, q.Where)
		}
	}
}

// tries returns a pattern with its own values and with those of some items.
func (w *team) tries(p *model.Pattern, items []world.Item) []*model.Pattern {
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

// end holds that the tables of the target have the items in their new form, and that no other table is there.
func (w *team) end() {
	want := map[string]map[string]any{}
	for _, g := range w.things {
		if t, it := w.newForm(g); t != nil {
			want[placeOf(t, it)] = jsonOf(it)
		}
	}
	got := map[string]map[string]any{}
	tables := map[string]bool{}
	for _, name := range w.send("ListTables", map[string]any{})["TableNames"].([]any) {
		tables[name.(string)] = true
	}
	for _, t := range w.d.Target.Tables {
		require.True(w, tables[t.Name], "table %s", t.Name)
		delete(tables, t.Name)
		for _, it := range w.scan(t) {
			key := map[string]any{}
			for _, a := range t.Keys() {
				key[a.Name] = it[a.Name]
			}
			got[t.Name+fmt.Sprint(key)] = it
		}
	}
	require.Empty(w, slices.Collect(maps.Keys(tables)), "tables that should be gone")
	require.Equal(w, want, got)
}
