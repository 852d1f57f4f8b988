package main

import (
	"maps"
	"slices"
)

// methods generates the methods of inputs and outputs. They work by reflection, except that Validate calls the check
// that is generated for a frequent input.
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
		case slices.Contains(frequent, name):
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

// append generates the method that encodes an input or output.
func (g *generator) append(name string) {
	g.emit("methods", "func (x *%s) AppendJSON(dst []byte) []byte { return appendAny(dst, x) }", name)
}
