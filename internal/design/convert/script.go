package convert

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/design/model"
)

// Schemas in JavaScript and TypeScript are read as the literals that they are; nothing is run. What a
// schema needs must be written out: a constant of the same file may stand for a value, and the
// constructors of types, such as Number, for their names. A function that changes no key is a loss.
// Anything else that a program computes is refused with its place.

// IsScript reports whether a file has the name of a script.
func IsScript(name string) bool {
	return slices.Contains([]string{".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"}, filepath.Ext(name))
}

// stringifyHint says how to convert a schema that is not a literal, without losing its types.
const stringifyHint = "convert the schema in a program: JSON.stringify(schema, (k, v) => " +
	"typeof v !== 'function' ? v : k === 'type' ? v.name.toLowerCase() : {function: v.name})"

// writeOut is what to do about a value that is computed.
const writeOut = "write the value out, or " + stringifyHint

// Kinds of nodes that only scripts have, until they are resolved.
const (
	kindName     jsontext.Kind = 'r' // of a constant
	kindComputed jsontext.Kind = 'x'
)

// typeNames are the constructors that stand for types, and what OneTable calls those.
var typeNames = map[string]string{
	"String": "string", "Number": "number", "Boolean": "boolean", "Date": "date", "Array": "array", "Object": "object",
	"Set": "set", "Buffer": "buffer", "ArrayBuffer": "arraybuffer", "Uint8Array": "binary", "Symbol": "symbol",
}

// asides are properties whose functions change no key: a model loses them in any case.
var asides = []string{"default", "validate", "get", "set", "watch", "condition", "transform", "crypt"}

// A script is a file that is being read.
type script struct {
	d      *document
	s      scriptScanner
	tok    scriptToken
	failed error // a limit

	constants map[string]*node
	variables map[string]bool // the constants that are declared by let or var
	// root is the name that an expression begins with, as a in a.b, path whether names follow it, and declared
	// whether it is being declared.
	root           string
	path, declared bool
	// assigned are the names that are assigned a value, and changed those of which a member is.
	assigned, changed map[string]bool

	literals []*node // that may be schemas
	// entities are the places where new Entity is called, and schemas the literals that those calls are
	// given, as far as they are read.
	entities []int
	schemas  map[int]*node
	creates  bool // after new
	// resolving are nodes whose names are being replaced, and resolved those where they have been.
	resolving, resolved map[*node]bool
}

// readScript reads the schemas in a script as the roots of a document.
func (d *document) readScript() error {
	p := &script{
		d: d, s: scriptScanner{text: string(d.data)},
		constants: map[string]*node{}, resolving: map[*node]bool{}, resolved: map[*node]bool{},
		variables: map[string]bool{}, assigned: map[string]bool{}, changed: map[string]bool{},
		schemas: map[int]*node{},
	}
	p.advance()
	p.module()
	if p.failed != nil {
		return p.failed
	}
	if p.s.unclosed != "" {
		return &Error{
			Pos: d.pos(p.s.unclosedAt), Msg: "a " + p.s.unclosed + " begins here that does not end",
			Hint: "close it; if it does end, move the schemas to a file of their own",
		}
	}

	for _, n := range p.literals {
		p.resolve(n)
		if p.failed != nil {
			return p.failed
		}
	}
	for _, n := range p.literals {
		for _, one := range schemasIn(n) {
			d.addSchema(one)
		}
	}
	p.lose()
	if len(d.roots) == 0 {
		for _, n := range p.literals {
			if n.either("format", "models", "model", "attributes", "indexes") == nil {
				continue
			}
			if err := p.written(n, false); err != nil {
				return err // what would make it a schema is computed
			}
		}
		return &Error{
			Pos: model.Pos{File: d.name}, Msg: "the file has no schema of OneTable or ElectroDB that is written out",
			Hint: stringifyHint,
		}
	}
	for _, n := range d.roots {
		if err := p.written(n, false); err != nil {
			return err
		}
	}
	return nil
}

// lose notes the entities that are not read, and the tables of those that are.
func (p *script) lose() {
	for _, at := range p.entities {
		n := p.schemas[at]
		if n == nil || len(schemasIn(n)) == 0 {
			p.d.loss(
				at, "this Entity", "its schema is not written out at the top of the file, and the file is not run",
				"move the schema out of the function, or "+stringifyHint,
			)
			continue
		}
		table := n.options
		if table.isObject() {
			table = table.get("table")
		}
		computed := table != nil && (table.kind == kindName || table.kind == kindComputed)
		if computed && n.get("table") == nil {
			p.d.loss(
				table.at, "the table of the entity", clip(table.text)+" is computed, and the file is not run",
				"--table NAME names it",
			)
		}
	}
}

// loss notes what is lost at a place of the file.
func (d *document) loss(at int, what, why, hint string) {
	d.losses = append(d.losses, Loss{Pos: d.pos(at), What: what, Why: why, Hint: hint})
}

// addSchema adds a schema of a script to the roots, unless it is there by another name of its constant.
func (d *document) addSchema(n *node) {
	i := slices.IndexFunc(d.roots, func(r *node) bool { return r.at == n.at })
	switch {
	case i < 0:
		d.roots = append(d.roots, n)
	case d.roots[i].get("table") == nil: // which an Entity may be given with the constant
		d.roots[i] = n
	}
}

// schemasIn returns the schemas that a literal is or has.
func schemasIn(n *node) (found []*node) {
	isSchema := func(n *node) bool {
		return isElectro(n) || strings.HasPrefix(n.str("format"), "onetable:") ||
			n.get("models").isObject() && n.get("indexes").isObject()
	}
	switch {
	case isSchema(n):
		return []*node{n}
	case n.isObject() && isSchema(n.get("schema")): // new Table({schema})
		return []*node{n.get("schema")}
	case len(electroList(n)) > 0:
		return electroList(n)
	}
	for _, m := range n.elems() {
		if isSchema(m) {
			found = append(found, m)
		}
	}
	return found
}

func (p *script) advance() {
	before := p.tok
	p.tok = p.s.next()
	if p.creates && p.word("Entity") {
		p.entities = append(p.entities, p.tok.at)
	}
	p.creates = p.word("new") || p.creates && (p.tok.kind == tokenName || p.is("."))
	sign := before.kind == tokenSign
	switch {
	case p.tok.kind == tokenName && sign && (before.text == "." || before.text == "?."):
		p.path = true
	case p.tok.kind == tokenName:
		p.declared = before.kind == tokenName && slices.Contains([]string{"const", "let", "var"}, before.text)
		p.root, p.path = p.tok.text, false
	case p.is("=") && !p.declared && (!sign || strings.Contains("] + - * / % & | ^ ?", before.text)),
		(p.is("++") || p.is("--")) && !sign:
		if p.path || sign && before.text == "]" {
			p.changed[p.root] = true
		} else {
			p.assigned[p.root] = true
		}
	}
}

// is reports whether the next token is a sign.
func (p *script) is(sign string) bool { return p.tok.kind == tokenSign && p.tok.text == sign }

// word reports whether the next token is a name.
func (p *script) word(names ...string) bool {
	return p.tok.kind == tokenName && slices.Contains(names, p.tok.text)
}

// module reads the statements at the top of a script, as far as they have literals.
func (p *script) module() {
	before := scriptToken{kind: tokenSign, text: ";"}
	name := ""                // of the constant that is declared
	callee, calleeAt := "", 0 // before a parenthesis
	for p.tok.kind != tokenEnd && p.failed == nil {
		tok := p.tok
		switch {
		case p.is("(") && before.kind == tokenName || p.is("(") && before.text == ">":
			p.arguments(callee, calleeAt)
			name = ""
		case p.begins(before):
			n := p.literal()
			if name != "" && !p.goesOn() {
				p.constants[name] = n
			}
			name = ""
			p.literals = append(p.literals, n)
		case p.is("{") || p.is("["):
			p.skipNested()
		default:
			if before.kind == tokenName && slices.Contains([]string{"const", "let", "var"}, before.text) {
				name = tok.text
				p.variables[name] = before.text != "const"
			}
			if p.is(";") || p.word("const", "let", "var", "export", "import") || before.text == "=" {
				name = ""
			}
			if tok.kind == tokenName && before.text != "<" {
				callee, calleeAt = tok.text, tok.at
			}
			p.advance()
		}
		before = tok
	}
}

// begins reports whether a literal begins here, after a token.
func (p *script) begins(before scriptToken) bool {
	after := before.kind == tokenSign && (before.text == "=" || before.text == ">") ||
		before.kind == tokenName && before.text == "default"
	return after && (p.is("{") || p.is("[") || p.tok.kind == tokenString || p.tok.kind == tokenNumber)
}

// goesOn reports whether an expression goes on after a literal, so that it has another value.
func (p *script) goesOn() bool {
	return p.tok.kind == tokenTemplate ||
		p.tok.kind == tokenSign && strings.Contains("+ - * / % . ? ?. ( [ & | ^ == < >", p.tok.text)
}

// arguments reads the arguments of a call.
func (p *script) arguments(callee string, at int) {
	list := p.node('[')
	p.list(list, ")", 0)
	for i, n := range list.list {
		// new Entity(schema, {table: "app"})
		if i == 0 && callee == "Entity" {
			p.schemas[at] = n
			if len(list.list) > 1 {
				n.options = list.list[1]
			}
		}
		p.literals = append(p.literals, n)
	}
}

func (p *script) node(kind jsontext.Kind) *node {
	if p.d.nodes++; p.d.nodes > maxNodes && p.failed == nil {
		p.failed = p.d.tooMany(p.tok.at)
	}
	return &node{doc: p.d, at: p.tok.at, kind: kind}
}

// literal reads an object, a list, a string or a number, without what follows it.
func (p *script) literal() *node { return p.primary(0) }

// value reads the value of a member or an element.
func (p *script) value(depth int) *node {
	if p.is("<") { // <const>{…}
		p.skipTo(">")
		p.advance()
	}
	from, first := p.tok.at, p.tok
	n := p.primary(depth)
	if p.is("!") {
		p.advance()
	}
	if p.word("as", "satisfies") {
		p.skipType()
	}
	if p.ended() {
		return n
	}

	// Not a literal alone: an expression, or a function.
	n = p.node(kindComputed)
	n.at = from
	arrow := p.is("=>")
	named := first.kind == tokenName && slices.Contains([]string{"async", "function", "class"}, first.text)
	if p.skipRest() || arrow || named {
		n.kind = '{'
		n.list = []*node{{doc: p.d, up: n, key: "function", at: from, kind: '"', text: "…"}}
	}
	n.text = strings.Join(strings.Fields(clip(p.d.text(from, p.tok.at))), " ")
	return n
}

// ended reports whether a value has ended.
func (p *script) ended() bool {
	return p.tok.kind == tokenEnd || p.tok.kind == tokenSign && strings.Contains(", } ] ) ;", p.tok.text)
}

// primary reads the beginning of a value.
func (p *script) primary(depth int) *node {
	if depth > maxDepth && p.failed == nil {
		p.failed = p.d.tooMany(p.tok.at)
	}
	if p.failed != nil {
		p.s.at = len(p.s.text)
		p.advance()
		return p.node('n')
	}
	n := p.node('n')
	switch tok := p.tok; {
	case p.is("{"):
		n.kind = '{'
		p.object(n, depth)
		return n
	case p.is("["):
		n.kind = '['
		p.list(n, "]", depth)
		return n
	case p.is("("):
		p.advance()
		if inner := p.value(depth + 1); p.is(")") {
			p.advance()
			return inner
		}
		n.kind = kindComputed // of several values, or the parameters of a function
		p.skipTo(")")
		p.advance()
		return n
	case p.is("-"), p.is("+"):
		p.advance()
		n.kind, n.text = '0', strings.TrimPrefix(tok.text, "+")+p.tok.text
		if p.tok.kind != tokenNumber {
			n.kind = kindComputed
		}
	case tok.kind == tokenString:
		n.kind, n.text = '"', tok.text
	case tok.kind == tokenNumber:
		n.kind, n.text = '0', tok.text
	case tok.kind == tokenRegexp:
		n.kind = '{'
		n.list = []*node{{doc: p.d, up: n, key: "regexp", at: n.at, kind: '"', text: tok.text}}
		p.advance()
		if p.tok.kind == tokenName && p.tok.at == tok.at+len(tok.text) { // its flags
			p.advance()
		}
		return n
	case tok.kind == tokenName && slices.Contains([]string{"true", "false"}, tok.text):
		n.kind = jsontext.Kind(tok.text[0])
	case tok.kind == tokenName && (tok.text == "null" || tok.text == "undefined"):
	case tok.kind == tokenName:
		n.kind, n.text = kindName, tok.text
	case p.ended():
		return n
	default:
		n.kind, n.text = kindComputed, clip(p.d.text(tok.at, p.s.at))
	}
	p.advance()
	return n
}

// object reads the members of an object.
func (p *script) object(n *node, depth int) {
	p.advance()
	for !p.is("}") && p.tok.kind != tokenEnd && p.failed == nil {
		at, key := p.tok.at, p.tok.text
		var m *node
		switch {
		case p.is(",") || p.is(";"):
			p.advance()
			continue
		case p.is("..."), p.is("["), p.tok.kind == tokenSign:
			m = p.node(kindComputed)
			if p.skipRest(); p.tok.at == at { // a bracket of another kind
				p.advance()
			}
			m.text = strings.Join(strings.Fields(clip(p.d.text(at, p.tok.at))), " ")
		default:
			shorthand := p.node(kindName)
			shorthand.text = key
			p.advance()
			switch {
			case p.is(":"):
				p.advance()
				m = p.value(depth + 1)
			case p.ended():
				m = shorthand
			default: // key() {…}, get key() {…}
				if p.tok.kind == tokenName {
					key = p.tok.text
				}
				p.skipRest()
				m = p.node('{')
				m.at = at
				m.list = []*node{{doc: p.d, up: m, key: "function", at: at, kind: '"', text: "…"}}
			}
		}
		m.key, m.up = key, n
		n.list = append(n.list, m)
	}
	p.advance()
}

// list reads the elements of a list, or arguments.
func (p *script) list(n *node, end string, depth int) {
	p.advance()
	for !p.is(end) && p.tok.kind != tokenEnd && p.failed == nil {
		if p.is(",") {
			p.advance()
			continue
		}
		if p.ended() { // another bracket: malformed, or code
			p.advance()
			continue
		}
		at := p.tok.at
		m := p.value(depth + 1)
		if p.tok.at == at { // nothing was read
			p.advance()
		}
		m.up, m.i = n, len(n.list)
		n.list = append(n.list, m)
	}
	p.advance()
}

// skipNested skips what is in brackets.
func (p *script) skipNested() {
	for open := 0; p.tok.kind != tokenEnd; {
		switch {
		case p.tok.kind == tokenSign && strings.Contains("{[(", p.tok.text):
			open++
		case p.tok.kind == tokenSign && strings.Contains("}])", p.tok.text):
			open--
		}
		p.advance()
		if open <= 0 {
			return
		}
	}
}

// skipRest skips the rest of a value. It reports whether that is a function.
func (p *script) skipRest() (function bool) {
	for !p.ended() {
		function = function || p.is("=>")
		if p.is("{") || p.is("[") || p.is("(") {
			p.skipNested()
		} else {
			p.advance()
		}
	}
	return function
}

// skipType skips a type to the end of a value.
func (p *script) skipType() {
	for angles := 0; !p.ended() || angles > 0 && p.is(","); {
		switch {
		case p.is("<"):
			angles++
		case p.is(">"):
			angles--
		case p.is("{") || p.is("[") || p.is("("):
			p.skipNested()
			continue
		}
		p.advance()
	}
}

// skipTo skips to a sign outside of brackets.
func (p *script) skipTo(sign string) {
	for !p.is(sign) && p.tok.kind != tokenEnd {
		if p.is("{") || p.is("[") || p.is("(") {
			p.skipNested()
		} else {
			p.advance()
		}
	}
}

// resolve replaces names by the types or constants that they stand for.
func (p *script) resolve(n *node) {
	if p.resolving[n] || p.resolved[n] || p.failed != nil {
		return
	}
	p.resolving[n] = true
	defer func() {
		delete(p.resolving, n)
		p.resolved[n] = true
	}()

	if n.kind == kindName {
		c := p.constants[n.text]
		if p.reassigned(n.text) {
			c = nil
		}
		switch {
		case typeNames[n.text] != "" && c == nil:
			n.kind, n.text = '"', typeNames[n.text]
			return
		case c == nil || p.resolving[c]:
			return
		}
		p.resolve(c)
		if c.kind != kindName {
			// A constant in a constant in a constant: bound what is walked through.
			if p.d.nodes += c.count(); p.d.nodes > maxNodes && p.failed == nil {
				p.failed = p.d.tooMany(n.at)
			}
			n.kind, n.text, n.list, n.at = c.kind, c.text, c.list, c.at
		}
	} else {
		for _, m := range n.list {
			p.resolve(m)
		}
	}
	if n.options != nil {
		p.resolve(n.options)
		if t := n.options.get("table"); t.isText() && n.isObject() && n.get("table") == nil {
			own := &node{doc: p.d, up: n, key: "table", at: t.at, kind: t.kind, text: t.text}
			n.list = append(slices.Clone(n.list), own)
		}
	}
}

// reassigned reports whether a constant has not always the value that it is declared with. A name that is
// declared by const may be that of another variable where it is assigned.
func (p *script) reassigned(name string) bool {
	return p.constants[name] != nil && (p.changed[name] || p.variables[name] && p.assigned[name])
}

// count returns the number of values in n.
func (n *node) count() int {
	sum := 1
	for _, m := range n.list {
		if sum += m.count(); sum > maxNodes {
			break
		}
	}
	return sum
}

// written returns an error for the first value of a schema that is computed. Aside is set in a property
// that changes no key.
func (p *script) written(n *node, aside bool) error {
	if aside && (n.kind == kindName || n.kind == kindComputed) {
		n.list = []*node{{doc: p.d, up: n, key: "function", at: n.at, kind: '"', text: n.text}}
		n.kind = '{'
		return nil
	}
	switch n.kind {
	case kindName:
		if p.reassigned(n.text) {
			return &Error{
				Pos: n.pos(), Msg: fmt.Sprintf("%s is assigned again, and the file is not run", clip(n.text)),
				Hint: writeOut,
			}
		}
		return &Error{
			Pos: n.pos(), Msg: fmt.Sprintf("%s is not a constant of this file, and the file is not run", clip(n.text)),
			Hint: writeOut,
		}
	case kindComputed:
		return &Error{
			Pos: n.pos(), Msg: fmt.Sprintf("%s is computed, and the file is not run", clip(n.text)), Hint: writeOut,
		}
	}
	for _, m := range n.list {
		if err := p.written(m, aside || n.isObject() && slices.Contains(asides, m.key)); err != nil {
			return err
		}
	}
	return nil
}

// text returns a part of the file.
func (d *document) text(from, to int) string {
	return strings.TrimSpace(string(d.data[from:min(max(from, to), len(d.data))]))
}
