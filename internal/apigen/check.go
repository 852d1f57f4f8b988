package main

import (
	"fmt"
	"slices"
	"strings"
)

// check generates the method that checks an input. The method itself checks texts and integers. For lists, maps and
// structures it uses reflection, as most requests have none of them.
func (g *generator) check(name string) {
	s := g.Shapes[name]
	var b strings.Builder
	fmt.Fprintf(&b, "func (x *%s) check(v *violations) {\n", name)
	for _, member := range g.members(name) {
		target := s.Members[member]
		field := "x." + goName(member)
		required := slices.Contains(s.Required, member)
		switch g.kind(target) {
		case kindString:
			if g.hasTraits(target) {
				fmt.Fprintf(&b, "v.text(%q, %s, %t, &traits%s)\n", member, field, required, target)
			}
		case kindInteger:
			fmt.Fprintf(&b, "v.integer(%q, %s, %t, &traits%s)\n", member, field, required, target)
		case kindList, kindMap:
			fmt.Fprintf(&b, "if %s != nil {\nv.parts(x, %q)\n}\n", field, member)
		case kindItem:
			if required {
				fmt.Fprintf(&b, "v.missing(%q, %s == nil, true)\n", member, field)
			}
		}
	}

	b.WriteString("}")
	g.emit("check", "%s", b.String())
}

// params generates the CheckParams method of a structure. It is for structures with parameters that exclude each
// other.
func (g *generator) params(name string) {
	p := parameters[name]
	if p == nil {
		return
	}

	var b strings.Builder
	fmt.Fprintf(&b, "// CheckParams returns an [*Error] for parameters that exclude each other, otherwise nil.\n"+
		"func (x *%s) CheckParams() error {\n"+
		"p := params{op: Op%s, names: x.ExpressionAttributeNames != nil", name, p[0])
	if g.Shapes[name].Members["ExpressionAttributeValues"] != "" {
		b.WriteString(", values: x.ExpressionAttributeValues != nil")
	}
	b.WriteString("}\n")
	for i, member := range p[1:] {
		method, present := "legacyParam", "x."+member+" != nil"
		switch {
		case member == "ConditionalOperator":
			fmt.Fprintf(&b, "p.joined(x.ConditionalOperator, len(x.%s))\n", p[i])
			continue
		case member == "KeyConditions":
			present += " && x.KeyConditionExpression != nil"
		case member == "ProjectionExpression":
			method = "projection"
		case strings.HasSuffix(member, "Expression"):
			method = "expression"
		}
		fmt.Fprintf(&b, "p.%s(%q, %s)\n", method, member, present)
	}
	g.emit("params", "%s", b.String()+"return p.check()\n}")
}
