package convert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// An electroSchema derives the keys of an ElectroDB entity. Their forms are
// documented at https://electrodb.dev/en/modeling/indexes/ and /collections/,
// and implemented by _makeKeyFixings and _makeKey in the library's
// src/entity.js:
//
//	pk   $service[_scope]#label_value…
//	sk   $entity_version#label_value…
//	     $collection#subcollection#entity_version#label_value…   in collections
//	     $collection#label_value…#entity_version                 when clustered
//
// A partition key without a sort key also contains the start of the sort key.
// Models before version 1, whose names are not under model, have the version in
// pk: $service_version and $entity. Templates, and keys that are attributes of
// the entity, have no such prefixes. Keys with their values are in lower case
// unless casing says otherwise.
type electroSchema struct {
	n                        *node
	service, entity, version string
	old                      bool // before version 1
}

func newElectroSchema(n *node) electroSchema {
	s := electroSchema{n: n}
	model := n.get("model")
	if !model.isObject() {
		model, s.old = n, true
	}
	s.service, s.entity, s.version = model.str("service"), model.str("entity"), model.str("version")
	if v := model.get("version").numeral(); v != "" {
		s.version = v
	}
	if s.version == "" {
		s.version = "1"
	}
	return s
}

// electroAttribute returns the attribute that is stored under a name, or nil.
func electroAttribute(n *node, name string) *node {
	if name == "" {
		return nil
	}
	for _, a := range n.get("attributes").members() {
		if f := a.str("field"); f == name || f == "" && a.key == name {
			return a
		}
	}
	return nil
}

// composites returns the attributes in a key, in order.
func composites(key *node) (names []string) {
	for _, m := range key.either("composite", "facets").elems() {
		names = append(names, m.text)
	}
	if names == nil && key.get("template").isText() {
		for _, m := range reference().FindAllStringSubmatch(key.get("template").text, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// electroKind returns the type of a key attribute. A key is a number if it is
// only an attribute of that type, or if cast says so.
func electroKind(n, key *node) attr.Kind {
	list := composites(key)
	if len(list) != 1 || key.str("cast") == "string" {
		return attr.String
	}
	if key.str("cast") == "number" {
		return attr.Number
	}
	bare := key.str("template") == "${"+list[0]+"}" ||
		electroAttribute(n, key.str("field")) != nil && !key.get("template").isText()
	if bare && n.get("attributes").get(list[0]).str("type") == "number" {
		return attr.Number
	}
	return attr.String
}

// casingOf returns none, lower or upper.
func casingOf(key *node) string {
	switch c := key.str("casing"); c {
	case "none", "upper":
		return c
	}
	return "lower"
}

// fixings returns the text before and after the values of a key.
func (s electroSchema) fixings(x *node, part string) (prefix, postfix string) {
	pk, sk := "$"+s.service, ""
	own := "$" + s.entity
	var collections []string
	if c := x.get("collection"); c.isText() && c.text != "" {
		collections = []string{c.text}
	} else {
		for _, m := range c.elems() {
			collections = append(collections, m.text)
		}
	}
	if len(collections) > 0 {
		sk, own = "$"+strings.Join(collections, "#"), "#"+s.entity
	}
	if s.old {
		pk += "_" + s.version
	} else {
		own += "_" + s.version
	}

	if scope := x.str("scope"); scope != "" {
		pk += "_" + scope
	}
	if x.str("type") == "clustered" {
		postfix = own
	} else {
		sk += own
	}

	switch {
	case part == "sk":
		return sk, postfix
	case !x.get("sk").isObject():
		return pk + sk + postfix, ""
	}
	return pk, ""
}

// template returns the template of a key.
func (s electroSchema) template(x *node, part string, d *declared) (string, error) {
	key := x.get(part)
	if key.str("field") == "" {
		return "", errors.New("it has no field")
	}
	if t := key.either("composite", "facets"); t.isText() {
		return "", errors.New("it has the string form used before version 1; write it as template: with ${…}")
	}

	casing := casingOf(key)
	literalText := func(s string) string {
		switch casing {
		case "lower":
			s = strings.ToLower(s)
		case "upper":
			s = strings.ToUpper(s)
		}
		return braces.Replace(s)
	}

	component := func(name string) (string, error) {
		if d.fields[name] == nil {
			return "", fmt.Errorf("%q is not an attribute with a key type", clip(name))
		}
		return "{" + name + "}", nil
	}

	list := composites(key)
	if electroKind(s.n, key) == attr.Number {
		return component(list[0])
	}
	var b strings.Builder
	if t := key.get("template"); t.isText() {
		at := 0
		for _, m := range reference().FindAllStringSubmatchIndex(t.text, -1) {
			c, err := component(t.text[m[2]:m[3]])
			if err != nil {
				return "", err
			}
			b.WriteString(literalText(t.text[at:m[0]]) + c)
			at = m[1]
		}
		b.WriteString(literalText(t.text[at:]))
		return b.String(), nil
	}

	if len(list) == 1 && electroAttribute(s.n, key.str("field")) != nil {
		return component(list[0])
	}
	prefix, postfix := s.fixings(x, part)
	b.WriteString(literalText(prefix))
	for _, name := range list {
		c, err := component(name)
		if err != nil {
			return "", err
		}
		label := s.n.get("attributes").get(name).str("label")
		if label == "" {
			label = name
		}
		b.WriteString(literalText("#"+label+"_") + c)
	}

	b.WriteString(literalText(postfix))
	return b.String(), nil
}
