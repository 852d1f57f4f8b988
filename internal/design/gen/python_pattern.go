package gen

import (
	"fmt"
	"slices"
	"strings"
)

// A pythonPattern writes the functions of one pattern.
type pythonPattern struct {
	*pythonFile
	*reading
	scope    *scope
	params   map[*parameter]string
	computed map[*computation]string
	code     []string
}

// patternNames returns the names of the functions of a pattern and of its request.
func (p *pythonFile) patternNames(pattern string) (name, request string) {
	name = p.names.add(lowerWords(pattern), "_pattern")
	if pattern == "" || !isWord(name[0]) {
		name = p.names.add("pattern_"+name, "_items")
	}
	return name, p.names.add(name+"_request", "_of")
}

func (w *pythonPattern) write() {
	name, request := w.patternNames(w.p.Name)
	var list, names []string
	for _, s := range w.steps {
		switch s := s.(type) {
		case *parameter:
			variable := w.scope.add(lowerWords(s.field+" "+s.suffix), "_value")
			w.params[s] = variable
			list, names = append(list, variable+": "+pythonHints[s.typ]), append(names, variable)
		case *computation:
			w.compute(s)
		}
	}

	about := oneLine(fmt.Sprintf("%s. %s", strings.TrimSuffix(w.p.Name, "."), w.p.About))
	w.printf("\n\ndef %s(%s) -> Request:\n", request, strings.Join(list, ", "))
	w.body.WriteString(docstring("The request for: "+about, "    "))
	for _, line := range w.code {
		w.printf("    %s\n", line)
	}
	w.writeRequest()

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
				return w.scope.add(lowerWords(w.over.field+" "+b.suffix), "_value")
			})
			list = append(list, given[b.suffix]+": "+pythonHints[goTime])
		}
	}
	w.calls = append(w.calls, Call{w.p.Name, name, w.callArgs()})
	result, method := "Iterator[Item]", map[string]string{"Query": "query", "Scan": "scan"}[w.p.Operation]
	if method == "" {
		result = "Optional[Item]"
	}
	w.printf("\n\ndef %s(%s) -> %s:\n", name, strings.Join(append([]string{"client: Any"}, list...), ", "), result)
	doc := "The items of all pages: " + about
	if method == "" {
		doc = "The item, or None: " + about
	}
	w.body.WriteString(docstring(doc, "    "))
	if method == "" {
		w.printf("    return cast(Optional[Item], client.get_item(**%s).get(\"Item\"))\n", call)
		return
	}
	if len(w.each) == 0 && w.over == nil {
		w.printf("    return _pages(client.%s, %s)\n", method, call)
		return
	}
	indent := "    "
	for _, l := range w.each {
		values := make([]string, len(l.values))
		for i, v := range l.values {
			if values[i] = pythonText(v); l.typ == goNumber {
				values[i] = v
			}
		}
		w.printf("%sfor %s in [%s]:\n", indent, w.params[l.parameter], strings.Join(values, ", "))
		indent += "    "
	}
	low, high := "", ""
	if w.over != nil {
		low, high = w.scope.add("low", "_value"), w.scope.add("high", "_value")
		all := fmt.Sprintf("_spans(%s, %s)", w.moments(given), pythonText(w.over.unit))
		if w.p.Descending {
			all = "reversed(" + all + ")"
		}
		w.printf("%sfor %s, %s in %s:\n", indent, low, high, all)
		indent += "    "
	}
	call = request + "(" + strings.Join(w.call(w.params, low, high), ", ") + ")"
	w.printf("%syield from _pages(client.%s, %s)\n", indent, method, call)
}

// moments returns the first and the last moment of a range over periods, whose bounds have names.
func (w *pythonPattern) moments(names map[string]string) string {
	return w.over.moments(names, func(name, unit string, last bool) string {
		return fmt.Sprintf("_moment(%s, %s, %s)", name, pythonText(unit), pythonLiterals.bool(last))
	})
}

func isWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// writeRequest writes the statement that returns the request.
func (w *pythonPattern) writeRequest() {
	members := []string{}
	add := func(name, value string) { members = append(members, pythonText(name)+": "+value) }
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
			entries = append(entries, w.attribute(k.attribute)+": "+w.operand(k.operand))
		}
		add("Key", "{"+strings.Join(entries, ", ")+"}")
	}
	for _, m := range rest {
		add(m.name, pythonLiterals.value(m.value))
	}
	if w.fixed == nil && w.p.Operation == "Query" && w.p.Descending {
		add("ScanIndexForward", "False")
	}

	if len(w.conditions) == 0 {
		w.printf("    return {\n        %s,\n    }\n", strings.Join(members, ",\n        "))
		return
	}
	w.printf("    return _with_conditions(\n        {%s},\n", strings.Join(members, ", "))
	for _, c := range w.conditions {
		w.printf("        %s,\n", w.condition(c))
	}
	w.printf("    )\n")
}

func (w *pythonPattern) compute(c *computation) {
	var args []string
	for _, a := range c.args {
		args = append(args, w.argument(a))
	}
	name := w.scope.add(lowerWords(c.attribute), "_key")
	w.computed[c] = name
	call := fmt.Sprintf("%s.%s(%s)", w.templates[c.t], lowerWords(c.method), strings.Join(args, ", "))
	w.code = append(w.code, name+" = "+call)
}

func (w *pythonPattern) argument(a argument) string {
	if a.parameter == nil {
		return "None"
	}
	text := w.params[a.parameter]
	if a.unit != "" {
		text = fmt.Sprintf("_moment(%s, %s, %s)", text, pythonText(a.unit), pythonLiterals.bool(a.last))
	}
	if a.excluding {
		text = "Excluding(" + text + ")"
	}
	return text
}

func (w *pythonPattern) operand(o operand) string {
	switch {
	case o.constant != nil:
		return pythonLiterals.attribute(*o.constant)
	case o.computation != nil:
		return w.value(o.kind, w.computed[o.computation])
	}
	return w.value(o.kind, "_text_of("+w.params[o.parameter]+")")
}

func (w *pythonPattern) condition(c keyCondition) string {
	if c.in != nil {
		return fmt.Sprintf("_in_range(%s, %s, %s)", w.attribute(c.attribute), w.computed[c.in], pythonValues[c.kind])
	}
	var operands []string
	for _, o := range c.operands {
		operands = append(operands, w.operand(o))
	}
	list := strings.Join(operands, ", ")
	return fmt.Sprintf("_Condition(%s, %s, [%s])", w.attribute(c.attribute), pythonText(c.op), list)
}
