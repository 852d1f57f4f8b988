package main

import (
	"fmt"
	"slices"
	"strings"
)

// namesTable reports whether a member of a structure is the name or the ARN of a table,
// or the ARN of something of a table.
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

// keyField returns the field of Ref for a member that is the key of an item, or an item.
func keyField(member, target string) string {
	switch {
	case strings.HasPrefix(member, "ExclusiveStart"):
		return ""
	case target == "Key":
		return "Key"
	case target == "PutItemInputAttributeMap":
		return "Item"
	}
	return ""
}

// refs generates the iteration over what an input refers to.
func (g *generator) refs(input string) {
	var b strings.Builder
	fmt.Fprintf(&b, "// Refs implements [Input].\nfunc (x *%s) Refs(yield func(Ref) bool) {\n", input)
	g.refsOf(&b, input, "x", "")
	b.WriteString("}")
	g.emit("refs", "%s", b.String())
}

// refsOf writes what the structure in a variable refers to. The table is the expression
// of the one whose items it holds, "" if it names its own.
func (g *generator) refsOf(b *strings.Builder, structure, variable, table string) {
	s := g.Shapes[structure]
	var names, keys []string
	for _, member := range s.memberNames() {
		switch {
		case g.namesTable(structure, member):
			names = append(names, member)
		case keyField(member, s.Members[member]) != "":
			keys = append(keys, member)
		}
	}

	if table == "" && len(keys) > 0 && len(names) == 1 {
		table = "deref(" + variable + "." + goName(names[0]) + ")"
		names = nil
	}
	for _, member := range names {
		fmt.Fprintf(
			b, "if %[1]s.%[2]s != nil && !yield(Ref{Table: *%[1]s.%[2]s}) {\nreturn\n}\n", variable, goName(member),
		)
	}
	for _, member := range keys {
		fmt.Fprintf(
			b, "if !yield(Ref{Table: %s, %s: %s.%s}) {\nreturn\n}\n", table, keyField(member, s.Members[member]),
			variable, goName(member),
		)
	}
	for _, member := range s.memberNames() {
		g.refsIn(b, s.Members[member], variable+"."+goName(member), table)
	}
}

// refsIn writes what the value of an expression refers to, if its shape can.
func (g *generator) refsIn(b *strings.Builder, name, value, table string) {
	s := g.Shapes[name]
	switch g.kind(name) {
	case kindStruct:
		if g.refers(name) {
			fmt.Fprintf(b, "if %s != nil {\n", value)
			g.refsOf(b, name, value, table)
			b.WriteString("}\n")
		}
	case kindList:
		g.refsInEach(b, s.Member, "_", value, table)
	case kindMap:
		if s.Key == "TableArn" {
			g.refsInEach(b, s.Value, "name", value, "name")
		} else {
			g.refsInEach(b, s.Value, "_", value, table)
		}
	}
}

// refsInEach writes what the elements of a list or a map refer to.
func (g *generator) refsInEach(b *strings.Builder, elem, key, value, table string) {
	if elem != "Key" && !g.refers(elem) {
		return
	}
	each := "elem" // of a list or map, then of the list in that
	if strings.HasPrefix(value, each) {
		each = "inner"
	}
	fmt.Fprintf(b, "for %s, %s := range %s {\n", key, each, value)
	if key == "name" {
		b.WriteString("if !yield(Ref{Table: name}) {\nreturn\n}\n")
	}
	switch {
	case elem == "Key":
		fmt.Fprintf(b, "if !yield(Ref{Table: %s, Key: %s}) {\nreturn\n}\n", table, each)
	case g.kind(elem) == kindStruct:
		g.refsOf(b, elem, each, table)
	default:
		g.refsIn(b, elem, each, table)
	}
	b.WriteString("}\n")
}

// refers reports whether a structure, list or map names a table or an item anywhere.
func (g *generator) refers(name string) bool {
	seen := map[string]bool{}
	g.reach(name, seen)
	for inner := range seen {
		s := g.Shapes[inner]
		if s.Member == "Key" {
			return true
		}
		for member, target := range s.Members {
			if g.namesTable(inner, member) || keyField(member, target) != "" {
				return true
			}
		}
	}
	return false
}
