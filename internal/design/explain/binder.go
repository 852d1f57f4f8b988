package explain

import (
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/ast"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
)

// A binder writes expressions: names as they are where they can be, otherwise
// as #name, and values as :v, named after the attribute they are compared to.
type binder struct {
	names  map[string]string // by placeholder
	values map[string]attr.Value
	hint   string // the attribute that the next values are for
}

func newBinder() *binder {
	return &binder{names: map[string]string{}, values: map[string]attr.Value{}}
}

// name implements [terms].
func (b *binder) name(name string) string {
	b.hint = name
	if isWord(name) && (name[0] < '0' || name[0] > '9') && name[0] != '_' && !expr.IsReserved(name) {
		return name
	}
	for n := 1; ; n++ {
		p := "#" + numbered(word(name), n)
		if old, ok := b.names[p]; !ok || old == name {
			b.names[p] = name
			return p
		}
	}
}

// value implements [terms].
func (b *binder) value(v attr.Value) string {
	for n := 1; ; n++ {
		p := ":" + numbered(word(b.hint), n)
		if old, ok := b.values[p]; !ok || attr.Equal(old, v) {
			b.values[p] = v
			return p
		}
	}
}

func (b *binder) clauses(clauses []keycond.Clause) string {
	parts := make([]string, len(clauses))
	for i, c := range clauses {
		name, v := b.name(c.Attribute.Name), b.value(c.Values[0])
		switch c.Op {
		case ast.OpBetween:
			parts[i] = name + " BETWEEN " + v + " AND " + b.value(c.Values[1])
		case ast.OpBeginsWith:
			parts[i] = "begins_with(" + name + ", " + v + ")"
		default:
			parts[i] = name + " " + string(c.Op) + " " + v
		}
	}
	return strings.Join(parts, " AND ")
}

func (b *binder) node(n ast.Node) string { return string(appendNode(nil, n, b)) }

func (b *binder) projection(p *expr.Projection) string {
	parts := make([]string, len(p.Paths))
	for i, path := range p.Paths {
		parts[i] = string(appendPath(nil, path, b))
	}
	return strings.Join(parts, ", ")
}

// bind sets the names and values of a request to those that were written.
func (b *binder) bind(m members) {
	delete(m, "ExpressionAttributeNames")
	delete(m, "ExpressionAttributeValues")
	if len(b.names) > 0 {
		m.set("ExpressionAttributeNames", b.names)
	}
	if len(b.values) == 0 {
		return
	}
	var item attr.Builder
	for name, v := range b.values {
		item.Add(name, v)
	}
	m.set("ExpressionAttributeValues", item.Item())
}

// isWord reports whether s can stand in an expression as it is, if it does not
// begin with a digit and is not reserved.
func isWord(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isWordByte(c byte) bool {
	return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// word returns the bytes of name that may stand in a placeholder.
func word(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if isWordByte(name[i]) {
			b.WriteByte(name[i])
		}
	}
	if b.Len() == 0 {
		return "v"
	}
	const most = 40
	return b.String()[:min(b.Len(), most)]
}

func numbered(s string, n int) string {
	if n == 1 {
		return s
	}
	return s + strconv.Itoa(n)
}
