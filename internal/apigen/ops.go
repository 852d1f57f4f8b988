package main

import (
	"maps"
	"slices"
	"strings"
)

func (g *generator) opNames() []string { return slices.Sorted(maps.Keys(g.Operations)) }

// operations generates the table of operations.
func (g *generator) operations() {
	g.emit("ops", "// The operations of the service, by name. The zero Op is not an operation.\nconst (\n")
	for i, name := range g.opNames() {
		g.emit("ops", "Op%s", name)
		if i == 0 {
			g.emit("ops", " Op = iota + 1")
		}
		g.emit("ops", "\n")
	}

	g.emit("ops", ")\n\n"+
		"// modelOperations has the operations by Op. Most names are those of the inputs, without Input.\n"+
		"var modelOperations = [...]operation{\n")
	g.emit("exceptions", "// exceptions lists the exceptions of each operation in the service model, by Op.\n"+
		"var exceptions = [...][]string{\n")
	for _, name := range g.opNames() {
		op := g.Operations[name]
		g.emit("ops", "Op%s: {input: %s{}", name, op.Input)
		if op.Input != name+"Input" {
			g.emit("ops", ", name: %q", name)
		}
		for _, flag := range []struct {
			name string
			set  bool
		}{
			{"streams", op.streams},
			{"writes", slices.Contains(writers, name)},
			{"collects", slices.Contains(collectors, name)},
		} {
			if flag.set {
				g.emit("ops", ", %s: true", flag.name)
			}
		}
		g.emit("ops", "},\n")
		g.emit("exceptions", "Op%s: {%s},\n", name, quoted(slices.Sorted(slices.Values(op.Errors))))
	}
	g.emit("ops", "}")
	g.emit("exceptions", "}")
}

// requests generates the methods of the inputs that programs of this repository send.
func (g *generator) requests() {
	for _, name := range sentInputs {
		g.emit("methods", "// Op implements [Request].\nfunc (x *%s) Op() Op { return Op%s }\n\n",
			name, g.inputOf(name)[0])
	}
}

// api generates code for package api: the methods with which Go code calls the operations, and the list of operations
// that are handled by a method with the operation's name.
func (g *generator) api() {
	method := func(name string) string { return "(*Service)." + strings.ToLower(name[:1]) + name[1:] }
	for _, name := range calledOperations {
		g.emit(apiGroup,
			"// %[1]s runs the operation for a caller in Go.\n"+
				"func (s *Service) %[1]s(ctx context.Context, in *wire.%[2]s) (*wire.%[3]s, error) {\n"+
				"return call(ctx, s, wire.Op%[1]s, in, %[4]s)\n}\n\n",
			name, g.Operations[name].Input, g.Operations[name].Output, method(name))
	}
	g.emit(apiGroup, "// operations returns the operations that one method carries out.\n"+
		"func operations() []operation {\nreturn []operation{\n")
	for _, name := range g.opNames() {
		if !slices.Contains(otherHandlers, name) && !slices.Contains(refused, name) {
			g.emit(apiGroup, "typed(wire.Op%s, %s),\n", name, method(name))
		}
	}
	g.emit(apiGroup, "}\n}")
}
