package tabledef

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/advice"
)

// ErrOther is the error of [Read] for a file in a format that this package does not
// read.
var ErrOther = errors.New("neither CreateTable JSON nor a CloudFormation template nor a Terraform file")

// Parameters are values by name: of the parameters of a template, with its pseudo
// parameters such as AWS::StackName, or of the variables of a Terraform module.
type Parameters map[string]string

// check refuses values for names that are not declared, such as typos.
func (with Parameters) check(declared map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if !declared[name] && !strings.HasPrefix(name, "AWS::") {
			hint := "no parameters are declared"
			if len(declared) > 0 {
				hint = "declared are " + strings.Join(slices.Sorted(maps.Keys(declared)), ", ")
			}
			return advice.New(hint, "unknown parameter %s", name)
		}
	}
	return nil
}

// Read reads the tables that a file defines, or a folder with Terraform files. It
// returns an error that wraps [ErrOther] if the format of the file is unknown.
//
// A name that depends on a value that only a deployment knows is made up. Notes has a
// sentence for each of them that says so and how to choose it, and one for each part of
// the file that was not read.
func Read(path string, with Parameters) (list []*Schema, notes []string, err error) {
	in := &input{path: path, with: with}
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if info.IsDir() {
		list, err = in.readModule(path)
		return list, in.notes, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if list, err = in.parseFile(path, data); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, in.notes, nil
}

// An input is a file or folder that is read.
type input struct {
	path  string
	with  Parameters
	notes []string
}

func (in *input) parseFile(name string, data []byte) ([]*Schema, error) {
	switch filepath.Ext(name) {
	case ".tf":
		return in.parseTerraform([]file{{name, data}}, false)
	case ".js", ".cjs", ".mjs", ".ts":
		return nil, advice.New("load the template that it makes, such as the output of cdk synth, or "+compiled,
			"only Node.js can evaluate the file")
	}
	if json.Valid(data) {
		return in.parseJSON(data)
	}
	switch t := parseYAML(data).(type) {
	case map[string]any:
		switch {
		case t["Resources"] != nil:
			return in.parseTemplate(t)
		case isService(t):
			return in.parseService(t)
		}
	}
	return nil, ErrOther
}

// parseYAML returns the value of a YAML document, nil if it is not one.
func parseYAML(data []byte) any {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil
	}
	return (&yamlReader{left: maxNodes}).plain(&doc, 0)
}

// parseJSON reads JSON of any of the formats.
func (in *input) parseJSON(data []byte) ([]*Schema, error) {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []any:
		return in.parseRequests(v)
	case map[string]any:
		switch {
		case v["Resources"] != nil:
			return in.parseTemplate(v)
		case isService(v):
			return in.parseService(v)
		case v["planned_values"] != nil || v["values"] != nil && v["format_version"] != nil:
			return in.parseState(v)
		case v["KeySchema"] != nil || v["Table"] != nil || v["TableDescription"] != nil:
			return in.parseRequests([]any{v})
		}
		if list, ok := v["Tables"].([]any); ok {
			return in.parseRequests(list)
		}
	}
	return nil, ErrOther
}

// parseRequests reads CreateTable requests and DescribeTable responses.
func (in *input) parseRequests(list []any) (all []*Schema, err error) {
	for i, v := range list {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		s, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i+1, err)
		}
		if s.TableName == "" {
			return nil, advice.New("", "table %d has no TableName", i+1)
		}
		s.Place = fmt.Sprintf("%s: table %d", in.path, i+1)
		all = append(all, s)
	}
	if all == nil {
		return nil, ErrOther
	}
	return all, nil
}

// members lists the members of a CreateTable request that a [Schema] has.
var members = []string{
	"TableName", "AttributeDefinitions", "KeySchema", "LocalSecondaryIndexes", "GlobalSecondaryIndexes", "BillingMode",
	"ProvisionedThroughput",
	"StreamSpecification", "DeletionProtectionEnabled", "TableClass", "TimeToLiveSpecification",
}

// An unresolved value is one that only a deployment knows.
type unresolved struct {
	name    string // for messages
	standIn string // what it is as a name of a table or an index; "" for nothing
	give    string // the parameters that would give the value, for messages
}

// missing returns the value of a parameter that was not given.
func missing(name, standIn, give string) unresolved {
	return unresolved{name, legalName(standIn), strconv.Quote(give + "=…")}
}

// legalName replaces what the name of a table cannot have.
func legalName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || r < 0x80 && isNameByte(byte(r)) {
			return r
		}
		return '-'
	}, s)
	return strings.Trim(s, "-.")
}

// join joins values to a text. If the text depends on an unresolved value, it is
// unresolved too.
func join(parts []any, between string) any {
	texts := make([]string, len(parts))
	var names, gives []string
	for i, p := range parts {
		u, ok := p.(unresolved)
		switch {
		case !ok:
			texts[i] = fmt.Sprint(p)
			continue
		case u.standIn == "":
			return u
		}
		texts[i] = u.standIn
		names, gives = append(names, u.name), append(gives, u.give)
	}
	text := strings.Join(texts, between)
	if names == nil {
		return text
	}
	return unresolved{strings.Join(slices.Compact(names), " and "), text, strings.Join(slices.Compact(gives), " and ")}
}

// finish makes a Schema of the members of a request. What is the place of the
// table in its file.
func (in *input) finish(what string, request map[string]any) (*Schema, error) {
	own := map[string]any{}
	for _, name := range members {
		v := request[name]
		if v == nil {
			continue
		}
		v, err := in.settle(what+"."+name, name, v)
		if err != nil {
			return nil, err
		}
		own[name] = v
	}
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	s, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	s.Place = in.path + ": " + what
	return s, nil
}

// settle returns the value of a member with the types of JSON, as templates may write
// numbers and booleans as text. It makes up names that are not known, and refuses other
// values that are not.
func (in *input) settle(place, member string, v any) (any, error) {
	switch v := v.(type) {
	case unresolved:
		switch {
		case v.standIn != "" && (member == "TableName" || member == "IndexName"):
			const note = "%s is %s, because no value is known for %s; to choose the name, give %s"
			in.notes = append(in.notes, fmt.Sprintf(note, place, v.standIn, v.name, v.give))
			return v.standIn, nil
		case v.give != "":
			return nil, advice.New("give "+v.give, "%s: the value of %s is unknown", place, v.name)
		}
		return nil, advice.New("load what the tool makes of the file: "+
			"the output of terraform show -json, or of aws cloudformation get-template",
			"%s: the value of %s is unknown", place, v.name)
	case map[string]any:
		out := map[string]any{}
		for name, m := range v {
			m, err := in.settle(place+"."+name, name, m)
			if err != nil {
				return nil, err
			}
			if text, ok := m.(string); ok {
				if number, err := strconv.ParseFloat(text, 64); err == nil && strings.HasSuffix(name, "CapacityUnits") {
					m = number
				}
				if yes, err := strconv.ParseBool(text); err == nil && strings.HasSuffix(name, "Enabled") {
					m = yes
				}
			}
			out[name] = m
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, m := range v {
			m, err := in.settle(fmt.Sprintf("%s[%d]", place, i), "", m)
			if err != nil {
				return nil, err
			}
			out[i] = m
		}
		return out, nil
	}
	return v, nil
}

// maxDepth limits how deep values nest, and maxNodes how many a file may expand to
// with its aliases.
const (
	maxDepth = 100
	maxNodes = 1_000_000
)

// A yamlReader turns YAML nodes into values.
type yamlReader struct{ left int }

// plain returns a YAML node as maps, lists and scalars. The short tags of
// CloudFormation become the objects that they are short for: !Ref x is {"Ref": x}.
func (r *yamlReader) plain(n *yaml.Node, depth int) (v any) {
	if r.left--; depth > maxDepth || r.left < 0 {
		return nil
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) > 0 {
			return r.plain(n.Content[0], depth+1)
		}
		return nil
	case yaml.AliasNode:
		return r.plain(n.Alias, depth+1)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v := r.plain(n.Content[i+1], depth+1)
			if n.Content[i].ShortTag() == "!!merge" {
				merge(m, v)
				continue
			}
			m[n.Content[i].Value] = v
		}
		v = m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = r.plain(c, depth+1)
		}
		v = list
	default:
		v = n.Value
		switch n.ShortTag() {
		case "!!bool":
			v = slices.Contains([]string{"true", "True", "TRUE"}, n.Value)
		case "!!null":
			v = nil
		}
	}
	function, short := strings.CutPrefix(n.Tag, "!")
	switch {
	case !short || strings.HasPrefix(function, "!"):
		return v
	case function == "Ref" || function == "Condition":
		return map[string]any{function: v}
	}
	return map[string]any{"Fn::" + function: v}
}

// merge adds the members of an object, or of a list of objects, that m lacks.
func merge(m map[string]any, v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, from := range list {
		for name, v := range object(from) {
			if _, own := m[name]; !own {
				m[name] = v
			}
		}
	}
}
