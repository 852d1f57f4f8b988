package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

//go:embed model/*.json
var modelFiles embed.FS

// A model is the contents of a file under model/: a service model that model/reduce.jq has reduced.
type model struct {
	Operations map[string]operation
	Shapes     map[string]shape
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
	joined := &model{Operations: map[string]operation{}, Shapes: map[string]shape{}}
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
		s, ok := joined.Shapes[name]
		if !ok {
			s = shape{Type: "structure", Members: map[string]string{}}
		}
		maps.Copy(s.Members, members)
		joined.Shapes[name] = s
	}

	for name, least := range minLength {
		s := joined.Shapes[name]
		s.Min = &least
		joined.Shapes[name] = s
	}

	for name, members := range alsoRequired {
		s := joined.Shapes[name]
		s.Required = slices.Concat(s.Required, members)
		joined.Shapes[name] = s
	}
	return joined, nil
}

// A kind decides which Go type represents a shape.
type kind int

const (
	kindString kind = iota
	kindInteger
	kindLong
	kindDouble
	kindTimestamp
	kindBoolean
	kindBlob
	kindValue  // AttributeValue
	kindItem   // map of attribute names to values
	kindValues // ExpressionAttributeValues: like kindItem, but errors name the key of the faulty value
	kindStruct
	kindList
	kindMap
)

func (m *model) kind(name string) kind {
	if name == "AttributeValue" {
		return kindValue
	}

	s, ok := m.Shapes[name]
	if !ok {
		panic("no such shape: " + name)
	}
	switch s.Type {
	case "string":
		return kindString
	case "integer":
		return kindInteger
	case "long":
		return kindLong
	case "double":
		return kindDouble
	case "timestamp":
		return kindTimestamp
	case "boolean":
		return kindBoolean
	case "blob":
		return kindBlob
	case "structure":
		return kindStruct
	case "list":
		return kindList
	case "map":
		switch {
		case s.Value != "AttributeValue":
			return kindMap
		case s.Key == "ExpressionAttributeValueVariable":
			return kindValues
		}
		return kindItem
	}

	panic("unknown type of shape " + name + ": " + s.Type)
}

// scalarTypes are the Go types of scalar kinds.
var scalarTypes = map[kind]string{
	kindString: "string", kindInteger: "int64", kindLong: "int64", kindDouble: "float64",
	kindTimestamp: "float64", kindBoolean: "bool",
}

// elemType returns the Go type of a shape as a list or map element.
func (m *model) elemType(name string) string {
	switch k := m.kind(name); k {
	case kindBlob:
		return "[]byte"
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

// memberNames returns the names of a structure's members in the order of the model, which is alphabetical.
func (s shape) memberNames() []string { return slices.Sorted(maps.Keys(s.Members)) }

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
	for _, target := range []string{s.Member, s.Value} {
		if target != "" {
			m.reach(target, seen)
		}
	}
}
