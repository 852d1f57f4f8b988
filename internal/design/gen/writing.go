package gen

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

// Missing says of each pattern that has no function why it has none, in a line.
func Missing(m *model.Model) (all []string) {
	for _, p := range m.Patterns {
		var err error
		if p.IsWrite() {
			_, err = newWriting(p)
		} else {
			_, err = newReading(m, p)
		}
		if err != nil {
			all = append(all, without(p, err))
		}
	}
	return all
}

// A writing is how the request of a pattern that writes follows from the values in the keys of its items.
// Each language writes it as a function.
type writing struct {
	p   *model.Pattern
	all []*itemWrite
}

// An itemWrite is the write of one item.
type itemWrite struct {
	*model.Write
	// condition has the members of the request for its condition, if it has one: the expression, and the
	// placeholders of it.
	condition []member
	names     map[string]string
	values    attr.Item
	// constants are the attributes of a put that are the same in all items, apart from keys.
	constants []*model.Template
	// indexed are the keys of indexes that an update changes, and assigned the other attributes.
	indexed  []string
	assigned []assignment
	// needs are the fields whose values a key or an update depends on.
	needs []string
}

// An assignment is an attribute that an update gives another value, which its template makes of values in
// the keys and of parameters.
type assignment struct {
	t    *model.Template
	args []argument // those without a parameter are values in the keys
	// fields are those of the arguments.
	fields []string
}

// newWriting returns the writing of a pattern, or why it has no request.
func newWriting(p *model.Pattern) (*writing, error) {
	w := &writing{p: p}
	if p.Operation == model.Move {
		return nil, errors.New("a move is a write of every item that carries the value: find them, then write each")
	}
	for i := range p.Writes {
		one := &itemWrite{Write: &p.Writes[i]}
		if err := one.read(); err != nil {
			return nil, err
		}
		w.all = append(w.all, one)
	}
	return w, nil
}

// likeSet matches the placeholders of updates.
var likeSet = regexp.MustCompile(`^[#:]set[0-9]`)

func (w *itemWrite) read() error {
	if w.If != "" {
		if err := w.readCondition(); err != nil {
			return err
		}
	}
	need := func(t *model.Template) {
		for _, field := range fieldsIn(t) {
			if !slices.Contains(w.needs, field) {
				w.needs = append(w.needs, field)
			}
		}
	}

	table := w.Entity.Table
	for _, t := range w.Entity.Attributes {
		key, indexed := table.Has(t.Name), table.IsKey(t.Name)
		changed := slices.ContainsFunc(w.Changes(), t.DependsOn)
		switch {
		case key && changed:
			return fmt.Errorf("it changes %s, a key of table %s, which an update cannot", t.Name, table.Name)
		case key:
			need(t)
		case w.Operation == model.Put && !indexed && t.Template == nil && !t.Conditional():
			w.constants = append(w.constants, t)
		case w.Operation != model.Update || !changed:
		case indexed:
			w.indexed = append(w.indexed, t.Name)
			need(t)
		case t.Conditional():
			return fmt.Errorf("it changes %s, which only some items have and which is in no key", t.Name)
		default:
			need(t)
			w.assign(t)
		}
	}

	if w.Operation == model.Update && len(w.indexed)+len(w.assigned) == 0 {
		return fmt.Errorf("no attribute of %s depends on %s", w.Entity.Name, strings.Join(w.Changes(), ", "))
	}
	return nil
}

// readCondition reads the condition, which is that of a delete of any item.
func (w *itemWrite) readCondition() error {
	in, err := compile.Write(&model.Pattern{Operation: model.Delete, Writes: []model.Write{{
		Pos: w.Pos, Operation: model.Delete, Entity: w.Entity, If: w.If,
	}}}, []compile.Item{{}})
	if err != nil {
		return err
	}
	d := in.(*wire.DeleteItemInput)
	w.names, w.values = d.ExpressionAttributeNames, d.ExpressionAttributeValues
	w.condition = []member{{"ConditionExpression", *d.ConditionExpression}}
	for name := range w.names {
		if likeSet.MatchString(name) {
			return fmt.Errorf("the placeholder %s in its condition is reserved", name)
		}
	}
	for name := range w.values.All() {
		if likeSet.MatchString(string(name)) {
			return fmt.Errorf("the placeholder %s in its condition is reserved", name)
		}
	}

	if w.Operation == model.Update { // which has placeholders of its own
		return nil
	}
	if len(w.names) > 0 {
		w.condition = append(w.condition, member{"ExpressionAttributeNames", w.names})
	}
	if w.values.Len() > 0 {
		w.condition = append(w.condition, member{"ExpressionAttributeValues", w.values})
	}
	return nil
}

// assign adds an attribute that no index has as a key.
func (w *itemWrite) assign(t *model.Template) {
	_, values := entityKeys(w.Entity)
	a := assignment{t: t}
	for _, part := range t.Template.Parts() {
		if part.Name == "" {
			continue
		}
		arg := argument{}
		if !slices.ContainsFunc(values, func(v value) bool { return v.field == part.Name }) {
			arg.parameter = w.parameter(part)
		}
		a.args, a.fields = append(a.args, arg), append(a.fields, part.Name)
	}
	w.assigned = append(w.assigned, a)
}

// parameter returns the parameter of a field that is in no key.
func (w *itemWrite) parameter(part keys.Part) *parameter {
	for _, p := range w.parameters() {
		if p.field == part.Name {
			return p
		}
	}
	return &parameter{field: part.Name, typ: goType(part.Type)}
}

// parameters returns the parameters besides the values in the keys.
func (w *itemWrite) parameters() (all []*parameter) {
	for _, a := range w.assigned {
		for _, arg := range a.args {
			if arg.parameter != nil && !slices.Contains(all, arg.parameter) {
				all = append(all, arg.parameter)
			}
		}
	}
	return all
}

// about documents what the parameters of the item are for, given the name of the values in its keys and that of its
// other attributes.
func (w *itemWrite) about(item, other string) string {
	if w.Operation == model.Put {
		return fmt.Sprintf(" %s has the attributes besides the keys of %s.", capital(other), item)
	}

	var fields []string
	for _, field := range w.needs {
		if !slices.ContainsFunc(w.parameters(), func(p *parameter) bool { return p.field == field }) {
			fields = append(fields, field)
		}
	}
	words := fmt.Sprintf(" It uses %s of %s", text.Join(fields, "and"), item)
	if len(w.indexed) > 0 {
		return words + ", as they are after the update, and removes the key of an index that lacks a value."
	}
	return words + "."
}

// fieldsIn returns the fields on which an attribute depends.
func fieldsIn(t *model.Template) (all []string) {
	if t.Template != nil {
		all = t.Template.Components()
	}
	all = append(all, slices.Sorted(maps.Keys(t.When))...)
	for _, r := range t.Ranges {
		all = append(all, r.Field)
	}
	return all
}

// formatArgs returns the arguments of the template of an assignment: the values in the keys of its item, which have
// their names in a language after a prefix, and parameters.
func (w *itemWrite) formatArgs(
	a assignment, fields map[string]string, prefix string, params map[*parameter]string,
) string {
	var all []string
	for n, field := range a.fields {
		if p := a.args[n].parameter; p != nil {
			all = append(all, params[p])
		} else {
			all = append(all, prefix+fields[field])
		}
	}
	return strings.Join(all, ", ")
}

// functionsIn returns the functions of the keys of an entity.
func functionsIn(all []Functions, e *model.Entity) Functions {
	return all[slices.IndexFunc(all, func(f Functions) bool { return f.Entity == e })]
}

// templatesOf returns the templates of an entity that code needs: those of its keys, and those of other
// attributes that updates change.
func templatesOf(m *model.Model, e *model.Entity) (all []*model.Template) {
	for _, a := range keyAttributes(e.Table) {
		if t := e.Attribute(a.Name); t != nil && t.Template != nil {
			all = append(all, t)
		}
	}
	for _, p := range m.Patterns {
		if !p.IsWrite() {
			continue
		}
		w, err := newWriting(p)
		if err != nil {
			continue
		}
		for _, one := range w.all {
			for _, a := range one.assigned {
				if one.Entity == e && !slices.Contains(all, a.t) {
					all = append(all, a.t)
				}
			}
		}
	}
	return all
}

// errSeveral says that a pattern is requests that no loop of the generated code makes.
var errSeveral = errors.New("it is several requests")
