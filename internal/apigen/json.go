package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// decode generates the function that decodes a shape from JSON.
func (g *generator) decode(name string) {
	s := g.Shapes[name]
	switch g.kind(name) {
	case kindList:
		g.emit(
			"decode",
			"func (d *decoder) read%s(x *%s, pos position) (bool, error) { return readList(d, x, pos, (*decoder).%s) }",
			name, g.elemType(name), g.reader(s.Member),
		)
		return
	case kindMap:
		g.emit(
			"decode",
			"func (d *decoder) read%s(x *%s, pos position) (bool, error) {"+
				" return readMap(d, x, pos, %q, (*decoder).%s) }",
			name, g.elemType(name), g.javaClass(name), g.reader(s.Value),
		)
		return
	}

	var b strings.Builder
	fmt.Fprintf(
		&b, "func (d *decoder) read%s(x *%s, pos position) (bool, error) {\n"+
			"return d.object(pos, %q, func(name []byte) (err error) {\nswitch string(name) {\n",
		name, name, g.javaClass(name),
	)

	for _, member := range s.memberNames() {
		target := s.Members[member]
		fmt.Fprintf(&b, "case %q:\n", member)
		field := "&x." + goName(member)
		switch {
		case g.kind(target) == kindString:
			fmt.Fprintf(&b, "err = d.readText(%s)\n", field)
		case strings.HasPrefix(g.memberType(target), "*"):
			fmt.Fprintf(&b, "err = readPointer(d, %s, (*decoder).%s)\n", field, g.reader(target))
		default:
			fmt.Fprintf(&b, "_, err = d.%s(%s, inField)\n", g.reader(target), field)
		}
	}

	b.WriteString("default:\nerr = d.skip()\n}\nreturn err\n})\n}")
	g.emit("decode", "%s", b.String())
}

// reader returns the decoder method that reads a shape.
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
	case kindValue:
		return "readValue"
	case kindItem:
		return "readItem"
	case kindValues:
		return "readValues"
	}
	return "read" + name
}

// javaClass returns the Java class of a shape, which messages of the service name.
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

// encode generates the function that encodes a shape as JSON.
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
		switch k := g.kind(target); k {
		case kindStruct:
			fmt.Fprintf(&b, "if %[1]s != nil {\ndst = %[1]s.AppendJSON(appendName(dst, `%[2]q:`))\n}\n", field, member)
		case kindList, kindMap:
			fmt.Fprintf(
				&b, "if %[1]s != nil {\ndst = append%[3]s(appendName(dst, `%[2]q:`), %[1]s)\n}\n",
				field, member, target,
			)
		default:
			fmt.Fprintf(&b, "dst = append%sMember(dst, `%q:`, %s)\n", memberAppenders[k], member, field)
		}
	}

	b.WriteString("return append(dst, '}')\n}")
	g.emit("encode", "%s", b.String())
}

// memberAppenders maps a kind of member to a part of the name of the function that appends it, such as Text in
// appendTextMember.
var memberAppenders = map[kind]string{
	kindString: "Text", kindInteger: "Integer", kindLong: "Integer", kindDouble: "Double", kindBoolean: "Boolean",
	kindItem: "Item", kindValues: "Item",
}

// appender returns the function that appends a list or map element.
func (g *generator) appender(name string) string {
	switch g.kind(name) {
	case kindString:
		return "func(s *string, dst []byte) []byte { return appendString(dst, *s) }"
	case kindDouble:
		return "func(f *float64, dst []byte) []byte { return appendDouble(dst, *f) }"
	case kindList, kindMap:
		return fmt.Sprintf(
			"func(e *%s, dst []byte) []byte { return append%s(dst, *e) }", g.elemType(name), name,
		)
	}
	return "(*" + g.elemType(name) + ").AppendJSON"
}

// methods generates the methods of inputs and outputs. They use the generated functions for a shape if there are any,
// and reflection otherwise.
func (g *generator) methods() {
	for _, op := range g.opNames() {
		name := g.Operations[op].Input
		if g.inputOf(name)[0] != op {
			continue
		}
		decode, validate := "decodeShape(body, x, &x.Faults)", "validateShape(Op"+op+", x)"
		switch {
		case readStrictly[name]:
			decode = "decodeStrictly(body, x, &x.Faults)"
		case g.decoded[name]:
			decode = "decodeBody(body, &x.Faults, func(d *decoder) (bool, error) " +
				"{ return d.read" + name + "(x, inBody) })"
			validate = "validate(Op" + op + ", x.check)"
		}
		g.emit("methods", "func (x *%s) DecodeJSON(body []byte) error { return %s }", name, decode)
		g.emit("methods", "func (x *%s) Validate() error { return %s }", name, validate)
		if slices.Contains(sentInputs, name) {
			g.emit("methods", "// Op implements [Request].\nfunc (x *%s) Op() Op { return Op%s }", name, op)
			g.append(name)
		}
	}

	outputs := map[string]bool{}
	for _, op := range g.Operations {
		outputs[op.Output] = op.Output != ""
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if !outputs[name] {
			continue
		}
		g.append(name)
		if slices.Contains(readOutputs, name) {
			g.emit(
				"methods",
				"// DecodeJSON reads the body of a response.\n"+
					"func (x *%s) DecodeJSON(body []byte) error { return decodeShape(body, x, nil) }", name,
			)
		}
	}
}

// append generates the method that encodes an input or output by reflection, unless encode generates one.
func (g *generator) append(name string) {
	if !g.appended[name] {
		g.emit("methods", "func (x *%s) AppendJSON(dst []byte) []byte { return appendAny(dst, x) }", name)
	}
}
