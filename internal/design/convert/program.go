package convert

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// IsProgram reports whether a file name is that of source code. Import does not run programs. To import what a
// program declares, a user imports the JSON that the program prints, or the tables that it has deployed.
func IsProgram(name string) bool { return isScript(name) || filepath.Ext(name) == ".py" }

func isScript(name string) bool {
	return slices.Contains([]string{".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"}, filepath.Ext(name))
}

// describeTable is the advice for programs that compute their keys: import what they have deployed.
const describeTable = "import the template that cdk synth writes into cdk.out, or the tables as they are " +
	"deployed: aws dynamodb describe-table --table-name NAME > " +
	"table.json, and items to infer the templates of keys from: " +
	"aws dynamodb scan --table-name NAME --max-items 500 > items.json"

// printSchemas is advice for users of ElectroDB and OneTable. It contains a program that prints the schemas that
// another file exports, one on each line. JSON.stringify alone would drop types such as Number.
const printSchemas = `of ElectroDB and OneTable, let the program print its schemas. Save this beside it as
schemas.mjs, run npx tsx schemas.mjs > schemas.json, and import schemas.json:
import * as file from './%s'
const typed = (key, v) => typeof v !== 'function' ? v : key === 'type' ? v.name.toLowerCase() : { function: v.name }
const schema = (one) => ({ table: one.config?.table, ...(one.schema?.definition ?? one.schema ?? one) })
const all = Object.values(file).filter((one) => one?.schema ?? one?.indexes)
console.log([...new Set(all.map((one) => JSON.stringify(schema(one), typed)))].join('\n'))`

// refuseProgram returns an error that says how to import what a program declares.
func refuseProgram(name string) error {
	hint := describeTable
	if isScript(name) {
		hint += "\n" + fmt.Sprintf(printSchemas, filepath.Base(name))
	}
	return &Error{
		Pos: model.Pos{File: name}, Msg: "the file is a program, and import does not run programs", Hint: hint,
	}
}
