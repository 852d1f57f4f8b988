package explain

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/wire"
)

// A shaper corrects values in a request that have other JSON types than its operation
// wants, such as a Limit of "5" or an attribute value that is plain JSON.
type shaper struct {
	body    []byte
	changes []string // what values must be, and where they are
	lost    []string // values for which nothing else is known, and where they are
}

// reshape returns the request that a text stands for although the service refuses it,
// because it does not have the shape of the operation, and what is wrong with the text.
// Whole is false if a part of the text is left out.
func reshape(op string, body []byte) (in wire.Request, broken *rule, whole bool) {
	s := &shaper{body: body}
	decodes := func(v jsontext.Value) bool {
		decoded, err := wire.DecodeRequest(op, v)
		if err == nil {
			in = decoded
		}
		return err == nil
	}
	if fixed := s.correct(body, 0, "", decodes); fixed == nil || !decodes(fixed) {
		in = nil
	}

	switch {
	case len(s.lost) > 0:
		broken = ruleOf(plainRule, pageTypes, "wrong JSON type: %s", strings.Join(s.lost, "; "))
	case len(s.changes) > 0:
		broken = ruleOf(plainRule, pageTypes, "wrong JSON type: %s", strings.Join(s.changes, "; "))
	}
	return in, broken, in != nil && len(s.lost) == 0
}

// correct returns a value of the body as the service accepts it, without the parts that
// it cannot correct, or nil. At is where the value begins.
func (s *shaper) correct(
	v jsontext.Value, at int, path string, accepted func(jsontext.Value) bool,
) jsontext.Value {
	if accepted(v) {
		return v
	}
	wrong := fmt.Sprintf("%s (%s)", terminal.Clip(string(v), excerpt), terminal.Place(string(s.body), at))
	for _, other := range spellings(v) {
		if accepted(other) {
			must := fmt.Sprintf("%s must be %s, not ", path, terminal.Clip(string(other), excerpt))
			s.changes = append(s.changes, must+wrong)
			return other
		}
	}

	kind := v.Kind()
	if kind != '{' && kind != '[' || !accepted(join(kind)) {
		s.lost = append(s.lost, path+" cannot be "+wrong)
		return nil
	}
	var kept []part
	for _, p := range partsOf(v) {
		alone := func(v jsontext.Value) bool { return accepted(join(kind, part{name: p.name, value: v})) }
		if p.value = s.correct(p.value, at+p.at, p.in(path), alone); p.value != nil {
			kept = append(kept, p)
		}
	}
	return join(kind, kept...)
}

// excerpt is how much of a value a rule shows, in columns.
const excerpt = 60

// spellings returns what a value may stand for: a number or a boolean that is written as
// text, or the other way round, and a plain value that needs its DynamoDB type.
func spellings(v jsontext.Value) []jsontext.Value {
	quoted := jsontext.Value(strconv.Quote(string(v)))
	typed := func(kind string, v jsontext.Value) jsontext.Value {
		return jsontext.Value(`{"` + kind + `":` + string(v) + `}`)
	}
	switch v.Kind() {
	case '"':
		all := []jsontext.Value{typed("S", v)}
		if plain, err := jsontext.AppendUnquote(nil, v); err == nil && jsontext.Value(plain).IsValid() {
			all = append([]jsontext.Value{plain}, all...)
		}
		return all
	case '0':
		return []jsontext.Value{quoted, typed("N", quoted)}
	case 't', 'f':
		return []jsontext.Value{quoted, typed("BOOL", v)}
	}
	return nil
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
