package sortkey

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A taken holds a value of the caller in its stored form. It does not share memory with the value, so the caller may
// change the value before the operation runs.
type taken struct {
	value attr.Value
	err   error        // why it cannot be stored
	of    reflect.Type // type of the caller's value
}

// String returns the value as messages show it.
func (t taken) String() string { return t.value.String() }

// placeholders are the names and values to which the expressions of one call refer. They are pooled: the next call
// reuses their memory, except strings and the item that boundValues has returned.
type placeholders struct {
	names map[string]string
	// values has a value for each placeholder.
	values attr.Builder
	count  int // number of placeholders in values
	places []place
	// raw holds the bytes of strings and numbers. text holds the bytes of an expression.
	raw, text []byte
	tokens    []lex.Token
	roles     []lex.Role
}

// release empties the placeholders so that the next call can reuse them.
func (p *placeholders) release() {
	p.values.Reset()
	clear(p.names)
	// expression empties the list for each expression, so entries beyond its length may be set too
	clear(p.places[:cap(p.places)])
	p.places, p.count = p.places[:0], 0
	p.raw, p.text, p.tokens, p.roles = p.raw[:0], p.text[:0], p.tokens[:0], p.roles[:0]
}

// A place maps a placeholder in the caller's expression, theirs, to the placeholder of the call for the same value,
// ours.
type place struct{ theirs, ours string }

// value adds a value and returns its placeholder.
func (p *placeholders) value(v attr.Value) string {
	place := placeholder(&valuePlaces, ":v", p.count)
	p.count++
	p.values.Add(place, v)
	return place
}

// name returns a placeholder for the name of an attribute.
func (p *placeholders) name(name string) string {
	for _, place := range namePlaces[:min(len(p.names), len(namePlaces))] {
		if p.names[place] == name {
			return place
		}
	}
	if p.names == nil {
		p.names = map[string]string{}
	}
	place := placeholder(&namePlaces, "#n", len(p.names))
	p.names[place] = name
	return place
}

// usedNames returns the names by placeholder, or nil if the call has no placeholders for names.
func (p *placeholders) usedNames() map[string]string {
	if len(p.names) == 0 {
		return nil
	}
	return p.names
}

// The first placeholders are constants, so most calls allocate no strings for placeholders.
var (
	namePlaces  = [...]string{"#n1", "#n2", "#n3", "#n4", "#n5", "#n6", "#n7", "#n8"}
	valuePlaces = [...]string{":v1", ":v2", ":v3", ":v4", ":v5", ":v6", ":v7", ":v8"}
)

// placeholder returns the prefix followed by the number n+1. For the first eight numbers it takes the string from
// made.
func placeholder(made *[8]string, prefix string, n int) string {
	if n < len(made) {
		return made[n]
	}
	return prefix + strconv.Itoa(n+1)
}

// boundValues returns the values by placeholder, or nil if the call has no values.
func (p *placeholders) boundValues() attr.Item {
	if p.count == 0 {
		return nil
	}
	return p.values.Item()
}

// expression converts source, an expression that the caller wrote. In the result, the call's placeholders stand for
// all values, and for the names that need a placeholder. In source, names stand directly. Values stand directly or as
// placeholders, which take values in the order in which they first appear; see [lex.Roles].
func (p *placeholders) expression(source string, values []any, form lex.Form) (*string, error) {
	if !utf8.ValidString(source) {
		return nil, misuse("%q: the expression is not UTF-8", source)
	}
	p.places, p.text = p.places[:0], p.text[:0]
	p.tokens = lex.LexLiterals(p.tokens[:0], source)
	p.roles = lex.Roles(p.roles[:0], source, p.tokens, form)
	end := int32(0)
	for i, tok := range p.tokens {
		word := tok.Text(source)
		p.text = append(p.text, source[end:tok.Start]...)
		end = tok.End

		switch role := p.roles[i]; role {
		case lex.RoleName, lex.RoleQuotedName:
			if role == lex.RoleQuotedName {
				if word = word[1 : len(word)-1]; word == "" {
					return nil, misuse("%s: the name between the backquotes is empty", source)
				}
			}
			if tok.Kind != lex.TokIdent || word[0] == '_' || expr.IsReserved(word) {
				word = p.name(word)
			}
		case lex.RolePlaceholder:
			if word[0] == '#' {
				return nil, misuse("%s: write the name of an attribute itself, in backquotes "+
					"if it has other characters than letters, digits and _: there are no placeholders for names",
					source)
			}
			at := slices.IndexFunc(p.places, func(pl place) bool { return pl.theirs == word })
			if at < 0 {
				if len(values) == 0 {
					return nil, misuse("%s: no value for %s", source, word)
				}
				v, err := p.attribute(values[0])
				if err != nil {
					return nil, misuse("%s: %s: %w", source, word, err)
				}
				at, values = len(p.places), values[1:]
				p.places = append(p.places, place{word, p.value(v)})
			}
			word = p.places[at].ours
		case lex.RoleText, lex.RoleNumber, lex.RoleWord, lex.RoleSignedNumber:
			sign := ""
			if role == lex.RoleSignedNumber {
				role, sign, word = lex.RoleNumber, word[:1]+" ", word[1:]
			}
			v, err := lex.Literal(role, word)
			if err != nil {
				return nil, misuse("%s: %w", source, err)
			}
			p.text = append(p.text, sign...)
			word = p.value(v)
		case lex.RoleBad:
			if word[0] == '`' {
				return nil, misuse("%s: a backquote is not closed", source)
			}
			return nil, misuse("%s: unexpected %q: text stands in quotes, and names with other characters than "+
				"letters, digits and _ in backquotes", source, word)
		case lex.RolePlain:
			word = lex.Operator(tok.Kind, word)
		}
		p.text = append(p.text, word...)
	}

	if n := len(values); n > 0 {
		return nil, misuse("%s: %s %s no placeholder", source, text.Count(n, "value"), text.Agree(n, "has", "have"))
	}
	return new(string(p.text)), nil
}

// attribute returns the stored form of a value. The bytes of strings and ints are in p.raw, which the next call
// overwrites.
func (p *placeholders) attribute(v any) (attr.Value, error) {
	from := len(p.raw)
	switch v := v.(type) {
	case taken:
		return v.value, v.err
	case string:
		if !utf8.ValidString(v) {
			break
		}
		p.raw = append(p.raw, v...)
		return attr.MakeValue(attr.String, p.raw[from:len(p.raw):len(p.raw)]), nil
	case int:
		var err error
		p.raw, err = attr.AppendNumber(p.raw, strconv.Itoa(v))
		return attr.MakeValue(attr.Number, p.raw[from:len(p.raw):len(p.raw)]), err
	case Key, QueryOption, keys.Range, *keys.Template:
		return attr.Value{}, fmt.Errorf("got %T, want a value that can be stored", v)
	}
	return attr.Marshal(v)
}
