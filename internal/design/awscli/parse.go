package awscli

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// A Command is a parsed line.
type Command struct {
	// Operation is its name in the API, such as BatchGetItem.
	Operation string
	// Request is the JSON of the request.
	Request json.RawMessage
	// Notes say which parts of the line are not part of the request.
	Notes []string
}

// Is reports whether s is a line of the AWS CLI for DynamoDB, correct or not.
func Is(s string) bool {
	line := skipPrompt(strings.Fields(s))
	return len(line) >= 2 && isCLI(line[0]) && slices.Contains(line, "dynamodb")
}

func isCLI(word string) bool { return word == "aws" || strings.HasSuffix(word, "/aws") }

// skipPrompt returns words without a prompt and environment variables before
// the command.
func skipPrompt(line []string) []string {
	is := func(word string) bool {
		name, _, set := strings.Cut(word, "=")
		return word == "$" || word == "%" || set && name != "" && strings.ToUpper(name) == name
	}
	for len(line) > 0 && is(line[0]) {
		line = line[1:]
	}
	return line
}

// A Parser reads lines. The zero value is ready to use.
type Parser struct {
	// ReadFile reads the file of a value such as file://values.json. Nil
	// refuses files.
	ReadFile func(name string) ([]byte, error)
}

// Parse reads a line.
func (p *Parser) Parse(line string) (*Command, error) {
	split, rest, err := Split(line)
	if err != nil {
		return nil, advice.Bound(err)
	}
	c, err := p.ParseWords(split)
	if err == nil && rest != "" {
		c.Notes = append(c.Notes, "ignored after the command: "+terminal.Clip(rest, excerpt))
	}
	return c, err
}

// ParseWords reads a line that a shell has split.
func (p *Parser) ParseWords(line []string) (*Command, error) {
	c, err := p.parseWords(line)
	return c, advice.Bound(err)
}

func (p *Parser) parseWords(line []string) (*Command, error) {
	line = skipPrompt(line)
	if len(line) > 0 && isCLI(line[0]) {
		line = line[1:]
	}

	r := &reader{parser: p, words: line, members: map[string]json.RawMessage{}}
	for len(r.words) > 0 {
		word := r.words[0]
		r.words = r.words[1:]
		flag, isFlag := strings.CutPrefix(word, "--")
		switch {
		case isFlag:
			if err := r.flag(flag); err != nil {
				return nil, err
			}
		case r.operation == "" && word == "dynamodb":
		case r.operation != "":
			return nil, advice.New(
				"quote a value that contains spaces, with straight quotes", "%q does not belong to a flag", word,
			)
		case operations[word] == nil:
			known := slices.Sorted(maps.Keys(operations))
			return nil, advice.New(
				"the operations are "+text.Join(known, "and"), "%s is not an operation that reads items", word,
			)
		default:
			r.operation = word
		}
	}

	if r.operation == "" {
		return nil, advice.New("name one, such as query, scan or get-item", "the line has no operation")
	}
	all := map[string]json.RawMessage{}
	if input, ok := r.members[inputMember]; ok && json.Unmarshal(input, &all) != nil {
		return nil, advice.New("", "--cli-input-json is not a JSON object")
	}

	maps.Copy(all, r.members) // flags override it
	delete(all, inputMember)
	request, err := text.JSON(all)
	return &Command{Operation: pascal(r.operation), Request: request, Notes: r.notes}, err
}

// inputMember is where a reader keeps the value of --cli-input-json.
const inputMember = "CliInputJson"

// A reader collects the members of one request.
type reader struct {
	parser    *Parser
	words     []string // still to be read
	operation string   // as the CLI spells it
	members   map[string]json.RawMessage
	notes     []string
}

// flag reads a flag and its values.
func (r *reader) flag(word string) error {
	name, value, inline := strings.Cut(word, "=")
	var values []string
	take := func(most int) (err error) { // at least one value, and at most so many
		if inline {
			values, most = []string{value}, 1
		}
		for len(values) < most && len(r.words) > 0 && !strings.HasPrefix(r.words[0], "--") {
			values, r.words = append(values, r.words[0]), r.words[1:]
		}
		if values == nil {
			return advice.New("", "--%s needs a value", name)
		}
		values[0], err = r.load(values[0])
		return err
	}
	if f, ok := cliFlags[name]; ok {
		if f.note != "" {
			r.notes = append(r.notes, "--"+name+" is ignored: "+f.note)
		}
		if f.value {
			return take(1)
		}
		return nil
	}

	positive, no := strings.CutPrefix(name, "no-")
	if no = no && flags[positive] == boolFlag; no {
		name = positive
	}
	if known := operations[r.operation]; !slices.Contains(known, name) && pascal(name) != inputMember {
		return r.unknownFlag(name, known)
	}

	if flags[name] == boolFlag {
		on, err := !no, error(nil)
		if inline {
			on, err = strconv.ParseBool(value)
		}
		if err != nil {
			return advice.New("", "--%s must be true or false, not %q", name, value)
		}
		return r.set(name, on)
	}

	most := 1
	if flags[name] == listFlag {
		most = math.MaxInt
	}
	if err := take(most); err != nil {
		return err
	}

	v, err := parseValues(name, values)
	if err != nil {
		return err
	}
	return r.set(name, v)
}

// load returns a value, read from its file if it names one.
func (r *reader) load(value string) (string, error) {
	file, ok := strings.CutPrefix(value, "file://")
	switch {
	case strings.HasPrefix(value, "fileb://"):
		return "", advice.New("put the value into JSON in base64", "%s is a binary file", value)
	case !ok:
		return value, nil
	case r.parser.ReadFile == nil:
		return "", advice.New("write the value itself", "cannot read %s: files are not available here", value)
	}
	data, err := r.parser.ReadFile(file)
	return strings.TrimSpace(string(data)), err
}

func (r *reader) set(name string, v any) error {
	member := pascal(name)
	if _, ok := r.members[member]; ok {
		return advice.New("", "--%s is given twice", name)
	}
	raw, err := text.JSON(v)
	r.members[member] = raw
	return err
}

func (r *reader) unknownFlag(name string, known []string) error {
	if known == nil {
		return advice.New("put the flags of an operation after it", "unknown flag --%s", name)
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = "--" + k
	}
	return advice.New(text.DidYouMean("--"+name, names), "%s has no flag --%s", r.operation, name)
}

// parseValues returns the value of a flag.
func parseValues(name string, values []string) (any, error) {
	v := values[0]
	switch flags[name] {
	case stringFlag:
		return v, nil
	case numberFlag:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, advice.New("", "--%s must be a whole number, not %q", name, v)
		}
		return n, nil
	case objectFlag:
		return parseValue(name, v)
	}

	if len(values) == 1 && strings.HasPrefix(strings.TrimSpace(v), "[") {
		return parseJSON(name, v)
	}
	elems := make([]any, len(values))
	for i, v := range values {
		elems[i] = v
		if strings.HasPrefix(v, "{") || strings.Contains(v, "=") {
			var err error
			if elems[i], err = parseValue(name, v); err != nil {
				return nil, err
			}
		}
	}
	return elems, nil
}

// parseValue reads a value in JSON or shorthand.
func parseValue(name, value string) (any, error) {
	if strings.IndexAny(strings.TrimSpace(value), "{[") == 0 {
		return parseJSON(name, value)
	}
	v, err := parseShorthand(value)
	if err != nil {
		return nil, advice.New("", "--%s: %w", name, err)
	}
	return v, nil
}

// parseJSON returns a value that is JSON, or an error that shows where it is
// not.
func parseJSON(name, value string) (json.RawMessage, error) {
	var v any
	err := json.Unmarshal([]byte(value), &v)
	if err == nil {
		return json.RawMessage(value), nil
	}
	todo := ""
	if strings.ContainsAny(value, "“”‘’") {
		todo = "use straight quotes"
	}
	at := 0
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(syntax.Offset) - 1
	}
	return nil, advice.New(todo, "--%s is not JSON: %w\n%s", name, err, terminal.Caret(value, at))
}
