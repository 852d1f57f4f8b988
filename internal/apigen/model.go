package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
)

//go:embed model/*.json
var modelFiles embed.FS

// A model is the contents of a file under model/: a service model that model/reduce.jq has reduced.
type model struct {
	Operations map[string]operation
	Shapes     map[string]*shape
}

type operation struct {
	Input, Output string
	Errors        []string
	streams       bool // of the service of streams
}

type shape struct {
	Type       string
	Members    map[string]string
	Required   []string
	Member     string
	Key, Value string
	Enum       []string
	Min, Max   *int64
	Pattern    string
}

// load reads the models of the two services, DynamoDB and DynamoDB Streams. It merges them, as they share shapes.
func load() (*model, error) {
	joined := &model{Operations: map[string]operation{}, Shapes: map[string]*shape{}}
	for _, file := range []string{"dynamodb", "dynamodbstreams"} {
		data, err := modelFiles.ReadFile("model/" + file + ".json")
		if err != nil {
			return nil, err
		}
		var m model
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, fmt.Errorf("model %s: %w", file, err)
		}
		for name, op := range m.Operations {
			op.streams = file == "dynamodbstreams"
			joined.Operations[name] = op
		}
		for name, s := range m.Shapes {
			if old, ok := joined.Shapes[name]; ok && !reflect.DeepEqual(old, s) {
				return nil, fmt.Errorf("model %s: shape %s differs between the models", file, name)
			} else if !ok {
				joined.Shapes[name] = s
			}
		}
	}

	for name, members := range undocumented {
		if joined.Shapes[name] == nil {
			joined.Shapes[name] = &shape{Type: kindStruct, Members: map[string]string{}}
		}
		maps.Copy(joined.Shapes[name].Members, members)
	}

	for name, least := range minLength {
		joined.Shapes[name].Min = &least
	}

	return joined, nil
}

// Kinds of shapes. A kind decides which Go type represents a shape. Most kinds are the types of the service model.
const (
	kindValue  = "value"  // AttributeValue
	kindItem   = "item"   // map of attribute names to values
	kindValues = "values" // ExpressionAttributeValues: like kindItem, but errors name the key of the faulty value
	kindStruct = "structure"
	kindList   = "list"
	kindMap    = "map"
)

func (m *model) kind(name string) string {
	s, ok := m.Shapes[name]
	switch {
	case name == "AttributeValue":
		return kindValue
	case !ok:
		panic("no such shape: " + name)
	case s.Type != kindMap || s.Value != "AttributeValue":
		return s.Type
	case s.Key == "ExpressionAttributeValueVariable":
		return kindValues
	}
	return kindItem
}

// scalarTypes are the Go types of scalar kinds.
var scalarTypes = map[string]string{
	"string": "string", "integer": "int64", "long": "int64", "double": "float64", "timestamp": "float64",
	"boolean": "bool",
}

// elemType returns the Go type of a shape as a list or map element.
func (m *model) elemType(name string) string {
	switch k := m.kind(name); k {
	case kindValue:
		return "attr.Value"
	case kindItem, kindValues:
		return "attr.Item"
	case kindStruct:
		return name
	case kindList:
		return "[]" + m.elemType(m.Shapes[name].Member)
	case kindMap:
		return "map[string]" + m.elemType(m.Shapes[name].Value)
	default:
		return scalarTypes[k]
	}
}

// memberType returns the Go type of a shape as a structure member, which may be absent.
func (m *model) memberType(name string) string {
	t := m.elemType(name)
	if k := m.kind(name); k == kindStruct || scalarTypes[k] != "" {
		return "*" + t
	}
	return t
}

// reach adds to seen a shape and all structures, lists and maps to which it refers, directly or not.
func (m *model) reach(name string, seen map[string]bool) {
	k := m.kind(name)
	if seen[name] || k != kindStruct && k != kindList && k != kindMap {
		return
	}
	seen[name] = true
	s := m.Shapes[name]
	for _, target := range s.Members {
		m.reach(target, seen)
	}
	if elem := s.Member + s.Value; elem != "" {
		m.reach(elem, seen)
	}
}
