package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/text"
)

// A selection is a PartiQL SELECT in the form of a Scan, with WHERE as the
// filter and the selected attributes as the projection.
type selection struct {
	m members
	// ordered is the attribute of ORDER BY, and reverse is true for DESC.
	ordered string
	reverse bool
}

// selectWord matches SELECT at the start of a statement, after comments.
var selectWord = regexp.MustCompile(`^(?i)(?:\s+|--[^\n]*\n)*select(?:\s|["*]|--|$)`)

// IsSelect reports whether a text begins like a SELECT statement, valid or not.
func IsSelect(s string) bool {
	return selectWord.MatchString(s)
}

// A partiqlToken is a word, an operator or a value of a statement.
type partiqlToken struct {
	text string // a word, an operator, or the text inside quotes
	kind byte   // 'w'ord, '"' for a quoted identifier, 's'tring, 'n'umber, or the operator
}

var partiqlWords = regexp.MustCompile(`^(?s:\s+|--[^\n]*|[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*"|'(?:[^']|'')*'|-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|<>|<=|>=|!=|<<|>>|\|\||[-+*?=<>.,;:/{}()\[\]])`)

func partiqlTokens(s string) (all []partiqlToken, err error) {
	for rest := s; rest != ""; {
		w := partiqlWords.FindString(rest)
		if w == "" {
			return nil, fmt.Errorf("syntax error in the statement near %q", text.Clip(rest, 30))
		}
		rest = rest[len(w):]
		switch c := w[0]; {
		case strings.TrimSpace(w) == "" || strings.HasPrefix(w, "--"):
		case c == '\'':
			all = append(all, partiqlToken{strings.ReplaceAll(w[1:len(w)-1], "''", "'"), 's'})
		case c == '"':
			all = append(all, partiqlToken{strings.ReplaceAll(w[1:len(w)-1], `""`, `"`), '"'})
		case len(w) > 1 && (c == '-' || c == '.') || c >= '0' && c <= '9':
			all = append(all, partiqlToken{w, 'n'})
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			all = append(all, partiqlToken{w, 'w'})
		default:
			all = append(all, partiqlToken{w, c})
		}
	}
	return all, nil
}

// A selectParser parses a SELECT into a selection.
type selectParser struct {
	tokens []partiqlToken
	at     int
	params []json.RawMessage
	names  map[string]string
	values map[string]json.RawMessage
}

// parseSelect parses the request of an ExecuteStatement.
func parseSelect(m members) (*selection, error) {
	tokens, err := partiqlTokens(m.text("Statement"))
	if err != nil {
		return nil, err
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == ';' {
		tokens = tokens[:len(tokens)-1]
	}
	r := &selectParser{tokens: tokens, names: map[string]string{}, values: map[string]json.RawMessage{}}
	if m.has("Parameters") && json.Unmarshal(m["Parameters"], &r.params) != nil {
		return nil, errors.New("the value of Parameters is not a list")
	}
	if !r.word("SELECT") {
		return nil, fmt.Errorf("can explain only SELECT statements, and this begins with %q", r.next().text)
	}
	s := &selection{m: members{}}
	var project []string
	if r.peek().kind == '*' {
		r.at++
	} else {
		for {
			if t := r.peek(); t.kind == 'w' && strings.EqualFold(t.text, "FROM") {
				return nil, r.unexpected("* or attributes")
			}
			p, err := r.path()
			if err != nil {
				return nil, err
			}
			project = append(project, p)
			if r.peek().kind != ',' {
				break
			}
			r.at++
		}
	}
	if !r.word("FROM") {
		return nil, r.unexpected("FROM")
	}
	table, ok := r.name()
	if !ok {
		return nil, r.unexpected("a table")
	}
	s.m.set("TableName", table)
	if r.peek().kind == '.' {
		r.at++
		index, ok := r.name()
		if !ok {
			return nil, r.unexpected("an index")
		}
		s.m.set("IndexName", index)
	}
	if r.word("WHERE") {
		where, err := r.condition()
		if err != nil {
			return nil, err
		}
		s.m.set("FilterExpression", where)
	}
	if r.word("ORDER") {
		if !r.word("BY") {
			return nil, r.unexpected("BY")
		}
		if s.ordered, ok = r.name(); !ok {
			return nil, r.unexpected("a key attribute")
		}
		if s.reverse = r.word("DESC"); !s.reverse {
			r.word("ASC")
		}
	}
	if r.at < len(r.tokens) {
		if r.word("LIMIT") {
			return nil, fmt.Errorf("PartiQL has no LIMIT clause: use the Limit of the request")
		}
		return nil, r.unexpected("the end")
	}
	if len(r.params) > 0 {
		return nil, fmt.Errorf("the statement has fewer ? than Parameters has values: remove the last %d, or write ? where they belong", len(r.params))
	}
	if project != nil {
		s.m.set("ProjectionExpression", strings.Join(project, ", "))
	}
	if len(r.names) > 0 {
		s.m.set("ExpressionAttributeNames", r.names)
	}
	if len(r.values) > 0 {
		s.m.set("ExpressionAttributeValues", r.values)
	}
	for _, name := range []string{"Limit", "ConsistentRead"} {
		if m.has(name) {
			s.m[name] = m[name]
		}
	}
	return s, nil
}

func (r *selectParser) peek() partiqlToken {
	if r.at < len(r.tokens) {
		return r.tokens[r.at]
	}
	return partiqlToken{}
}

func (r *selectParser) next() partiqlToken {
	t := r.peek()
	r.at++
	return t
}

// word consumes a keyword if it is next.
func (r *selectParser) word(w string) bool {
	if t := r.peek(); t.kind == 'w' && strings.EqualFold(t.text, w) {
		r.at++
		return true
	}
	return false
}

func (r *selectParser) unexpected(want string) error {
	if r.at >= len(r.tokens) {
		return fmt.Errorf("the statement ends, expected %s", want)
	}
	return fmt.Errorf("the statement has %q, expected %s", text.Clip(r.tokens[r.at].text, 30), want)
}

// name consumes an identifier.
func (r *selectParser) name() (string, bool) {
	if t := r.peek(); t.kind == 'w' || t.kind == '"' {
		r.at++
		return t.text, true
	}
	return "", false
}

// path consumes an attribute path and returns it as an expression has it.
func (r *selectParser) path() (string, error) {
	name, ok := r.name()
	if !ok {
		return "", r.unexpected("an attribute")
	}
	var out strings.Builder
	out.WriteString(r.bindName(name))
	for {
		switch t := r.peek(); {
		case t.kind == '.':
			r.at++
			if name, ok = r.name(); !ok {
				return "", r.unexpected("an attribute")
			}
			out.WriteString("." + r.bindName(name))
		case t.kind == 'n' && strings.HasPrefix(t.text, "."):
			return "", r.unexpected("an attribute")
		case t.kind == '[':
			r.at++
			n := r.next()
			if n.kind != 'n' || r.next().kind != ']' {
				return "", fmt.Errorf("the index in %s[…] is not a number", name)
			}
			out.WriteString("[" + n.text + "]")
		default:
			return out.String(), nil
		}
	}
}

func (r *selectParser) bindName(name string) string {
	for k, v := range r.names {
		if v == name {
			return k
		}
	}
	k := "#n" + strconv.Itoa(len(r.names))
	r.names[k] = name
	return k
}

func (r *selectParser) bind(v any) (string, error) {
	raw, err := text.JSON(v)
	if err != nil {
		return "", err
	}
	k := ":v" + strconv.Itoa(len(r.values))
	r.values[k] = raw
	return k, nil
}

// partiqlFunctions are the functions that expressions have under the same name.
var partiqlFunctions = map[string]bool{"begins_with": true, "contains": true, "attribute_type": true, "size": true}

// condition consumes the condition after WHERE and returns it as an expression.
// It converts only words and values; the parser of expressions checks the
// grammar.
func (r *selectParser) condition() (string, error) {
	var out []string
	lists := 0 // open lists of IN
	last := "" // the previous operand, for IS MISSING
	for r.at < len(r.tokens) {
		t := r.peek()
		upper := strings.ToUpper(t.text)
		if t.kind == 'w' && (upper == "ORDER" || upper == "LIMIT") && lists == 0 {
			break
		}
		var value any
		switch {
		case t.kind == 's':
			value = map[string]string{"S": t.text}
		case t.kind == 'n':
			value = map[string]string{"N": t.text}
		case t.kind == '?':
			if len(r.params) == 0 {
				return "", errors.New("the statement has more ? than Parameters has values")
			}
			value, r.params = r.params[0], r.params[1:]
		case t.kind == 'w' && (upper == "TRUE" || upper == "FALSE"):
			value = map[string]bool{"BOOL": upper == "TRUE"}
		case t.kind == 'w' && upper == "NULL":
			value = map[string]bool{"NULL": true}
		}
		switch {
		case value != nil:
			r.at++
			v, err := r.bind(value)
			if err != nil {
				return "", err
			}
			out = append(out, v)
		case t.kind == 'w' && (upper == "AND" || upper == "OR" || upper == "NOT" || upper == "BETWEEN"):
			r.at++
			out = append(out, upper)
		case t.kind == 'w' && upper == "IN":
			r.at++
			out = append(out, upper)
			if open := r.next(); open.kind != '[' && open.kind != '(' {
				r.at--
				return "", r.unexpected("[")
			}
			out = append(out, "(")
			lists++
		case t.kind == 'w' && upper == "IS":
			r.at++
			not := r.word("NOT")
			if !r.word("MISSING") || last == "" {
				return "", fmt.Errorf("only IS MISSING and IS NOT MISSING after an attribute are supported")
			}
			f := "attribute_not_exists("
			if not {
				f = "attribute_exists("
			}
			out[len(out)-1] = f + last + ")"
		case t.kind == 'w' && partiqlFunctions[strings.ToLower(t.text)] && r.at+1 < len(r.tokens) && r.tokens[r.at+1].kind == '(':
			r.at++
			out = append(out, strings.ToLower(t.text))
		case t.kind == 'w' || t.kind == '"':
			p, err := r.path()
			if err != nil {
				return "", err
			}
			out, last = append(out, p), p
			continue
		case t.kind == ']' && lists > 0:
			r.at++
			lists--
			out = append(out, ")")
		case t.text == "!=":
			r.at++
			out = append(out, "<>")
		case strings.Contains("= <> < <= > >= ( ) ,", t.text):
			if r.at++; t.kind == ')' && lists > 0 {
				lists--
			}
			out = append(out, t.text)
		default:
			return "", fmt.Errorf("%q in a statement is not supported", t.text)
		}
		last = ""
	}
	return strings.Join(out, " "), nil
}
