package tabledef

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file evaluates expressions of Terraform's language: to text, which numbers are too,
// bools, nil, lists and objects, and to unresolved if only a deployment knows the value.
// Source: https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md

// A scope has the values that expressions may refer to.
type scope struct {
	*input
	dir       string // of the module
	variables map[string]any
	locals    map[string]expression
	known     map[string]any // the values of locals that were evaluated
	resources map[string]*block
	own       map[string]any // each, count, and the variables of loops
	depth     int            // of expressions
	left      *int           // how many expressions may still be evaluated
}

// with returns a scope with more variables of loops.
func (s *scope) with(own map[string]any) *scope {
	inner := *s
	inner.own = maps.Clone(s.own)
	if inner.own == nil {
		inner.own = map[string]any{}
	}
	maps.Copy(inner.own, own)
	return &inner
}

// value evaluates an expression.
func (s *scope) value(e expression) any {
	s.depth++
	defer func() { s.depth-- }()
	if *s.left--; *s.left < 0 || s.depth > maxDepth {
		return unresolved{name: e.String()}
	}
	p := &evaluator{scope: s, tokens: e, all: e}
	v := p.conditional()
	p.skip()
	if len(p.tokens) > 0 {
		return unresolved{name: e.String()}
	}
	n := cost(v, maxList)
	if *s.left -= n; n > maxList {
		return tooLong
	}
	return v
}

// An evaluator evaluates the tokens of an expression from left to right.
type evaluator struct {
	*scope
	tokens expression // that follow
	all    expression
}

func (p *evaluator) unknown() unresolved { return unresolved{name: p.all.String()} }

func (p *evaluator) skip() {
	for len(p.tokens) > 0 && p.tokens[0].kind == hclNewline {
		p.tokens = p.tokens[1:]
	}
}

// take takes an operator of one or more characters.
func (p *evaluator) take(mark string) bool {
	at := p.tokens
	for len(at) > 0 && at[0].kind == hclNewline {
		at = at[1:]
	}
	for i := range len(mark) {
		if len(at) == 0 || at[0].kind != hclMark || at[0].text != mark[i:i+1] {
			return false
		}
		at = at[1:]
	}
	p.tokens = at
	return true
}

func (p *evaluator) conditional() any {
	v := p.binary(0)
	if !p.take("?") {
		return v
	}
	yes := p.conditional()
	if !p.take(":") {
		return p.unknown()
	}
	no := p.conditional()
	switch p.settled(v) {
	case true, "true":
		return yes
	case false, "false":
		return no
	}
	return p.unknown()
}

// settled returns a value, or the one that was made up for it, with a note.
func (s *scope) settled(v any) any {
	u, ok := v.(unresolved)
	if !ok || u.standIn == "" || len(u.of) == 0 {
		return v
	}
	s.made(u)
	if u.standIn == "true" || u.standIn == "false" {
		return u.standIn == "true"
	}
	return u.standIn
}

// operators lists the binary operators from the loosest up.
var operators = [][]string{{"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}

func (p *evaluator) binary(level int) any {
	if level == len(operators) {
		return p.unary()
	}
	v := p.binary(level + 1)
	for {
		i := slices.IndexFunc(operators[level], p.take)
		if i < 0 {
			return v
		}
		v = p.operate(operators[level][i], v, p.binary(level+1))
	}
}

func (p *evaluator) operate(op string, a, b any) any {
	a, b = p.settled(a), p.settled(b)
	_, unknownA := a.(unresolved)
	_, unknownB := b.(unresolved)
	switch op {
	case "||", "&&":
		decides := op == "||"
		if a == decides || b == decides {
			return decides
		}
		if unknownA || unknownB {
			return p.unknown()
		}
		return !decides
	}
	if unknownA || unknownB {
		return p.unknown()
	}
	if op == "==" || op == "!=" {
		equal := a == nil && b == nil || a != nil && b != nil && fmt.Sprint(a) == fmt.Sprint(b)
		return equal == (op == "==")
	}
	x, okX := numberOf(a)
	y, okY := numberOf(b)
	if !okX || !okY {
		return p.unknown()
	}
	switch op {
	case "<":
		return x < y
	case ">":
		return x > y
	case "<=":
		return x <= y
	case ">=":
		return x >= y
	case "+":
		return numberText(x + y)
	case "-":
		return numberText(x - y)
	case "*":
		return numberText(x * y)
	}
	if y == 0 {
		return p.unknown()
	}
	if op == "%" {
		return numberText(float64(int64(x) % max(int64(y), 1)))
	}
	return numberText(x / y)
}

func numberOf(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}

func numberText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (p *evaluator) unary() any {
	switch {
	case p.take("!"):
		if yes, ok := p.settled(p.unary()).(bool); ok {
			return !yes
		}
		return p.unknown()
	case p.take("-"):
		if n, ok := numberOf(p.unary()); ok {
			return numberText(-n)
		}
		return p.unknown()
	}
	return p.members(p.term())
}

// group takes a bracket and returns the tokens in it.
func (p *evaluator) group() (expression, bool) {
	depth := 0
	for i, t := range p.tokens {
		switch {
		case t.kind != hclMark:
		case strings.Contains("([{", t.text):
			depth++
		case strings.Contains(")]}", t.text):
			if depth--; depth == 0 {
				inner := p.tokens[1:i]
				p.tokens = p.tokens[i+1:]
				return inner, true
			}
		}
	}
	p.tokens = nil
	return nil, false
}

func (p *evaluator) term() any {
	p.skip()
	if len(p.tokens) == 0 {
		return p.unknown()
	}
	t := p.tokens[0]
	if t.kind == hclMark {
		inner, ok := p.group()
		switch {
		case !ok:
		case t.text == "(":
			return p.value(inner)
		case t.text == "[":
			return p.list(inner)
		case t.text == "{":
			return p.object(inner)
		}
		return p.unknown()
	}
	p.tokens = p.tokens[1:]
	switch t.kind {
	case hclText:
		return p.template(t.text[1:len(t.text)-1], true)
	case hclHeredoc:
		return p.template(t.text, false)
	case hclNumber:
		return t.text
	}
	if len(p.tokens) > 0 && p.tokens[0].text == "(" && p.tokens[0].kind == hclMark {
		inner, ok := p.group()
		if !ok {
			return p.unknown()
		}
		return p.call(t.text, inner)
	}
	return p.name(t)
}

// name evaluates a name, or the two names that a variable or a local has.
func (p *evaluator) name(t hclToken) any {
	switch t.text {
	case "true", "false":
		return t.text == "true"
	case "null":
		return nil
	}
	if v, ok := p.own[t.text]; ok {
		return v
	}
	path := []string{t.text}
	next := func() string {
		if len(p.tokens) < 2 || p.tokens[0].text != "." || p.tokens[1].kind != hclName {
			return ""
		}
		name := p.tokens[1].text
		p.tokens = p.tokens[2:]
		path = append(path, name)
		return name
	}
	switch t.text {
	case "var":
		name := next()
		if v, ok := p.variables[name]; ok {
			return v
		}
		return missing("var."+name, name, name)
	case "local":
		name := next()
		e, ok := p.locals[name]
		if !ok {
			return unresolved{name: "local." + name}
		}
		v, ok := p.known[name]
		if !ok {
			outer := p.with(nil)
			outer.own = nil
			v = outer.value(e)
			p.known[name] = v
		}
		return v
	case "path":
		next()
		return p.dir
	case "terraform":
		next()
		return "default" // the workspace
	}
	if next() == "" {
		return p.unknown()
	}
	if b := p.resources[strings.Join(path, ".")]; b != nil && len(p.tokens) >= 2 && p.tokens[0].text == "." {
		if e, ok := b.body.attributes[p.tokens[1].text]; ok {
			p.tokens = p.tokens[2:]
			return p.value(e)
		}
	}
	for len(p.tokens) > 0 && (p.tokens[0].text == "." || p.tokens[0].text == "[") {
		if p.tokens[0].text == "[" {
			p.group()
		} else if next() == "" {
			break
		}
	}
	u := unresolved{name: strings.Join(path, ".")}
	switch {
	case strings.HasPrefix(u.name, "data.aws_region."):
		u.standIn, u.legal = defaultRegion, true
		u = u.from("")
	case strings.HasPrefix(u.name, "data.aws_caller_identity."):
		u.standIn, u.legal = defaultAccount, true
		u = u.from("")
	case path[0] == "module" || path[0] == "data" || strings.HasPrefix(path[0], "random_"):
		u.standIn = legalName(path[1])
		u = u.from("")
	}
	return u
}

// members evaluates what follows a value: .name, [index] and splats.
func (p *evaluator) members(v any) any {
	for len(p.tokens) > 0 {
		t := p.tokens[0]
		switch {
		case t.kind != hclMark:
			return v
		case t.text == "." && len(p.tokens) > 1 && p.tokens[1].text == "*":
			p.tokens = p.tokens[2:]
			return p.splat(v)
		case t.text == "." && len(p.tokens) > 1:
			name := p.tokens[1].text
			p.tokens = p.tokens[2:]
			for part := range strings.SplitSeq(name, ".") { // 0.name is one token
				v = p.member(v, part)
			}
		case t.text == "[":
			inner, ok := p.group()
			switch {
			case !ok:
				return p.unknown()
			case len(inner) == 1 && inner[0].text == "*":
				return p.splat(v)
			}
			key := p.settled(p.value(inner))
			if _, unknown := key.(unresolved); unknown {
				return p.unknown()
			}
			v = p.member(v, fmt.Sprint(key))
		default:
			return v
		}
	}
	return v
}

// splat evaluates what follows [*] for each member of a list.
func (p *evaluator) splat(v any) any {
	list, isList := v.([]any)
	switch {
	case v == nil:
		list = []any{}
	case !isList:
		list = []any{v}
	}
	after := p.tokens
	out := make([]any, len(list))
	for i, m := range list {
		p.tokens = after
		out[i] = p.members(m)
	}
	if len(list) == 0 {
		p.members(nil)
	}
	return out
}

func (p *evaluator) member(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		if m, ok := v[key]; ok {
			return m
		}
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	case unresolved:
		return unresolved{name: v.name + "." + key, of: v.of}
	}
	return p.unknown()
}

// splitAt splits tokens at marks that are in no bracket, up to a number of parts.
func splitAt(e expression, most int, marks ...string) (parts []expression) {
	depth, from := 0, 0
	conditions := 0
	for i, t := range e {
		switch {
		case t.kind == hclNewline && slices.Contains(marks, "\n") && depth == 0, t.kind == hclMark && depth == 0 && slices.Contains(marks, t.text):
			if t.text == ":" && conditions > 0 {
				conditions--
				continue
			}
			if len(parts)+1 < most {
				parts = append(parts, e[from:i])
				from = i + 1
			}
		case t.kind != hclMark:
		case t.text == "?" && depth == 0:
			conditions++
		case strings.Contains("([{", t.text):
			depth++
		case strings.Contains(")]}", t.text):
			depth--
		}
	}
	return append(parts, e[from:])
}

// trim removes line ends around tokens.
func trim(e expression) expression {
	for len(e) > 0 && e[0].kind == hclNewline {
		e = e[1:]
	}
	for len(e) > 0 && e[len(e)-1].kind == hclNewline {
		e = e[:len(e)-1]
	}
	return e
}

// arguments evaluates a list of expressions with commas between them.
func (p *evaluator) arguments(e expression) []any {
	list := []any{}
	for _, part := range splitAt(e, len(e)+1, ",") {
		if part = trim(part); len(part) == 0 {
			continue
		}
		if n := len(part); n > 3 && part[n-1].text == "." && part[n-2].text == "." && part[n-3].text == "." {
			if more, ok := p.value(part[:n-3]).([]any); ok {
				list = append(list, more...)
				continue
			}
		}
		list = append(list, p.value(part))
	}
	return list
}

func (p *evaluator) list(e expression) any {
	if e = trim(e); len(e) > 0 && e[0].text == "for" && e[0].kind == hclName {
		out := []any{}
		u := p.each(e[1:], func(s *scope, body expression) {
			out = append(out, s.value(body))
		})
		if u != nil {
			return *u
		}
		return out
	}
	return p.arguments(e)
}

func (p *evaluator) object(e expression) any {
	out := map[string]any{}
	if e = trim(e); len(e) > 0 && e[0].text == "for" && e[0].kind == hclName {
		failed := false
		u := p.each(e[1:], func(s *scope, body expression) {
			key, value, ok := arrow(body)
			k := s.settled(s.value(trim(key)))
			if _, unknown := k.(unresolved); unknown || !ok {
				failed = true
				return
			}
			if n := len(value); n > 3 && value[n-1].text == "." && value[n-3].text == "." {
				list, _ := out[fmt.Sprint(k)].([]any)
				out[fmt.Sprint(k)] = append(list, s.value(value[:n-3]))
				return
			}
			out[fmt.Sprint(k)] = s.value(trim(value))
		})
		switch {
		case u != nil:
			return *u
		case failed:
			return p.unknown()
		}
		return out
	}
	for _, part := range splitAt(e, len(e)+1, ",", "\n") {
		if part = trim(part); len(part) == 0 {
			continue
		}
		pair := splitAt(part, 2, "=", ":")
		if len(pair) < 2 {
			return p.unknown()
		}
		var key any
		switch name := pair[0]; {
		case len(name) == 1 && (name[0].kind == hclName || name[0].kind == hclNumber):
			key = name[0].text
		default:
			key = p.settled(p.value(name))
		}
		if _, unknown := key.(unresolved); unknown {
			return p.unknown()
		}
		out[fmt.Sprint(key)] = p.value(pair[1])
	}
	return out
}

// arrow splits the body of a loop that makes an object.
func arrow(e expression) (key, value expression, ok bool) {
	for _, part := range splitAt(e, 2, "=") {
		if key == nil {
			key = part
		} else if len(part) > 0 && part[0].text == ">" {
			value, ok = trim(part[1:]), true
		}
	}
	return key, value, ok
}

// each calls a function for each member of the collection of a loop, with the tokens of
// its body. It returns a value if the collection has none.
func (p *evaluator) each(e expression, body func(*scope, expression)) *unresolved {
	fail := p.unknown()
	in := slices.IndexFunc(e, func(t hclToken) bool { return t.kind == hclName && t.text == "in" })
	if in < 0 {
		return &fail
	}
	var names []string
	for _, t := range e[:in] {
		if t.kind == hclName {
			names = append(names, t.text)
		}
	}
	parts := splitAt(e[in+1:], 2, ":")
	if len(parts) < 2 || len(names) == 0 {
		return &fail
	}
	rest := trim(parts[1])
	var condition expression
	depth := 0
	for i, t := range rest {
		switch {
		case t.kind == hclMark && strings.Contains("([{", t.text):
			depth++
		case t.kind == hclMark && strings.Contains(")]}", t.text):
			depth--
		case t.kind == hclName && t.text == "if" && depth == 0:
			condition = rest[i+1:]
		}
		if condition != nil {
			rest = trim(rest[:i])
			break
		}
	}
	list, ok := p.collection(p.value(parts[0]))
	if !ok {
		return &fail
	}
	for _, m := range list {
		own := map[string]any{names[len(names)-1]: m.value}
		if len(names) > 1 {
			own[names[0]] = m.key
		}
		inner := p.with(own)
		if condition != nil && inner.value(condition) != true {
			continue
		}
		body(inner, rest)
	}
	return nil
}

type member struct{ key, value any }

// collection returns the members of a list, or of an object in the order of their names.
func (s *scope) collection(v any) (all []member, ok bool) {
	switch v := v.(type) {
	case []any:
		for i, m := range v {
			all = append(all, member{strconv.Itoa(i), m})
		}
		return all, true
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, member{name, v[name]})
		}
		return all, true
	}
	return nil, v == nil
}

// template evaluates a text with ${…}.
func (s *scope) template(text string, escapes bool) any {
	var parts []any
	for i := 0; i < len(text); {
		switch {
		case escapes && text[i] == '\\':
			c, _, rest, err := strconv.UnquoteChar(text[i:], '"')
			if err != nil {
				return unresolved{name: text}
			}
			parts = append(parts, string(c))
			i = len(text) - len(rest)
		case strings.HasPrefix(text[i:], "$${"), strings.HasPrefix(text[i:], "%%{"):
			parts = append(parts, text[i+1:i+3])
			i += 3
		case strings.HasPrefix(text[i:], "${"):
			end := endOfTemplate(text, i+2, 0)
			v, ok := s.inner(text, i+2, end)
			if !ok {
				return unresolved{name: text}
			}
			if i == 0 && end == len(text) {
				return v // not a text
			}
			if parts = append(parts, v); !isScalar(v) {
				return unresolved{name: text}
			}
			i = end
		case strings.HasPrefix(text[i:], "%{"):
			return unresolved{name: text}
		default:
			parts = append(parts, text[i:i+1])
			i++
		}
	}
	return join(parts, "")
}

func isScalar(v any) bool {
	switch v := v.(type) {
	case string, bool, float64:
		return true
	case unresolved:
		return v.standIn != ""
	}
	return false
}

// inner evaluates the expression in ${…}. It reports false if it is malformed.
func (s *scope) inner(text string, from, end int) (v any, ok bool) {
	if end < 0 {
		return nil, false
	}
	tokens, err := lexHCL(strings.Trim(text[from:end-1], "~ \t\n"))
	if err != nil {
		return nil, false
	}
	return s.value(tokens[:len(tokens)-1]), true
}

// beside returns the path of a file of the module.
func (s *scope) beside(name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, s.dir+string(filepath.Separator)) {
		return name
	}
	return filepath.Join(s.dir, name)
}
