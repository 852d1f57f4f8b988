package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// constrained reports whether a shape or anything in it has a constraint.
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

// check generates the checks of a structure's members.
func (g *generator) check(name string) {
	if g.kind(name) != kindStruct {
		return
	}
	ops := g.inputOf(name)
	if len(ops) > 0 {
		body := "return nil"
		if g.checked[name] {
			body = "return validate(Op" + ops[0] + ", x.check)"
		}
		g.emit("check", "func (x *%s) Validate() error { %s }", name, body)
	}
	if !g.checked[name] {
		return
	}
	s := g.Shapes[name]
	var b strings.Builder
	fmt.Fprintf(&b, "func (x *%s) check(v *violations) {\n", name)
	for _, member := range ordered(s.memberNames(), memberOrder[name]) {
		target, ok := s.Members[member]
		if !ok {
			panic("tables.go: no member " + name + "." + member)
		}
		field := "x." + goName(member)
		absent, value := field+" == nil", field
		switch k := g.kind(target); {
		case k == kindValue:
			absent = field + ".Kind() == 0"
		case scalarTypes[k] != "":
			value = "*" + field
		}
		required := slices.Contains(s.Required, member)
		if line := g.checkLine(name, member, target, required); line != "" {
			b.WriteString(line)
			continue
		}
		checks := g.checks(name, member, target, value)
		switch {
		case required && checks != "":
			fmt.Fprintf(&b, "if %s {\nv.null(%q)\n} else {\n%s}\n", absent, member, checks)
		case required:
			fmt.Fprintf(&b, "v.absent(%q, %s)\n", member, absent)
		case checks != "":
			present := strings.Replace(absent, "==", "!=", 1)
			fmt.Fprintf(&b, "if %s {\n%s}\n", present, checks)
		}
	}
	b.WriteString("}")
	g.emit("check", "%s", b.String())
}

// checkLine returns the statement that checks a member of the most frequent kinds,
// present or not, or "" if it takes several.
func (g *generator) checkLine(owner, member, target string, required bool) string {
	s := g.Shapes[target]
	lo, hi := bounds(s)
	args := fmt.Sprintf("(%q, x.%s, %t", member, goName(member), required)
	switch k := g.kind(target); {
	case k == kindString && target == "TableArn":
		return fmt.Sprintf("v.checkTable%s, %d)\n", args, max(minTableName[owner], 1))
	case k == kindString && len(s.Enum) > 0:
		return fmt.Sprintf("v.checkEnum%s, enum%s[:])\n", args, target)
	case k == kindString && (s.Pattern != "" || s.Min != nil || s.Max != nil):
		return fmt.Sprintf("v.checkText%s, &rule%s)\n", args, target)
	case (k == kindInteger || k == kindLong) && (s.Min != nil || s.Max != nil):
		return fmt.Sprintf("v.checkInteger%s, %s, %s)\n", args, or(lo, "math.MinInt64"), or(hi, "math.MaxInt64"))
	case k == kindStruct && g.checked[target]:
		return fmt.Sprintf("checkObject(v, %q, x.%s, %t)\n", member, goName(member), required)
	case k == kindList && g.kind(s.Member) == kindStruct && g.checked[s.Member] && lo == "" && hi == "" &&
		maxLength[owner+"."+member] == 0:
		return fmt.Sprintf("checkObjects(v, %q, x.%s, %t)\n", member, goName(member), required)
	}
	return ""
}

// checks returns the statements that check a present value.
func (g *generator) checks(owner, member, target, value string) string {
	s := g.Shapes[target]
	lo, hi := bounds(s)
	if most, ok := maxLength[owner+"."+member]; ok {
		hi = fmt.Sprint(most)
	}
	var b strings.Builder
	switch k := g.kind(target); k {
	case kindString:
		switch {
		case target == "TableArn":
			least := max(minTableName[owner], 1)
			fmt.Fprintf(&b, "v.table(%q, %s, %d)\n", member, value, least)
		case len(s.Enum) > 0:
			fmt.Fprintf(&b, "v.enum(%q, %s, enum%s[:])\n", member, value, target)
		case s.Pattern != "" || s.Min != nil || s.Max != nil:
			fmt.Fprintf(&b, "v.text(%q, %s, &rule%s)\n", member, value, target)
		}
	case kindInteger, kindLong:
		if s.Min != nil || s.Max != nil {
			fmt.Fprintf(
				&b, "v.integer(%q, %s, %s, %s)\n", member, value, or(lo, "math.MinInt64"), or(hi, "math.MaxInt64"),
			)
		}
	case kindStruct:
		if g.checked[target] {
			fmt.Fprintf(&b, "v.push(%q)\n%s.check(v)\nv.pop()\n", member, value)
		}
	case kindList:
		if lo != "" || hi != "" {
			g.echoed[target] = true
			fmt.Fprintf(
				&b, "if v.size(%q, len(%s), %s, %s) {\nv.echo(echo%s(nil, %s))\n}\n", member, value, or(lo, "0"),
				or(hi, "-1"), target, value,
			)
		}
		if inner := g.checks(target, "", s.Member, "e"); inner != "" {
			if g.kind(s.Member) == kindStruct {
				inner = "e.check(v)\n"
				fmt.Fprintf(
					&b, "v.push(%q)\nfor i := range %s {\ne := &%s[i]\nv.elem(i)\n%sv.pop()\n}\nv.pop()\n", member,
					value, value, inner,
				)
			} else {
				fmt.Fprintf(
					&b, "v.push(%q)\nfor i, e := range %s {\nv.elem(i)\n%sv.pop()\n}\nv.pop()\n", member, value, inner,
				)
			}
		}
	case kindMap:
		echo := fmt.Sprintf("echo%s(nil, %s)", target, value)
		if jsonEcho[owner+"."+member] {
			echo = fmt.Sprintf("append%s(nil, %s)", target, value)
		} else if lo != "" || hi != "" || s.Key == "TableArn" {
			g.echoed[target] = true
		}
		if lo != "" || hi != "" {
			fmt.Fprintf(
				&b, "if v.size(%q, len(%s), %s, %s) {\nv.echo(%s)\n}\n", member, value, or(lo, "0"), or(hi, "-1"), echo,
			)
		}
		if s.Key == "TableArn" {
			fmt.Fprintf(&b, "if v.tableKeys(%q, sortedKeys(%s)) {\nv.echo(%s)\n}\n", member, value, echo)
		}
		inner := ""
		if g.kind(s.Value) == kindList {
			l := g.Shapes[s.Value]
			if llo, lhi := bounds(l); llo != "" || lhi != "" {
				fmt.Fprintf(
					&b, "for _, e := range %s {\nif v.mapValue(%q, len(e), %s, %s) {\nv.echo(%s)\nbreak\n}\n}\n", value,
					member, or(llo, "0"), or(lhi, "-1"), echo,
				)
			}
			if g.kind(l.Member) == kindStruct && g.checked[l.Member] {
				inner = "for i := range e {\nv.elem(i)\ne[i].check(v)\nv.pop()\n}\n"
			}
		} else if g.kind(s.Value) == kindStruct {
			if g.checked[s.Value] {
				inner = "e.check(v)\n"
			}
		} else {
			inner = g.checks(target, "", s.Value, "e")
		}
		if inner != "" {
			fmt.Fprintf(
				&b, "v.push(%q)\nfor _, k := range sortedKeys(%s) {\ne := %s[k]\nv.key(k)\n%sv.pop()\n}\nv.pop()\n",
				member, value, value, inner,
			)
		}
	}
	return b.String()
}

func bounds(s shape) (lo, hi string) {
	if s.Min != nil {
		lo = fmt.Sprint(*s.Min)
	}
	if s.Max != nil {
		hi = fmt.Sprint(*s.Max)
	}
	return lo, hi
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// rules generates the enumerations and text rules that the checks refer to.
func (g *generator) rules() {
	used := strings.Join(g.parts["check"], "\n")
	for _, name := range slices.Sorted(maps.Keys(g.Shapes)) {
		s := g.Shapes[name]
		if s.Type != "string" {
			continue
		}
		if strings.Contains(used, "enum"+name+"[:]") {
			values := s.Enum
			if order := enumOrder[name]; order != nil {
				if a, b := slices.Sorted(slices.Values(order)), slices.Sorted(slices.Values(values)); !slices.Equal(a, b) {
					panic("tables.go: enumOrder of " + name + " has other values than the model")
				}
				values = order
			}
			g.emit("check", "var enum%s = [...]string{%s}", name, quoted(values))
		}
		if strings.Contains(used, "&rule"+name+")") {
			lo, hi := bounds(s)
			match := "nil"
			if p := s.Pattern; p == "[a-zA-Z0-9_.-]+" {
				match = "IsName"
			} else if p != "" {
				if goPatterns[p] != "" {
					p = goPatterns[p]
				}
				match = fmt.Sprintf("regexp.MustCompile(%q).MatchString", "^(?:"+p+")$")
			}
			g.emit(
				"check", "var rule%s = textRule{min: %s, max: %s, pattern: %q, match: %s}", name, or(lo, "0"),
				or(hi, "-1"), s.Pattern, match,
			)
		}
	}
}

func quoted(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", s)
	}
	return b.String()
}
