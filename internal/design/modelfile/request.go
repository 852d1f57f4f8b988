package modelfile

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

var operations = []string{"Query", "GetItem", "Scan"}

// requestCodec is the codec of a raw request with its operation.
var requestCodec = special(define("request", schema{
	"type": "object", "required": []string{"operation"}, "properties": schema{"operation": schema{"enum": operations}},
}), func(in value, q *model.Pattern) {
	entries := in.called("a request").entries()
	body := in.at(&yaml.Node{Kind: yaml.MappingNode}, "the request")
	var index value
	for _, e := range entries {
		switch e.name {
		case "operation":
			if word, ok := e.text(); ok && e.oneOf(word, operations) {
				q.Operation = word
			}
			continue
		case "TableName":
			q.Table = e.tableNamed()
		case "IndexName":
			index = e.value
		}
		body.node.Content = append(body.node.Content, e.key.node, e.node)
	}
	if q.Operation == "" && len(entries) > 0 {
		in.fail("add operation: Query", "the request has no operation")
	}
	if index.node != nil && q.Table != nil {
		if name, ok := index.text(); ok {
			q.Index = q.Table.Index(name) // the service refuses an unknown index
		}
	}
	before := len(in.errs)
	text := body.json(nil, false, 0)
	if q.Operation != "" && len(in.errs) == before {
		q.Request = text
	}
}, func(q *model.Pattern) *yaml.Node {
	if q.Request == nil {
		return nil
	}
	n := put(&yaml.Node{Kind: yaml.MappingNode}, "operation", textNode(q.Operation))
	var doc yaml.Node
	if yaml.Unmarshal(q.Request, &doc) == nil { // JSON is YAML
		n.Content = append(n.Content, doc.Content[0].Content...)
	}
	return n
})

// json appends a value of a request as JSON. Under a type of DynamoDB JSON a scalar is text,
// except for BOOL and NULL.
func (in value) json(dst []byte, asText bool, depth int) []byte {
	n := in.node
	if n == nil {
		return dst
	}
	if depth > maxDepth {
		in.fail("", "%s is nested more than %d deep", in.what, maxDepth)
		return dst
	}

	switch n.Kind {
	case yaml.MappingNode:
		dst = append(dst, '{')
		entries := in.entries()
		for i, e := range entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			kind, isType := attr.ParseKind(e.name)
			asText := isType && len(entries) == 1 && kind != attr.Bool && kind != attr.Null
			dst = e.called(in.what).json(append(appendString(dst, e.name), ':'), asText, depth+1)
		}
		return append(dst, '}')
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, e := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = in.at(e, in.what).json(dst, asText, depth+1)
		}
		return append(dst, ']')
	}

	tag := n.ShortTag()
	switch {
	case asText:
	case tag == "!!bool":
		return append(dst, strings.ToLower(n.Value)...)
	case tag == "!!null":
		return append(dst, "null"...)
	case (tag == "!!int" || tag == "!!float") && json.Valid([]byte(n.Value)):
		return append(dst, n.Value...)
	}
	return appendString(dst, n.Value)
}

func appendString(dst []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		text = []byte(`""`)
	}
	return append(dst, text...)
}
