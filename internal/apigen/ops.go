package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (g *generator) opNames() []string { return slices.Sorted(maps.Keys(g.Operations)) }

// operations generates the table of operations.
func (g *generator) operations() {
	names := g.opNames()
	var b strings.Builder
	b.WriteString("// The operations of the service, by name. The zero Op is not an operation.\nconst (\n")
	for i, name := range names {
		if i == 0 {
			fmt.Fprintf(&b, "Op%s Op = iota + 1\n", name)
		} else {
			fmt.Fprintf(&b, "Op%s\n", name)
		}
	}
	b.WriteString(")")
	g.emit("ops", "%s", b.String())

	b.Reset()
	b.WriteString("// modelOperations has the operations by Op. Most names are those of the inputs, without Input.\n")
	b.WriteString("var modelOperations = [...]operation{\n")
	for _, name := range names {
		input := g.Operations[name].Input
		fmt.Fprintf(&b, "Op%s: {input: %s{}", name, input)
		if input != name+"Input" {
			fmt.Fprintf(&b, ", name: %q", name)
		}
		if g.Operations[name].streams {
			b.WriteString(", streams: true")
		}
		if slices.Contains(writers, name) {
			b.WriteString(", writes: true")
		}
		if slices.Contains(collectors, name) {
			b.WriteString(", collects: true")
		}
		b.WriteString("},\n")
	}
	b.WriteString("}")
	g.emit("ops", "%s", b.String())

	b.Reset()
	b.WriteString("// exceptions lists the exceptions of each operation in the service model, by Op.\n")
	b.WriteString("var exceptions = [...][]string{\n")
	for _, name := range names {
		fmt.Fprintf(&b, "Op%s: {%s},\n", name, quoted(slices.Sorted(slices.Values(g.Operations[name].Errors))))
	}
	b.WriteString("}")
	g.emit("exceptions", "%s", b.String())
}

// requests generates the methods of the inputs that programs of this repository send.
func (g *generator) requests() {
	for _, name := range sentInputs {
		g.emit(
			"methods", "// Op implements [Request].\nfunc (x *%s) Op() Op { return Op%s }", name, g.inputOf(name)[0],
		)
	}
}

// api generates code for package api: the list of operations that are handled by a method with the operation's name,
// and the methods with which Go code calls the operations.
func (g *generator) api() {
	var b strings.Builder
	b.WriteString("// operations returns the operations that one method carries out.\n")
	b.WriteString("func operations() []operation {\nreturn []operation{\n")
	for _, name := range g.opNames() {
		method := "(*Service)." + strings.ToLower(name[:1]) + name[1:]
		if !slices.Contains(slices.Concat(otherHandlers, refused), name) {
			fmt.Fprintf(&b, "typed(wire.Op%s, %s),\n", name, method)
		}
		if slices.Contains(calledOperations, name) {
			g.emit(apiGroup,
				"// %[1]s runs the operation for a caller in Go.\n"+
					"func (s *Service) %[1]s(ctx context.Context, in *wire.%[2]s) (*wire.%[3]s, error) {\n"+
					"return call(ctx, s, wire.Op%[1]s, in, %[4]s)\n}",
				name, g.Operations[name].Input, g.Operations[name].Output, method)
		}
	}
	b.WriteString("}\n}")
	g.emit(apiGroup, "%s", b.String())
}
