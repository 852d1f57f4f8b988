package main

import (
	"fmt"
	"slices"
	"strings"
)

// shape generates the Go type of a structure. Lists and maps need none.
func (g *generator) shape(name string) {
	if g.kind(name) != kindStruct {
		return
	}
	s := g.Shapes[name]
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is %s.\ntype %s struct {\n", name, g.describe(name), name)
	for _, member := range s.memberNames() {
		target := s.Members[member]
		fmt.Fprintf(&b, "%s %s", goName(member), g.memberType(target))
		var notes []string
		if slices.Contains(s.Required, member) {
			notes = append(notes, "required")
		}
		if g.kind(target) == kindTimestamp {
			notes = append(notes, "seconds since 1970")
		}
		if enum := g.Shapes[target].Enum; len(enum) > 0 && len(enum) <= 6 {
			notes = append(notes, strings.Join(enum, ", "))
		}
		if len(notes) > 0 {
			fmt.Fprintf(&b, " // %s", strings.Join(notes, "; "))
		}
		b.WriteByte('\n')
	}
	if ops := g.inputOf(name); len(ops) > 0 {
		b.WriteString("\n// Faults are attribute values that are well formed but not allowed.\nFaults Faults\n")
	}
	b.WriteString("}")
	g.emit("shapes", "%s", b.String())
}

func (g *generator) describe(name string) string {
	if ops := g.inputOf(name); len(ops) > 0 {
		return "the input of " + strings.Join(ops, ", ")
	}
	for _, op := range g.opNames() {
		if g.Operations[op].Output == name {
			return "the output of " + op
		}
	}
	return "a shape of the service model"
}

// inputOf returns the operations with the given shape as input.
func (g *generator) inputOf(name string) []string {
	var ops []string
	for _, op := range g.opNames() {
		if g.Operations[op].Input == name {
			ops = append(ops, op)
		}
	}
	return ops
}

func goName(member string) string { return strings.ToUpper(member[:1]) + member[1:] }

// decode generates the decoding of a shape from JSON.
func (g *generator) decode(name string) {
	s := g.Shapes[name]
	switch g.kind(name) {
	case kindList:
		g.emit("decode", "func (d *decoder) read%s(x *%s, pos position) (bool, error) { return readList(d, x, pos, (*decoder).%s) }",
			name, g.elemType(name), g.reader(s.Member))
		return
	case kindMap:
		g.emit("decode", "func (d *decoder) read%s(x *%s, pos position) (bool, error) { return readMap(d, x, pos, %q, (*decoder).%s) }",
			name, g.elemType(name), g.javaClass(s.Value), g.reader(s.Value))
		return
	}
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"func (d *decoder) read%s(x *%s, pos position) (bool, error) { return readStruct(d, x, pos, %q, membersOf%s) }\n\n",
		name, name, g.javaClass(name), name,
	)
	fmt.Fprintf(&b, "var membersOf%s = []member[%s]{\n", name, name)
	for _, member := range s.memberNames() {
		target := s.Members[member]
		read := "readField"
		if strings.HasPrefix(g.memberType(target), "*") {
			read = "readPointer"
		}
		fmt.Fprintf(&b, "{%q, func(d *decoder, x *%s) error { return %s(d, &x.%s, (*decoder).%s) }},\n", member, name, read, goName(member), g.reader(target))
	}
	b.WriteString("}")
	g.emit("decode", "%s", b.String())
	switch {
	case readStrictly[name]:
		g.strict(name)
	case len(g.inputOf(name)) > 0:
		g.emit(
			"decode",
			`func (x *%[1]s) DecodeJSON(body []byte) error { return decodeBody(body, x, &x.Faults, (*decoder).read%[1]s) }`,
			name,
		)
	case slices.Contains(readOutputs, name):
		g.emit("decode", `// DecodeJSON reads the body of a response.
func (x *%[1]s) DecodeJSON(body []byte) error { return decodeBody(body, x, nil, (*decoder).read%[1]s) }`, name)
	}
}

// strict generates the decoding of the input of an operation that reads its members
// strictly.
func (g *generator) strict(name string) {
	s := g.Shapes[name]
	var b strings.Builder
	fmt.Fprintf(&b, "var strictMembersOf%s = []strictMember{\n", name)
	for _, member := range s.memberNames() {
		fmt.Fprintf(&b, "{%q, %s, %t},\n", member, g.strictKind(s.Members[member]), slices.Contains(s.Required, member))
	}
	b.WriteString("}")
	g.emit("decode", "%s", b.String())
	g.emit("decode", `func (x *%[1]s) DecodeJSON(body []byte) error {
		if err := checkStrictly(body, strictMembersOf%[1]s); err != nil { return err }
		return decodeBody(body, x, &x.Faults, (*decoder).read%[1]s)
	}`, name)
}

// strictKind returns what a strict reader wants where a shape is.
func (g *generator) strictKind(name string) string {
	switch g.kind(name) {
	case kindString:
		return "aString"
	case kindInteger:
		return "anInteger"
	case kindList:
		return "aSequence"
	case kindItem, kindValues, kindMap:
		return "aMap"
	}
	panic("no strict reader for shape " + name)
}

// reader returns the decoder's method for a shape.
func (g *generator) reader(name string) string {
	switch g.kind(name) {
	case kindString:
		return "readString"
	case kindInteger:
		return "readInteger"
	case kindLong:
		return "readLong"
	case kindDouble:
		return "readDouble"
	case kindTimestamp:
		return "readTimestamp"
	case kindBoolean:
		return "readBoolean"
	case kindBlob:
		return "readBlob"
	case kindValue:
		return "readValue"
	case kindItem:
		return "readItem"
	case kindValues:
		return "readValues"
	}
	return "read" + name
}

// javaClass returns the class name of a shape in the service's messages.
func (g *generator) javaClass(name string) string {
	const pkg = "com.amazonaws.dynamodb.v20120810."
	switch g.kind(name) {
	case kindString:
		return "java.lang.String"
	case kindStruct, kindValue:
		return pkg + name
	case kindList:
		return "java.util.List<" + g.javaClass(g.Shapes[name].Member) + ">"
	case kindMap:
		return "java.util.Map<java.lang.String, " + g.javaClass(g.Shapes[name].Value) + ">"
	case kindItem, kindValues:
		return "java.util.Map<java.lang.String, " + pkg + "AttributeValue>"
	}
	return "java.lang.Object"
}

// encode generates the encoding of a shape as JSON.
func (g *generator) encode(name string) {
	s := g.Shapes[name]
	switch g.kind(name) {
	case kindList:
		g.emit(
			"encode", "func append%s(dst []byte, l %s) []byte { return appendList(dst, l, %s) }", name,
			g.elemType(name), g.appender(s.Member),
		)
		return
	case kindMap:
		g.emit(
			"encode", "func append%s(dst []byte, m %s) []byte { return appendMap(dst, m, %s) }", name, g.elemType(name),
			g.appender(s.Value),
		)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func (x *%s) AppendJSON(dst []byte) []byte {\ndst = append(dst, '{')\n", name)
	for _, member := range s.memberNames() {
		target := s.Members[member]
		field := "x." + goName(member)
		switch k := g.kind(target); {
		case k == kindValue:
			fmt.Fprintf(&b, "dst = appendMember(dst, `%q:`, %s, !%s.IsZero(), appendAttr)\n", member, field, field)
		case k == kindStruct:
			fmt.Fprintf(&b, "dst = appendObject(dst, `%q:`, %s)\n", member, field)
		case scalarTypes[k] != "":
			fmt.Fprintf(&b, "dst = appendScalar(dst, `%q:`, %s, %s)\n", member, field, g.appender(target))
		default:
			fmt.Fprintf(
				&b, "dst = appendMember(dst, `%q:`, %s, %s != nil, %s)\n", member, field, field, g.appender(target),
			)
		}
	}
	b.WriteString("return append(dst, '}')\n}")
	g.emit("encode", "%s", b.String())
	if ops := g.inputOf(name); len(ops) == 1 {
		g.emit("encode", "// Op implements [Request].\nfunc (x *%s) Op() Op { return Op%s }", name, ops[0])
	}
}

// appender returns the function that appends a value of a shape.
func (g *generator) appender(name string) string {
	switch g.kind(name) {
	case kindString:
		return "appendString"
	case kindInteger, kindLong:
		return "appendInteger"
	case kindDouble:
		return "appendDouble"
	case kindTimestamp:
		return "appendTimestamp"
	case kindBoolean:
		return "strconv.AppendBool"
	case kindBlob:
		return "appendBlob"
	case kindList, kindMap:
		return "append" + name
	case kindStruct:
		return "appendStruct[" + name + "]"
	}
	return "appendAttr"
}

// echo generates the printing of a shape in a violation's message.
func (g *generator) echo(name string) {
	s := g.Shapes[name]
	switch g.kind(name) {
	case kindList:
		g.emit(
			"echo", "func echo%s(dst []byte, l %s) []byte { return echoList(dst, l, %s) }", name, g.elemType(name),
			g.printer(s.Member),
		)
		return
	case kindMap:
		g.emit(
			"echo", "func echo%s(dst []byte, m %s) []byte { return echoMap(dst, m, %s) }", name, g.elemType(name),
			g.printer(s.Value),
		)
		return
	}
	var b strings.Builder
	fmt.Fprintf(
		&b, "func (x *%s) appendEcho(dst []byte) []byte {\nif x == nil {\nreturn append(dst, \"null\"...)\n}\n", name,
	)
	sep := name + "("
	for _, member := range ordered(s.memberNames(), javaOrder[name]) {
		target := s.Members[member]
		field := "x." + goName(member)
		label := sep + lowerFirst(member) + "="
		sep = ", "
		switch k := g.kind(target); {
		case scalarTypes[k] != "":
			fmt.Fprintf(&b, "dst = echoScalar(dst, %q, %s, %s)\n", label, field, g.printer(target))
		case k == kindStruct:
			fmt.Fprintf(&b, "dst = %s.appendEcho(append(dst, %q...))\n", field, label)
		case k == kindList || k == kindMap:
			fmt.Fprintf(&b, "dst = echoMember(dst, %q, %s, %s != nil, %s)\n", label, field, field, g.printer(target))
		default:
			fmt.Fprintf(&b, "dst = %s(append(dst, %q...), %s)\n", g.printer(target), label, field)
		}
	}
	for _, extra := range javaExtra[name] {
		fmt.Fprintf(&b, "dst = append(dst, %q...)\n", sep+extra+"=null")
		sep = ", "
	}
	if sep != ", " { // no members
		fmt.Fprintf(&b, "dst = append(dst, %q...)\n", sep)
	}
	b.WriteString("return append(dst, ')')\n}")
	g.emit("echo", "%s", b.String())
}

// printer returns the function that prints a value of a shape.
func (g *generator) printer(name string) string {
	switch g.kind(name) {
	case kindString:
		return "echoString"
	case kindInteger, kindLong:
		return "appendInteger"
	case kindDouble, kindTimestamp:
		return "appendDouble"
	case kindBoolean:
		return "strconv.AppendBool"
	case kindBlob:
		return "appendBlob"
	case kindValue:
		return "echoValue"
	case kindItem, kindValues:
		return "echoItem"
	case kindStruct:
		return "echoStruct[" + name + "]"
	}
	return "echo" + name
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// ordered returns names with those in first moved to the front.
func ordered(names, first []string) []string {
	out := slices.Clone(first)
	for _, n := range names {
		if !slices.Contains(first, n) {
			out = append(out, n)
		}
	}
	return out
}
