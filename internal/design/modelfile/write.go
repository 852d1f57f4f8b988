package modelfile

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// textNode returns a node for text that the parser takes as written, so numbers and dates need no quotes.
func textNode(s string) *yaml.Node {
	n := stringNode(s)
	if s != "" && strings.Contains("-0123456789", s[:1]) {
		n.Tag = ""
	}
	return n
}

// stringNode returns a node for text. It has quotes if YAML would otherwise read it as another type.
func stringNode(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

// scalarNode returns a node for a number or a Boolean.
func scalarNode(v any) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v)} }

// flowNode returns an empty mapping that is written on one line.
func flowNode() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle} }

// put adds an entry to a mapping, unless the value is nil, and returns the mapping.
func put(n *yaml.Node, name string, value *yaml.Node) *yaml.Node {
	if value != nil {
		n.Content = append(n.Content, textNode(name), value)
	}
	return n
}

// listNode returns a list with the node of each element.
func listNode[T any](style yaml.Style, list []T, node func(T) *yaml.Node) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: style}
	for _, e := range list {
		n.Content = append(n.Content, node(e))
	}
	return n
}
