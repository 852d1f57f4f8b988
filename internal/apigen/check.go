package main

import (
	"fmt"
	"slices"
	"strings"
)

// constrained reports whether a shape, or one inside it, has a constraint.
func (g *generator) constrained(name string, seen map[string]bool) bool {
	if seen[name] {
		return false
	}
	seen[name] = true
	s := g.Shapes[name]
	switch g.kind(name) {
	case kindValue, kindItem, kindValues:
		return false
	case kindStruct:
		if len(s.Required) > 0 {
			return true
		}
		for member, target := range s.Members {
			if _, ok := maxLength[name+"."+member]; ok || g.constrained(target, seen) {
				return true
			}
		}
		return false
	case kindList:
		return s.Min != nil || s.Max != nil || g.constrained(s.Member, seen)
	case kindMap:
		return s.Min != nil || s.Max != nil || g.constrained(s.Value, seen)
	}
	return s.Min != nil || s.Max != nil || s.Pattern != "" || len(s.Enum) > 0
}

// check generates the method that checks a structure's members.
func (g *generator) check(name string) {
	if g.kind(name) != kindStruct || !g.checked[name] {
		return
	}

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
				continue
			}
		case kindInteger, kindLong:
			if s := g.Shapes[target]; s.Min != nil || s.Max != nil {
				fmt.Fprintf(&b, "v.integer(%q, %s, %t, &traits%s)\n", member, field, required, target)
				continue
			}
		}

		checks := g.checks(name, member, target, field)
		switch {
		case required && checks != "":
			fmt.Fprintf(&b, "if %s == nil {\nv.null(%q)\n} else {\n%s}\n", field, member, checks)
		case required:
			fmt.Fprintf(&b, "v.missing(%q, %s == nil, true)\n", member, field)
		case checks != "":
			fmt.Fprintf(&b, "if %s != nil {\n%s}\n", field, checks)
		}
	}

	b.WriteString("}")
	g.emit("check", "%s", b.String())
}

// checks returns the statements that check a value, which is present.
func (g *generator) checks(owner, member, target, value string) string {
	s := g.Shapes[target]
	var b strings.Builder
	switch g.kind(target) {
	case kindStruct:
		if g.checked[target] {
			fmt.Fprintf(&b, "v.object(%q, %s)\n", member, value)
		}
	case kindList:
		echo := fmt.Sprintf("appendEcho(nil, reflect.ValueOf(%s))", value)
		if s.Min != nil || s.Max != nil {
			fmt.Fprintf(&b, "if v.size(%q, len(%s), &traits%s) {\nv.echo(%s)\n}\n", member, value, target, echo)
		}
		if inner := g.elemChecks(s.Member, value+"[i]"); inner != "" {
			fmt.Fprintf(
				&b, "v.push(%q)\nfor i := range %s {\nv.elem(i)\n%sv.pop()\n}\nv.pop()\n", member, value, inner,
			)
		}
	case kindMap:
		echo := fmt.Sprintf("appendEcho(nil, reflect.ValueOf(%s))", value)
		if jsonEcho[owner+"."+member] {
			echo = fmt.Sprintf("append%s(nil, %s)", target, value)
		}
		if s.Min != nil || s.Max != nil {
			fmt.Fprintf(&b, "if v.size(%q, len(%s), &traits%s) {\nv.echo(%s)\n}\n", member, value, target, echo)
		}
		if s.Key == "TableArn" {
			fmt.Fprintf(&b, "if v.tableKeys(%q, sortedKeys(%s)) {\nv.echo(%s)\n}\n", member, value, echo)
		}
		if l := g.Shapes[s.Value]; l.Type == "list" && (l.Min != nil || l.Max != nil) {
			fmt.Fprintf(
				&b, "for _, e := range %s {\nif v.mapValue(%q, len(e), &traits%s) {\nv.echo(%s)\nbreak\n}\n}\n",
				value, member, s.Value, echo,
			)
		}
		if inner := g.elemChecks(s.Value, "e"); inner != "" {
			fmt.Fprintf(
				&b, "v.push(%q)\nfor _, k := range sortedKeys(%s) {\ne := %s[k]\nv.key(k)\n%sv.pop()\n}\nv.pop()\n",
				member, value, value, inner,
			)
		}
	}
	return b.String()
}

// elemChecks returns the statements that check a list or map element.
func (g *generator) elemChecks(name, value string) string {
	k := g.kind(name)
	switch {
	case k == kindString && g.hasTraits(name):
		return fmt.Sprintf("v.text(\"\", &%s, false, &traits%s)\n", value, name)
	case k == kindStruct && g.checked[name]:
		return value + ".check(v)\n"
	case k == kindList && g.kind(g.Shapes[name].Member) == kindStruct && g.checked[g.Shapes[name].Member]:
		return fmt.Sprintf("for i := range %[1]s {\nv.elem(i)\n%[1]s[i].check(v)\nv.pop()\n}\n", value)
	}
	return ""
}

// params generates the CheckParams method of a structure with parameters that exclude each other.
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
