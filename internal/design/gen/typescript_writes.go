package gen

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// writes writes the functions of a pattern that writes.
func (f *scriptFile) writes(w *writing) {
	name := f.names.add(camelWords(w.p.Name), "Pattern")
	request := f.names.add(name+"Request", "Of")
	f.writeCalls = append(f.writeCalls, w.call(name)...)
	scope := newScope(f.names)
	var list, names, code, items []string
	add := func(name, hint string) string {
		list, names = append(list, name+": "+hint), append(names, name)
		return name
	}
	about := oneLine(fmt.Sprintf("%s. %s", strings.TrimSuffix(w.p.Name, "."), w.p.About))
	more := ""
	for _, one := range w.all {
		functions := functionsIn(f.keys, one.Entity)
		item, other := add(scope.add(camelWords(one.Entity.Name), "Values"), functions.Type), ""
		if one.Operation == model.Put {
			other = add(scope.add("other", "Attributes"), "Item")
		}
		params := map[*parameter]string{}
		for _, one := range one.parameters() {
			params[one] = add(scope.add(camelWords(one.field), "Value"), scriptHints[one.typ])
		}
		more += one.about(item, other)
		lines, members := f.writeItem(one, scope, item, other, params)
		code = append(code, lines...)
		items = append(items, "{ "+strings.Join(members, ", ")+" }")
	}

	op := w.p.Operation
	f.docComment("The request for: " + strings.TrimSpace(about) + more)
	f.printf("export function %s(%s): %sCommandInput {\n", request, strings.Join(list, ", "), op)
	for _, line := range code {
		f.printf("  %s\n", line)
	}
	if op == model.Transaction {
		f.printf("  return {\n    TransactItems: [\n")
		for i, one := range w.all {
			f.printf("      { %s: %s },\n", strings.TrimSuffix(one.Operation, "Item"), items[i])
		}
		f.printf("    ],\n  };\n}\n")
	} else {
		f.printf("  return %s;\n}\n", items[0])
	}

	f.docComment("Writes: " + strings.TrimSpace(about) + more)
	list = append([]string{"client: DynamoDBClient"}, list...)
	f.printf("export async function %s(%s): Promise<void> {\n", name, strings.Join(list, ", "))
	f.printf("  await client.send(new %sCommand(%s(%s)));\n}\n", op, request, strings.Join(names, ", "))
}

// writeItem returns the statements of a write, and its members.
func (f *scriptFile) writeItem(
	w *itemWrite, scope *scope, item, other string, params map[*parameter]string,
) (code, members []string) {
	functions := functionsIn(f.keys, w.Entity)
	keys := "..." + functions.Attributes + "(" + item + ")"
	add := func(name, value string) { members = append(members, name+": "+value) }
	add("TableName", f.constants["table "+w.Entity.Table.Name])
	if w.Operation == model.Put {
		all := []string{"..." + other}
		for _, t := range w.constants {
			all = append(all, jsLiterals.name(t.Name)+": "+jsLiterals.attribute(t.Const))
		}
		add("Item", "{ "+strings.Join(append(all, keys), ", ")+" }")
	} else {
		add("Key", functions.key+"("+item+")")
	}

	if w.Operation == model.Update {
		var all, attributes []string
		if len(w.indexed) > 0 {
			all = append(all, keys)
		}
		for _, name := range w.indexed {
			attributes = append(attributes, f.attribute(name))
		}
		for _, a := range w.assigned {
			args := w.formatArgs(a, functions.Names, item+".", params)
			value := scriptValues[a.t.Kind] + "(" + f.templates[a.t] + ".format(" + args + "))"
			all = append(all, jsLiterals.name(a.t.Name)+": "+value)
			attributes = append(attributes, scriptText(a.t.Name))
		}
		variable := scope.add(item+"Item", "Value")
		code = append(code, "const "+variable+": Item = { "+strings.Join(all, ", ")+" };")
		members = append(members, fmt.Sprintf(
			"...updateOf(%s, [%s], %s, %s)", variable, strings.Join(attributes, ", "),
			jsLiterals.value(w.names), jsLiterals.value(w.values),
		))
	}
	for _, m := range w.condition {
		add(m.name, jsLiterals.value(m.value))
	}
	return code, members
}
