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
		g.emit("decode", "func (d *decoder) read%s(x *%s, pos position) (bool, error) {\nreturn readList(d, x, pos, (*decoder).%s)\n}",
			name, g.elemType(name), g.reader(s.Member))
		return
	case kindMap:
		g.emit("decode", "func (d *decoder) read%s(x *%s, pos position) (bool, error) {\nreturn readMap(d, x, pos, %q, (*decoder).%s)\n}",
			name, g.elemType(name), g.javaClass(s.Value), g.reader(s.Value))
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func (d *decoder) read%s(x *%s, pos position) (bool, error) {\n", name, name)
	fmt.Fprintf(&b, "ok, err := d.open('{', pos, %q)\nif err != nil || !ok {\nreturn false, err\n}\n", g.javaClass(name))
	b.WriteString("for {\nname, more, err := d.member()\nif err != nil || !more {\nreturn true, err\n}\nswitch string(name) {\n")
	for _, member := range s.memberNames() {
		target := s.Members[member]
		fmt.Fprintf(&b, "case %q:\n", member)
		field := "&x." + goName(member)
		if strings.HasPrefix(g.memberType(target), "*") {
			fmt.Fprintf(&b, "err = readPointer(d, %s, (*decoder).%s)\n", field, g.reader(target))
		} else {
			fmt.Fprintf(&b, "_, err = d.%s(%s, inField)\n", g.reader(target), field)
		}
	}
	b.WriteString("default:\nerr = d.skip()\n}\nif err != nil {\nreturn true, err\n}\n}\n}")
	g.emit("decode", "%s", b.String())
	if len(g.inputOf(name)) > 0 {
		g.emit("decode", `// DecodeJSON reads a request body into x, which should be new. The error is an
// [*Error], a SerializationException; attribute values that are not allowed are
// recorded in x.Faults.
func (x *%[1]s) DecodeJSON(body []byte) error {
d := openBody(body)
_, err := d.read%[1]s(x, inBody)
return d.close(err, &x.Faults)
}`, name)
	}
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
		g.emit("encode", "func append%s(dst []byte, l %s) []byte {\ndst = append(dst, '[')\nfor i := range l {\nif i > 0 {\ndst = append(dst, ',')\n}\ndst = %s\n}\nreturn append(dst, ']')\n}",
			name, g.elemType(name), g.appender(s.Member, "dst", "l[i]"))
		return
	case kindMap:
		g.emit("encode", "func append%s(dst []byte, m %s) []byte {\ndst = append(dst, '{')\nfor i, k := range sortedKeys(m) {\nif i > 0 {\ndst = append(dst, ',')\n}\ndst = append(appendString(dst, k), ':')\nv := m[k]\ndst = %s\n}\nreturn append(dst, '}')\n}",
			name, g.elemType(name), g.appender(s.Value, "dst", "v"))
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// AppendJSON appends x as a JSON object without its absent members.\nfunc (x *%s) AppendJSON(dst []byte) []byte {\ndst = append(dst, '{')\n", name)
	for _, member := range s.memberNames() {
		target := s.Members[member]
		field := "x." + goName(member)
		cond, value := field+" != nil", field
		switch k := g.kind(target); {
		case k == kindValue:
			cond = field + ".Kind() != 0"
		case scalarTypes[k] != "":
			value = "*" + field
		}
		fmt.Fprintf(&b, "if %s {\ndst = %s\n}\n", cond, g.appender(target, fmt.Sprintf("appendName(dst, `%q:`)", member), value))
	}
	b.WriteString("return append(dst, '}')\n}")
	g.emit("encode", "%s", b.String())
}

// appender returns the expression that appends a value of a shape.
func (g *generator) appender(name, dst, value string) string {
	switch g.kind(name) {
	case kindString:
		return fmt.Sprintf("appendString(%s, %s)", dst, value)
	case kindInteger, kindLong:
		return fmt.Sprintf("strconv.AppendInt(%s, %s, 10)", dst, value)
	case kindDouble:
		return fmt.Sprintf("appendDouble(%s, %s)", dst, value)
	case kindTimestamp:
		return fmt.Sprintf("appendTimestamp(%s, %s)", dst, value)
	case kindBoolean:
		return fmt.Sprintf("strconv.AppendBool(%s, %s)", dst, value)
	case kindBlob:
		return fmt.Sprintf("appendBlob(%s, %s)", dst, value)
	case kindList, kindMap:
		return fmt.Sprintf("append%s(%s, %s)", name, dst, value)
	}
	return fmt.Sprintf("%s.AppendJSON(%s)", value, dst)
}

// echo generates the printing of a shape in a violation's message.
func (g *generator) echo(name string) {
	s := g.Shapes[name]
	switch g.kind(name) {
	case kindList:
		g.emit("echo", "func echo%s(dst []byte, l %s) []byte {\ndst = append(dst, '[')\nfor i := range l {\nif i > 0 {\ndst = append(dst, \", \"...)\n}\nif len(dst) > maxEcho {\ndst = append(dst, \"...\"...)\nbreak\n}\ndst = %s\n}\nreturn append(dst, ']')\n}",
			name, g.elemType(name), g.printer(s.Member, "l[i]"))
		return
	case kindMap:
		g.emit("echo", "func echo%s(dst []byte, m %s) []byte {\ndst = append(dst, '{')\nfor i, k := range sortedKeys(m) {\nif i > 0 {\ndst = append(dst, \", \"...)\n}\nif len(dst) > maxEcho {\ndst = append(dst, \"...\"...)\nbreak\n}\ndst = append(append(dst, k...), '=')\nv := m[k]\ndst = %s\n}\nreturn append(dst, '}')\n}",
			name, g.elemType(name), g.printer(s.Value, "v"))
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func (x *%s) appendEcho(dst []byte) []byte {\nif x == nil {\nreturn append(dst, \"null\"...)\n}\n", name)
	sep := name + "("
	for _, member := range ordered(s.memberNames(), javaOrder[name]) {
		target := s.Members[member]
		field := "x." + goName(member)
		fmt.Fprintf(&b, "dst = append(dst, %q...)\n", sep+lowerFirst(member)+"=")
		sep = ", "
		switch k := g.kind(target); {
		case scalarTypes[k] != "":
			fmt.Fprintf(&b, "if %s == nil {\ndst = append(dst, \"null\"...)\n} else {\ndst = %s\n}\n", field, g.printer(target, "*"+field))
		case k == kindList || k == kindMap:
			fmt.Fprintf(&b, "if %s == nil {\ndst = append(dst, \"null\"...)\n} else {\ndst = %s\n}\n", field, g.printer(target, field))
		default:
			fmt.Fprintf(&b, "dst = %s\n", g.printer(target, field))
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

// printer returns the expression that prints a value of a shape.
func (g *generator) printer(name, value string) string {
	switch g.kind(name) {
	case kindString:
		return fmt.Sprintf("append(dst, %s...)", value)
	case kindInteger, kindLong:
		return fmt.Sprintf("strconv.AppendInt(dst, %s, 10)", value)
	case kindDouble, kindTimestamp:
		return fmt.Sprintf("appendDouble(dst, %s)", value)
	case kindBoolean:
		return fmt.Sprintf("strconv.AppendBool(dst, %s)", value)
	case kindBlob:
		return fmt.Sprintf("appendBlob(dst, %s)", value)
	case kindValue:
		return fmt.Sprintf("echoValue(dst, %s)", value)
	case kindItem, kindValues:
		return fmt.Sprintf("echoItem(dst, %s)", value)
	case kindStruct:
		return value + ".appendEcho(dst)"
	}
	return fmt.Sprintf("echo%s(dst, %s)", name, value)
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
