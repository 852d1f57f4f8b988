package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// shape generates the Go type of a structure. Lists and maps need no type of their own.
func (g *generator) shape(name string) {
	if g.kind(name) != kindStruct {
		return
	}

	s := g.Shapes[name]
	emit := func(text string, args ...any) { g.emit("shapes", text, args...) }
	emit("// %s is %s.\ntype %s struct {\n", name, g.describe(name), name)
	for _, member := range g.members(name) {
		target := s.Members[member]
		emit("%s %s", goName(member), g.memberType(target))
		if tag := g.tag(name, member); tag != "" {
			emit(" `%s`", tag)
		}
		var notes []string
		if g.kind(target) == "timestamp" {
			notes = append(notes, "seconds since 1970")
		}
		if enum := g.Shapes[target].Enum; len(enum) > 0 && len(enum) <= 6 {
			notes = append(notes, strings.Join(enum, ", "))
		}
		if len(notes) > 0 {
			emit(" // %s", strings.Join(notes, "; "))
		}
		emit("\n")
	}

	if len(g.inputOf(name)) > 0 {
		emit("\n// Faults are attribute values that are well formed but not allowed.\nFaults Faults\n")
	}
	emit("}\n\n")
}

// members returns the members of a structure in the order of its fields. The service reports violations in this
// order.
func (g *generator) members(name string) []string {
	first, rest := memberOrder[name], slices.Sorted(maps.Keys(g.Shapes[name].Members))
	return slices.Concat(first, slices.DeleteFunc(rest, func(m string) bool { return slices.Contains(first, m) }))
}

// tag returns the tag of a field; see structureOf in package wire.
func (g *generator) tag(structure, member string) string {
	s := g.Shapes[structure]
	target := s.Members[member]
	var options []string
	if g.inputs[structure] {
		if slices.Contains(s.Required, member) || slices.Contains(alsoRequired[structure], member) {
			options = append(options, "required")
		}
		if g.namesTable(structure, member) {
			options = append(options, "table")
		}
		if most, ok := maxLength[structure+"."+member]; ok {
			options = append(options, fmt.Sprint("max=", most))
		}
		if least, ok := minTableName[structure]; ok && target == "TableArn" {
			options = append(options, fmt.Sprint("min=", least))
		}
	}

	name := ""
	if g.needsTraits(structure, target) {
		name = target
	}
	tag := ""
	if goName(member) != member {
		tag = fmt.Sprintf("json:%q ", member)
	}
	if all := append([]string{name}, options...); len(all) > 1 || name != "" {
		tag += fmt.Sprintf("shape:%q", strings.Join(all, ","))
	}
	return strings.TrimSpace(tag)
}

// needsTraits reports whether the tag of a member must name the traits of its shape. Inputs need all traits, for the
// checks. Outputs are not checked, so they need only the traits of timestamps.
func (g *generator) needsTraits(structure, target string) bool {
	if g.inputs[structure] {
		return g.hasTraits(target)
	}
	return g.kind(target) == "timestamp"
}

// hasTraits reports whether the model has facts about a shape that its Go type does not express.
func (g *generator) hasTraits(name string) bool {
	s := g.Shapes[name]
	bounded := s.Min != nil || s.Max != nil
	switch g.kind(name) {
	case "integer", "timestamp", kindValues:
		return true
	case kindList, kindMap:
		return bounded || g.hasTraits(s.Member+s.Value)
	case "string":
		return bounded || s.Pattern != "" || len(s.Enum) > 0
	case "long":
		return bounded
	}
	return false
}

// traits generates the table of traits. It has those that tags use.
func (g *generator) traits() {
	used := map[string]bool{}
	var use func(name string)
	use = func(name string) {
		if !g.hasTraits(name) {
			return
		}
		used[name] = true
		if s := g.Shapes[name]; g.kind(name) == kindList || g.kind(name) == kindMap {
			use(s.Member + s.Value)
		}
	}
	for name, s := range g.Shapes {
		for _, target := range s.Members {
			if s.Type == "structure" && g.needsTraits(name, target) {
				use(target)
			}
		}
	}
	g.emit("traits", "// modelTraits are the traits of shapes, by name.\nvar modelTraits = [...]traits{\n")
	for _, name := range slices.Sorted(maps.Keys(used)) {
		g.emit("traits", "{%s},\n", g.traitsOf(name))
	}
	g.emit("traits", "}")
}

// traitsOf returns Go source for the traits of a shape: the fields of a composite literal.
func (g *generator) traitsOf(name string) string {
	s := g.Shapes[name]
	fields := []string{fmt.Sprintf("name: %q", name)}
	add := func(format string, args ...any) { fields = append(fields, fmt.Sprintf(format, args...)) }
	lo, hi := "0", "0"
	switch g.kind(name) {
	case "integer":
		add("kind: kindInteger")
		lo, hi = fmt.Sprint(math.MinInt32), fmt.Sprint(math.MaxInt32)
	case "long":
		lo, hi = "math.MinInt64", "math.MaxInt64"
	case "timestamp":
		add("kind: kindTimestamp")
	case kindValues:
		add("kind: kindValues")
	}

	if s.Min != nil {
		lo = fmt.Sprint(*s.Min)
	}
	if s.Max != nil {
		hi = fmt.Sprint(*s.Max)
	}
	if lo != "0" {
		add("min: %s", lo)
	}

	if hi != "0" {
		add("max: %s", hi)
	}
	if s.Pattern != "" {
		add("pattern: %q", s.Pattern)
	}
	if values := s.Enum; len(values) > 0 {
		if order := enumOrder[name]; order != nil {
			values = order
		}
		add("enum: []string{%s}", quoted(values))
	}

	if k := g.kind(name); (k == kindList || k == kindMap) && g.hasTraits(s.Member+s.Value) {
		add("elemTraits: %q", s.Member+s.Value)
	}
	return strings.Join(fields, ", ")
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

// inputOf returns the names of the operations whose input is the given shape.
func (g *generator) inputOf(name string) []string {
	var ops []string
	for _, op := range g.opNames() {
		if g.Operations[op].Input == name {
			ops = append(ops, op)
		}
	}
	return ops
}

// namesTable reports whether a member holds the name or ARN of a table, or the ARN of something that belongs to a
// table.
func (g *generator) namesTable(structure, member string) bool {
	if strings.HasPrefix(member, "ExclusiveStart") || slices.Contains(otherNames, structure+"."+member) {
		return false
	}
	switch g.Shapes[structure].Members[member] {
	case "TableName", "TableArn", "ResourceArnString", "StreamArn":
		return true
	}
	return false
}

func goName(member string) string { return strings.ToUpper(member[:1]) + member[1:] }

// quoted returns the names in quotes, with commas between them.
func quoted(names []string) string {
	list := fmt.Sprintf("%q", names)
	return strings.ReplaceAll(list[1:len(list)-1], `" "`, `", "`)
}
