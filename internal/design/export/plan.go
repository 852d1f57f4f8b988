package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// A plan says how a library whose templates put values into texts as they are stores the items of
// an entity: OneTable or ElectroDB. Attributes that it cannot derive from fields are plain: the
// program sets them itself.
type plan struct {
	e *model.Entity
	// forms are the fields that the library knows, in the order of their first use.
	forms []form
	plain map[string]bool // by attribute
	// stored are the attributes that hold only a field: the attribute of its name, or the one to
	// which the field is mapped.
	stored map[string]*model.Template // by field
}

// A form is how the library holds the value of a field.
type form struct {
	field string
	// number says that it is a number, and date that it is a Date. Otherwise it is the text of typ.
	number, date bool
	typ          keys.Type
}

// A use is a component of a field in an attribute.
type use struct {
	attribute *model.Template
	typ       keys.Type
}

// Rules are what a library can do.
type rules struct {
	dates  bool // it has a type for times
	widths bool // it pads one number to several widths
	nested bool // it takes the name of an attribute with a dot, if it maps a field to it, for one in a map
}

// newPlan returns the plan of an entity.
func newPlan(e *model.Entity, r rules) *plan {
	p := &plan{e: e, plain: map[string]bool{}, stored: map[string]*model.Template{}}
	uses := map[string][]use{}
	var order []string
	for _, t := range e.Attributes {
		if _, ok := constant(t); ok && !t.Conditional() {
			continue
		}
		inMap := r.nested && strings.Contains(t.Name, ".")
		if !p.derivable(t) || inMap && t.Kind != attr.String {
			p.plain[t.Name] = true
			continue
		}
		for _, part := range t.Template.Parts() {
			if part.Name == "" {
				continue
			}
			if uses[part.Name] == nil {
				order = append(order, part.Name)
			}
			uses[part.Name] = append(uses[part.Name], use{t, part.Type})
		}
	}

	for _, field := range order {
		f := formOf(field, uses[field], e.Table.TTL, r)
		for _, u := range uses[field] {
			if !f.fits(u, r) {
				p.plain[u.attribute.Name] = true
			}
		}
		p.forms = append(p.forms, f)
	}

	p.forms = slices.DeleteFunc(p.forms, func(f form) bool {
		return !slices.ContainsFunc(uses[f.field], func(u use) bool { return !p.plain[u.attribute.Name] })
	})
	p.store(r)
	return p
}

// derivable reports whether a library could derive an attribute from fields, as far as the attribute
// alone says.
func (p *plan) derivable(t *model.Template) bool {
	if t.Template == nil || t.Conditional() || slices.Contains(inherited, t.Name) {
		return false
	}
	if t.Kind == attr.Binary || t.Kind == attr.Number && pure(t) == "" {
		return false
	}
	for _, part := range t.Template.Parts() {
		own := p.e.Attribute(part.Name)
		switch {
		case part.Name == "" && strings.Contains(part.Literal, "${"):
			return false
		case part.Name == "":
		case strings.ContainsAny(part.Name, ".:"), slices.Contains(inherited, part.Name):
			return false
		case own != nil && (pure(own) != part.Name || own.Conditional()):
			return false // the name is that of another value
		}
	}
	return true
}

// inherited are the members that every object of JavaScript has: both libraries look up names in objects, and find
// these in place of a property. Source: ECMAScript, properties of the Object prototype object.
var inherited = []string{
	"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
	"hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
}

// unusable reports whether a library cannot have a key, because of the name of one of its attributes.
func unusable(list []model.Attribute) bool {
	return slices.ContainsFunc(list, func(a model.Attribute) bool { return slices.Contains(inherited, a.Name) })
}

// partOf returns the part of a model that the value of an attribute is.
func partOf(t *model.Template) Part {
	if _, ok := constant(t); ok {
		return Constants
	}
	return Templates
}

// pure returns the only field of an attribute that holds nothing else, or "".
func pure(t *model.Template) string {
	if t.Template == nil {
		return ""
	}
	if parts := t.Template.Parts(); len(parts) == 1 {
		return parts[0].Name
	}
	return ""
}

// formOf returns the form of a field that serves its first use, a number before a text.
func formOf(field string, uses []use, ttl string, r rules) form {
	of := func(is func(use) bool) bool { return !slices.ContainsFunc(uses, func(u use) bool { return !is(u) }) }
	text := func(u use) bool { return u.attribute.Kind == attr.String }
	self := slices.IndexFunc(uses, func(u use) bool { return u.attribute.Name == field })

	f := form{field: field, typ: uses[0].typ}
	if self >= 0 {
		f.typ = uses[self].typ
	}
	is := func(u use) bool { return u.typ.String() == f.typ.String() }
	i := slices.IndexFunc(uses, func(u use) bool { return !text(u) })
	switch {
	case self >= 0 && text(uses[self]):
		f.date = r.dates && f.typ.Name == "millis" && !f.typ.Desc && of(is) && of(text)
	case i >= 0:
		f.number, f.typ = true, uses[i].typ
		f.date = r.dates && of(is) && of(func(u use) bool { return !text(u) }) && !f.typ.Desc &&
			(f.typ.Name == "epochms" || f.typ.Name == "epoch" && uses[i].attribute.Name == ttl)
		if k := slices.IndexFunc(uses, text); k >= 0 && padded(f.typ) && padded(uses[k].typ) {
			f.typ = uses[k].typ
		}
	case padded(f.typ):
		f.number = true
	default:
		f.date = r.dates && f.typ.Name == "millis" && !f.typ.Desc && of(is)
	}
	return f
}

// padded reports whether a type writes a number as its digits, with zeros before them or without.
func padded(t keys.Type) bool { return (t.Name == "int" || t.Name == "number") && !t.Desc }

// fits reports whether the value of a field serves one of its uses.
func (f form) fits(u use, r rules) bool {
	switch {
	case !f.number:
		return u.attribute.Kind == attr.String && u.typ.String() == f.typ.String()
	case padded(f.typ):
		return padded(u.typ) && (r.widths || u.attribute.Kind == attr.Number || u.typ.String() == f.typ.String())
	}
	return u.attribute.Kind == attr.Number && u.typ.String() == f.typ.String()
}

// store decides which attribute holds each field.
func (p *plan) store(r rules) {
	keyNames := p.e.Table.Kinds()
	for _, f := range p.forms {
		if t := p.e.Attribute(f.field); t != nil {
			p.stored[f.field] = t
			continue
		}
		for _, t := range p.e.Attributes {
			if _, isKey := keyNames[t.Name]; isKey || r.nested && strings.Contains(t.Name, ".") {
				continue
			}
			if pure(t) == f.field && !p.plain[t.Name] && f.holds(t) {
				p.stored[f.field] = t
				break
			}
		}
	}
}

// holds reports whether an attribute has the value of the field as the library stores it.
func (f form) holds(t *model.Template) bool {
	return f.number == (t.Kind == attr.Number)
}

// form returns the form of a field.
func (p *plan) form(field string) (form, bool) {
	i := slices.IndexFunc(p.forms, func(f form) bool { return f.field == field })
	if i < 0 {
		return form{}, false
	}
	return p.forms[i], true
}

// value returns a value of a field, in text form, as the library stores it.
func (f form) value(text string) (attr.Value, error) {
	part, err := f.typ.Encode(text)
	if err != nil {
		return attr.Value{}, err
	}
	if f.number {
		return attr.NewNumber(part)
	}
	return attr.NewString(part), nil
}

// dollars returns a template with ${field} for a component and, if the library pads numbers, ${field:5}
// for one of five digits.
func (p *plan) dollars(t *model.Template, pads bool) string {
	var b strings.Builder
	for _, part := range t.Template.Parts() {
		f, _ := p.form(part.Name)
		switch {
		case part.Name == "":
			b.WriteString(part.Literal)
		case pads && f.number && part.Type.Name == "int":
			b.WriteString("${" + part.Name + ":" + strconv.Itoa(part.Type.Width) + "}")
		default:
			b.WriteString("${" + part.Name + "}")
		}
	}
	return b.String()
}

// loseTypes records the fields whose types the library does not have in a template.
func (d *design) loseTypes(p *plan, has func(f form, part keys.Part, t *model.Template) bool) {
	for _, t := range p.e.Attributes {
		if t.Template == nil || p.plain[t.Name] {
			continue
		}
		for _, part := range t.Template.Parts() {
			if f, ok := p.form(part.Name); ok && part.Name != "" && !has(f, part, t) {
				d.lose(Types, p.e.Name+"."+part.Name)
			}
		}
	}
}
