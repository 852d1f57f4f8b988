package keys

import (
	"maps"
	"strconv"
	"strings"
)

// Match returns the values in a key, in canonical text form and by component. It returns false if the key is not one
// that [Template.Build] can build. Use Match to find the template of a key; [Template.Values] says why a key does not
// match.
func (t *Template) Match(key string) (map[string]string, bool) {
	values, failed, err := t.read(key)
	if failed || err != nil {
		return nil, false
	}
	return maps.Collect(t.pairs(values)), true
}

// Values returns the values in a key, in canonical text form and in the order of the components. Use it for a key
// that should match the template: if the key does not match, the [*Error] says at which component. [Template.Scan]
// stores Go values.
func (t *Template) Values(key string) ([]string, error) {
	values, failed, err := t.read(key)
	if err != nil {
		return nil, err
	}
	if failed {
		return nil, t.mismatch(key)
	}
	return values, nil
}

// read returns the values in a key. If the key does not split into the parts of the template, read returns failed
// without an error. Most such keys belong to another template, so read then does not build an error.
func (t *Template) read(key string) (values []string, failed bool, err error) {
	rest := key
	for i, p := range t.parts {
		part, after, ok := t.cut(i, rest)
		if !ok {
			return nil, true, nil
		}
		rest = after
		if p.Name == "" {
			continue
		}
		v, err := p.Type.Decode(part)
		if err != nil {
			return nil, false, in(err, t.src, p.Name)
		}
		if values == nil {
			values = make([]string, 0, len(t.names))
		}
		values = append(values, v)
	}
	return values, rest != "", nil
}

// mismatch returns the error for a key that does not split into the parts of the template. It says where.
func (t *Template) mismatch(key string) *Error {
	e := &Error{Template: t.src, Value: key, Advice: "check that the key belongs to this template"}
	rest := key
	for i, p := range t.parts {
		_, after, ok := t.cut(i, rest)
		if !ok {
			e.Component = p.Name
			e.Msg = "the key " + clip(key) + " ends before " + p.Name
			switch {
			case p.Name == "":
				e.Msg = "the key " + clip(key) + " does not have " + clip(p.Literal) + " at byte " + strconv.Itoa(
					len(key)-len(rest),
				)
			case t.codes[i].delimited && rest != "":
				e.Msg = "the key " + clip(key) + " does not have " + clip(t.parts[i+1].Literal) + " after " + p.Name
			}
			return e
		}
		rest = after
	}

	e.Msg = "the key " + clip(key) + " continues at byte " + strconv.Itoa(len(key)-len(rest)) +
		", after the end of the template"
	return e
}

// pairs yields the name and the value of each component.
func (t *Template) pairs(values []string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for i, v := range values {
			if !yield(t.names[i], v) {
				return
			}
		}
	}
}

// cut cuts the part for t.parts[i] off the front of a key. The literal after a
// component stays in the rest.
func (t *Template) cut(i int, key string) (part, rest string, ok bool) {
	p := t.parts[i]
	if p.Name == "" {
		rest, ok = strings.CutPrefix(key, p.Literal)
		return p.Literal, rest, ok
	}
	n := len(key)
	if width, fixed := p.Type.Fixed(); fixed {
		n = width
	} else if i+1 < len(t.parts) {
		literal := t.parts[i+1].Literal
		n = strings.Index(key, literal)
		if p.Type.Name == "path" {
			n = len(key) - len(literal)
		}
	}
	if n < 0 || n > len(key) || n == 0 && len(t.parts) > 1 {
		return "", "", false
	}
	return key[:n], key[n:], true
}
