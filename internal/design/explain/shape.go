package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/wire"
)

// misshapen returns what of a request can be read although the service refuses it, because it does not have the shape
// of the operation, and what is wrong with the text.
func misshapen(op string, body []byte) (in wire.Request, broken *rule) {
	var at wire.QueryInput
	var place struct{ TableName, IndexName any }
	if json.Unmarshal(body, &place) == nil {
		if name, ok := place.TableName.(string); ok {
			at.TableName = &name
		}
		if name, ok := place.IndexName.(string); ok {
			at.IndexName = &name
		}
	}

	accepted := func(v jsontext.Value) bool {
		_, err := wire.DecodeRequest(op, v)
		return err == nil
	}
	if wrong := wrongParts(body, body, 0, "", accepted); len(wrong) > 0 {
		broken = ruleOf(plainRule, pageTypes, "wrong JSON type: %s", strings.Join(wrong, "; "))
	}
	return &at, broken
}

// wrongParts returns the smallest parts of a value of the body that the service does not accept, with their paths and
// places. At is where the value begins.
func wrongParts(
	body []byte, v jsontext.Value, at int, path string, accepted func(jsontext.Value) bool,
) (all []string) {
	if accepted(v) {
		return nil
	}
	kind := v.Kind()
	if kind != '{' && kind != '[' || !accepted(join(kind)) {
		const excerpt = 60 // columns
		return []string{fmt.Sprintf(
			"%s cannot be %s (%s)", path, terminal.Clip(string(v), excerpt), terminal.Place(string(body), at),
		)}
	}
	for _, p := range partsOf(v) {
		alone := func(v jsontext.Value) bool { return accepted(join(kind, part{name: p.name, value: v})) }
		all = append(all, wrongParts(body, p.value, at+p.at, p.in(path), alone)...)
	}
	return all
}

// A part is a member of an object, or an element of an array, which has no name.
type part struct {
	name, value jsontext.Value
	at          int // where the value begins
}

// in returns the path of the part in a value with a path.
func (p *part) in(path string) string {
	if p.name == nil {
		return path
	}
	name, _ := jsontext.AppendUnquote(nil, p.name) // valid, as it has been read
	if path != "" {
		path += "."
	}
	return path + string(name)
}

// partsOf returns the parts of an object or an array.
func partsOf(v jsontext.Value) (all []part) {
	d := jsontext.NewDecoder(
		bytes.NewReader(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
	)
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' && d.PeekKind() != ']' {
		var p part
		if v.Kind() == '{' {
			if p.name, err = d.ReadValue(); err != nil {
				break
			}
			p.name = p.name.Clone()
		}
		p.value, err = d.ReadValue()
		p.value, p.at = p.value.Clone(), int(d.InputOffset())-len(p.value)
		all = append(all, p)
	}
	return all
}

// join returns the object or the array with some parts.
func join(kind jsontext.Kind, parts ...part) jsontext.Value {
	out := jsontext.Value{byte(kind)}
	for i, p := range parts {
		if i > 0 {
			out = append(out, ',')
		}
		if kind == '{' {
			out = append(append(out, p.name...), ':')
		}
		out = append(out, p.value...)
	}
	if kind == '{' {
		return append(out, '}')
	}
	return append(out, ']')
}
