package convert_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/convert"
)

// refused returns the error of importing a program.
func refused(t *testing.T, name, text string) *convert.Error {
	t.Helper()
	_, _, err := convert.Import(t.Context(), []convert.File{{Name: name, Data: []byte(text)}}, convert.Options{})
	e, ok := errors.AsType[*convert.Error](err)
	require.True(t, ok, "%v", err)
	return e
}

// TestPrograms checks that Import refuses a program and says how to import its design.
func TestPrograms(t *testing.T) {
	const lines, deployed = "import * as file from './a.ts'\n", "aws dynamodb describe-table"
	e := refused(t, "src/a.ts", "import { Entity } from 'electrodb'")
	require.Contains(t, e.Error(), "src/a.ts: the file is a program")
	require.Contains(t, e.Hint, lines)
	require.Contains(t, e.Hint, deployed)
	e = refused(t, "a.py", "from pynamodb.models import Model")
	require.NotContains(t, e.Hint, "import * as file")
	require.Contains(t, e.Hint, deployed)
}

// TestPrintSchemas runs the program that the error proposes, on files that export schemas, an ElectroDB entity and a
// OneTable table, and imports its output.
func TestPrintSchemas(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node not found: skipping the lines that print schemas")
	}
	for _, tt := range []struct{ program, losses, want string }{
		{`export const client = null
			export const Task = { config: { table: 'app' }, schema: { model: { entity: 'task', version: '1', service: 'work' },
				attributes: { team: { type: 'string' }, age: { type: Number }, id: { type: 'string' } },
				indexes: { tasks: { pk: { field: 'pk', composite: ['team'] }, sk: { field: 'sk', composite: ['age'] } } } } }`,
			"the casing of keys", `sk: "$task_1#age_{age:number}"`},
		{`export default { format: 'onetable:1.1.0', indexes: { primary: { hash: 'pk', sort: 'sk' } },
				models: { A: { pk: { type: String, value: 'a#${id}' }, sk: { type: Number }, id: { type: String, default: () => 'x' } } } }`,
			"", "sort: {name: sk, type: N}"},
		{`export const Schema = { format: 'onetable:1.1.0', indexes: { primary: { hash: 'pk' } },
				models: { A: { pk: { type: String, value: 'a#${id}' }, id: { type: String } } } }
			export const table = { schema: { definition: { format: 'onetable:1.1.0', indexes: { primary: { hash: 'pk' } },
				models: { A: { pk: { type: String, value: 'a#${id}' }, id: { type: String } } } } } }`,
			"", `pk: "a#{id}"`},
	} {
		dir := t.TempDir()
		_, lines, _ := strings.Cut(refused(t, "schema.mjs", tt.program).Hint, ":\n")
		require.Len(t, strings.Split(lines, "\n"), 5)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "schema.mjs"), []byte(tt.program), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "print.mjs"), []byte(lines), 0o600))
		printed, err := exec.Command(node, filepath.Join(dir, "print.mjs")).CombinedOutput()
		require.NoError(t, err, "%s", printed)
		require.Equal(t, 1, bytes.Count(printed, []byte("\n")), "%s", printed)
		got, losses, err := converted(t, convert.File{Name: "schemas.json", Data: printed})
		require.NoError(t, err, "%s", printed)
		require.Contains(t, got, tt.want)
		require.Contains(t, losses, tt.losses)
	}
}

// TestSchemasInLines reads several schemas, one on each line, as the proposed program prints them.
func TestSchemasInLines(t *testing.T) {
	const line = `{"format": "onetable:1.1.0", "indexes": {"primary": {"hash": "pk"}}, "models": {"X":
		{"pk": {"type": "string", "value": "X#${id}"}, "id": {"type": "string"}}}}` + "\n"
	got, _, err := converted(t, convert.File{
		Name: "s.json", Data: []byte(strings.ReplaceAll(line, "X", "A") + strings.ReplaceAll(line, "X", "B")),
	})
	require.NoError(t, err)
	require.Contains(t, got, `pk: "A#{id}"`)
	require.Contains(t, got, `pk: "B#{id}"`)
}
