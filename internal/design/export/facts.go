package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A fact is one thing that a model says. Two models with the same facts are the same design,
// except for places in files and for whether fields of one name are shared.
type fact struct {
	part Part
	// name is the thing that a loss names.
	name string
	// within and of are the entity, the pattern or the index that the fact is about.
	within Part
	of     string
	// attribute is the attribute of the fact, if it has one.
	attribute   string
	path, value string
}

// facts returns what a model says, in its order.
func facts(m *model.Model) []fact {
	c := &collector{m: m}
	c.add(fact{part: Name, path: "name", value: m.Name})
	if about := strings.TrimSpace(m.About); about != "" {
		c.add(fact{part: About, path: "about", value: about})
	}
	if m.Seed > 1 {
		c.add(fact{part: Generation, path: "seed", value: fmt.Sprint(m.Seed)})
	}
	c.tables()
	for _, e := range m.Entities {
		c.entity(e)
	}
	c.items()
	for _, p := range m.Patterns {
		c.pattern(p)
	}
	for _, a := range m.Allow {
		c.add(fact{part: Allowances, path: "allow/" + a.Rule + "/" + a.On, value: a.Why})
	}
	return c.all
}

type collector struct {
	m   *model.Model
	all []fact
}

func (c *collector) add(f fact) { c.all = append(c.all, f) }

func (c *collector) tables() {
	var order []string
	for _, t := range c.m.Tables {
		order = append(order, t.Name)
		// With one table the others need no name to find it.
		of := "table/" + t.Name
		if len(c.m.Tables) == 1 {
			of = "table"
		}
		c.add(fact{part: TableNames, name: t.Name, path: of + "/name", value: t.Name})
		c.add(fact{part: Tables, name: t.Name, path: of + "/key", value: keyText(t.Partition, t.Sort)})
		kinds := t.Kinds()
		for _, name := range sortedNames(kinds) {
			kind := kinds[name].String()
			c.add(fact{part: KeyTypes, name: t.Name + "." + name, path: of + "/kind/" + name, value: kind})
		}
		if t.TTL != "" {
			c.add(fact{part: TTL, name: t.Name, path: of + "/ttl", value: t.TTL})
		}
		c.indexes(t, of)
	}
	if len(order) > 1 {
		c.add(fact{part: TableOrder, path: "tables", value: strings.Join(order, " ")})
	}
}

func (c *collector) indexes(t *model.Table, of string) {
	var order []string
	mixed := false // a local index comes before a global one
	for i, x := range t.Indexes {
		order = append(order, x.Name)
		name := t.Name + "." + x.Name
		at := of + "/index/" + x.Name
		c.add(fact{part: Indexes, name: name, within: Indexes, of: name, path: at, value: keyText(x.Partition, x.Sort)})
		c.add(fact{
			part: LocalIndexes, name: name, within: Indexes, of: name, path: at + "/local", value: fmt.Sprint(x.Local),
		})
		c.add(fact{
			part: Projections, name: name, within: Indexes, of: name, path: at + "/projection",
			value: x.Projection + " " + strings.Join(x.Include, " "),
		})
		mixed = mixed || x.Local && slices.ContainsFunc(t.Indexes[i:], func(x *model.Index) bool { return !x.Local })
	}
	if mixed {
		c.add(fact{part: IndexOrder, name: t.Name, path: of + "/indexes", value: strings.Join(order, " ")})
	}
}

// keyText returns the attributes of a key.
func keyText(hash, sort []model.Attribute) string {
	var b strings.Builder
	for i, list := range [][]model.Attribute{hash, sort} {
		if i > 0 {
			b.WriteString(" / ")
		}
		for _, a := range list {
			b.WriteString(a.Name + " ")
		}
	}
	return b.String()
}

func (c *collector) entity(e *model.Entity) {
	at := "entity/" + e.Name
	add := func(part Part, path, value string) {
		c.add(fact{part: part, name: e.Name, within: Entities, of: e.Name, path: at + path, value: value})
	}
	table := ""
	if len(c.m.Tables) > 1 {
		table = e.Table.Name
	}

	add(Entities, "", table)
	if e.About != "" {
		add(EntityAbout, "/about", e.About)
	}
	for _, t := range e.Attributes {
		c.template(e, t)
	}

	c.fields(e)
	for i, p := range e.Parents {
		add(Parents, fmt.Sprintf("/of/%d", i), p.Entity.Name+" "+fmt.Sprint(p.Per))
	}
	if len(e.Mutable) > 0 {
		add(Mutable, "/mutable", strings.Join(e.Mutable, " "))
	}
	if e.Life != 0 {
		add(Lives, "/life", e.Life.String())
	}
	if e.Count != 0 {
		add(Generation, "/count", fmt.Sprint(e.Count))
	}
	if e.Reads != 0 || e.Writes != 0 {
		add(Rates, "/rates", fmt.Sprint(e.Reads, e.Writes))
	}
}

// template adds what an entity says about an attribute.
func (c *collector) template(e *model.Entity, t *model.Template) {
	at := "entity/" + e.Name + "/attribute/" + t.Name
	name := e.Name + "." + t.Name
	add := func(part Part, name, path, value string) {
		c.add(fact{
			part: part, name: name, within: Entities, of: e.Name, attribute: t.Name, path: at + path, value: value,
		})
	}
	if v, ok := constant(t); ok {
		add(Constants, name, "", t.Kind.String()+" "+jsonOf(v))
	} else {
		add(Templates, name, "", t.Kind.String()+" "+shape(t))
		for _, p := range t.Template.Parts() {
			if p.Name != "" && typeName(p.Type) != "string" {
				add(Types, e.Name+"."+p.Name, "/type/"+p.Name, typeName(p.Type))
			}
		}
	}
	for _, field := range sortedNames(t.When) {
		add(Conditions, name, "/when/"+field, strings.Join(t.When[field], " "))
	}
	for i, r := range t.Ranges {
		add(Conditions, name, fmt.Sprintf("/range/%d", i), fmt.Sprint(r.Field, r.Op, r.Args))
	}
}

// fields adds what an entity says about its fields, apart from their types in templates.
func (c *collector) fields(e *model.Entity) {
	for _, f := range e.Fields {
		at := "entity/" + e.Name + "/field/" + f.Name
		name := e.Name + "." + f.Name
		add := func(part Part, path, value string) {
			c.add(fact{part: part, name: name, within: Entities, of: e.Name, path: at + path, value: value})
		}
		values := f.Values
		if values == nil {
			values = f.Type.Values
		}
		if len(values) > 0 {
			add(Values, "/values", strings.Join(values, " "))
		}
		generated := ""
		if d := f.Distribution; d.Name != "" && d.Name != "uniform" {
			generated += fmt.Sprint(d.Name, d.Skew)
		}
		if f.Distinct != 0 || f.MinSize != 0 || f.MaxSize != 0 || f.From != "" || f.To != "" {
			generated += fmt.Sprint(" ", f.Distinct, f.MinSize, f.MaxSize, f.From, f.To)
		}
		if generated != "" {
			add(Generation, "/generated", generated)
		}
	}
}

// items adds the items that the model lists.
func (c *collector) items() {
	add := func(t *model.Table, e *model.Entity, it attr.Item) {
		var key []string
		for _, a := range t.Keys() {
			key = append(key, jsonOf(it.Get(a.Name)))
		}
		at := "item/" + strings.Join(key, " ")
		if len(c.m.Tables) > 1 {
			at = "item/" + t.Name + "/" + strings.Join(key, " ")
		}
		f := fact{part: Items, name: t.Name, path: at}
		if e != nil {
			f.name, f.within, f.of = e.Name, Entities, e.Name
			owner := f
			owner.part, owner.path, owner.value = Owners, at+"/of", e.Name
			c.add(owner)
		}
		for name, v := range it.All() {
			f.attribute, f.path, f.value = string(name), at+"/"+string(name), jsonOf(v)
			c.add(f)
		}
	}
	for _, e := range c.m.Entities {
		for _, s := range e.Samples {
			if it, err := e.ItemWith(s.Values, s.Attributes); err == nil {
				add(e.Table, e, it)
			}
		}
	}

	for _, r := range c.m.Items {
		add(r.Table, nil, r.Item)
	}
}

func (c *collector) pattern(p *model.Pattern) {
	at := "pattern/" + p.Name
	add := func(part Part, path, value string) {
		c.add(fact{part: part, name: p.Name, within: Patterns, of: p.Name, path: at + path, value: value})
	}
	request, err := compile.PatternJSON(c.m, p)
	if err != nil {
		request = []byte(err.Error())
	}

	value := p.Operation + " " + canonicalJSON(request)
	if p.Then != nil {
		value += " then " + p.Then.Name
	}
	for _, w := range p.Writes {
		value += fmt.Sprint(" ", w.Operation, w.Entity.Name, w.Where, w.Set, w.If)
		if w.Field != nil {
			value += " " + w.Field.Name
		}
	}

	add(Patterns, "", value)
	if p.About != "" {
		add(PatternAbout, "/about", p.About)
	}
	if p.Request == nil {
		add(Where, "/where", fmt.Sprint(p.Where, p.Filter, p.Project))
	}
	if p.Rate != 0 {
		add(Rates, "/rate", fmt.Sprint(p.Rate))
	}
	if p.Asked != "" {
		add(Rates, "/asked", p.Asked)
	}

	expect := p.Expect
	expect.Pos = model.Pos{}
	if s := fmt.Sprintf("%+v", expect); s != fmt.Sprintf("%+v", model.Expect{}) {
		add(Expectations, "/expect", expectation(expect))
	}
}

// expectation returns an expectation as text without pointers.
func expectation(e model.Expect) string {
	var all []string
	for _, n := range []*int{e.Rows, e.MaxRows, e.Pages} {
		if n != nil {
			all = append(all, fmt.Sprint(*n))
		}
	}
	for _, n := range []*float64{e.Units, e.Waste} {
		if n != nil {
			all = append(all, fmt.Sprint(*n))
		}
	}
	for _, k := range e.Keys {
		all = append(all, k.Text())
	}
	return fmt.Sprint(all, e.Entities, e.Budget, e.Ties, e.NoItem, e.Error, attrText(e.Item))
}

func attrText(it attr.Item) string {
	var all []string
	for name, v := range it.All() {
		all = append(all, string(name)+"="+jsonOf(v))
	}
	return strings.Join(all, " ")
}

// constant returns the value of an attribute that is the same in all items: a constant, or a
// template without components.
func constant(t *model.Template) (attr.Value, bool) {
	if t.Template == nil {
		return t.Const, true
	}
	if len(t.Template.Components()) > 0 {
		return attr.Value{}, false
	}
	s, err := t.Template.Build(nil)
	if err != nil {
		return attr.Value{}, false
	}
	v, err := model.ValueOf(s, t.Kind)
	return v, err == nil
}

// shape returns a template without the types of its components.
func shape(t *model.Template) string {
	var b strings.Builder
	for _, p := range t.Template.Parts() {
		if p.Name == "" {
			b.WriteString(p.Literal)
		} else {
			b.WriteString("\x00" + p.Name + "\x00")
		}
	}
	return b.String()
}

// typeName returns a type, of which string is the default.
func typeName(t keys.Type) string { return cmp.Or(t.String(), "string") }

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func jsonOf(v attr.Value) string { return string(v.AppendJSON(nil)) }

// canonicalJSON returns JSON with sorted members.
func canonicalJSON(data []byte) string {
	v, err := decode(data)
	if err != nil {
		return string(data)
	}
	out, err := text.JSON(v)
	if err != nil {
		return string(data)
	}
	return string(out)
}
