package gen

import (
	"fmt"
	"slices"
	"strings"
)

// A scriptPattern writes the functions of one pattern.
type scriptPattern struct {
	*scriptFile
	*reading
	scope    *scope
	params   map[*parameter]string
	computed map[*computation]string
	code     []string
}

func (w *scriptPattern) write() {
	name := w.names.add(camelWords(w.p.Name), "Pattern")
	request := w.names.add(name+"Request", "Of")
	var list, names []string
	for _, s := range w.steps {
		switch s := s.(type) {
		case *parameter:
			variable := w.scope.add(camelWords(s.field+" "+s.suffix), "Value")
			w.params[s] = variable
			list, names = append(list, variable+": "+scriptHints[s.typ]), append(names, variable)
		case *computation:
			w.compute(s)
		}
	}

	about := oneLine(fmt.Sprintf("%s. %s", strings.TrimSuffix(w.p.Name, "."), w.p.About))
	w.docComment("The request for: " + about)
	w.printf("export function %s(%s): %sCommandInput {\n", request, strings.Join(list, ", "), w.p.Operation)
	for _, line := range w.code {
		w.printf("  %s\n", line)
	}
	w.writeRequest()
	w.printf("}\n")

	call := request + "(" + strings.Join(names, ", ") + ")"
	for i, one := range slices.Backward(w.parameters()) {
		if w.loops(one) {
			list = slices.Delete(list, i, i+1)
		}
	}
	given := map[string]string{} // the bounds of a range over periods, by suffix
	if w.over != nil {
		for _, b := range w.over.bounds {
			given[b.suffix] = w.boundName(b, w.params, func() string {
				return w.scope.add(camelWords(w.over.field+" "+b.suffix), "Value")
			})
			list = append(list, given[b.suffix]+": "+scriptHints[goTime])
		}
	}
	w.calls = append(w.calls, Call{w.p.Name, name, w.callArgs()})
	list = append([]string{"client: DynamoDBClient"}, list...)
	if w.p.Operation == "GetItem" {
		w.docComment("The item, or undefined: " + about)
		w.printf("export async function %s(%s): Promise<Item | undefined> {\n", name, strings.Join(list, ", "))
		w.printf("  return (await client.send(new GetItemCommand(%s))).Item;\n}\n", call)
		return
	}
	w.docComment("The items of all pages: " + about)
	w.printf("export async function* %s(%s): AsyncGenerator<Item> {\n", name, strings.Join(list, ", "))
	indent := "  "
	for _, l := range w.each {
		values := make([]string, len(l.values))
		for i, v := range l.values {
			if values[i] = scriptText(v); l.typ == goNumber {
				values[i] = v
				if len(v) > 15 {
					values[i] += "n"
				}
			}
		}
		w.printf("%sfor (const %s of [%s]) {\n", indent, w.params[l.parameter], strings.Join(values, ", "))
		indent += "  "
	}
	loops, low, high := len(w.each), "", ""
	if w.over != nil {
		low, high = w.scope.add("low", "Value"), w.scope.add("high", "Value")
		bounds := w.over.moments(given, func(name, unit string, last bool) string {
			return fmt.Sprintf("moment(%s, %s, %t)", name, scriptText(unit), last)
		})
		all := fmt.Sprintf("spans(%s, %s)", bounds, scriptText(w.over.unit))
		if w.p.Descending {
			all += ".reverse()"
		}
		w.printf("%sfor (const [%s, %s] of %s) {\n", indent, low, high, all)
		indent, loops = indent+"  ", loops+1
	}
	call = request + "(" + strings.Join(w.call(w.params, low, high), ", ") + ")"
	w.printf("%syield* %sItems(client, %s);\n", indent, strings.ToLower(w.p.Operation), call)
	for range loops {
		indent = indent[2:]
		w.printf("%s}\n", indent)
	}
	w.printf("}\n")
}

// writeRequest writes the statement that returns the request.
func (w *scriptPattern) writeRequest() {
	members := []string{}
	add := func(name, value string) { members = append(members, name+": "+value) }
	rest := w.rest
	if w.fixed != nil {
		rest = membersOf(w.fixed)
	} else {
		add("TableName", w.constants["table "+w.p.Table.Name])
		if w.p.Index != nil {
			add("IndexName", w.constants["index "+w.p.Table.Name+" "+w.p.Index.Name])
		}
	}
	if len(w.key) > 0 {
		var entries []string
		for _, k := range w.key {
			entries = append(entries, "["+w.attribute(k.attribute)+"]: "+w.operand(k.operand))
		}
		add("Key", "{ "+strings.Join(entries, ", ")+" }")
	}
	for _, m := range rest {
		add(m.name, jsLiterals.value(m.value))
	}
	if w.fixed == nil && w.p.Operation == "Query" && w.p.Descending {
		add("ScanIndexForward", "false")
	}

	if len(w.conditions) == 0 {
		w.printf("  return {\n    %s,\n  };\n", strings.Join(members, ",\n    "))
		return
	}
	w.printf("  return withConditions(\n    { %s },\n", strings.Join(members, ", "))
	for _, c := range w.conditions {
		w.printf("    %s,\n", w.condition(c))
	}
	w.printf("  );\n")
}

func (w *scriptPattern) compute(c *computation) {
	var args []string
	for _, a := range c.args {
		args = append(args, w.argument(a))
	}
	name := w.scope.add(camelWords(c.attribute), "Key")
	w.computed[c] = name
	method := strings.ToLower(c.method[:1]) + c.method[1:]
	call := fmt.Sprintf("%s.%s(%s)", w.templates[c.t], method, strings.Join(args, ", "))
	w.code = append(w.code, "const "+name+" = "+call+";")
}

func (w *scriptPattern) argument(a argument) string {
	if a.parameter == nil {
		return "null"
	}
	text := w.params[a.parameter]
	if a.unit != "" {
		text = fmt.Sprintf("moment(%s, %s, %t)", text, scriptText(a.unit), a.last)
	}
	if a.excluding {
		text = "new Excluding(" + text + ")"
	}
	return text
}

func (w *scriptPattern) operand(o operand) string {
	switch {
	case o.constant != nil:
		return jsLiterals.attribute(*o.constant)
	case o.computation != nil:
		return scriptValues[o.kind] + "(" + w.computed[o.computation] + ")"
	}
	return scriptValues[o.kind] + "(textOf(" + w.params[o.parameter] + "))"
}

func (w *scriptPattern) condition(c keyCondition) string {
	if c.in != nil {
		return fmt.Sprintf("inRange(%s, %s, %s)", w.attribute(c.attribute), w.computed[c.in], scriptValues[c.kind])
	}
	var operands []string
	for _, o := range c.operands {
		operands = append(operands, w.operand(o))
	}
	list := strings.Join(operands, ", ")
	return fmt.Sprintf("{ attribute: %s, op: %s, operands: [%s] }", w.attribute(c.attribute), scriptText(c.op), list)
}
