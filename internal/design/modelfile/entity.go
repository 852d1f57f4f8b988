package modelfile

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A draft is an entity as written in the file.
type draft struct {
	model.Entity
	Fields     []*model.Field // fields that the entity declares
	Attributes []*attribute   // attributes that the file lists
}

// draftOf returns the draft of an entity for writing. It has only the fields and attributes that the file must list.
func draftOf(m *model.Model, e *model.Entity) *draft {
	d := &draft{Entity: *e, Fields: ownFields(m, e)}
	for _, t := range explicit(e, d.Fields) {
		a := &attribute{Template: *t}
		if t.Template != nil && t.Kind != cmp.Or(keyKind(e, t.Name), attr.String) {
			a.Type = t.Kind
		}
		d.Attributes = append(d.Attributes, a)
	}
	return d
}

// entitiesOf returns the codec of the entities of a model. It reads drafts with the given codec, finds the types of
// the fields, and then parses the templates.
func entitiesOf(drafts codec) codec {
	return special(func(in value, m *model.Model) {
		var list []*draft
		drafts.read(in, reflect.ValueOf(&list).Elem())
		for _, d := range list {
			d.Entity.Fields = slices.Clone(d.Fields)
			m.Entities = append(m.Entities, &d.Entity)
		}
		for _, read := range in.parser.linked {
			read()
		}
		for _, d := range list {
			in.infer(d, list)
		}
		for _, d := range list {
			in.parse(d)
		}
		for _, read := range in.parser.later {
			read()
		}
		for _, e := range m.Entities {
			in.checkKeys(e)
		}
	}, func(m *model.Model) *yaml.Node {
		if len(m.Entities) == 0 {
			return nil
		}
		var list []*draft
		for _, e := range m.Entities {
			list = append(list, draftOf(m, e))
		}
		return drafts.write(reflect.ValueOf(list))
	})
}

var entityNames = text.Pattern(`^[\pL_][\pL\pN_ .-]*$`)

func startEntity(key value, d *draft) bool {
	key.entity = &d.Entity
	if !entityNames().MatchString(d.Name) {
		key.fail(
			"names consist of letters, digits, _, -, . and spaces, and begin with a letter",
			"%s is not a valid entity name", clip(d.Name),
		)
	}
	return true
}

func beforeEntity(in value, d *draft) bool {
	d.Table = in.tableOf(d.Pos)
	return true
}

// tableOf returns the table that the object names, or the model's only table if it names none.
func (in value) tableOf(at model.Pos) *model.Table {
	table := in.get("table").called("the table of " + in.what)
	if table.node == nil {
		if len(in.m.Tables) == 1 {
			return in.m.Tables[0]
		}
		if len(in.m.Tables) > 1 {
			in.failAt(at, "add table: "+in.m.Tables[0].Name, "%s does not name its table", in.what)
		}
		return nil
	}
	return table.tableNamed()
}

// tableNamed returns the table that the value names, or nil after reporting an error.
func (in value) tableNamed() *model.Table {
	return find(in, in.m.Tables, "unknown table %s")
}

// infer finds the fields that the templates of d name. A field that d does not declare belongs to an ancestor of d,
// or else to the model. A field without a type gets the first type in a template, or the most precise one of several
// time types.
func (p *parser) infer(d *draft, all []*draft) {
	e := &d.Entity
	for _, a := range d.Attributes {
		components(a.src, func(name, typ string) {
			f := d.carried(name, all)
			if f == nil {
				f = p.fieldOf(e, name)
			}
			if f == nil {
				if _, err := keys.Parse("{" + name + "}"); err != nil {
					return // parsing the template reports the error
				}
				f = &model.Field{Pos: a.Pos, Name: name, Distribution: uniform}
				p.m.Fields = append(p.m.Fields, f)
			}
			if typ = strings.TrimSuffix(typ, ":desc"); typ != "" && typ != "desc" && !p.declared[f] {
				if t, err := keys.ParseType(typ); err == nil && (f.Type.Name == "" || model.Finer(t, f.Type)) {
					f.Type = t
				}
			}
			if !slices.Contains(e.Fields, f) {
				e.Fields = append(e.Fields, f)
			}
		})
	}
}

// carried returns the named field of an ancestor whose key contains it. It returns nil if there is none, or if d
// declares a field of that name itself.
func (d *draft) carried(name string, all []*draft) *model.Field {
	called := func(f *model.Field) bool { return f.Name == name }
	if slices.ContainsFunc(d.Fields, called) {
		return nil
	}
	for _, e := range d.Entity.Ancestors() {
		parent := all[slices.IndexFunc(all, func(other *draft) bool { return &other.Entity == e })]
		i := slices.IndexFunc(parent.Fields, called)
		inKey := false
		for _, a := range parent.Attributes {
			components(a.src, func(component, _ string) {
				inKey = inKey || component == name && e.Table != nil && e.Table.Has(a.Name)
			})
		}
		if i >= 0 && inKey {
			return parent.Fields[i]
		}
	}
	return nil
}

// parse parses the templates of d and sets the entity's attributes. infer must have set the types of the fields.
func (p *parser) parse(d *draft) {
	e := &d.Entity
	for _, a := range d.Attributes {
		if a.at.node != nil {
			var err error
			if a.Template.Template, err = parseTemplate(e, a.Kind, a.src); err != nil {
				p.broken[e] = true
				p.failKey(a.at.pos(), "attribute "+a.Name, err)
				continue
			}
		}
		e.Attributes = append(e.Attributes, &a.Template)
	}
	e.Attributes = append(e.Attributes, implied(e, d.Fields, e.Attributes)...)
}

// checkKeys checks that all items of an entity have the keys of its table.
func (p *parser) checkKeys(e *model.Entity) {
	if e.Table == nil {
		return
	}
	for _, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		switch {
		case t == nil && !p.broken[e]:
			p.failAt(
				e.Pos, "add "+a.Name+" to its attributes", "entity %s has no attribute %s, a key of table %s", e.Name,
				a.Name, e.Table.Name,
			)
		case t != nil && t.Conditional():
			p.failAt(
				t.Pos, "remove the condition", "attribute %s is a key of table %s, so every item has it", a.Name,
				e.Table.Name,
			)
		}
	}
}

// fieldCodec is the codec of the name of a field of the entity.
var fieldCodec = checked(func(in value, name string) {
	in.known(name, namesOf(in.entity.Fields), "entity %s has no field %s", in.entity.Name)
})
