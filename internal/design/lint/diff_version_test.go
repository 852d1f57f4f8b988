package lint_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// A version is a random design. Parts that two versions share have the same id, whatever their names.
type version struct {
	tables   []*aTable
	entities []*anEntity
	next     int // number for the next new name
	done     []string
	before   *version // the version from which it was cloned
}

type aTable struct {
	id          int
	name        string
	pk, sk      string
	indexes     []*anIndex
	raw         int // items of no entity
	value       int // of each of them, less its number
	local       bool
	ttl         string
	scanned     bool
	limitedScan bool
}

type anIndex struct {
	name, pk, sk string
	number       bool // the sort key is a number
	numberPK     bool // the partition key is a number
	projection   string
}

type anEntity struct {
	id     int
	name   string
	table  *aTable
	fields []*aField
	// attributes maps attributes to templates. The table's keys are "PK" and "SK".
	attributes map[string][]piece
	numbers    map[string]bool // attributes of type N
	items      []map[int]string
	from, to   int // items[from:to] are samples
	ranged     bool
	limit      int
	split      bool
}

type aField struct {
	id   int
	name string
}

// The types with which a template can write a number and a time as text; "" is plain text.
var (
	sizeFormats = []string{"", "int(3)", "int(6)"}
	timeFormats = []string{"", "month", "date", "time", "epoch", "millis"}
)

// A piece of a template is text, or a field with a type.
type piece struct {
	text   string
	field  int
	format string
}

func (v *version) clone() *version {
	made := &version{next: v.next, before: v}
	tables := map[*aTable]*aTable{}
	for _, t := range v.tables {
		c := *t
		c.indexes = nil
		for _, x := range t.indexes {
			y := *x
			c.indexes = append(c.indexes, &y)
		}
		tables[t] = &c
		made.tables = append(made.tables, &c)
	}
	for _, e := range v.entities {
		c := *e
		c.table, c.fields, c.attributes, c.numbers = tables[e.table], nil, map[string][]piece{}, maps.Clone(e.numbers)
		for _, f := range e.fields {
			g := *f
			c.fields = append(c.fields, &g)
		}
		for name, pieces := range e.attributes {
			c.attributes[name] = slices.Clone(pieces)
		}
		made.entities = append(made.entities, &c)
	}
	return made
}

func (v *version) table(id int) *aTable {
	i := slices.IndexFunc(v.tables, func(t *aTable) bool { return t.id == id })
	return v.tables[i]
}

func (v *version) number() int { v.next++; return v.next }

func (v *version) name(prefix string) string { return fmt.Sprint(prefix, v.number()) }

// randomVersion returns a design of one or two tables and some entities.
func randomVersion(c *proptest.T) *version {
	v := &version{}
	for range c.Between(1, 2) {
		t := &aTable{id: v.number(), name: v.name("Tab"), pk: "PK", sk: "SK", scanned: c.Often(15)}
		for range c.IntN(3) {
			v.addIndex(c, t)
		}
		if c.Often(30) {
			t.raw = c.Between(1, 2)
		}
		t.limitedScan = c.Often(10)
		v.tables = append(v.tables, t)
	}
	for range c.Between(1, 4) {
		v.addEntity(c, proptest.Pick(c, v.tables...))
	}
	return v
}

func (v *version) addIndex(c *proptest.T, t *aTable) {
	x := &anIndex{name: v.name("By"), projection: proptest.Pick(c, "all", "keys")}
	x.pk = v.name("gpk")
	if c.Bool() {
		x.sk, x.number = v.name("gsk"), c.Often(40)
	}
	t.indexes = append(t.indexes, x)
}

// addEntity adds an entity with five fields: two that identify an item, a number, a time, and one more.
func (v *version) addEntity(c *proptest.T, t *aTable) *anEntity {
	e := &anEntity{
		id: v.number(), name: v.name("Ent"), table: t, attributes: map[string][]piece{}, numbers: map[string]bool{},
		ranged: c.Bool(), limit: proptest.Pick(c, 0, 0, 0, 1),
	}
	for _, name := range []string{"owner", "item", "size", "note", "at"} {
		e.fields = append(e.fields, &aField{v.number(), name})
		if c.Often(30) {
			e.fields[len(e.fields)-1].name = v.name(name)
		}
	}
	owner, item, size, note, at := e.fields[0].id, e.fields[1].id, e.fields[2].id, e.fields[3].id, e.fields[4].id
	for i := range c.Between(2, 7) {
		e.items = append(e.items, map[int]string{
			owner: proptest.Pick(c, "x", "y", "z"), item: fmt.Sprint("i", i), size: fmt.Sprint(c.Between(1, 99)),
			note: proptest.Pick(c, "red", "blue", fmt.Sprint("n", i)),
			at:   fmt.Sprintf("2026-0%d-1%dT08:30:00Z", c.Between(1, 3), c.Between(0, 9)),
		})
	}
	e.to = c.Between(1, len(e.items)) // the rest are written later

	shared := proptest.Pick(c, "U#", "", e.name+"#")
	e.attributes["PK"] = proptest.Pick(c, []piece{{text: shared}, {field: owner}}, []piece{{text: shared}, {field: owner}},
		[]piece{{text: shared}, {field: owner}, {text: "#"}, {field: item}})
	e.attributes["SK"] = proptest.Pick(c,
		[]piece{{text: e.name + "#"}, {field: item}},
		[]piece{{text: e.name + "#"}, {field: size, format: "int(3)"}, {text: "#"}, {field: item}},
		[]piece{{text: e.name + "#"}, {field: size}, {text: "#"}, {field: item}},
		[]piece{
			{text: e.name + "#"}, {field: at, format: proptest.Pick(c, timeFormats...)}, {text: "#"}, {field: item},
		},
		[]piece{{field: item}, {text: "#" + e.name}},
		[]piece{{text: e.name + "#"}, {field: note}, {text: "#"}, {field: item}},
	)
	if c.Often(30) {
		e.attributes["at"] = []piece{{field: at}}
	}
	if c.Often(80) {
		e.attributes["note"] = []piece{{field: note}}
	}
	if c.Often(30) {
		e.attributes["size"], e.numbers["size"] = []piece{{field: size, format: "number"}}, true
	}
	if c.Often(30) {
		e.attributes["kind"] = []piece{{text: e.name}}
	}
	for _, x := range t.indexes {
		if c.Often(60) {
			e.enter(c, x)
		}
	}
	v.entities = append(v.entities, e)
	return e
}

// enter adds an index's key attributes to the entity.
func (e *anEntity) enter(c *proptest.T, x *anIndex) {
	note, size := e.fields[3].id, e.fields[2].id
	if x.pk == "size" {
		e.resize(x.numberPK)
		return
	}
	if x.numberPK { // the attribute was renamed from size
		e.numbers[x.pk], e.attributes[x.pk] = true, []piece{{field: size, format: "number"}}
		return
	}
	e.attributes[x.pk] = proptest.Pick(c, []piece{{field: note}}, []piece{{text: "G#"}, {field: note}}, []piece{{text: "all"}})
	if x.sk == "" {
		return
	}
	e.numbers[x.sk] = x.number
	if e.attributes[x.sk] = []piece{{field: size, format: "int(3)"}}; x.number {
		e.attributes[x.sk] = []piece{{field: size, format: "number"}}
	}
}

func (e *anEntity) field(id int) string {
	for _, f := range e.fields {
		if f.id == id {
			return f.name
		}
	}
	panic("no such field")
}

// values maps the names of fields to the values of an item.
func (e *anEntity) values(item int) map[string]string {
	all := map[string]string{}
	for _, f := range e.fields {
		if e.used(f.id) {
			all[f.name] = e.items[item][f.id]
		}
	}
	return all
}

func (e *anEntity) used(id int) bool {
	for _, pieces := range e.attributes {
		if slices.ContainsFunc(pieces, func(p piece) bool { return p.field == id }) {
			return true
		}
	}
	return false
}

func (e *anEntity) template(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		switch {
		case p.field == 0:
			b.WriteString(p.text)
		case p.format == "":
			fmt.Fprintf(&b, "{%s}", e.field(p.field))
		default:
			fmt.Fprintf(&b, "{%s:%s}", e.field(p.field), p.format)
		}
	}
	return b.String()
}

// fieldsOf returns the names of the fields in templates, each once.
func (e *anEntity) fieldsOf(templates ...[]piece) (names []string) {
	for _, pieces := range templates {
		for _, p := range pieces {
			if p.field != 0 && !slices.Contains(names, e.field(p.field)) {
				names = append(names, e.field(p.field))
			}
		}
	}
	return names
}

// source returns the text of the model file.
func (v *version) source() string {
	var b strings.Builder
	fmt.Fprintln(&b, "name: random\ntables:")
	for _, t := range v.tables {
		fmt.Fprintf(&b, "  %s:\n    partition: %s\n    sort: %s\n", t.name, t.pk, t.sk)
		if t.ttl != "" {
			fmt.Fprintf(&b, "    ttl: %s\n", t.ttl)
		}
		if len(t.indexes) > 0 || t.local {
			fmt.Fprintln(&b, "    indexes:")
		}
		if t.local {
			fmt.Fprintln(&b, "      Local: {local: true, sort: note}")
		}
		for _, x := range t.indexes {
			pk := x.pk
			if x.numberPK {
				pk = fmt.Sprintf("{name: %s, type: N}", x.pk)
			}
			fmt.Fprintf(&b, "      %s: {partition: %s, projection: %s", x.name, pk, x.projection)
			if x.sk != "" {
				kind := "S"
				if x.number {
					kind = "N"
				}
				fmt.Fprintf(&b, ", sort: {name: %s, type: %s}", x.sk, kind)
			}
			fmt.Fprintln(&b, "}")
		}
	}

	fmt.Fprintln(&b, "entities:")
	for _, e := range v.entities {
		fmt.Fprintf(&b, "  %s:\n    table: %s\n    attributes:\n", e.name, e.table.name)
		for _, name := range slices.Sorted(maps.Keys(e.attributes)) {
			shown := name
			switch name {
			case "PK":
				shown = e.table.pk
			case "SK":
				shown = e.table.sk
			}
			kind := "S"
			if e.numbers[name] {
				kind = "N"
			}
			fmt.Fprintf(&b, "      %s: {template: %q, type: %s}\n", shown, e.template(e.attributes[name]), kind)
		}
		fmt.Fprintln(&b, "    samples:")
		for i := e.from; i < e.to; i++ {
			fmt.Fprintf(&b, "      - {%s}\n", pairsText(e.values(i)))
		}
	}

	if slices.ContainsFunc(v.tables, func(t *aTable) bool { return t.raw > 0 }) {
		fmt.Fprintln(&b, "items:")
		for _, t := range v.tables {
			if t.raw > 0 {
				fmt.Fprintf(&b, "  %s:\n", t.name)
			}
			for i := range t.raw {
				fmt.Fprintf(&b, "    - {%s: config, %s: c%d, value: %d}\n", t.pk, t.sk, i, t.value+i)
			}
		}
	}

	var patterns []string
	for _, e := range v.entities {
		patterns = append(patterns, e.patterns()...)
	}
	for _, t := range v.tables {
		if t.scanned {
			patterns = append(patterns, fmt.Sprintf("{name: scan %d, scan: {table: %s}}", t.id, t.name))
		}
	}
	if len(patterns) > 0 {
		fmt.Fprintln(&b, "patterns:")
	}
	for _, p := range patterns {
		fmt.Fprintf(&b, "  - %s\n", p)
	}
	return b.String()
}

func pairsText(values map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, fmt.Sprintf("%s: %q", name, values[name]))
	}
	return strings.Join(all, ", ")
}

// patterns returns the access patterns of an entity: an item, a partition, and one for each index.
func (e *anEntity) patterns() (all []string) {
	values := e.values(e.from)
	where := func(names []string) string {
		some := map[string]string{}
		for _, name := range names {
			some[name] = values[name]
		}
		return pairsText(some)
	}
	limit := ""
	if e.limit > 0 {
		limit = fmt.Sprintf(", limit: %d", e.limit)
	}
	pk, sk := e.attributes["PK"], e.attributes["SK"]
	all = append(all,
		fmt.Sprintf("{name: get %d, get: {entity: %s, where: {%s}}}", e.id, e.name, where(e.fieldsOf(pk, sk))),
	)
	if e.ranged {
		all = append(all, fmt.Sprintf(
			"{name: of %d, query: {entity: %s, where: {%s}%s}}", e.id, e.name, where(e.fieldsOf(pk)), limit,
		))
	}
	if names := e.fieldsOf(sk); e.ranged && sk[0].field == 0 && len(names) > 1 {
		all = append(all, fmt.Sprintf(
			"{name: some of %d, query: {entity: %s, where: {%s}}}", e.id, e.name, where(append(e.fieldsOf(pk), names[0])),
		))
	}
	for i, x := range e.table.indexes {
		if e.attributes[x.pk] != nil && x.number && e.numbers[x.sk] && e.ranged {
			size := e.fieldsOf(e.attributes[x.sk])[0]
			if size != "" && !slices.Contains(e.fieldsOf(e.attributes[x.pk]), size) {
				all = append(all, fmt.Sprintf(
					"{name: range %d of %d, query: {entity: %s, index: %s, where: {%s: {between: [10, 60]}%s}}}",
					i, e.id, e.name, x.name, size, also(where(e.fieldsOf(e.attributes[x.pk]))),
				))
			}
		}
		if e.attributes[x.pk] != nil {
			all = append(all, fmt.Sprintf(
				"{name: index %d of %d, query: {entity: %s, index: %s, where: {%s}%s}}",
				i, e.id, e.name, x.name, where(e.fieldsOf(e.attributes[x.pk])), limit,
			))
		}
	}
	return all
}

// also returns conditions with a comma before them, or "" if there are none.
func also(conditions string) string {
	if conditions == "" {
		return ""
	}
	return ", " + conditions
}

// change changes the design in one random way and records it in done.
func (v *version) change(c *proptest.T) {
	defer func() { // an attribute in an index key must have the type of that key
		for _, t := range v.tables {
			for _, x := range t.indexes {
				if x.pk == "size" {
					v.resize(t, x.numberPK)
				}
			}
		}
	}()
	if len(v.entities) == 0 {
		v.addEntity(c, v.tables[0])
	}
	e := proptest.Pick(c, v.entities...)
	t := e.table
	say := func(format string, args ...any) { v.done = append(v.done, fmt.Sprintf(format, args...)) }
	switch c.IntN(28) {
	case 0:
		f := proptest.Pick(c, e.fields...)
		old := f.name
		f.name = v.name("field")
		say("field %s of %s is %s", old, e.name, f.name)
	case 1:
		old := e.name
		e.name = v.name("Ent")
		say("entity %s is %s", old, e.name)
	case 2, 3:
		key := proptest.Pick(c, "PK", "SK")
		for i, p := range e.attributes[key] {
			if p.field == 0 {
				e.attributes[key][i].text = proptest.Pick(c, "P#", p.text+"v2#", v.name("Q")+"#")
				if i > 0 { // the text is a delimiter
					e.attributes[key][i].text = "#" + v.name("D")
				}
				break
			}
		}
		say("another %s of %s", key, e.name)
	case 4:
		say("entity %s is new", v.addEntity(c, t).name)
	case 5:
		if e.split {
			return // the other half could be mistaken for the entity that is gone
		}
		v.entities = slices.DeleteFunc(v.entities, func(other *anEntity) bool { return other == e })
		say("entity %s is gone", e.name)
	case 6: // an entity is split in two with the same keys
		e.split = true
		half := *e
		half.id, half.name = v.number(), v.name("Ent")
		old := e.name
		e.name = v.name("Ent")
		if e.to-e.from < 2 {
			e.name = old
			return
		}
		half.from = e.from + 1
		e.to = half.from
		half.items = half.items[:half.to] // items that are written later belong to the first half
		v.entities = append(v.entities, &half)
		say("entity %s is %s and %s", old, e.name, half.name)
	case 7: // two entities exchange their templates
		if other := proptest.Pick(c, v.entities...); other != e && other.table == e.table {
			for _, key := range []string{"PK", "SK"} {
				exchange(e.attributes[key], other.attributes[key])
			}
			say("%s and %s exchange their prefixes", e.name, other.name)
		}
	case 8: // the fields of the sort key change their order
		var at []int
		for i, p := range e.attributes["SK"] {
			if p.field != 0 {
				at = append(at, i)
			}
		}
		if len(at) > 1 {
			s := e.attributes["SK"]
			s[at[0]], s[at[1]] = s[at[1]], s[at[0]]
			say("another order of SK of %s", e.name)
		}
	case 9:
		old := t.name
		t.name = v.name("Tab")
		say("table %s is %s", old, t.name)
	case 10, 11: // a key of an index, or another attribute, gets another form
		var names []string
		for name := range e.attributes {
			if name != "PK" && name != "SK" && !e.numbers[name] {
				names = append(names, name)
			}
		}
		if slices.Sort(names); len(names) > 0 {
			name := proptest.Pick(c, names...)
			e.attributes[name] = append([]piece{{text: v.name("F") + "#"}}, e.attributes[name]...)
			say("another form of %s of %s", name, e.name)
		}
	case 12: // a key of an index becomes a number, or text
		for _, x := range t.indexes {
			if x.sk == "" {
				continue
			}
			x.number = !x.number
			for _, other := range v.entities {
				if other.table == t && other.attributes[x.sk] != nil {
					other.numbers[x.sk] = x.number
					format := "int(3)"
					if x.number {
						format = "number"
					}
					other.attributes[x.sk] = []piece{{field: other.fields[2].id, format: format}}
				}
			}
			say("key %s of index %s has another type", x.sk, x.name)
			break
		}
	case 13: // an attribute of the index is renamed
		if len(t.indexes) > 0 {
			x := proptest.Pick(c, t.indexes...)
			old := x.pk
			x.pk = v.name("gpk")
			for _, other := range v.entities {
				if other.table == t && other.attributes[old] != nil {
					other.attributes[x.pk], other.numbers[x.pk] = other.attributes[old], other.numbers[old]
					delete(other.attributes, old)
				}
			}
			say("attribute %s is %s", old, x.pk)
		}
	case 14:
		t.pk = v.name("pk")
		say("another key attribute of %s", t.name)
	case 15:
		if to := proptest.Pick(c, v.tables...); to != t {
			for _, x := range t.indexes {
				delete(e.attributes, x.pk)
				delete(e.attributes, x.sk)
			}
			e.table = to
			for _, x := range to.indexes {
				if c.Bool() {
					e.enter(c, x)
				}
			}
			say("%s goes to %s", e.name, to.name)
		}
	case 16:
		if c.Bool() || len(t.indexes) == 0 {
			v.addIndex(c, t)
			for _, other := range v.entities {
				if other.table == t && c.Bool() {
					other.enter(c, t.indexes[len(t.indexes)-1])
				}
			}
			say("a new index of %s", t.name)
			return
		}
		x := proptest.Pick(c, t.indexes...)
		t.indexes = slices.DeleteFunc(t.indexes, func(other *anIndex) bool { return other == x })
		say("index %s is gone", x.name)
	case 17: // an entity enters an index, or leaves it
		if len(t.indexes) > 0 {
			x := proptest.Pick(c, t.indexes...)
			if e.attributes[x.pk] == nil {
				e.enter(c, x)
			} else {
				delete(e.attributes, x.pk)
			}
			say("%s enters or leaves %s", e.name, x.name)
		}
	case 18:
		if len(t.indexes) > 0 && c.Bool() {
			x := proptest.Pick(c, t.indexes...)
			x.projection = map[string]string{"all": "keys", "keys": "all"}[x.projection]
			say("another projection of %s", x.name)
			return
		}
		t.local = !t.local
		say("a local index of %s", t.name)
	case 19:
		v.tables = append(v.tables, &aTable{id: v.number(), name: v.name("Tab"), pk: "PK", sk: "SK"})
		e.table = v.tables[len(v.tables)-1]
		say("%s goes to a new table", e.name)
	case 20: // an existing attribute becomes the key of an index
		x := &anIndex{name: v.name("By"), pk: "size", number: c.Bool(), projection: "all"}
		if slices.ContainsFunc(t.indexes, func(other *anIndex) bool { return other.pk == "size" }) {
			return
		}
		t.indexes = append(t.indexes, x)
		v.resize(t, x.number)
		if e.attributes["size"] == nil {
			e.resize(x.number)
		}
		x.numberPK = x.number
		say("an index of %s by size", t.name)
	case 22:
		t.ttl = proptest.Pick(c, "", "end", "expires")
		say("time to live of %s by %q", t.name, t.ttl)
	case 23, 24: // a number or a time gets another format
		size, format := proptest.Pick(c, sizeFormats...), proptest.Pick(c, timeFormats...)
		for name, pieces := range e.attributes {
			for i, p := range pieces {
				switch {
				case e.numbers[name]:
				case p.field == e.fields[2].id:
					pieces[i].format = size
				case p.field == e.fields[4].id:
					pieces[i].format = format
				}
			}
		}
		say("sizes of %s are written as %q, times as %q", e.name, size, format)
	case 25: // a name goes to another entity
		other := proptest.Pick(c, v.entities...)
		if other == e || e.split || other.split {
			return
		}
		say("%s has the name of %s", e.name, other.name)
		e.name, other.name = other.name, proptest.Pick(c, e.name, v.name("Ent"))
	case 26: // a sort key loses a field, so that an old key can equal a new one
		if s := e.attributes["SK"]; len(e.fieldsOf(s)) > 1 && s[0].field == 0 {
			e.attributes["SK"] = append(slices.Clone(s[:1]), s[len(s)-1])
			say("another SK of %s", e.name)
		}
	case 27: // an item of no entity is gone, is new, or is another
		switch {
		case t.raw == 0 || c.Often(30):
			t.raw++
			say("an item of %s is new", t.name)
		case c.Bool():
			t.raw--
			say("an item of %s is gone", t.name)
		default:
			t.value++
			say("the items of no entity of %s are others", t.name)
		}
	case 21: // an attribute has another type
		if !slices.ContainsFunc(t.indexes, func(other *anIndex) bool { return other.pk == "size" }) {
			v.resize(t, c.Bool())
			say("another type of size in %s", t.name)
		}
	}
}

// resize sets the type of the attribute size in all entities of a table.
func (v *version) resize(t *aTable, number bool) {
	for _, e := range v.entities {
		if e.table == t && e.attributes["size"] != nil {
			e.resize(number)
		}
	}
}

func (e *anEntity) resize(number bool) {
	format := "int(3)"
	if number {
		format = "number"
	}
	e.numbers["size"], e.attributes["size"] = number, []piece{{field: e.fields[2].id, format: format}}
}

// exchange exchanges the literals of two templates.
func exchange(a, b []piece) {
	for i := range a {
		if i < len(b) && a[i].field == 0 && b[i].field == 0 {
			a[i].text, b[i].text = b[i].text, a[i].text
		}
	}
}

// renames returns the answers that a person would give: the new names of old entities and tables, or "" for those
// that are gone.
func renames(old, made *version) map[string]string {
	all := map[string]string{}
	for _, e := range old.entities {
		i := slices.IndexFunc(made.entities, func(other *anEntity) bool { return other.id == e.id })
		if i < 0 {
			all[e.name] = ""
		} else if made.entities[i].name != e.name {
			all[e.name] = made.entities[i].name
			if made.entities[i].split { // the other half has the same form, so all items get this name
				all[e.name] = "=" + made.entities[i].name
			}
		}
	}
	for _, t := range old.tables {
		i := slices.IndexFunc(made.tables, func(other *aTable) bool { return other.id == t.id })
		if i >= 0 && made.tables[i].name != t.name {
			all[t.name] = made.tables[i].name
		}
	}
	return all
}
