package partiql

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
)

// root is what the service's messages call an attribute value. They call its elements root.x or root[1] (conformance
// partiqlGrammar).
const root = "root"

// isValue reports whether the next token begins a value.
func (p *parser) isValue() bool {
	switch p.tokens[p.pos].kind {
	case tokText, tokNumber, "?", "[", "{", "<<", "-", "+":
		return true
	}
	return p.atWord(0, "TRUE") || p.atWord(0, "FALSE") || p.atWord(0, "NULL")
}

// literal parses an attribute value.
func (p *parser) literal() attr.Value {
	tok := p.pos
	v := p.value(root)
	if item.Depth(v) > attr.MaxNesting {
		p.fault(tok, "%s", attr.ErrNesting.Error())
	}
	return v
}

// value parses a value. where is the path of this value in an attribute value, such as root.x, or "" for an item.
func (p *parser) value(where string) attr.Value {
	p.nest()
	defer p.leave()
	tok := p.pos
	switch {
	case p.accept("?"):
		p.marks++
		if len(p.params) == 0 {
			return attr.NewNull() // Parse refuses the statement
		}
		v := p.params[0]
		p.params = p.params[1:]
		return v
	case p.accept(tokText):
		return attr.NewString(unquote(p.text(tok)))
	case p.is(tokNumber), p.is("-"), p.is("+"):
		return p.number(where)
	case p.word("TRUE"):
		return attr.NewBool(true)
	case p.word("FALSE"):
		return attr.NewBool(false)
	case p.word("NULL"):
		return attr.NewNull()
	case p.accept("["):
		var elems []attr.Value
		for i := range p.elements("]", "RIGHT_BRACKET") {
			elems = append(elems, p.value(where+"["+strconv.Itoa(i)+"]"))
		}
		return attr.NewList(elems...)
	case p.accept("<<"):
		return p.set(tok)
	case p.accept("{"):
		return p.tuple(where)
	case p.atCall():
		p.faultAt(tok, "Unsupported data type: %s under key %s", p.text(tok), root) // conformance partiqlFunctions
		p.next()
		p.arguments()
		return attr.NewNull()
	}
	p.malformed(msgTerm)
	return attr.NewNull()
}

// number parses a number with an optional sign.
func (p *parser) number(where string) attr.Value {
	sign := ""
	if p.accept("-") {
		sign = "-"
	} else {
		p.accept("+")
	}
	tok := p.pos
	if !p.accept(tokNumber) {
		p.malformed(msgTerm)
		return attr.NewNull()
	}
	v, err := attr.NewNumber(sign + p.text(tok))
	if err != nil {
		p.fault(tok, "%s under %s", err.Error(), where)
		return attr.NewNull()
	}
	return v
}

// set parses the rest of a set.
func (p *parser) set(tok int) attr.Value {
	var elems []attr.Value
	for i := range p.elements(">>", "RIGHT_DOUBLE_ANGLE_BRACKET") {
		elems = append(elems, p.value(root+"["+strconv.Itoa(i)+"]"))
	}
	if len(elems) == 0 {
		p.fault(tok, "Empty bags are not supported") // conformance partiqlFunctions
		return attr.NewNull()
	}
	kind, ok := map[attr.Kind]attr.Kind{
		attr.String: attr.StringSet, attr.Number: attr.NumberSet, attr.Binary: attr.BinarySet,
	}[elems[0].Kind()]
	for _, e := range elems {
		ok = ok && e.Kind() == elems[0].Kind()
	}
	if !ok {
		p.fault(tok, "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags") // local
		return attr.NewNull()
	}
	v, err := attr.NewSet(kind, elems...)
	if e, ok := errors.AsType[*attr.Error](err); ok {
		p.fault(tok, "%s", cmp.Or(e.Older, e.Msg))
		return attr.NewNull()
	}
	return v
}

// tuple parses a map. The parser has consumed the opening brace.
func (p *parser) tuple(where string) attr.Value {
	var b attr.Builder
	seen := map[string]bool{}
	for range p.elements("}", "RIGHT_CURLY") {
		tok := p.pos
		if !p.accept(tokText) {
			p.malformed(msgTerm)
			break
		}
		name := unquote(p.text(tok))
		p.expect(":", "COLON")
		below := where + "." + name
		if where == "" {
			below = root
		}
		if seen[name] {
			p.fault(tok, "Duplicate keys in tuple. Key: %s under %s", name, below) // local
		}
		seen[name] = true
		if where == "" {
			b.Add(name, p.literal())
		} else {
			b.Add(name, p.value(below))
		}
	}
	return attr.NewMap(b.Item())
}
