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

const (
	oneTableJSON = `{"format": "onetable:1.1.0", "indexes": {"primary": {"hash": "pk", "sort": "sk"}},
		"models": {"User": {"pk": {"type": "string", "value": "user#${id}"}, "sk": {"type": "number"},
		"id": {"type": "string"}, "state": {"type": "string", "enum": ["on", "off"]}, "born": {"type": "date"}}}}`
	electroJSON = `{"model": {"entity": "task", "version": "1", "service": "work"}, "table": "app",
		"attributes": {"team": {"type": "string"}, "n": {"type": "number"}, "task": {"type": "string"}},
		"indexes": {"tasks": {"pk": {"field": "pk", "composite": ["team"]}, "sk": {"field": "sk", "composite": ["task"]}}}}`
)

// TestScript reads schemas in the forms in which programs have them.
func TestScript(t *testing.T) {
	for _, tt := range []struct{ name, same, script string }{
		{"json", oneTableJSON, "export default " + oneTableJSON},
		{"onetable", oneTableJSON, `
			// The schema of the table.
			import {Table, type OneSchema} from 'dynamodb-onetable'
			const client = new DynamoDBClient({region: process.env.REGION ?? 'x'})
			/* {not: this} */
			export type Options = { a: string; b?: number }
			interface Other<T> { x: T }
			export const Schema = {
				format: 'onetable:1.1.0',
				indexes: { primary: { hash: 'pk', sort: "sk" }, },
				models: {
					User: {
						pk: { type: String, value: 'user#${id}' },
						sk: { type: Number },
						id: { type: String, },
						state: { type: String, enum: ['on', 'off'] },
						born: { type: Date },
					},
				} as const,
			} satisfies OneSchema;
			export type User = Entity<typeof Schema.models.User>`},
		{"constants", oneTableJSON, `
			const format = 'onetable:1.1.0'
			const states = ['on', 'off'] as const
			const User = {
				pk: {type: String, value: 'user#\u0024{id}'}, sk: {type: Number}, id: {type: String},
				state: {type: 'string', enum: states}, born: {'type': Date},
			}
			module.exports = {format, indexes: {primary: {hash: ` + "`pk`" + `, sort: 'sk'}}, models: {User}}`},
		{"same names", oneTableJSON, `
			let format = 'onetable:1.1.0'
			const states = ['on', 'off']
			function other(a) { let states; states = a; if (format === a || format <= a) { a.format = states } }
			export const Schema = ` + strings.Replace(
			strings.Replace(oneTableJSON, `["on", "off"]`, "states", 1), `"format": "onetable:1.1.0"`, "format", 1)},
		{"table", oneTableJSON, `const table = new Table({name: 'app', client, partial: true, schema: ` + oneTableJSON + ` as any})`},
		{"cast", oneTableJSON, `export default <const>` + oneTableJSON},

		{"electro", electroJSON, `
			import { Entity, EntityItem } from "electrodb";
			const table = "app";
			export const Task = new Entity(
				{
					model: { entity: "task", version: "1", service: "work" },
					attributes: { team: { type: "string" }, n: { type: "number" as const }, task: { type: "string" } },
					indexes: { tasks: { pk: { field: "pk", composite: ["team"] as const }, sk: { field: "sk", composite: ["task"] } } },
				} as const,
				{ client: new DynamoDBClient({}), table },
			);
			export type TaskItem = EntityItem<typeof Task>;
			export async function find(team: string) { return Task.query.tasks({ team }).go({ pages: 'all' }) }`},
		{"electro schema", electroJSON, `
			const schema = createSchema(` + electroJSON + `)
			export const Task = new Entity<string, Map<string, number>>(schema, {client, table: 'app'})`},
		{"electro by name", electroJSON, `
			const schema: Schema<any> = ` + strings.Replace(electroJSON, `"table": "app",`, "", 1) + `
			export const Task = new Entity(schema, {table: 'app'})`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, _, err := converted(t, convert.File{Name: "a/shop.json", Data: []byte(tt.same)})
			require.NoError(t, err)
			for _, name := range []string{"a/shop.ts", "a/shop.mjs"} {
				got, losses, err := converted(t, convert.File{Name: name, Data: []byte(tt.script)})
				require.NoError(t, err)
				require.Equal(t, want, got)
				require.NotContains(t, losses, "type")
			}
		})
	}
}

// TestScriptSlashes: a slash that is misread must not hide the entities after it.
func TestScriptSlashes(t *testing.T) {
	want, _, err := converted(t, convert.File{Name: "s.ts", Data: []byte("export default " + electroJSON)})
	require.NoError(t, err)
	for _, code := range []string{
		"if (a) /[`]/.test(b)", "while (f(a)) /`/.test(b)", "for (;;) /`/.test(b)",
		"const half = n++ /2, s = '/`'", "const half = n-- /2, s = '/`'", "const half = (a + b) /2, s = '/`'",
		"if (a) { b() }\n/`/.test(b)", "const half = {} /2, s = '/`'", "else /`/.test(b)", "x = a ? /`/ : b / 2",
		"x = `a${/[`}]/.test(b)}` + `${`b${\"}\"}`}c`", "x = `a${b /* ` */}`", "x = <b>a</b>", "x = `a${{b: {}}}`",
	} {
		got, _, err := converted(t, convert.File{Name: "s.ts", Data: []byte(code + "\nexport const Task = new Entity(" + electroJSON + ")")})
		require.NoError(t, err, code)
		require.Equal(t, want, got, code)
	}
}

// TestScriptFunctions: functions that change no key are losses.
func TestScriptFunctions(t *testing.T) {
	_, losses, err := converted(t, convert.File{Name: "s.ts", Data: []byte(`export default {
		format: 'onetable:1.1.0', indexes: {primary: {hash: 'pk', sort: 'sk'}},
		models: {User: {
			pk: {type: String, value: 'user#${id}'},
			sk: {type: String, value: 'user#'},
			full: {type: String, value: (name: string, context: {x: number}, p): string => { return /[{]/.test("}") ? "a" : p }},
			id: {type: String, validate: /^[a-z,"]{3}$/i, default: () => ulid(), },
			mail: {type: String, validate: isMail, default() { return '' }, get: async (x) => x, crypt: options.crypt},
		}}}`)})
	require.NoError(t, err)
	for _, want := range []string{
		"the value of full in User: it is a function of the program", "id (validate)", "id (default)", "mail (validate)",
		"mail (default)", "mail (crypt)",
	} {
		require.Contains(t, losses, want)
	}
}

// TestScriptSkipped notes the entities, and the tables of entities, that are not written out.
func TestScriptSkipped(t *testing.T) {
	unnamed := strings.Replace(electroJSON, `"table": "app",`, "", 1)
	for _, tt := range []struct{ code, want string }{
		{"function make(client) { return new Entity(" + electroJSON + ", {client}) }", "this Entity: its schema is not written out at the top"},
		{"const make = (client) => { return new electrodb.Entity<a>({}) }", "s.ts:4:49: this Entity: "},
		{"class A { b = new Service({c: new Entity(d)}) }", "s.ts:4:35: this Entity: "},
		{"const c = new Service({c: new Entity(d)})", "s.ts:4:31: this Entity: "},
		{"const c = new Entity(imported, {client})", "s.ts:4:15: this Entity: "},
		{"const c = new Entity({...common, model: {}})", "s.ts:4:15: this Entity: "},
		{"const c = new Entity(" + unnamed + ", {table: process.env.TABLE, client})", "s.ts:6:128: the table of the entity: process.env.TABLE is computed"},
		{"const c = new Entity(" + unnamed + ", options)", "the table of the entity: options is computed"},
		{"const c = new Entity(" + unnamed + ", {client})", ""},
		{"const c = new Entity(" + electroJSON + ", {table: process.env.TABLE})", ""},
		{"// new Entity(a)\nclass Entity {}\nfunction f(a: Entity) { return Entity.name }", ""},
	} {
		_, losses, err := converted(t, convert.File{Name: "s.ts", Data: []byte(
			"const a = new Entity(" + strings.ReplaceAll(electroJSON, "task", "other") + ")\n" + tt.code,
		)})
		require.NoError(t, err, tt.code)
		if tt.want == "" {
			require.NotContains(t, losses, "ntity: ", tt.code)
			continue
		}
		require.Contains(t, losses, tt.want, tt.code)
		require.Equal(t, 1, strings.Count(losses, "ntity: "), losses)
	}
}

// TestScriptRefused refuses what is not written out, with its place.
func TestScriptRefused(t *testing.T) {
	const head, end = "export default {\n format: 'onetable:1.1.0', indexes: {primary: {hash: 'pk', sort: 'sk'}},\n models: {User: {", "}}}"
	for _, tt := range []struct{ name, script, want string }{
		{"spread", head + "...Base" + end, "s.ts:3:18: ...Base is computed, and the file is not run"},
		{"computed key", head + "[name]: {type: String}" + end, "s.ts:3:18: [name]: {type: String} is computed, and the file is not run"},
		{"call", head + "pk: {type: String, value: key('user', '${id}')}" + end, "s.ts:3:44: key('user', '${id}') is computed, and the file is not run"},
		{"sum", head + "pk: {type: String, value: 'user#' + id}" + end, "s.ts:3:44: 'user#' + id is computed, and the file is not run"},
		{"template", head + "pk: {type: String, value: `user#${id}`}" + end, "s.ts:3:44: `user#${id}` is computed, and the file is not run"},
		{"member", head + "pk: {type: Types.String}" + end, "s.ts:3:29: Types.String is computed, and the file is not run"},
		{"name", head + "pk: Key" + end, "s.ts:3:22: Key is not a constant of this file, and the file is not run"},
		{"variable that goes on", "const Key = {type: String}.x\n" + head + "pk: Key" + end, "Key is not a constant of this file"},
		{"let", "let Key = {type: String}\nKey = {type: Number}\n" + head + "pk: Key" + end, "s.ts:5:22: Key is assigned again, and"},
		{"var", "var Key = {type: String}\nif (x) { Key = {type: Number} }\n" + head + "pk: Key" + end, "s.ts:5:22: Key is assigned again, and"},
		{"sum assigned", "let key = 'a'\nkey += 'b'\n" + head + "pk: {type: String, value: key}" + end, "s.ts:5:44: key is assigned again, and"},
		{"member assigned", "const Key = {type: String}\nKey.type = Number\n" + head + "pk: Key" + end, "s.ts:5:22: Key is assigned again, and"},
		{"element assigned", "const Key = {type: String}\nKey['type'] = Number\n" + head + "pk: Key" + end, "s.ts:5:22: Key is assigned again, and"},
		{"cycle", "const A = {b: B}\nconst B = {a: A}\n" + head + "pk: A" + end, " is not a constant of this file"},
		{"what makes it a schema", "export const e = new Entity({\n...common, attributes: {}})", "s.ts:2:1: ...common is computed"},
		{"nothing", "export const x = {a: 1}", "s.ts: the file has no schema of OneTable or ElectroDB that is written out"},
		{"built", "export default build()", "s.ts: the file has no schema of OneTable or ElectroDB that is written out"},
		{"open template", "export default " + oneTableJSON + ";\nx = `${`a`} b", "s.ts:4:5: a template literal begins here that does not end"},
		{"open comment", "export default " + oneTableJSON + ";\n/* b", "s.ts:4:1: a comment begins here that does not end"},
		{"empty", "", "s.ts: the file has no schema of OneTable or ElectroDB that is written out"},
		{"deep", head + "pk: " + strings.Repeat("[", 200) + end, "or nests more than 100 deep"},
		{"wide", "const a = [1,1,1,1,1,1,1,1,1,1]\n" + doubled(8) + head + "pk: a8" + end, "the file has more than 2000000 values"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := converted(t, convert.File{Name: "s.ts", Data: []byte(tt.script)})
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// doubled declares constants, each of ten times the one before.
func doubled(n int) string {
	var b strings.Builder
	b.WriteString("const a0 = a\n")
	before := "a"
	for i := range n {
		name := "a" + string(rune('1'+i))
		b.WriteString("const " + name + " = [" + strings.Repeat(before+",", 10) + "]\n")
		before = name
	}
	return b.String()
}

// TestUntyped lists the fields that have no type, as JSON.stringify drops types that are functions.
func TestUntyped(t *testing.T) {
	_, losses, err := converted(t, convert.File{Name: "s.json", Data: []byte(`{"format": "onetable:1.1.0",
		"indexes": {"primary": {"hash": "pk", "sort": "sk"}},
		"models": {"A": {"pk": {"value": "a#${id}"}, "sk": {}, "id": {"type": "string"}}}}`)})
	require.NoError(t, err)
	require.Contains(t, losses, "s.json:3:19: the type of pk and sk of A: the file has none, so it is read as a string")

	// What the hint writes keeps them.
	got, losses, err := converted(t, convert.File{Name: "s.json", Data: []byte(`{"format": "onetable:1.1.0",
		"indexes": {"primary": {"hash": "pk", "sort": "sk"}},
		"models": {"A": {"pk": {"type": "string", "value": "a#${id}"}, "sk": {"type": "number"}, "id": {"type": "string",
		"default": {"function": "default"}}}}}`)})
	require.NoError(t, err)
	require.Contains(t, got, "sort: {name: sk, type: N}")
	require.Contains(t, losses, "id (default)")
}

// TestSchemasOfOneTable: several files are one model.
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
		{"twice", []convert.File{electro("task", "", sk), {Name: "b.json", Data: electro("task", "", sk).Data}}, "", "entity task version 1 of table task is also in task.json"},

		{"onetable", []convert.File{oneTable("a.json", "A", "", "string"), oneTable("b.json", "B", "", "string")}, "a-table: A B", ""},
		{
			"another index", []convert.File{
				oneTable("a.json", "A", `, "gs1": {"hash": "x"}`, "string"), oneTable("b.json", "B", `, "gs1": {"hash": "y"}`, "string"),
			}, "", "b.json:1:1: the schema has for index gs1 the key y:S, but that of table a-table is x:S",
		},
		{"more indexes", []convert.File{oneTable("a.json", "A", "", "string"), oneTable("b.json", "B", `, "gs1": {"hash": "y"}`, "string")}, "a-table: A B", ""},
		{"twice", []convert.File{oneTable("a.json", "A", "", "string"), oneTable("b.json", "A", "", "string")}, "", "entity A is also in a.json"},
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

// FuzzScript holds that no script runs into an error of the reader.
func FuzzScript(f *testing.F) {
	f.Add("export default " + oneTableJSON)
	f.Add("const a = {b: 1}\nexport const T = new Entity({model: {entity: 'x'}, attributes: a, indexes: {...c}} as const, {table: `t${x}`})")
	f.Add("const x = `a${`b${c}`}`; /* */ // \n module.exports = <const>{a: (b) => /[/]/g, get c() {return 1}, [d]: -1e-3n, 'e\\u{1F600}': String}")
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = convert.Import(t.Context(), []convert.File{{Name: "a.ts", Data: []byte(text)}}, convert.Options{})
	})
}
