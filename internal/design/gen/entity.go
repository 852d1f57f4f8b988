package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// The Go types of the values of components.
const (
	goText   = "string"
	goNumber = "int64"
	goTime   = "time.Time"
)

// mostInt64 is the number of digits that always fit into an int64.
const mostInt64 = 18

// goType returns the Go type for the values of a component.
func goType(t keys.Type) string {
	switch t.Name {
	case "int", "signed":
		if t.Width <= mostInt64 {
			return goNumber
		}
	case "year", "month", "date", "time", "millis", "micros", "nanos", "epoch", "epochms":
		return goTime
	}
	return goText
}

// precision orders time types by precision.
var precision = []string{"year", "month", "date", "epoch", "time", "epochms", "millis", "micros", "nanos"}

// A value is a field in keys.
type value struct {
	field, goName, goType string
}

// A key is a key attribute of an entity.
type key struct {
	model.Attribute
	t *model.Template
	// method is the name of the method that formats the key, or "" for a
	// constant, and scan the name of the method that parses it.
	method, scan string
	parts        []keys.Part // components
}

// width returns the number of digits of a number in the template.
func (k key) width() int {
	if k.Kind != attr.Number || len(k.parts) != 1 {
		return 0
	}
	width, _ := k.parts[0].Type.Fixed()
	return width
}

// entityKeys returns the key attributes of an entity and the values in them.
func entityKeys(e *model.Entity) (all []key, values []value) {
	scope := newScope(nil)
	scope.taken["Key"], scope.taken["Attributes"] = true, true
	add := func(field string, t keys.Type) {
		i := slices.IndexFunc(values, func(v value) bool { return v.field == field })
		if i < 0 {
			values = append(
				values, value{field: field, goName: scope.add(exported(field, "Field"), "Field"), goType: goType(t)},
			)
		} else if values[i].goType != goType(t) {
			values[i].goType = goText // the text form works for every type
		}
	}
	for _, a := range keyAttributes(e.Table) {
		t := e.Attribute(a.Name)
		if t == nil {
			continue
		}
		k := key{Attribute: a, t: t}
		k.Kind = t.Kind
		if t.Template != nil {
			for _, p := range t.Template.Parts() {
				if p.Name != "" {
					k.parts = append(k.parts, p)
					add(p.Name, p.Type)
				}
			}
		}
		all = append(all, k)
	}

	for _, k := range all {
		for _, field := range slices.Sorted(maps.Keys(k.t.When)) {
			if f := e.Field(field); f != nil {
				add(field, f.Type)
			} else {
				add(field, keys.Type{})
			}
		}
	}

	for _, k := range all {
		for _, r := range k.t.Ranges {
			add(r.Field, r.Type)
		}
	}

	for i, k := range all {
		if k.t.Template != nil {
			all[i].method = scope.add(exported(k.Name, "Attribute"), "Key")
			all[i].scan = scope.add("Scan"+all[i].method, "Key")
		}
	}
	return all, values
}

// fieldsOf returns the Go expressions of the values of a template.
func fieldsOf(parts []keys.Part, values []value, prefix string) string {
	var all []string
	for _, p := range parts {
		for _, v := range values {
			if v.field == p.Name {
				all = append(all, prefix+v.goName)
			}
		}
	}
	return strings.Join(all, ", ")
}

func (f *file) entity(e *model.Entity) {
	all, values := entityKeys(e)
	name := f.names.add(exported(e.Name, "Entity")+"Key", "Values")
	f.types[e] = name
	about := ""
	if e.About != "" {
		about = " " + e.About
	}

	f.doc("%s has the values in the keys of %s.%s", name, e.Name, about)
	f.printf("type %s struct {\n", name)
	for _, v := range values {
		f.useType(v.goType)
		f.printf("\t%s %s\n", v.goName, v.goType)
	}

	f.printf("}\n")
	for _, k := range all {
		if k.method == "" {
			continue
		}
		f.doc("%s returns %s of %s, %s.", k.method, role(e.Table, k.Name), e.Name, k.t.Template)
		f.printf(
			"func (k %s) %s() (string, error) { return %s.Format(%s) }\n", name, k.method, f.templates[k.t],
			fieldsOf(k.parts, values, "k."),
		)
		if len(k.parts) > 0 {
			f.doc("%s sets the values from %s.", k.scan, k.Name)
			f.printf(
				"func (k *%s) %s(key string) error { return %s.Scan(key, %s) }\n", name, k.scan, f.templates[k.t],
				fieldsOf(k.parts, values, "&k."),
			)
		}
	}

	f.primaryKey(e, name, all)
	f.attributes(e, name, all, values)
	f.parse(e, name, all, values)
	for _, k := range all {
		f.levels(e, k, values)
	}
}

func (f *file) useType(t string) {
	if t == goTime {
		f.use("time")
	}
}

// role describes the role of a key attribute.
func role(t *model.Table, name string) string {
	is := func(list []model.Attribute) bool {
		return slices.ContainsFunc(list, func(a model.Attribute) bool { return a.Name == name })
	}
	switch {
	case is(t.Partition):
		return "the partition key"
	case is(t.Sort):
		return "the sort key"
	}
	for _, x := range t.Indexes {
		switch {
		case is(x.Partition):
			return "the partition key in index " + x.Name
		case is(x.Sort):
			return "the sort key in index " + x.Name
		}
	}
	return "the key"
}

// primaryKey generates the method for GetItem and similar operations.
func (f *file) primaryKey(e *model.Entity, name string, all []key) {
	f.use("types")
	f.doc("Key returns the primary key for GetItem, UpdateItem and DeleteItem.")
	f.printf(
		"func (k %s) Key() (map[string]types.AttributeValue, error) {\n\titem := map[string]types.AttributeValue{}\n",
		name,
	)
	scope := newScope(f.names)
	for _, k := range all {
		if isKeyOf(e.Table, k.Name) {
			f.put(k, "", scope)
		}
	}
	f.printf("\treturn item, nil\n}\n")
}

func isKeyOf(t *model.Table, name string) bool {
	return slices.ContainsFunc(t.Keys(), func(a model.Attribute) bool { return a.Name == name })
}

// put generates the statements that put a key attribute into an item.
func (f *file) put(k key, condition string, scope *scope) {
	if condition != "" {
		f.printf("\tif %s {\n", condition)
	}
	if k.method == "" {
		f.printf("\titem[%s] = %s\n", f.attribute(k.Name), f.constValue(k.t.Const))
	} else {
		variable := scope.add(unexported(k.Name, "attribute"), "Key")
		f.printf("\t%s, err := k.%s()\n\tif err != nil {\n\t\treturn nil, err\n\t}\n", variable, k.method)
		f.printf("\titem[%s] = %s\n", f.attribute(k.Name), f.member(k.Kind, variable))
	}
	if condition != "" {
		f.printf("\t}\n")
	}
}

// attributes generates the method for PutItem.
func (f *file) attributes(e *model.Entity, name string, all []key, values []value) {
	f.doc(`Attributes returns all key attributes of the table and of the indexes that contain the item. Add the other
		attributes of the item to it. It omits the key of an index that needs an empty text or a zero time, so the
		item is not in that index.`)
	f.printf(
		"func (k %s) Attributes() (map[string]types.AttributeValue, error) {\n"+
			"\titem := map[string]types.AttributeValue{}\n",
		name,
	)
	scope := newScope(f.names)
	for _, k := range all {
		f.put(k, f.present(e, k, values), scope)
	}
	f.printf("\treturn item, nil\n}\n")
}

// present returns the condition under which an item has a key attribute, or ""
// for always.
func (f *file) present(e *model.Entity, k key, values []value) string {
	if isKeyOf(e.Table, k.Name) {
		return ""
	}

	var all []string
	of := func(field string) value {
		return values[slices.IndexFunc(values, func(v value) bool { return v.field == field })]
	}
	for _, p := range k.parts {
		switch v := of(p.Name); v.goType {
		case goText:
			all = append(all, fmt.Sprintf("k.%s != \"\"", v.goName))
		case goTime:
			all = append(all, fmt.Sprintf("!k.%s.IsZero()", v.goName))
		}
	}

	for _, field := range slices.Sorted(maps.Keys(k.t.When)) {
		var choices []string
		v := of(field)
		for _, want := range k.t.When[field] {
			choices = append(choices, f.equals(v, want))
		}
		condition := strings.Join(choices, " || ")
		if len(choices) > 1 {
			condition = "(" + condition + ")"
		}
		all = append(all, condition)
	}

	for _, r := range k.t.Ranges {
		all = append(all, f.inside(of(r.Field), r))
	}
	return strings.Join(slices.Compact(all), " && ")
}

// equals returns a comparison of a value with a text form.
func (f *file) equals(v value, want string) string {
	switch v.goType {
	case goNumber:
		if n, err := (keys.Type{Name: "signed", Width: mostInt64}).Canonical(want); err == nil {
			return fmt.Sprintf("k.%s == %s", v.goName, n)
		}
		return "false"
	case goTime:
		if at, err := (keys.Type{Name: "nanos"}).Canonical(want); err == nil {
			return fmt.Sprintf("k.%s.UTC().Format(time.RFC3339Nano) == %s", v.goName, goString(trimFraction(at)))
		}
		return "false"
	}
	return fmt.Sprintf("k.%s == %s", v.goName, goString(want))
}

// inside returns the condition that a value is in a range.
func (f *file) inside(v value, r model.FieldRange) string {
	compare := func(op ast.Op, arg string) string {
		switch {
		case v.goType == goNumber:
			if n, err := (keys.Type{Name: "signed", Width: mostInt64}).Canonical(arg); err == nil {
				return fmt.Sprintf("k.%s %s %s", v.goName, op, n)
			}
		case v.goType == goTime:
			if at, err := (keys.Type{Name: "nanos"}).Canonical(arg); err == nil {
				f.use("fieldIs", "keys", "time")
				return fmt.Sprintf(
					"fieldIs(keys.Type{Name: \"nanos\"}, k.%s.UTC().Format(time.RFC3339Nano), %q, %s)", v.goName,
					op, goString(at),
				)
			}
		}
		f.use("fieldIs", "keys")
		return fmt.Sprintf("fieldIs(%s, k.%s, %q, %s)", typeLiteral(r.Type), v.goName, op, goString(arg))
	}
	if r.Op == ast.OpBetween {
		return compare(ast.GreaterOrEqual, r.Args[0]) + " && " + compare(ast.LessOrEqual, r.Args[1])
	}
	return compare(r.Op, r.Args[0])
}

// typeLiteral returns a type in Go.
func typeLiteral(t keys.Type) string {
	return strings.ReplaceAll(fmt.Sprintf("%#v", t), ", Desc:false", "")
}

// trimFraction removes trailing zeros as RFC3339Nano does.
func trimFraction(at string) string {
	at = strings.TrimSuffix(at, "Z")
	return strings.TrimSuffix(strings.TrimRight(at, "0"), ".") + "Z"
}

// parse generates the function that parses all keys of an item.
func (f *file) parse(e *model.Entity, name string, all []key, values []value) {
	from := bestKeys(all)
	f.use("types")
	parse := f.names.add("Parse"+name, "Item")
	f.doc(`%s parses the values from the key attributes of an item. Values of only an index stay zero if the
		item is not in it.`, parse)
	f.printf("func %s(item map[string]types.AttributeValue) (%s, error) {\n\tvar k %s\n", parse, name, name)
	assign := ":="
	for i, k := range all {
		if k.method == "" {
			continue
		}

		var targets []string
		wanted := len(k.parts) == 0
		for _, p := range k.parts {
			target := "nil"
			if from[p.Name] == i {
				target = fieldsOf([]keys.Part{p}, values, "&k.")
				wanted = true
			}
			targets = append(targets, target)
		}

		own := isKeyOf(e.Table, k.Name)
		if !wanted || len(k.parts) == 0 && !own {
			continue
		}
		f.use("keyText")
		args := strings.Join(append([]string{"text"}, targets...), ", ")
		scan := fmt.Sprintf("if err := %s.Scan(%s); err != nil {\n\t\treturn k, err\n\t}\n", f.templates[k.t], args)
		if own {
			f.printf(
				"\ttext, err %s keyText(item, %s, %d)\n\tif err != nil {\n\t\treturn k, err\n\t}\n\t%s", assign,
				f.attribute(k.Name), k.width(), scan,
			)
			assign = "="
		} else {
			f.printf(
				"\tif text, err := keyText(item, %s, %d); err == nil {\n\t\t%s\t}\n", f.attribute(k.Name), k.width(),
				scan,
			)
		}
	}

	f.printf("\treturn k, nil\n}\n")
}

// bestKeys returns the key from which each value is parsed: a key of the table rather than of an
// index, and the most precise time.
func bestKeys(all []key) map[string]int {
	from := map[string]int{}
	for i, k := range all {
		for _, p := range k.parts {
			best, ok := from[p.Name]
			if !ok || slices.Index(precision, p.Type.Name) > slices.Index(precision, typeOf(all[best], p.Name)) {
				from[p.Name] = i
			}
		}
	}
	return from
}

func typeOf(k key, field string) string {
	for _, p := range k.parts {
		if p.Name == field {
			return p.Type.Name
		}
	}
	return ""
}

// levels generates the prefixes and ranges of a sort key.
func (f *file) levels(e *model.Entity, k key, values []value) {
	if k.method == "" || k.Kind == attr.Number || len(k.parts) == 0 || !sorts(e.Table, k.Name) {
		return
	}

	base := exported(e.Name, "Entity") + exported(k.Name, "Attribute")
	for n, p := range k.parts {
		names, types := f.params(k.parts[:n], values)
		if n > 0 {
			level := f.names.add(base+"Prefix"+exported(k.parts[n-1].Name, "Field"), "Level")
			f.doc(
				"%s returns the common prefix of the %s of every %s with these values, including the next delimiter.",
				level, k.Name, e.Name,
			)
			f.printf(
				"func %s(%s) (string, error) { return %s.Prefix(%s) }\n", level, parameters(names, types),
				f.templates[k.t], strings.Join(names, ", "),
			)
		} else if prefix, err := k.t.Template.Prefix(); err == nil && prefix != "" {
			level := f.names.add(base+"Prefix", "Level")
			f.doc("%s is the common prefix of the %s of every %s.", level, k.Name, e.Name)
			f.printf("const %s = %s\n", level, goString(prefix))
		}

		if !rangeable(p.Type) {
			continue
		}
		typ := fieldType(values, p.Name)
		f.useType(typ)
		f.use("keys")
		name := f.names.add(base+"Between"+exported(p.Name, "Field"), "Level")
		f.doc(
			"%s returns the range of the %s of every %s with %s from one value to another, inclusive%s.", name, k.Name,
			e.Name, p.Name, given(k.parts[:n]),
		)

		args := strings.Join(append([]string{"from", "to"}, names...), ", ")
		list := parameters(append(names, "from", "to"), append(types, typ, typ))
		f.printf("func %s(%s) (keys.Range, error) { return %s.Between(%s) }\n", name, list, f.templates[k.t], args)
	}
}

// sorts reports whether an attribute is in a sort key of a table or of one of
// its indexes.
func sorts(t *model.Table, name string) bool {
	all := t.Sort
	for _, x := range t.Indexes {
		all = slices.Concat(all, x.Sort)
	}
	return slices.ContainsFunc(all, func(a model.Attribute) bool { return a.Name == name })
}

func given(parts []keys.Part) string {
	if len(parts) == 0 {
		return ""
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	return ", for one " + strings.Join(names, ", ")
}

// rangeable reports whether ranges of a type are useful.
func rangeable(t keys.Type) bool {
	switch t.Name {
	case "int", "signed", "decimal", "ulid", "ksuid":
		return true
	}
	return goType(t) == goTime
}

func fieldType(values []value, field string) string {
	for _, v := range values {
		if v.field == field {
			return v.goType
		}
	}
	return goText
}

// params returns the names and types of the parameters for components.
func (f *file) params(parts []keys.Part, values []value) (names, types []string) {
	scope := newScope(f.names)
	for _, p := range parts {
		typ := fieldType(values, p.Name)
		f.useType(typ)
		names, types = append(names, scope.add(unexported(p.Name, "field"), "Value")), append(types, typ)
	}
	return names, types
}
