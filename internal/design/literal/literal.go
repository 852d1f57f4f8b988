// Package literal converts between two forms of an expression: the form in requests, with placeholders, and the form
// that people write, with names and values in place: status = "NEW" AND total > 10.
//
// Text values are quoted. In single quotes only the quote itself is special, and is written twice. In double quotes
// the escapes of Go apply. Attribute names with special characters are written in backquotes.
package literal

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// Placeholders convert expressions with names and values in place to the form with placeholders that requests need.
// They collect the names and values that the placeholders represent. The zero value is ready to use. Placeholders are
// not safe for concurrent use.
//
// Reserved words get a placeholder like other names, so a user need not know them.
type Placeholders struct {
	// Readable makes [Placeholders.Name] keep a name as it is if a request allows that.
	Readable bool
	// Resolve returns the attribute for the first name of a path; the names after it are never resolved. Nil means
	// that all names are attribute names.
	Resolve func(name string) (string, error)
	// Composite parses the list, map or set at the beginning of src and returns its length in bytes. Src begins with
	// a brace, or with a bracket that does not start a list index. Nil means that such values are not supported.
	Composite func(src string) (v attr.Value, length int, err error)
	// Parameter returns the value of a parameter, which an expression writes as :name. Nil means that parameters are
	// not supported.
	Parameter func(name string) (attr.Value, error)

	names  []string
	known  map[string]string // placeholder by name
	values []placedValue
	taken  map[string]bool
}

// A placedValue is a value, its placeholder, and the word that the placeholder was made from.
type placedValue struct {
	value       attr.Value
	place, word string
}

// Name returns the placeholder of a name, or the name itself if p is Readable and a request allows the name.
func (p *Placeholders) Name(name string) string {
	if have, ok := p.known[name]; ok {
		return have
	}
	word := isWord(name)
	switch {
	case p.Readable && word && name[0] != '_' && !expr.IsReserved(name):
		return name
	case p.Readable && word:
		return p.addName(name, "#"+name)
	}
	return p.addName(name, fmt.Sprintf("#n%d", len(p.names)+1))
}

// isWord reports whether a name needs no backquotes in an expression.
func isWord(s string) bool { return lex.IsWord(s) && (s[0] < '0' || s[0] > '9') }

func (p *Placeholders) addName(name, place string) string {
	if p.known == nil {
		p.known = map[string]string{}
	}
	place = p.take(place)
	p.known[name] = place
	p.names = append(p.names, name)
	return place
}

// take reserves and returns the given placeholder, with a number added if it is taken.
func (p *Placeholders) take(place string) string {
	if p.taken == nil {
		p.taken = map[string]bool{}
	}
	free := place
	for n := 2; p.taken[free]; n++ {
		free = fmt.Sprintf("%s%d", place, n)
	}
	p.taken[free] = true
	return free
}

// Value returns the placeholder of a value.
func (p *Placeholders) Value(v attr.Value) string { return p.ValueLike(v, "") }

// ValueLike returns the placeholder of a value: :word, or a numbered one if word is not a name. Calls with the same
// value and word return the same placeholder.
func (p *Placeholders) ValueLike(v attr.Value, word string) string {
	for _, have := range p.values {
		if have.word == word && attr.Equal(have.value, v) {
			return have.place
		}
	}
	place := ":" + word
	if !isWord(word) {
		place = fmt.Sprintf(":v%d", len(p.values)+1)
	}
	place = p.take(place)
	p.values = append(p.values, placedValue{v, place, word})
	return place
}

// KeyCondition returns a key condition that joins all clauses with AND. It names the placeholders of values after
// their attributes.
func (p *Placeholders) KeyCondition(clauses []keycond.Clause) string {
	parts := make([]string, len(clauses))
	for i, c := range clauses {
		a := c.Attribute
		name := p.Name(a)
		switch c.Op {
		case ast.OpBetween:
			parts[i] = name + " BETWEEN " + p.ValueLike(c.Values[0], a+"_from") + " AND " + p.ValueLike(
				c.Values[1], a+"_to",
			)
		case ast.OpBeginsWith:
			parts[i] = "begins_with(" + name + ", " + p.ValueLike(c.Values[0], a) + ")"
		default:
			parts[i] = name + " " + string(c.Op) + " " + p.ValueLike(c.Values[0], a)
		}
	}
	return strings.Join(parts, " AND ")
}

// Condition returns the condition n as text. It names the placeholder of each value after the attribute that precedes
// the value.
func (p *Placeholders) Condition(n ast.Node) string {
	before := ""
	style := ast.Style{
		Name: func(name string) string {
			before = name
			return p.Name(name)
		},
		Value: func(v attr.Value) string { return p.ValueLike(v, before) },
	}
	return style.Condition(n)
}

// Projection returns a projection expression for the paths.
func (p *Placeholders) Projection(paths []ast.Path) string {
	style := ast.Style{Name: p.Name}
	parts := make([]string, len(paths))
	for i, path := range paths {
		parts[i] = style.Path(path)
	}
	return strings.Join(parts, ", ")
}

// Names returns the attribute name of each placeholder, or nil if there are none: the ExpressionAttributeNames.
func (p *Placeholders) Names() map[string]string {
	if len(p.names) == 0 {
		return nil
	}
	all := make(map[string]string, len(p.names))
	for _, name := range p.names {
		all[p.known[name]] = name
	}
	return all
}

// Values returns the value of each placeholder, or nil if there are none: the ExpressionAttributeValues.
func (p *Placeholders) Values() attr.Item {
	if len(p.values) == 0 {
		return nil
	}
	var b attr.Builder
	for _, v := range p.values {
		b.Add(v.place, v.value)
	}
	return b.Item()
}

// Expression returns the condition src with its names and values replaced by placeholders. The error is an
// [*advice.Error].
func (p *Placeholders) Expression(src string) (string, error) { return p.place(src, lex.ConditionForm) }

// Paths is like [Placeholders.Expression] for a projection.
func (p *Placeholders) Paths(src string) (string, error) { return p.place(src, lex.ProjectionForm) }

// Update is like [Placeholders.Expression] for an update expression.
func (p *Placeholders) Update(src string) (string, error) { return p.place(src, lex.UpdateForm) }

func (p *Placeholders) place(src string, form lex.Form) (string, error) {
	tokens, err := p.lex(src)
	if err != nil {
		return "", err
	}
	roles := lex.Roles(nil, src, tokens, form)
	return rewrite(src, tokens, func(i int) (string, error) { return p.token(src, tokens, roles, i) })
}

// lex returns the tokens of src. It merges the tokens of a list, map or set into one token of kind TokText.
func (p *Placeholders) lex(src string) (out []lex.Token, err error) {
	tokens := lex.LexLiterals(nil, src)
	if p.Composite == nil {
		return tokens, nil
	}
	for _, tok := range tokens {
		n := len(out)
		switch {
		case n > 0 && tok.Start < out[n-1].End: // inside a composite value
			continue
		case strings.HasPrefix(src[tok.Start:], "{"),
			tok.Kind == lex.TokLeftBracket && (n == 0 || !lex.EndsOperand(out[n-1].Kind)):
			_, length, err := p.Composite(src[tok.Start:])
			if err != nil {
				return nil, err
			}
			tok.Kind, tok.End = lex.TokText, tok.Start+int32(length)
		}
		out = append(out, tok)
	}
	return out, nil
}

// rewrite returns src with each token i replaced by word(i), or the first error of word.
func rewrite(src string, tokens []lex.Token, word func(i int) (string, error)) (string, error) {
	var first error
	out := lex.Rewrite(src, tokens, func(i int) string {
		if first != nil {
			return ""
		}
		var text string
		text, first = word(i)
		return text
	})
	if first != nil {
		return "", first
	}
	return out, nil
}

// token returns the text that replaces token i.
func (p *Placeholders) token(src string, tokens []lex.Token, roles []lex.Role, i int) (string, error) {
	tok := tokens[i]
	word := tok.Text(src)
	inPath := i > 0 && tokens[i-1].Kind == lex.TokDot
	switch roles[i] {
	case lex.RoleName:
		return p.path(word, inPath)
	case lex.RoleQuotedName:
		if word == "``" {
			return "", advice.New("write the name between the backquotes", "`` is an empty attribute name")
		}
		return p.path(word[1:len(word)-1], inPath)
	case lex.RolePlaceholder:
		if name, ok := strings.CutPrefix(word, ":"); ok && p.Parameter != nil {
			v, err := p.Parameter(name)
			return p.ValueLike(v, name), err
		}
		return "", advice.New(
			"write names and values as they are: price > 10 AND tag = \"x\"; "+
				"names with odd characters go in backquotes",
			"placeholders such as %s are not needed here", word,
		)
	case lex.RoleComposite:
		v, _, err := p.Composite(word)
		return p.Value(v), err
	case lex.RoleText, lex.RoleNumber, lex.RoleWord:
		return p.literal(roles[i], word)
	case lex.RoleSignedNumber:
		place, err := p.literal(lex.RoleNumber, word[1:])
		return word[:1] + " " + place, err
	case lex.RoleBad:
		return "", bad(src, tok)
	}
	return lex.Operator(tok.Kind, word), nil
}

// literal returns the placeholder for a value written in the expression.
func (p *Placeholders) literal(role lex.Role, word string) (string, error) {
	v, err := lex.Literal(role, word)
	switch {
	case err == nil:
		return p.Value(v), nil
	case role == lex.RoleText:
		return "", badQuote(word)
	}
	return "", advice.New("", "%s: %w", word, err)
}

// bad returns the error for text that is not a token.
func bad(src string, tok lex.Token) error {
	switch word := tok.Text(src); word[0] {
	case '\'', '"':
		return badQuote(word)
	case '`':
		return advice.New("write the name between two backquotes", "%s has no closing backquote", word)
	default:
		return advice.New("put text in quotes and odd attribute names in backquotes: `my-name` = \"x\"",
			"unexpected %s\n%s", text.Quote(word), terminal.Caret(src, int(tok.Start)))
	}
}

// path returns the placeholder for a name in a path. If inPath is set, the name is not the first of its path. path
// does not resolve such a name, because only the first can be an alias.
func (p *Placeholders) path(name string, inPath bool) (string, error) {
	if p.Resolve != nil && !inPath {
		attribute, err := p.Resolve(name)
		if err != nil {
			return "", err
		}
		name = attribute
	}
	return p.Name(name), nil
}

// Unquote returns the text inside the quotes. The error is an [*advice.Error].
func Unquote(quoted string) (string, error) {
	value, rest, err := CutQuoted(quoted)
	if err == nil && rest != "" {
		return "", advice.New("quote the whole value", "there is more after the closing quote: %s", rest)
	}
	return value, err
}

// CutQuoted splits s after the quoted text at its beginning and returns that text, unquoted, and the rest. The error
// is an [*advice.Error].
func CutQuoted(s string) (value, rest string, err error) {
	tokens := lex.LexLiterals(nil, s)
	if tokens[0].Kind != lex.TokText || tokens[0].Start != 0 {
		return "", "", badQuote(s)
	}
	word, rest := s[:tokens[0].End], s[tokens[0].End:]
	value, err = lex.Unquote(word)
	if err != nil {
		return "", "", badQuote(word)
	}
	return value, rest, nil
}

func badQuote(s string) error {
	return advice.New(
		`close the quote; inside '…' write '' for a quote, inside "…" write \"`, "%s is not a whole quoted text", s,
	)
}

// Write returns an expression for people to read: it replaces each placeholder by its name or value. A placeholder
// without a definition stays.
func Write(expression string, names map[string]string, values attr.Item) string {
	tokens := lex.Lex(nil, expression)
	return lex.Rewrite(expression, tokens, func(i int) string {
		word := tokens[i].Text(expression)
		switch tokens[i].Kind {
		case lex.TokName:
			if name, ok := names[word]; ok {
				word = text.Name(name)
			}
		case lex.TokValue:
			if v := values.Get(word); !v.IsZero() {
				word = text.Literal(v)
			}
		}
		return word
	})
}
