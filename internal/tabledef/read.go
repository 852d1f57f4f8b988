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

// Parameters are values by name: those of the parameters of a template, with its
// pseudo parameters such as AWS::StackName, or of the variables of a Terraform
// module.
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
func Read(path string, with Parameters) ([]*Schema, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		return readModule(path, with)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := parseFile(path, data, with)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func parseFile(name string, data []byte, with Parameters) ([]*Schema, error) {
	if filepath.Ext(name) == ".tf" {
		return parseTerraform([]file{{name, data}}, with, false)
	}
	if json.Valid(data) {
		return parseJSON(data, with)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, ErrOther
	}
	if t, ok := (&yamlReader{left: maxNodes}).plain(&doc, 0).(map[string]any); ok && t["Resources"] != nil {
		return parseTemplate(t, with)
	}
	return nil, ErrOther
}

// parseJSON reads JSON of any of the formats.
func parseJSON(data []byte, with Parameters) ([]*Schema, error) {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []any:
		return parseRequests(v)
	case map[string]any:
		switch {
		case v["Resources"] != nil:
			return parseTemplate(v, with)
		case v["planned_values"] != nil || v["values"] != nil && v["format_version"] != nil:
			return parseState(v)
		case v["KeySchema"] != nil || v["Table"] != nil || v["TableDescription"] != nil:
			return parseRequests([]any{v})
		}
		if list, ok := v["Tables"].([]any); ok {
			return parseRequests(list)
		}
	}
	return nil, ErrOther
}

// parseRequests reads CreateTable requests and DescribeTable responses.
func parseRequests(list []any) (all []*Schema, err error) {
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
		all = append(all, s)
	}
	if all == nil {
		return nil, ErrOther
	}
	return all, nil
}

// members are those of a CreateTable request that a [Schema] has.
var members = []string{
	"TableName", "AttributeDefinitions", "KeySchema", "LocalSecondaryIndexes", "GlobalSecondaryIndexes", "BillingMode", "ProvisionedThroughput",
	"StreamSpecification", "DeletionProtectionEnabled", "TableClass", "TimeToLiveSpecification",
}

// unresolved is a value that only a deployment knows.
type unresolved string

// finish makes a Schema of the members of a request. What is the place of the
// table in its file.
func finish(what string, request map[string]any) (*Schema, error) {
	own := map[string]any{}
	for _, name := range members {
		v := request[name]
		if v == nil {
			continue
		}
		v, err := settle(what+"."+name, v)
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
	return s, nil
}

// settle returns a value with the types of JSON, as templates may write numbers
// and booleans as text. It refuses values that are not known.
func settle(place string, v any) (any, error) {
	switch v := v.(type) {
	case unresolved:
		return nil, advice.New("give the value as a parameter, or load what the tool makes of the file: the output of terraform show -json, or of aws cloudformation get-template",
			"%s: the value of %s is unknown", place, string(v))
	case map[string]any:
		out := map[string]any{}
		for name, m := range v {
			m, err := settle(place+"."+name, m)
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
			m, err := settle(fmt.Sprintf("%s[%d]", place, i), m)
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
			m[n.Content[i].Value] = r.plain(n.Content[i+1], depth+1)
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
