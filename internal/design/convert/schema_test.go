package convert_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// converted returns the model and the losses of a file.
func converted(t *testing.T, files ...convert.File) (yaml, losses string, err error) {
	t.Helper()
	m, list, err := convert.Import(t.Context(), files, convert.Options{})
	if err != nil {
		return "", "", err
	}
	var b, lost bytes.Buffer
	require.NoError(t, modelfile.Write(&b, m))
	for _, l := range list {
		lost.WriteString(l.String() + "\n")
	}
	return b.String(), lost.String(), nil
}

// TestUntyped checks that the losses list the fields without a type: JSON.stringify drops types that are functions.
func TestUntyped(t *testing.T) {
	_, losses, err := converted(t, convert.File{Name: "s.json", Data: []byte(`{"format": "onetable:1.1.0",
		"indexes": {"primary": {"hash": "pk", "sort": "sk"}},
		"models": {"A": {"pk": {"value": "a#${id}"}, "sk": {}, "id": {"type": "string"}}}}`)})
	require.NoError(t, err)
	require.Contains(t, losses, "s.json:3:19: the type of pk and sk of A: the file has none, so it is read as a string")

	// The output of the program in the hint keeps the types.
	got, _, err := converted(t, convert.File{Name: "s.json", Data: []byte(`{"format": "onetable:1.1.0",
		"indexes": {"primary": {"hash": "pk", "sort": "sk"}},
		"models": {"A": {"pk": {"type": "string", "value": "a#${id}"}, "sk": {"type": "number"}, "id": {"type": "string",
		"default": {"function": "default"}}}}}`)})
	require.NoError(t, err)
	require.Contains(t, got, "sort: {name: sk, type: N}")
}

// TestWrongSchemas checks that the losses name an unclosed reference and an unknown type.
func TestWrongSchemas(t *testing.T) {
	for model, want := range map[string]string{
		`"pk": {"type": "string", "value": "a#${id"}`:                         "the value of pk in A: ${id has no closing brace",
		`"pk": {"type": "strng", "value": "a#${id}"}`:                         "pk of A: a template makes a string, not strng",
		`"pk": {"type": "strng"}, "sk": {"type": "string", "value": "${id}"}`: "pk of A: a field must be a string, a number or a time, not strng",
	} {
		_, losses, _ := converted(t, convert.File{Name: "s.json", Data: []byte(`{"format": "onetable:1.1.0",
			"indexes": {"primary": {"hash": "pk"}}, "models": {"A": {"id": {"type": "string"}, ` + model + `}}}`)})
		require.Contains(t, losses, want)
	}
}

// TestSchemasOfOneTable checks that several files for one table become one model.
func TestSchemasOfOneTable(t *testing.T) {
	electro := func(entity, table, sk string) convert.File {
		return convert.File{Name: entity + ".json", Data: []byte(`{"model": {"entity": "` + entity + `", "version": "1", "service": "work"},` +
			table + `"attributes": {"team": {"type": "string"}, "n": {"type": "number"}, "id": {"type": "string"}},
			"indexes": {"a": {"pk": {"field": "pk", "composite": ["team"]}, "sk": ` + sk + `}}}`)}
	}
	oneTable := func(name, entity, indexes, sk string) convert.File {
		return convert.File{Name: name, Data: []byte(`{"format": "onetable:1.1.0", "indexes": {"primary": {"hash": "pk", "sort": "sk"}` + indexes + `},
			"models": {"` + entity + `": {"pk": {"type": "string", "value": "` + entity + `#${id}"}, "sk": {"type": "` + sk + `"}, "id": {"type": "string"}}}}`)}
	}
	const sk = `{"field": "sk", "composite": ["id"]}`
	table := convert.File{Name: "table.json", Data: []byte(`{"TableName": "app", "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"}],
		"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]}`)}
	for _, tt := range []struct {
		name          string
		files         []convert.File
		want, refused string // "table entities", a line each
	}{
		{"electro", []convert.File{electro("task", "", sk), electro("user", "", sk)}, "task: task user", ""},
		{"named", []convert.File{electro("task", `"table": "app",`, sk), electro("user", `"table": "app",`, sk)}, "app: task user", ""},
		{"named first", []convert.File{electro("task", `"table": "app",`, sk), electro("user", "", sk)}, "app: task user", ""},
		{"named last", []convert.File{electro("user", "", sk), electro("task", `"table": "app",`, sk)}, "app: user task", ""},
		{"two tables", []convert.File{electro("task", `"table": "one",`, sk), electro("user", `"table": "two",`, sk)}, "one: task\ntwo: user", ""},
		{"definition", []convert.File{electro("task", "", sk), electro("user", "", sk), table}, "app: task user", ""},
		{
			"another key", []convert.File{electro("task", "", sk), electro("user", "", `{"field": "range", "composite": ["id"]}`)}, "",
			"user.json:1:1: entity user has the key pk:S / range:S, but that of table task is pk:S / sk:S",
		},
		{
			"another type", []convert.File{electro("task", "", sk), electro("user", "", `{"field": "sk", "composite": ["n"], "template": "${n}"}`)}, "",
			"entity user has the key pk:S / sk:N, but that of table task is pk:S / sk:S",
		},

		{"onetable", []convert.File{oneTable("a.json", "A", "", "string"), oneTable("b.json", "B", "", "string")}, "table: A B", ""},
		{
			"another index", []convert.File{
				oneTable("a.json", "A", `, "gs1": {"hash": "x"}`, "string"), oneTable("b.json", "B", `, "gs1": {"hash": "y"}`, "string"),
			}, "", "b.json:1:1: the schema has for index gs1 the key y:S, but that of table table is x:S",
		},
		{"more indexes", []convert.File{oneTable("a.json", "A", "", "string"), oneTable("b.json", "B", `, "gs1": {"hash": "y"}`, "string")}, "table: A B", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _, err := convert.Import(t.Context(), tt.files, convert.Options{})
			if tt.refused != "" {
				require.ErrorContains(t, err, tt.refused)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, table := range m.Tables {
				line := table.Name + ":"
				for _, e := range m.Entities {
					if e.Table == table {
						line += " " + e.Name
					}
				}
				got = append(got, line)
			}
			require.Equal(t, tt.want, strings.Join(got, "\n"))
		})
	}
}
