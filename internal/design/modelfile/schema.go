package modelfile

import "maps"

// A schema is a JSON Schema.
type schema map[string]any

// A definition is a schema that others refer to by name.
type definition struct {
	name   string
	schema schema
}

// define returns a reference to a schema with a name.
func define(name string, s schema) schema { return schema{"$ref": &definition{name, s}} }

// MarshalText returns what refers to the definition.
func (d *definition) MarshalText() ([]byte, error) { return []byte("#/$defs/" + d.name), nil }

// with returns the schema with another keyword.
func (s schema) with(keyword string, value any) schema {
	s = maps.Clone(s)
	s[keyword] = value
	return s
}

// anyOf returns the schema of what one of the list accepts.
func anyOf(list ...schema) schema { return schema{"anyOf": list} }

// arrayOf returns the schema of a list of elements, and of none but a list.
func arrayOf(element schema) schema { return schema{"type": "array", "items": element} }

// oneOf returns the schemas of objects that have one of the members.
func oneOf(names ...string) (all []schema) {
	for _, name := range names {
		all = append(all, schema{"required": []string{name}})
	}
	return all
}

// definitions adds the definitions that the schema refers to, directly or not.
func (s schema) definitions(all map[string]schema) {
	for _, v := range s {
		switch v := v.(type) {
		case schema:
			v.definitions(all)
		case []schema:
			for _, e := range v {
				e.definitions(all)
			}
		case *definition:
			all[v.name] = v.schema
			v.schema.definitions(all)
		}
	}
}
