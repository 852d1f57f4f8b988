package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/convert"
)

// TestElectroKeys tests the forms of keys in the library's documentation:
// https://electrodb.dev/en/modeling/indexes/ and /collections/.
func TestElectroKeys(t *testing.T) {
	attributes := `"attributes": {"org": {"type": "string"}, "id": {"type": "string", "label": "i"}, "n": {"type": "number"}, "at": {"type": "string", "field": "stored-at"}}`
	model := `"model": {"entity": "Tasks", "version": "1", "service": "taskapp"}`
	for _, tt := range []struct{ name, model, index, want string }{
		{
			"plain", model, `"pk": {"field": "pk", "composite": ["org"]}, "sk": {"field": "sk", "composite": ["id"]}`,
			`pk: $taskapp#org_{org}; sk: $tasks_1#i_{id}`,
		},
		{
			"no composite", model, `"pk": {"field": "pk", "composite": []}, "sk": {"field": "sk", "composite": ["org", "id"]}`,
			`pk: $taskapp; sk: $tasks_1#org_{org}#i_{id}`,
		},
		{
			"no sort key", model, `"pk": {"field": "pk", "composite": ["org"]}`,
			`pk: $taskapp$tasks_1#org_{org}`,
		},
		{
			"collection", model, `"collection": "assignments", "pk": {"field": "pk", "composite": ["org"]}, "sk": {"field": "sk", "composite": ["id"]}`,
			`pk: $taskapp#org_{org}; sk: $assignments#tasks_1#i_{id}`,
		},
		{
			"collections", model, `"collection": ["contributions", "assignments"], "pk": {"field": "pk", "composite": ["org"]}, "sk": {"field": "sk", "composite": []}`,
			`pk: $taskapp#org_{org}; sk: $contributions#assignments#tasks_1`,
		},
		{
			"clustered", model, `"type": "clustered", "collection": "assignments", "pk": {"field": "pk", "composite": ["org"]}, "sk": {"field": "sk", "composite": ["id"]}`,
			`pk: $taskapp#org_{org}; sk: $assignments#i_{id}#tasks_1`,
		},
		{
			"scope", model, `"scope": "Org", "pk": {"field": "pk", "composite": []}, "sk": {"field": "sk", "composite": ["id"]}`,
			`pk: $taskapp_org; sk: $tasks_1#i_{id}`,
		},
		{
			"casing", model, `"pk": {"field": "pk", "composite": ["org"], "casing": "upper"}, "sk": {"field": "sk", "composite": ["id"], "casing": "none"}`,
			`pk: $TASKAPP#ORG_{org}; sk: $Tasks_1#i_{id}`,
		},
		{
			"template", model, `"pk": {"field": "pk", "composite": ["org"], "template": "ORG#${org}#"}, "sk": {"field": "sk", "template": "${id}", "casing": "none"}`,
			`pk: org#{org}#; sk: {id}`,
		},
		{
			"numbers", model, `"pk": {"field": "pk", "composite": ["org"]}, "sk": {"field": "sk", "composite": ["n"], "template": "${n}"}`,
			`pk: $taskapp#org_{org}; sk: {n:number} N`,
		},
		{
			"an attribute is the key", model, `"pk": {"field": "org", "composite": ["org"]}, "sk": {"field": "n", "composite": ["n"]}`,
			`org: {org}; n: {n:number} N`,
		},
		{
			"an attribute under its field", model, `"pk": {"field": "pk", "composite": ["org"]}, "sk": {"field": "stored-at", "composite": ["at"]}`,
			`pk: $taskapp#org_{org}; stored-at: {at}`,
		},
		{
			"no version", `"model": {"entity": "Tasks", "service": "taskapp"}`, `"pk": {"field": "pk", "composite": ["org"]}, "sk": {"field": "sk", "composite": ["id"]}`,
			`pk: $taskapp#org_{org}; sk: $tasks_1#i_{id}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schema := "{" + tt.model + ", " + attributes + `, "indexes": {"main": {` + tt.index + "}}}"
			m, losses, err := convert.Import(t.Context(), []convert.File{{Name: "tasks.json", Data: []byte(schema)}}, convert.Options{})
			require.NoError(t, err)
			require.Len(t, m.Entities, 1, "%v", losses)
			var got []string
			for _, a := range m.Tables[0].Keys() {
				e := m.Entities[0]
				text := fmt.Sprintf("%s: %s", a.Name, e.Attribute(a.Name).Template)
				if s := a.Kind.String(); s != "S" {
					text += " " + s
				}
				got = append(got, text)
			}
			require.Equal(t, tt.want, strings.Join(got, "; "))
		})
	}
}

// TestElectroFields checks that an attribute appears only once, under its stored name.
func TestElectroFields(t *testing.T) {
	schema := `{"model": {"entity": "a", "service": "s"}, "attributes": {"id": {"type": "string"}, "note": {"type": "string", "field": "n"}, "at": {"type": "string", "field": "t"}},
		"indexes": {"main": {"pk": {"field": "pk", "composite": ["id"]}, "sk": {"field": "sk", "composite": ["at"]}}}}`
	m, _, err := convert.Import(t.Context(), []convert.File{{Name: "a.json", Data: []byte(schema)}}, convert.Options{})
	require.NoError(t, err)
	var got []string
	for _, a := range m.Entities[0].Attributes {
		if a.Template != nil {
			got = append(got, a.Name+": "+a.Template.String())
		}
	}
	require.ElementsMatch(t, []string{"pk: $s#id_{id}", "sk: $a_1#at_{at}", "id: {id}", "n: {note}", "t: {at}"}, got)
}

// TestOneTableNames checks that the type field in a value becomes the name of the model, and that a mapped attribute
// has only its mapped name.
func TestOneTableNames(t *testing.T) {
	schema := `{"format": "onetable:1.1.0", "version": "1", "indexes": {"primary": {"hash": "pk", "sort": "sk"}}, "params": {"typeField": "kind"}, "models": {
		"User": {"pk": {"value": "${kind}#${id}"}, "sk": {"value": "at#${n:6:0}"}, "id": {"type": "string", "map": "i"}, "n": {"type": "number"}}}}`
	m, _, err := convert.Import(t.Context(), []convert.File{{Name: "a.json", Data: []byte(schema)}}, convert.Options{})
	require.NoError(t, err)
	var got []string
	for _, a := range m.Entities[0].Attributes {
		if a.Template != nil {
			got = append(got, a.Name+": "+a.Template.String())
		}
	}
	require.ElementsMatch(t, []string{"pk: User#{id}", "sk: at#{n:int(6)}", "i: {id}", "n: {n:number}"}, got)
}
