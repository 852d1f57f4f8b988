package awscli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Command is a line of the AWS CLI taken apart.
type Command struct {
	// Operation is the name in the API, as BatchGetItem.
	Operation string
	// Request is the JSON of the request.
	Request json.RawMessage
	// Notes say which parts of the line are not part of the request.
	Notes []string
	// Endpoint is what --endpoint-url says, or "".
	Endpoint string
}

// Parse reads a line and returns the operation, as Query, and the JSON of its
// request. Values in files are an error; see [Parser].
func Parse(line string) (op string, request json.RawMessage, err error) {
	c, err := (&Parser{}).Parse(line)
	if err != nil {
		return "", nil, err
	}
	return c.Operation, c.Request, nil
}

// Is reports whether a text is a line of the AWS CLI for DynamoDB, right or
// wrong.
func Is(text string) bool {
	words, _, err := Split(text)
	if err != nil {
		words = strings.Fields(text)
	}
	words = skip(words)
	return len(words) >= 2 && (words[0] == "aws" || strings.HasSuffix(words[0], "/aws")) && slices.Contains(words, "dynamodb")
}

// A Parser reads lines. The zero value is ready to use.
type Parser struct {
	// ReadFile reads the file of a value such as file://values.json. Nil
	// refuses them.
	ReadFile func(name string) ([]byte, error)
}

// Parse reads a line.
func (p *Parser) Parse(line string) (*Command, error) {
	words, rest, err := Split(line)
	if err != nil {
		return nil, err
	}
	c, err := p.ParseWords(words)
	if err == nil && rest != "" {
		c.Notes = append(c.Notes, "what follows the command is left out: "+excerpt(rest))
	}
	return c, err
}

// skip leaves out a prompt and settings of the environment before a command.
func skip(words []string) []string {
	for len(words) > 0 {
		name, _, set := strings.Cut(words[0], "=")
		if words[0] != "$" && words[0] != "%" && !(set && name != "" && strings.ToUpper(name) == name) {
			break
		}
		words = words[1:]
	}
	return words
}

// ParseWords is Parse for a line that a shell has taken apart.
func (p *Parser) ParseWords(words []string) (*Command, error) {
	words = skip(words)
	if len(words) > 0 && (words[0] == "aws" || strings.HasSuffix(words[0], "/aws")) {
		words = words[1:]
	}
	r := &reader{parser: p, members: map[string]json.RawMessage{}}
	// Flags of the CLI may stand before the service and the operation.
	var place []string
	for i := 0; i < len(words); {
		w := words[i]
		if !strings.HasPrefix(w, "--") {
			if len(place) == 0 && w == "dynamodb" {
				i++
				continue
			}
			if len(place) > 0 {
				if strings.ContainsAny(strings.Join(words, " "), "“”‘’") {
					return nil, errors.New("the line has typographic quotes, and a shell wants straight ones")
				}
				return nil, fmt.Errorf("%q belongs to no flag", w)
			}
			if !slices.Contains(operations, w) {
				return nil, unknown("operation of DynamoDB", w, operations)
			}
			place = append(place, w)
			r.command.Operation = pascal(w)
			i++
			continue
		}
		n, err := r.flag(words[i:])
		if err != nil {
			return nil, err
		}
		i += n
	}
	if len(place) == 0 {
		return nil, errors.New("the line has no operation, such as query, scan or get-item")
	}
	return r.finish()
}

// A reader collects the members of one request.
type reader struct {
	parser  *Parser
	command Command
	members map[string]json.RawMessage
	base    map[string]json.RawMessage // of --cli-input-json
	seen    []string                   // flags of the request, in order
}

// flag reads the flag that words begin with and returns how many words it is.
func (r *reader) flag(words []string) (int, error) {
	name, value, inline := strings.Cut(strings.TrimPrefix(words[0], "--"), "=")
	values := func() []string {
		if inline {
			return []string{value}
		}
		end := 1
		for end < len(words) && !strings.HasPrefix(words[end], "--") {
			end++
		}
		return words[1:end]
	}
	one := func() (string, int, error) {
		if inline {
			return value, 1, nil
		}
		if len(words) < 2 {
			return "", 0, fmt.Errorf("--%s needs a value", name)
		}
		return words[1], 2, nil
	}
	if f, ok := cliFlags[name]; ok && !(name == "query" && r.command.Operation == "") {
		if f.note != "" {
			r.command.Notes = append(r.command.Notes, "--"+name+" is left out: "+f.note)
		}
		if !f.value {
			return 1, nil
		}
		v, n, err := one()
		if name == "endpoint-url" {
			r.command.Endpoint = v
		}
		return n, err
	}
	switch name {
	case "cli-input-json":
		v, n, err := one()
		if err != nil {
			return 0, err
		}
		return n, r.input(v)
	case "cli-input-yaml", "generate-cli-skeleton":
		return 0, fmt.Errorf("--%s is not read here: give the flags, or --cli-input-json", name)
	}
	k, ok := flags[name]
	if positive, no := strings.CutPrefix(name, "no-"); !ok && no && flags[positive] == boolean {
		r.seen = append(r.seen, positive)
		return 1, r.set(positive, false)
	}
	if !ok {
		return 0, unknown("flag", "--"+name, prefixed(keys(flags)))
	}
	r.seen = append(r.seen, name)
	if k == boolean {
		on := true
		if inline {
			b, err := strconv.ParseBool(value)
			if err != nil {
				return 0, fmt.Errorf("--%s is true or false, not %q", name, value)
			}
			on = b
		}
		return 1, r.set(name, on)
	}
	if k == list {
		v := values()
		if len(v) == 0 {
			return 0, fmt.Errorf("--%s needs a value", name)
		}
		n := 1
		if !inline {
			n += len(v)
		}
		return n, r.list(name, v)
	}
	v, n, err := one()
	if err != nil {
		return 0, err
	}
	if v, err = r.load(name, v); err != nil {
		return 0, err
	}
	switch k {
	case text:
		return n, r.set(name, v)
	case number:
		i, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("--%s is a whole number, not %q", name, v)
		}
		return n, r.set(name, i)
	}
	return n, r.object(name, v)
}

// load returns the text of a value that is in a file.
func (r *reader) load(name, value string) (string, error) {
	if strings.HasPrefix(value, "fileb://") {
		return "", fmt.Errorf("--%s: %s is binary; put the value into JSON in base64", name, value)
	}
	file, ok := strings.CutPrefix(value, "file://")
	if !ok {
		return value, nil
	}
	if r.parser.ReadFile == nil {
		return "", fmt.Errorf("--%s: files are not read here: %s", name, value)
	}
	data, err := r.parser.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", name, err)
	}
	return strings.TrimSpace(string(data)), nil
}

func (r *reader) set(name string, v any) error {
	member := pascal(name)
	if _, ok := r.members[member]; ok {
		return fmt.Errorf("--%s is there twice", name)
	}
	raw, err := marshal(v)
	r.members[member] = raw
	return err
}

// object reads a value that is an object, in JSON or shorthand.
func (r *reader) object(name, value string) error {
	if isJSON(value) {
		raw, err := jsonOf(name, value)
		if err != nil {
			return err
		}
		return r.set(name, raw)
	}
	v, err := shorthand(value)
	if err == nil {
		v, err = typed("", v)
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	return r.set(name, v)
}

// list reads a value that is a list: JSON, or an element in each word.
func (r *reader) list(name string, values []string) error {
	first, err := r.load(name, values[0])
	if err != nil {
		return err
	}
	if len(values) == 1 && strings.HasPrefix(strings.TrimSpace(first), "[") {
		raw, err := jsonOf(name, first)
		if err != nil {
			return err
		}
		return r.set(name, raw)
	}
	elems := make([]any, 0, len(values))
	for _, value := range values {
		switch {
		case isJSON(value):
			raw, err := jsonOf(name, value)
			if err != nil {
				return err
			}
			elems = append(elems, raw)
		case strings.Contains(value, "="):
			v, err := shorthand(value)
			if err == nil {
				v, err = typed("", v)
			}
			if err != nil {
				return fmt.Errorf("--%s: %w", name, err)
			}
			elems = append(elems, v)
		default:
			elems = append(elems, value)
		}
	}
	return r.set(name, elems)
}

// input reads --cli-input-json, which the flags override.
func (r *reader) input(value string) error {
	const name = "cli-input-json"
	value, err := r.load(name, value)
	if err != nil {
		return err
	}
	raw, err := jsonOf(name, value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &r.base); err != nil || r.base == nil {
		return fmt.Errorf("--%s is no JSON object", name)
	}
	return nil
}

func (r *reader) finish() (*Command, error) {
	c := r.command
	if allowed := only[c.Operation]; allowed != nil {
		for _, name := range r.seen {
			if !slices.Contains(allowed, name) {
				return nil, unknown("flag of "+kebab(c.Operation), "--"+name, prefixed(allowed))
			}
		}
	}
	for name, raw := range r.base {
		if _, ok := r.members[name]; !ok {
			r.members[name] = raw
		}
	}
	raw, err := marshal(r.members)
	c.Request = raw
	return &c, err
}

func isJSON(value string) bool {
	value = strings.TrimSpace(value)
	return strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[")
}

// jsonOf checks that a value is JSON and says where it is not.
func jsonOf(name, value string) (json.RawMessage, error) {
	var v any
	err := json.Unmarshal([]byte(value), &v)
	if err == nil {
		return json.RawMessage(value), nil
	}
	// PowerShell up to 7.2 loses quotes that have no backslash before them.
	if bare := strings.ReplaceAll(value, `\"`, `"`); bare != value && json.Valid([]byte(bare)) {
		return json.RawMessage(bare), nil
	}
	if strings.ContainsAny(value, "“”‘’") {
		return nil, fmt.Errorf("--%s has typographic quotes, and JSON has straight ones", name)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := min(max(int(syntax.Offset)-1, 0), len(value))
		return nil, fmt.Errorf("--%s is no JSON: %w, at %q", name, err, excerpt(value[at:]))
	}
	return nil, fmt.Errorf("--%s is no JSON: %w", name, err)
}

// marshal writes JSON in which < and > are themselves.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func keys(m map[string]kind) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func prefixed(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "--" + name
	}
	return out
}

// unknown is the error of a name that is none, with one that is like it.
func unknown(what, name string, names []string) error {
	best, least := "", len(name)/3+1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	if best != "" {
		return fmt.Errorf("there is no %s %s; did you mean %s?", what, name, best)
	}
	return fmt.Errorf("there is no %s %s", what, name)
}

// distance is how many bytes have to change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
