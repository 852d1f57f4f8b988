package partiql

import (
	"errors"
	"iter"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// A Kind is the kind of a statement.
type Kind string

// The kinds of statements.
const (
	Select Kind = "SELECT"
	Insert Kind = "INSERT"
	Update Kind = "UPDATE"
	Delete Kind = "DELETE"
	// Exists is EXISTS(SELECT …). In a transaction it checks an item without changing it.
	Exists Kind = "EXISTS"
)

// MaxStatementBytes is the maximum length of a statement. Source: the service model, PartiQLStatement.
const MaxStatementBytes = 8192

// maxDepth is the maximum depth of nested conditions and values. It bounds the stack that parsing needs.
const maxDepth = 200

// Param is how errors name a condition or an update that comes from a statement. Package expr allows these
// expressions to be longer than others.
const Param expr.Param = "Statement"

// A Statement is a parsed statement. It has the values of its parameters in place of the question marks. It is
// immutable.
type Statement struct {
	Kind Kind
	// Table is the name after FROM, INTO or UPDATE. Index is the index name that follows it, or "".
	Table, Index string
	// Paths lists the paths that a SELECT returns, in the order of the statement. It is nil for *.
	Paths []*ast.PathOperand
	// Where is the condition after WHERE, or nil.
	Where *expr.Condition
	// Order are the attributes after ORDER BY.
	Order []Order
	// Item is the item of an INSERT.
	Item attr.Item
	// Update holds the changes of an UPDATE.
	Update *expr.Update
	// Returning says which attributes a write returns: "", "ALL OLD", "MODIFIED OLD", "ALL NEW" or "MODIFIED NEW".
	Returning string
	// Names and Values have the names and values for the placeholders in the texts of Paths and Where.
	Names  map[string]string
	Values attr.Item
}

// An Order is one attribute after ORDER BY.
type Order struct {
	Name string
	Desc bool
}

// A parser parses one statement. At the first syntax error it stops. It records the first error of meaning, and
// continues after it.
type parser struct {
	src    string
	tokens []token
	pos    int // the next token
	depth  int

	params []attr.Value // those not used yet
	marks  int          // question marks read

	keys   map[string]string // placeholder of each attribute name
	names  map[string]string // attribute name of each placeholder
	values attr.Builder

	syntax, meaning *Error
	calls           bool // a SELECT calls a function
}

// Writes reports whether a statement consumes write units. It returns true unless the statement begins with SELECT.
func Writes(statement string) bool {
	const read = "SELECT"
	first := strings.TrimSpace(statement)
	return len(first) < len(read) || !strings.EqualFold(first[:len(read)], read)
}

// Parse parses a statement. Params are the values of its question marks. The error is an [*Error].
func Parse(src string, params []attr.Value) (*Statement, error) {
	if len(src) > MaxStatementBytes {
		return nil, invalid("the statement has %d bytes, at most %d are allowed", len(src), MaxStatementBytes)
	}
	tokens, bad, ok := split(src)
	if !ok {
		return nil, &Error{Msg: notWellFormed, Pos: bad}
	}
	p := &parser{src: src, tokens: tokens, params: params, keys: map[string]string{}, names: map[string]string{}}
	s, where := p.statement()
	p.accept(";")
	if !p.is(tokEnd) {
		p.malformed(msgLeftover)
	}
	switch {
	case p.syntax != nil:
		return nil, p.syntax
	case p.marks != len(params):
		return nil, invalid("Number of parameters in request and statement don't match.") // local
	case p.meaning != nil:
		if p.calls {
			p.meaning.Table, p.meaning.Index = s.Table, s.Index
		}
		return nil, p.meaning
	}
	if len(p.names) > 0 {
		s.Names = p.names
	}
	if p.values.Len() > 0 {
		s.Values = p.values.Item()
	}
	if where == nil {
		return s, nil
	}
	env, err := expr.NewEnv(expr.Params{Names: s.Names, Values: s.Values})
	if err == nil {
		// Package expr checks the operands of each operator while it parses a text, so print the condition and let
		// that package parse it.
		s.Where, err = env.Condition(Param, ast.Format(where))
	}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return nil, invalid("%s", e.Message)
	}
	return s, err
}

func (p *parser) is(k kind) bool { return p.tokens[p.pos].kind == k }

// next consumes a token and returns its index.
func (p *parser) next() int {
	tok := p.pos
	if !p.is(tokEnd) {
		p.pos++
	}
	return tok
}

// accept consumes the next token and returns true if the token is of the given kind.
func (p *parser) accept(k kind) bool {
	if !p.is(k) {
		return false
	}
	p.next()
	return true
}

// expect consumes the next token, which must be of the given kind. Otherwise it records a syntax error.
func (p *parser) expect(k kind, name string) {
	if !p.accept(k) {
		p.malformed("Expected " + name)
	}
}

func (p *parser) text(tok int) string { return p.src[p.tokens[tok].start:p.tokens[tok].end] }

// atWord reports whether the token n places after the next token is the given keyword.
func (p *parser) atWord(n int, word string) bool {
	tok := p.pos + n
	return tok < len(p.tokens) && p.tokens[tok].kind == tokWord && strings.EqualFold(p.text(tok), word)
}

// atCall reports whether a function call is next.
func (p *parser) atCall() bool { return p.is(tokWord) && p.tokens[p.pos+1].kind == "(" }

// word consumes the next token and returns true if it is the given keyword.
func (p *parser) word(word string) bool {
	if !p.atWord(0, word) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectWord(word string) {
	if !p.word(word) {
		p.malformed("Expected " + word)
	}
}

// elements yields the number of each element of a list that ends with the token closing; the loop parses the element.
// It reads the commas and the end of the list, which name stands for in errors. If closing is "", the list has at least
// one element and ends where no comma follows.
func (p *parser) elements(closing kind, name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; p.syntax == nil && (i > 0 || !p.is(closing)) && yield(i) && p.accept(","); i++ {
		}
		if closing != "" {
			p.expect(closing, name)
		}
	}
}

// nest enters a nested condition or value. The caller must call leave at the end of that condition or value.
func (p *parser) nest() {
	if p.depth++; p.depth > maxDepth {
		p.malformed("Too many nesting levels")
	}
}

func (p *parser) leave() { p.depth-- }

// statement parses a statement. It returns the condition of the WHERE separately, as Parse must check it first.
func (p *parser) statement() (*Statement, ast.Node) {
	switch {
	case p.word("SELECT"):
		return p.selection()
	case p.word("INSERT"):
		return p.insert(), nil
	case p.word("UPDATE"):
		return p.update(false)
	case p.word("FROM"):
		return p.update(true)
	case p.word("DELETE"):
		return p.delete()
	case p.atWord(0, "EXISTS") && p.atCall():
		p.next()
		p.next()
		p.expectWord("SELECT")
		s, where := p.selection()
		s.Kind = Exists
		p.expect(")", "RIGHT_PAREN")
		return s, where
	}
	p.malformed(msgStatement)
	return new(Statement), nil
}

// selection parses what follows SELECT:
//
//	selection = ( "*" | path { "," path } ) FROM source [ where ]
//	            [ ORDER BY name [ ASC | DESC ] { "," name [ ASC | DESC ] } ]
func (p *parser) selection() (s *Statement, where ast.Node) {
	s = &Statement{Kind: Select}
	if p.accept("*") {
		if p.is(",") {
			p.fault(p.pos, "Other attributes should not be present in the projection when '*' is used.") // local
			for !p.is(tokEnd) && !p.atWord(0, "FROM") {
				p.next()
			}
		}
	} else {
		s.Paths = p.projection()
	}
	p.expectWord("FROM")
	p.source(s)
	where = p.where()
	if p.word("ORDER") {
		p.expectWord("BY")
		for range p.elements("", "") {
			o := Order{Name: p.name(msgTerm)}
			if o.Desc = p.word("DESC"); !o.Desc {
				p.word("ASC")
			}
			s.Order = append(s.Order, o)
		}
	}
	return s, where
}

// projection parses the paths of a SELECT. AS is not supported.
func (p *parser) projection() (paths []*ast.PathOperand) {
	seen := map[string]bool{}
	for range p.elements("", "") {
		tok := p.pos
		if p.atCall() {
			p.faultAt(tok, "Unexpected path component") // conformance partiqlFunctions
			p.calls = true
			for !p.is(tokEnd) && !p.is(",") && !p.atWord(0, "FROM") {
				p.next()
			}
			continue
		}
		path := p.path()
		if p.word("AS") || p.is(tokWord) && !p.atWord(0, "FROM") || p.is(tokQuoted) {
			p.fault(p.pos, msgAlias)
			p.next()
		}
		if name := resultName(path); seen[name] {
			p.fault(tok, "Duplicate identifiers in select clause: %s", name) // local
		} else {
			seen[name] = true
		}
		paths = append(paths, p.operand(path))
	}
	return paths
}

const (
	msgAlias  = "Aliasing is not supported" // conformance partiqlGrammar
	msgNotKey = "Where clause does not contain a mandatory equality on all key attributes"
	msgSource = "FROM clause may only contain a single table name in data manipulation statements"
)

// source parses the name of a table and, if one follows, the name of an index. Another name after that would be an
// alias, which the service rejects.
func (p *parser) source(s *Statement) {
	p.tableName(s)
	if p.word("AS") {
		p.fault(p.pos, msgAlias)
		p.name(msgTerm)
		return
	}
	for _, word := range []string{"WHERE", "ORDER", "SET", "REMOVE", "RETURNING"} {
		if p.atWord(0, word) {
			return
		}
	}
	if p.is(tokWord) || p.is(tokQuoted) {
		p.fault(p.pos, msgAlias)
		p.next()
	}
}

func (p *parser) tableName(s *Statement) {
	s.Table = p.name("Expected identifier")
	if p.accept(".") {
		s.Index = p.name(msgComponent)
	}
	if p.is(".") {
		p.fault(p.pos, "A path may contain at most 2 components in the FROM clause") // local
		for p.accept(".") {
			p.name(msgComponent)
		}
	}
}

// where parses a WHERE if it is next, or returns nil.
func (p *parser) where() ast.Node {
	if !p.word("WHERE") {
		return nil
	}
	tok := p.pos
	return p.boolean(p.or(), tok, "WHERE clause must contain an expression that resolves to a boolean") // local
}

// insert parses what follows INSERT.
func (p *parser) insert() *Statement {
	s := &Statement{Kind: Insert}
	p.expectWord("INTO")
	tok := p.pos
	p.tableName(s)
	if s.Index != "" {
		p.fault(tok, msgSource) // conformance indexQualifier
	}
	if tok = p.pos; p.word("VALUES") || p.is("<<") {
		p.fault(tok, `Unsupported operation: Inserting multiple items in a single statement is not supported, use `+
			`"INSERT INTO tableName VALUE item" instead`) // local
		p.pos = len(p.tokens) - 1
		return s
	}
	if !p.word("VALUE") {
		p.malformed(msgLeftover)
		return s
	}
	tok = p.pos
	if v := p.value(""); v.Kind() == attr.Map {
		s.Item = v.Map()
	} else {
		p.fault(tok, "Unsupported format in item expression. Please use struct format {...} to express item values "+
			"for insert statement.") // local
	}
	if tok = p.pos; p.returning() != "" {
		p.fault(tok, "RETURNING is not supported in INSERT") // local
	}
	return s
}

// delete parses what follows DELETE.
func (p *parser) delete() (*Statement, ast.Node) {
	s := &Statement{Kind: Delete}
	p.expectWord("FROM")
	tok := p.pos
	p.source(s)
	where := p.where()
	p.written(s, tok, where)
	if tok = p.pos; p.syntax == nil {
		if s.Returning = p.returning(); s.Returning != "" && s.Returning != "ALL OLD" {
			p.fault(tok,
				"Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
				s.Returning) // conformance batchExecuteStatement
		}
	}
	return s, where
}

// written checks rules for both UPDATE and DELETE: they must not name an index, and must have a WHERE.
func (p *parser) written(s *Statement, tok int, where ast.Node) {
	if s.Index != "" {
		p.fault(tok, "This operation is not supported on an index") // conformance indexQualifier
	}
	if where == nil {
		p.fault(tok, msgNotKey)
	}
}

// returning parses RETURNING, if it is next, and returns the value of [Statement.Returning].
func (p *parser) returning() string {
	if !p.word("RETURNING") {
		return ""
	}
	const want = "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause" // local
	var out string
	for _, words := range [][]string{{"ALL", "MODIFIED"}, {"OLD", "NEW"}} {
		switch {
		case p.word(words[0]):
			out += words[0] + " "
		case p.word(words[1]):
			out += words[1] + " "
		default:
			p.malformed(want)
			return ""
		}
	}
	if !p.accept("*") {
		p.malformed(want)
	}
	return strings.TrimSpace(out)
}

// name parses an identifier.
func (p *parser) name(missing string) string {
	switch {
	case p.is(tokQuoted):
		tok := p.next()
		name := unquote(p.text(tok))
		if name == "" {
			p.fault(tok, "Path component cannot be an empty string") // local
		}
		return name
	case p.is(tokWord):
		tok := p.next()
		if isKeyword(p.text(tok)) {
			p.pos = tok
			p.malformed(missing)
		}
		return p.text(tok)
	}
	p.malformed(missing)
	return ""
}

// path parses a document path.
func (p *parser) path() ast.Path {
	path := ast.Path{{Name: p.name(msgTerm)}}
	for p.syntax == nil {
		switch {
		case p.accept("."):
			if tok := p.pos; p.accept("*") {
				p.fault(tok, "Unpivot path component like a.*.b are not supported") // local
				continue
			}
			path = append(path, ast.Step{Name: p.name(msgComponent)})
		case p.accept("["):
			path = append(path, p.step())
			p.expect("]", "RIGHT_BRACKET")
		default:
			return path
		}
	}
	return path
}

// step parses the contents of the brackets in a path: an index, or a name in quotes.
func (p *parser) step() ast.Step {
	tok := p.pos
	switch {
	case p.accept(tokText):
		return ast.Step{Name: unquote(p.text(tok))}
	case p.accept("*"):
		p.fault(tok, "Wildcard path component like a[*].b are not supported") // local
		return ast.Step{}
	}
	minus := p.accept("-")
	tok = p.pos
	if !p.accept(tokNumber) {
		p.malformed(msgTerm)
		return ast.Step{}
	}
	text := p.text(tok)
	index, err := strconv.ParseInt(text, 10, 32)
	if err != nil || minus {
		if minus {
			text = "-" + text
		}
		p.faultAt(tok, "List index is not within the allowable range; index: [%s]", text) // local
	}
	return ast.Step{Index: int(index)}
}

// operand returns a path as an operand. In the operand's text, placeholders stand for the names.
func (p *parser) operand(path ast.Path) *ast.PathOperand {
	var text strings.Builder
	for i, step := range path {
		if step.Name == "" {
			text.WriteString("[" + strconv.Itoa(step.Index) + "]")
			continue
		}
		if i > 0 {
			text.WriteByte('.')
		}
		key, ok := p.keys[step.Name]
		if !ok {
			key = "#n" + strconv.Itoa(len(p.keys))
			p.keys[step.Name], p.names[key] = key, step.Name
		}
		text.WriteString(key)
	}
	return &ast.PathOperand{Path: path, Text: text.String()}
}

// bound returns a value as an operand whose name is a new placeholder for the value.
func (p *parser) bound(v attr.Value) *ast.ValueOperand {
	name := ":v" + strconv.Itoa(p.values.Len())
	p.values.Add(name, v)
	return &ast.ValueOperand{Name: name, Value: v}
}

// null returns an operand for a statement that Parse refuses.
func (p *parser) null() *ast.ValueOperand { return p.bound(attr.NewNull()) }

// isKeyword reports whether a word is a keyword, so that it cannot be a name without quotes. The service rejects more
// words: all keywords of SQL-92.
func isKeyword(word string) bool {
	switch strings.ToUpper(word) {
	case "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "ORDER", "GROUP", "HAVING", "BY",
		"AS", "ASC", "DESC",
		"INSERT", "INTO", "UPDATE", "DELETE", "SET", "REMOVE", "VALUE", "VALUES", "RETURNING", "NULL", "MISSING",
		"TRUE", "FALSE",
		"JOIN", "INNER", "OUTER", "LEFT", "RIGHT", "FULL", "CROSS", "ON", "UNION", "EXCEPT", "INTERSECT", "CASE",
		"WHEN", "THEN", "ELSE", "END", "CREATE", "DROP", "TABLE":
		return true
	}
	return false
}

// TableOf returns the name of the table in a statement, even if the statement has syntax errors. It returns "" if
// there is no name.
func TableOf(statement string) string {
	p := begin(statement)
	for p.pos = range p.tokens {
		if p.atWord(0, "FROM") || p.atWord(0, "INTO") || p.pos == 0 && p.atWord(0, "UPDATE") {
			p.next()
			return p.name("")
		}
	}
	return ""
}

// IsSelect reports whether a text begins like a SELECT statement, which may be invalid. It returns false for the name
// of a file, such as select.json.
func IsSelect(statement string) bool {
	p := begin(statement)
	if !p.word("SELECT") {
		return false
	}
	return p.tokens[p.pos].start > p.tokens[p.pos-1].end || p.is(tokQuoted) || p.is("*") || p.is(tokEnd)
}

// begin returns a parser for the beginning of a statement, up to the first text that is not a token.
func begin(statement string) *parser {
	tokens, bad, ok := split(statement)
	if !ok {
		tokens = append(tokens, token{tokEnd, bad, bad})
	}
	return &parser{src: statement, tokens: tokens}
}
