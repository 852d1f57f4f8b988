package gen

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// An itemWriter generates the write of one item, as a struct with members.
type itemWriter struct {
	*itemWrite
	item, other string // parameters
	params      map[*parameter]string
	members     []string
}

// writes generates the function of a pattern that writes.
func (f *file) writes(w *writing) {
	name, scope := f.patternName(w.p), newScope(f.names)
	var names, types []string
	var all []*itemWriter
	add := func(name, typ string) string {
		f.useType(typ)
		names, types = append(names, name), append(types, typ)
		return name
	}
	about := ""
	for _, one := range w.all {
		i := &itemWriter{itemWrite: one, params: map[*parameter]string{}}
		i.item = add(scope.add(unexported(one.Entity.Name, "entity"), "Values"), f.types[one.Entity])
		if one.Operation == model.Put {
			i.other = add(scope.add("other", "Attributes"), "map[string]types.AttributeValue")
		}
		about += one.about(i.item, i.other)
		for _, p := range one.parameters() {
			i.params[p] = add(scope.add(unexported(p.field, "field"), "Value"), p.typ)
		}
		all = append(all, i)
	}

	op := w.p.Operation
	f.patternDoc(name, w.p, about)
	f.use("dynamodb", "aws", "types")
	f.printf("func %s(%s) (*dynamodb.%sInput, error) {\n", name, parameters(names, types), op)
	for _, i := range all {
		f.writeItem(i, scope)
	}
	if op != model.Transaction {
		f.printf("\treturn &dynamodb.%sInput{\n%s\t}, nil\n}\n", op, strings.Join(all[0].members, ""))
		return
	}
	f.printf("\treturn &dynamodb.%sInput{\n\t\tTransactItems: []types.TransactWriteItem{\n", op)
	for _, i := range all {
		kind := strings.TrimSuffix(i.Operation, "Item")
		f.printf("\t\t\t{%s: &types.%s{\n%s\t\t\t}},\n", kind, kind, strings.Join(i.members, ""))
	}
	f.printf("\t\t},\n\t}, nil\n}\n")
}

// writeItem generates the statements of a write, and its members.
func (f *file) writeItem(i *itemWriter, scope *scope) {
	add := func(name, value string) {
		i.members = append(i.members, fmt.Sprintf("\t\t%s: %s,\n", name, value))
	}
	assign := func(name, call string) string {
		name = scope.add(name, "Value")
		f.printf("\t%s, err := %s\n\tif err != nil {\n\t\treturn nil, err\n\t}\n", name, call)
		return name
	}

	add("TableName", "aws.String("+f.constants["table "+i.Entity.Table.Name]+")")
	if i.Operation == model.Put {
		item := assign(i.item+"Item", i.item+".Attributes()")
		for _, t := range i.constants {
			f.printf("\t%s[%s] = %s\n", item, goString(t.Name), f.constValue(t.Const))
		}
		f.use("addOthers")
		f.printf("\taddOthers(%s, %s)\n", item, i.other)
		add("Item", item)
	} else {
		add("Key", assign(i.item+"Key", i.item+".Key()"))
	}

	if i.Operation == model.Update {
		f.use("updateOf")
		item := scope.add(i.item+"Item", "Value")
		if len(i.indexed) > 0 {
			f.printf("\t%s, err := %s.Attributes()\n\tif err != nil {\n\t\treturn nil, err\n\t}\n", item, i.item)
		} else {
			f.printf("\t%s := map[string]types.AttributeValue{}\n", item)
		}
		_, values := entityKeys(i.Entity)
		fields := functionsOf(i.Entity, values).Names
		var attributes []string
		for _, name := range i.indexed {
			attributes = append(attributes, f.attribute(name))
		}
		for _, a := range i.assigned {
			args := i.formatArgs(a, fields, i.item+".", i.params)
			value := assign(unexported(a.t.Name, "attribute")+"Value", f.templates[a.t]+".Format("+args+")")
			f.printf("\t%s[%s] = %s\n", item, goString(a.t.Name), f.member(a.t.Kind, value))
			attributes = append(attributes, goString(a.t.Name))
		}
		update := scope.add(i.item+"Update", "Value")
		names, constants := scope.add(i.item+"Names", "Value"), scope.add(i.item+"Constants", "Value")
		conditionNames, conditionValues := "nil", "nil"
		if len(i.names) > 0 {
			conditionNames = goMember(member{"", i.names}, "\t\t")
		}
		if i.values.Len() > 0 {
			conditionValues = goMember(member{"", i.values}, "\t\t")
		}
		f.printf(
			"\t%s, %s, %s := updateOf(%s, %s, %s, %s)\n", update, names, constants, item, goList("string", attributes),
			conditionNames, conditionValues,
		)
		add("UpdateExpression", "aws.String("+update+")")
		add("ExpressionAttributeNames", names)
		add("ExpressionAttributeValues", constants)
	}
	for _, m := range i.condition {
		add(m.name, goMember(m, "\t\t"))
	}
}
