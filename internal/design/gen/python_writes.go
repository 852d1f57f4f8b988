package gen

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// writes writes the functions of a pattern that writes.
func (p *pythonFile) writes(w *writing) {
	name, request := p.patternNames(w.p.Name)
	p.writeCalls = append(p.writeCalls, w.call(name)...)
	scope := newScope(p.names)
	var list, names, code, items []string
	add := func(name, hint string) string {
		list, names = append(list, name+": "+hint), append(names, name)
		return name
	}
	about := oneLine(fmt.Sprintf("%s. %s", strings.TrimSuffix(w.p.Name, "."), w.p.About))
	more := ""
	for _, one := range w.all {
		item, other := add(scope.add(lowerWords(one.Entity.Name), "_values"), p.functions(one.Entity).Type), ""
		if one.Operation == model.Put {
			other = add(scope.add("other", "_attributes"), "Item")
		}
		params := map[*parameter]string{}
		for _, one := range one.parameters() {
			params[one] = add(scope.add(lowerWords(one.field), "_value"), pythonHints[one.typ])
		}
		more += one.about(item, other)
		lines, members := p.writeItem(one, scope, item, other, params)
		code = append(code, lines...)
		items = append(items, "{"+strings.Join(members, ", ")+"}")
	}

	p.printf("\n\ndef %s(%s) -> Request:\n", request, strings.Join(list, ", "))
	p.body.WriteString(docstring("The request for: "+strings.TrimSpace(about)+more, "    "))
	for _, line := range code {
		p.printf("    %s\n", line)
	}
	if w.p.Operation == model.Transaction {
		p.printf("    return {\n        \"TransactItems\": [\n")
		for i, one := range w.all {
			p.printf("            {%s: %s},\n", pythonText(strings.TrimSuffix(one.Operation, "Item")), items[i])
		}
		p.printf("        ]\n    }\n")
	} else {
		p.printf("    return %s\n", items[0])
	}

	method := map[string]string{
		model.Put: "put_item", model.Update: "update_item", model.Delete: "delete_item",
		model.Transaction: "transact_write_items",
	}[w.p.Operation]
	p.printf("\n\ndef %s(%s) -> None:\n", name, strings.Join(append([]string{"client: Any"}, list...), ", "))
	p.body.WriteString(docstring("Writes: "+strings.TrimSpace(about)+more, "    "))
	p.printf("    client.%s(**%s(%s))\n", method, request, strings.Join(names, ", "))
}

// writeItem returns the statements of a write, and its members.
func (p *pythonFile) writeItem(
	w *itemWrite, scope *scope, item, other string, params map[*parameter]string,
) (code, members []string) {
	add := func(name, value string) { members = append(members, pythonText(name)+": "+value) }
	add("TableName", p.constants["table "+w.Entity.Table.Name])
	if w.Operation == model.Put {
		all := []string{"**" + other}
		for _, t := range w.constants {
			all = append(all, pythonText(t.Name)+": "+pythonLiterals.attribute(t.Const))
		}
		add("Item", "{"+strings.Join(append(all, "**"+item+".attributes()"), ", ")+"}")
	} else {
		add("Key", item+".key()")
	}

	if w.Operation == model.Update {
		var all, attributes []string
		if len(w.indexed) > 0 {
			all = append(all, "**"+item+".attributes()")
		}
		for _, name := range w.indexed {
			attributes = append(attributes, p.attribute(name))
		}
		for _, a := range w.assigned {
			args := w.formatArgs(a, p.functions(w.Entity).Names, item+".", params)
			value := p.value(a.t.Kind, p.templates[a.t]+".format("+args+")")
			all = append(all, pythonText(a.t.Name)+": "+value)
			attributes = append(attributes, pythonText(a.t.Name))
		}
		variable := scope.add(item+"_item", "_value")
		code = append(code, variable+": Item = {"+strings.Join(all, ", ")+"}")
		members = append(members, fmt.Sprintf(
			"**_update_of(%s, [%s], %s, %s)", variable, strings.Join(attributes, ", "),
			pythonLiterals.value(w.names), pythonLiterals.value(w.values),
		))
	}
	for _, m := range w.condition {
		add(m.name, pythonLiterals.value(m.value))
	}
	return code, members
}

// functions returns the functions of the keys of an entity.
func (p *pythonFile) functions(e *model.Entity) Functions { return functionsIn(p.keys, e) }
