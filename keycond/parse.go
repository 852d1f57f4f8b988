package keycond

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// ParseSchema returns the key of a table as people write it: the partition key and, after a slash, the sort key, such
// as "customer / order". An attribute is a string unless a type, S, N or B, follows its name, as in "sensor /
// second:N". Put a name in backquotes if it contains a slash, comma, colon or backquote, or begins or ends with a
// space; in a quoted name, write a backquote twice.
func ParseSchema(key string) (*Schema, error) {
	partition, sort, err := parseTyped(key)
	switch {
	case err != nil:
		return nil, err
	case len(partition) != 1 || len(sort) > 1:
		return nil, fmt.Errorf("the key %q of a table has more than one attribute on a side of the slash", key)
	}
	return NewSchema(partition, sort), nil
}

// Index returns the key of an index of the table whose key is s, written as for [ParseSchema]. An index can have
// several attributes on each side: "country, state / city, street". Messages contain the name of the index.
// [Schema.Place] of the result says where the index row of an item is stored.
func (s *Schema) Index(name, key string) (*Schema, error) {
	partition, sort, err := parseTyped(key)
	switch {
	case err != nil:
		return nil, err
	case len(partition) > MaxAttributes || len(sort) > MaxAttributes:
		return nil, fmt.Errorf("the key %q has more than %d attributes on a side of the slash", key, MaxAttributes)
	}
	for _, a := range slices.Concat(partition, sort) {
		other := func(b Attribute) bool { return b.Name == a.Name && b.Kind != a.Kind }
		if i := slices.IndexFunc(s.attributes, other); i >= 0 {
			return nil, fmt.Errorf("the key %q has %s of type %s, and the key of the table has it of type %s",
				key, text.Name(a.Name), a.Kind, s.attributes[i].Kind)
		}
	}
	return s.NewIndex(name, partition, sort), nil
}

// parseTyped is [ParseKey], except that attributes without a type are strings.
func parseTyped(key string) (partition, sort []Attribute, err error) {
	partition, sort, err = ParseKey(key)
	all := slices.Concat(partition, sort)
	for i, a := range all {
		if slices.ContainsFunc(all[:i], func(b Attribute) bool { return b.Name == a.Name }) {
			return nil, nil, fmt.Errorf("the key %q has %s twice", key, text.Name(a.Name))
		}
	}
	for _, list := range [][]Attribute{partition, sort} {
		for i := range list {
			if list[i].Kind == 0 {
				list[i].Kind = attr.String
			}
		}
	}
	return partition, sort, err
}

// ParseKey returns the attributes of a key as [ParseSchema] reads it, for programs that take the types from elsewhere:
// the kind of an attribute without a type is 0.
func ParseKey(key string) (partition, sort []Attribute, err error) {
	list := &partition
	for rest := key; ; {
		a, after, ok := cutAttribute(rest)
		if !ok {
			return nil, nil, wrongKey(key)
		}
		*list = append(*list, a)
		if after == "" {
			return partition, sort, nil
		}
		if after[0] == '/' {
			if list == &sort {
				return nil, nil, wrongKey(key)
			}
			list = &sort
		}
		rest = after[1:]
	}
}

func wrongKey(key string) error {
	return fmt.Errorf("%q is not a key such as \"customer / order\" or \"sensor / second:N\"", key)
}

// cutAttribute returns the first attribute of a key and the text after it, which is empty or begins with a slash or a
// comma.
func cutAttribute(s string) (a Attribute, after string, ok bool) {
	s = strings.TrimSpace(s)
	if quoted, is := strings.CutPrefix(s, "`"); is {
		for {
			part, rest, closed := strings.Cut(quoted, "`")
			if !closed {
				return a, "", false
			}
			a.Name += part
			if quoted, is = strings.CutPrefix(rest, "`"); !is {
				s = rest
				break
			}
			a.Name += "`"
		}
	} else {
		end := strings.IndexAny(s, "/,:`")
		if end < 0 {
			end = len(s)
		}
		a.Name, s = strings.TrimSpace(s[:end]), s[end:]
	}

	end := strings.IndexAny(s, "/,")
	if end < 0 {
		end = len(s)
	}
	typ := strings.TrimSpace(s[:end])
	kind, typed := strings.CutPrefix(typ, ":")
	if typed {
		a.Kind, _ = attr.ParseKind(strings.TrimSpace(kind))
	}
	ok = a.Name != "" && (typ == "" || a.Kind.IsScalar())
	return a, s[end:], ok
}

// String returns the key as [ParseSchema] reads it: "customer / order:N". For a key without a partition key, as
// people write it for a local index, it returns the sort key alone.
func (s *Schema) String() string {
	var parts []string
	for _, list := range [][]Attribute{s.partition, s.sort} {
		if len(list) > 0 {
			parts = append(parts, listText(list))
		}
	}
	return strings.Join(parts, " / ")
}

func listText(attributes []Attribute) string {
	parts := make([]string, len(attributes))
	for i, a := range attributes {
		parts[i] = a.Name
		if !isPlain(a.Name) {
			parts[i] = "`" + strings.ReplaceAll(a.Name, "`", "``") + "`"
		}
		if a.Kind != attr.String {
			parts[i] += ":" + a.Kind.String()
		}
	}
	return strings.Join(parts, ", ")
}

// isPlain reports whether a name needs no backquotes.
func isPlain(name string) bool {
	return name != "" && !strings.ContainsAny(name, "/,:`") && strings.TrimSpace(name) == name
}
