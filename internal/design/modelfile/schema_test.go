package modelfile

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSchemaMembers checks that the schema has exactly the members of the objects.
func TestSchemaMembers(t *testing.T) {
	type definition struct {
		Properties map[string]json.RawMessage
		AnyOf      []definition
	}
	var root struct {
		definition
		Defs map[string]definition `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema(), &root))
	root.Defs["model"] = root.definition

	objects := map[string][]member{
		"model": modelObject.members, "table": tableObject.members, "key": keyObject.members, "index": indexObject.members,
		"field": fieldObject.members, "entity": entityObject.members, "per": perObject.members, "rates": ratesObject.members,
		"attribute": attributeObject.members, "pattern": patternObject.members, "expect": expectObject.members,
		"allowance": allowanceObject.members, "query": queryObject.members, "get": getObject.members, "scan": scanObject.members,
	}
	for _, verb := range []string{"put", "update", "delete"} {
		objects[verb] = writeObject(verb).members
	}
	for name, d := range root.Defs {
		for _, inner := range d.AnyOf {
			if inner.Properties != nil {
				d = inner
			}
		}
		if d.Properties == nil {
			continue // of texts and values
		}
		var have, want []string
		for member := range d.Properties {
			have = append(have, member)
		}
		for _, m := range objects[name] {
			want = append(want, m.name)
		}
		slices.Sort(have)
		slices.Sort(want)
		require.Equal(t, want, have, name)
		delete(objects, name)
	}
	require.Empty(t, objects)
}
