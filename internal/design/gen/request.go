package gen

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// A member is a named part of a JSON object.
type member struct {
	name  string
	value node
}

// A node is a JSON value with its members in the order of the text: a string,
// a json.Number, a bool, nil, a list or an object.
type node any

type (
	list   []node
	object []member
)

// A shape is the type of a member of a request.
type shape int

const (
	text   shape = iota // a string
	word                // a string of an enumeration
	flag                // true or false
	count               // a whole number
	texts               // a list of strings
	names               // attribute names by placeholder
	item                // attribute values by name
	legacy              // conditions of the legacy parameters, by attribute
)

var common = map[string]shape{
	"TableName": text, "ProjectionExpression": text, "ExpressionAttributeNames": names, "ConsistentRead": flag,
	"ReturnConsumedCapacity": word, "AttributesToGet": texts,
}

var ranged = map[string]shape{
	"IndexName": text, "FilterExpression": text, "ExpressionAttributeValues": item, "ExclusiveStartKey": item,
	"Limit":  count,
	"Select": word, "ConditionalOperator": word,
}

// operations are the members of each operation of access patterns.
var operations = map[string]map[string]shape{
	"GetItem": merge(common, map[string]shape{"Key": item}),
	"Query":   merge(common, ranged, map[string]shape{"KeyConditionExpression": text, "ScanIndexForward": flag, "KeyConditions": legacy, "QueryFilter": legacy}),
	"Scan":    merge(common, ranged, map[string]shape{"Segment": count, "TotalSegments": count, "ScanFilter": legacy}),
}

func merge(all ...map[string]shape) map[string]shape {
	m := map[string]shape{}
	for _, one := range all {
		maps.Copy(m, one)
	}
	return m
}

// A request is a checked request, with members in the order of the text.
type request struct {
	op      string
	shapes  map[string]shape
	members object
}

// readRequest reads and checks a JSON request, so that the writers need no
// checks.
func readRequest(op string, data []byte) (*request, error) {
	shapes, ok := operations[op]
	if !ok {
		return nil, fmt.Errorf("%s is not an operation of access patterns: use Query, GetItem or Scan", op)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	n, err := readNode(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("the request is not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the request")
	}
	members, ok := n.(object)
	if !ok {
		return nil, errors.New("the request is not a JSON object")
	}
	for i, m := range members {
		s, ok := shapes[m.name]
		if !ok {
			return nil, fmt.Errorf("%s has no parameter %s", op, m.name)
		}
		if members[i].value, err = s.read(m.value); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return &request{op: op, shapes: shapes, members: members}, nil
}

// deepest is deeper than any value that the service accepts.
const deepest = 100

func readNode(dec *json.Decoder, depth int) (node, error) {
	if depth > deepest {
		return nil, errors.New("it is nested too deep")
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if delim == '[' {
		all := list{}
		for dec.More() {
			n, err := readNode(dec, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, n)
		}
		_, err := dec.Token()
		return all, err
	}
	all := object{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		n, err := readNode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string), value: n} // the decoder accepts only strings
		if slices.ContainsFunc(all, func(o member) bool { return o.name == m.name }) {
			return nil, fmt.Errorf("%q is given twice", m.name)
		}
		all = append(all, m)
	}
	_, err = dec.Token()
	return all, err
}

// read checks that a member has its shape. It returns attribute values in the
// form of the service, with one member that names the kind.
func (s shape) read(n node) (node, error) {
	switch s {
	case text, word:
		if v, ok := n.(string); !ok || strings.ContainsRune(v, 0) {
			return nil, errors.New("it must be a string")
		}
	case flag:
		if _, ok := n.(bool); !ok {
			return nil, errors.New("it must be true or false")
		}
	case count:
		v, _ := n.(json.Number)
		if _, err := strconv.ParseInt(string(v), 10, 32); err != nil {
			return nil, errors.New("it must be a 32-bit whole number")
		}
	case texts:
		all, ok := n.(list)
		if !ok || len(all) == 0 {
			return nil, errors.New("it must be a list of strings")
		}
		for _, one := range all {
			if _, err := text.read(one); err != nil {
				return nil, errors.New("it must be a list of strings")
			}
		}
	case names, item, legacy:
		all, ok := n.(object)
		if !ok {
			return nil, errors.New("it must be an object")
		}
		return all, s.readMembers(all)
	}
	return n, nil
}

// readMembers replaces the values of an object by their checked form.
func (s shape) readMembers(all object) (err error) {
	for i, m := range all {
		switch s {
		case names:
			all[i].value, err = text.read(m.value)
		case item:
			all[i].value, err = readValue(m.value)
		case legacy:
			all[i].value, err = readCondition(m.value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

func readValue(n node) (node, error) {
	v, err := attr.ParseValue(appendJSON(nil, n))
	if err != nil {
		return nil, err
	}
	if v.Kind() == 0 {
		return nil, errors.New("it must be an attribute value")
	}
	dec := json.NewDecoder(bytes.NewReader(v.AppendJSON(nil)))
	dec.UseNumber()
	return readNode(dec, 0)
}

// readCondition reads a legacy condition.
func readCondition(n node) (node, error) {
	condition, ok := n.(object)
	if !ok {
		return nil, errors.New("it must be a condition")
	}
	for i, part := range condition {
		switch part.name {
		case "ComparisonOperator":
			if _, err := word.read(part.value); err != nil {
				return nil, err
			}
		case "AttributeValueList":
			values, ok := part.value.(list)
			if !ok {
				return nil, errors.New("its values must be a list")
			}
			for j, v := range values {
				var err error
				if values[j], err = readValue(v); err != nil {
					return nil, err
				}
			}
			condition[i].value = values
		default:
			return nil, fmt.Errorf("a condition has no %s", part.name)
		}
	}
	return condition, nil
}

// kindOf splits an attribute value from [readValue] into kind and payload.
func kindOf(n node) (kind string, payload node) {
	m := n.(object)[0]
	return m.name, m.value
}

// decoded returns the bytes of a binary value.
func decoded(n node) []byte {
	data, err := base64.StdEncoding.DecodeString(n.(string))
	if err != nil {
		panic("gen: base64 that attr wrote: " + err.Error())
	}
	return data
}

// appendJSON appends a node as JSON on one line, with a space after colons and
// commas. It escapes invisible characters, so that the text survives a
// terminal.
func appendJSON(dst []byte, n node) []byte {
	switch n := n.(type) {
	case string:
		return append(dst, quote(n, '"', jsonEscapes)...)
	case json.Number:
		return append(dst, n...)
	case list:
		dst = append(dst, '[')
		for i, one := range n {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendJSON(dst, one)
		}
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for i, m := range n {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(dst, quote(m.name, '"', jsonEscapes)...)
			dst = append(dst, ": "...)
			dst = appendJSON(dst, m.value)
		}
		return append(dst, '}')
	case bool:
		if n {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	}
	return append(dst, "null"...)
}
