package convert

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// An electroSchema makes the keys of one ElectroDB entity. Their forms are
// those of https://electrodb.dev/en/modeling/indexes/ and /collections/, and of
// what the library writes (_makeKeyFixings and _makeKey of its src/entity.js):
//
//	pk   $service[_scope]#label_value…
//	sk   $entity_version#label_value…
//	     $collection#subcollection#entity_version#label_value…   in collections
//	     $collection#label_value…#entity_version                 when clustered
//
// A key without a sort key beside it has the beginning of the sort key in it
// too. Models of before version 1, whose names are not under model, have the
// version in pk: $service_version and $entity. A template, and a key that is an
// attribute of the entity, have none of that. All of it is in lower case unless
// casing says otherwise, values too.
type electroSchema struct {
	n                        *node
	service, entity, version string
	old                      bool // of before version 1
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

// electroAttribute returns the attribute of the schema that is stored under a name.
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

// composites are the attributes in a key, in order.
func composites(key *node) (names []string) {
	for _, m := range key.either("composite", "facets").elems() {
		names = append(names, m.text)
	}
	if names == nil && key.get("template").isText() {
		for _, m := range reference.FindAllStringSubmatch(key.get("template").text, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// electroKind is the type of a key attribute. A key is a number when it is one
// attribute of that type and nothing else, or when cast says so.
func electroKind(n, key *node) attr.Kind {
	list := composites(key)
	if len(list) != 1 || key.str("cast") == "string" {
		return attr.String
	}
	if key.str("cast") == "number" {
		return attr.Number
	}
	bare := key.str("template") == "${"+list[0]+"}" || electroAttribute(n, key.str("field")) != nil && !key.get("template").isText()
	if bare && n.get("attributes").get(list[0]).str("type") == "number" {
		return attr.Number
	}
	return attr.String
}

// casingOf is none, lower or upper.
func casingOf(key *node) string {
	switch c := key.str("casing"); c {
	case "none", "upper":
		return c
	}
	return "lower"
}

// fixings are what stands before and behind the values of a key.
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

// template writes the template of a key.
func (s electroSchema) template(x *node, part string, d *declared) (string, error) {
	key := x.get(part)
	if key.str("field") == "" {
		return "", plainError("it names no field")
	}
	if t := key.either("composite", "facets"); t.isText() {
		return "", plainError("it is a string in the form of before version 1; write it as template: with ${…}")
	}
	casing := casingOf(key)
	text := func(s string) string {
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
			return "", fmt.Errorf("%q is no attribute with a type that keys can have", clip(name))
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
		for _, m := range reference.FindAllStringSubmatchIndex(t.text, -1) {
			c, err := component(t.text[m[2]:m[3]])
			if err != nil {
				return "", err
			}
			b.WriteString(text(t.text[at:m[0]]) + c)
			at = m[1]
		}
		b.WriteString(text(t.text[at:]))
		return b.String(), nil
	}
	if len(list) == 1 && electroAttribute(s.n, key.str("field")) != nil {
		return component(list[0])
	}
	prefix, postfix := s.fixings(x, part)
	b.WriteString(text(prefix))
	for _, name := range list {
		c, err := component(name)
		if err != nil {
			return "", err
		}
		label := s.n.get("attributes").get(name).str("label")
		if label == "" {
			label = name
		}
		b.WriteString(text("#"+label+"_") + c)
	}
	b.WriteString(text(postfix))
	return b.String(), nil
}
