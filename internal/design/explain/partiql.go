package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"regexp"

	"github.com/sortkey/sortkey/internal/text"
)

// A selection is a SELECT of PartiQL in the words of a Scan: its table and
// index, WHERE as a filter, and what is selected as a projection.
type selection struct {
	m members
	// ordered is set by ORDER BY, with the attribute; reverse is DESC.
	ordered string
	reverse bool
}

// selectWord is the word of the statement, after comments.
var selectWord = regexp.MustCompile(`^(?i)(?:\s+|--[^\n]*\n)*select(?:\s|["*]|--|$)`)

// IsSelect reports whether a text is a SELECT statement, right or wrong.
func IsSelect(s string) bool {
	return selectWord.MatchString(s)
}

// A piqToken is a word, a sign or a value of a statement.
type piqToken struct {
	text string // words as they are, signs, or what is in the quotes
	kind byte   // 'w'ord, "identifier in quotes, 's'tring, 'n'umber, or the sign
}

var piqWords = regexp.MustCompile(`^(?s:\s+|--[^\n]*|[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*"|'(?:[^']|'')*'|-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|<>|<=|>=|!=|<<|>>|\|\||[-+*?=<>.,;:/{}()\[\]])`)

func piqTokens(s string) (all []piqToken, err error) {
	for rest := s; rest != ""; {
		w := piqWords.FindString(rest)
		if w == "" {
			return nil, fmt.Errorf("the statement cannot be read from %q on", text.Clip(rest, 30))
		}
		rest = rest[len(w):]
		switch c := w[0]; {
		case strings.TrimSpace(w) == "" || strings.HasPrefix(w, "--"):
		case c == '\'':
			all = append(all, piqToken{strings.ReplaceAll(w[1:len(w)-1], "''", "'"), 's'})
		case c == '"':
			all = append(all, piqToken{strings.ReplaceAll(w[1:len(w)-1], `""`, `"`), '"'})
		case len(w) > 1 && (c == '-' || c == '.') || c >= '0' && c <= '9':
			all = append(all, piqToken{w, 'n'})
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			all = append(all, piqToken{w, 'w'})
		default:
			all = append(all, piqToken{w, c})
		}
	}
	return all, nil
}

// A piqReader turns a SELECT into a selection.
type piqReader struct {
	tokens []piqToken
	at     int
	params []json.RawMessage
	names  map[string]string
	values map[string]json.RawMessage
}

// parseSelect reads the request of an ExecuteStatement.
func parseSelect(m members) (*selection, error) {
	tokens, err := piqTokens(m.text("Statement"))
	if err != nil {
		return nil, err
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == ';' {
		tokens = tokens[:len(tokens)-1]
	}
	r := &piqReader{tokens: tokens, names: map[string]string{}, values: map[string]json.RawMessage{}}
	if m.has("Parameters") && json.Unmarshal(m["Parameters"], &r.params) != nil {
		return nil, errors.New("the value of Parameters is no list of values")
	}
	if !r.word("SELECT") {
		return nil, fmt.Errorf("of PartiQL only SELECT is explained: it begins with %q", r.next().text)
	}
	s := &selection{m: members{}}
	var project []string
	if r.peek().kind == '*' {
		r.at++
	} else {
		for {
			if t := r.peek(); t.kind == 'w' && strings.EqualFold(t.text, "FROM") {
				return nil, r.fault("* or attributes")
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
		return nil, r.fault("FROM")
	}
	table, ok := r.name()
	if !ok {
		return nil, r.fault("a table")
	}
	s.m.set("TableName", table)
	if r.peek().kind == '.' {
		r.at++
		index, ok := r.name()
		if !ok {
			return nil, r.fault("an index")
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
			return nil, r.fault("BY")
		}
		if s.ordered, ok = r.name(); !ok {
			return nil, r.fault("a key attribute")
		}
		if s.reverse = r.word("DESC"); !s.reverse {
			r.word("ASC")
		}
	}
	if r.at < len(r.tokens) {
		if r.word("LIMIT") {
			return nil, fmt.Errorf("PartiQL has no LIMIT clause here: give the Limit of the request (--limit)")
		}
		return nil, r.fault("the end")
	}
	if len(r.params) > 0 {
		return nil, fmt.Errorf("the statement has fewer ? than Parameters has values: leave out the last %d, or write ? where they belong", len(r.params))
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

func (r *piqReader) peek() piqToken {
	if r.at < len(r.tokens) {
		return r.tokens[r.at]
	}
	return piqToken{}
}

func (r *piqReader) next() piqToken {
	t := r.peek()
	r.at++
	return t
}

// word takes a word of the language if it is the next.
func (r *piqReader) word(w string) bool {
	if t := r.peek(); t.kind == 'w' && strings.EqualFold(t.text, w) {
		r.at++
		return true
	}
	return false
}

func (r *piqReader) fault(want string) error {
	if r.at >= len(r.tokens) {
		return fmt.Errorf("the statement ends where %s should stand", want)
	}
	return fmt.Errorf("the statement has %q where %s should stand", text.Clip(r.tokens[r.at].text, 30), want)
}

// name takes an identifier.
func (r *piqReader) name() (string, bool) {
	if t := r.peek(); t.kind == 'w' || t.kind == '"' {
		r.at++
		return t.text, true
	}
	return "", false
}

// path takes an attribute with what is inside of it, as an expression has it.
func (r *piqReader) path() (string, error) {
	name, ok := r.name()
	if !ok {
		return "", r.fault("an attribute")
	}
	var out strings.Builder
	out.WriteString(r.bindName(name))
	for {
		switch t := r.peek(); {
		case t.kind == '.':
			r.at++
			if name, ok = r.name(); !ok {
				return "", r.fault("an attribute")
			}
			out.WriteString("." + r.bindName(name))
		case t.kind == 'n' && strings.HasPrefix(t.text, "."):
			return "", r.fault("an attribute")
		case t.kind == '[':
			r.at++
			n := r.next()
			if n.kind != 'n' || r.next().kind != ']' {
				return "", fmt.Errorf("the statement has an index that is no number, in %s[…]", name)
			}
			out.WriteString("[" + n.text + "]")
		default:
			return out.String(), nil
		}
	}
}

func (r *piqReader) bindName(name string) string {
	for k, v := range r.names {
		if v == name {
			return k
		}
	}
	k := "#n" + strconv.Itoa(len(r.names))
	r.names[k] = name
	return k
}

func (r *piqReader) bind(v any) (string, error) {
	raw, err := text.JSON(v)
	if err != nil {
		return "", err
	}
	k := ":v" + strconv.Itoa(len(r.values))
	r.values[k] = raw
	return k, nil
}

// functions of conditions that expressions have under the same name.
var piqFunctions = map[string]bool{"begins_with": true, "contains": true, "attribute_type": true, "size": true}

// condition takes what stands after WHERE, and writes it as an expression. The
// grammar is left to whoever reads that; only words and values differ.
func (r *piqReader) condition() (string, error) {
	var out []string
	lists := 0 // open lists of IN
	last := "" // the operand before, for IS MISSING
	for r.at < len(r.tokens) {
		t := r.peek()
		upper := strings.ToUpper(t.text)
		if t.kind == 'w' && (upper == "ORDER" || upper == "LIMIT") && lists == 0 {
			break
		}
		switch {
		case t.kind == 's':
			v, err := r.bind(map[string]string{"S": r.next().text})
			if err != nil {
				return "", err
			}
			out = append(out, v)
		case t.kind == 'n':
			v, err := r.bind(map[string]string{"N": r.next().text})
			if err != nil {
				return "", err
			}
			out = append(out, v)
		case t.kind == '?':
			r.at++
			if len(r.params) == 0 {
				return "", fmt.Errorf("the statement has more ? than Parameters has values")
			}
			v, err := r.bind(r.params[0])
			if err != nil {
				return "", err
			}
			r.params = r.params[1:]
			out = append(out, v)
		case t.kind == 'w' && (upper == "TRUE" || upper == "FALSE"):
			r.at++
			v, err := r.bind(map[string]bool{"BOOL": upper == "TRUE"})
			if err != nil {
				return "", err
			}
			out = append(out, v)
		case t.kind == 'w' && upper == "NULL":
			r.at++
			v, err := r.bind(map[string]bool{"NULL": true})
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
				return "", r.fault("[")
			}
			out = append(out, "(")
			lists++
		case t.kind == 'w' && upper == "IS":
			r.at++
			not := r.word("NOT")
			if !r.word("MISSING") || last == "" {
				return "", fmt.Errorf("of IS only IS MISSING and IS NOT MISSING after an attribute are read here")
			}
			f := "attribute_not_exists("
			if not {
				f = "attribute_exists("
			}
			out[len(out)-1] = f + last + ")"
		case t.kind == 'w' && piqFunctions[strings.ToLower(t.text)] && r.at+1 < len(r.tokens) && r.tokens[r.at+1].kind == '(':
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
			return "", fmt.Errorf("%q in a statement is not read here", t.text)
		}
		last = ""
	}
	return strings.Join(out, " "), nil
}
