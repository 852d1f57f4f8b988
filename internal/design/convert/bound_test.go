package convert_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/mask"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// TestBound gives each reader a file that repeats one mistake very often, and checks that the error stays short.
func TestBound(t *testing.T) {
	const many = 20_000
	tables := func(name string, data []byte) error {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
		_, _, err := tabledef.Read(path, nil)
		return err
	}
	models := func(name string, data []byte) error {
		_, err := modelfile.Parse(name, data)
		return err
	}
	designs := func(name string, data []byte) error {
		_, _, err := convert.Import(t.Context(), []convert.File{{Name: name, Data: data}}, convert.Options{})
		return err
	}
	requests := func(_ string, data []byte) error {
		_, err := explain.Parse("", json.RawMessage(data))
		return err
	}
	masks := func(_ string, data []byte) error {
		_, err := mask.Parse(data, func(string) (*model.Model, error) { return nil, errors.New("no model") })
		return err
	}
	table := `resource "aws_dynamodb_table" "t" {` + "\nname = X\nhash_key = \"a\"\nattribute {\nname = \"a\"\ntype = \"S\"\n}\n}\n"
	stack := `{"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": X}}}}`
	service := "service: s\nprovider: {name: aws}\nresources: {Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: \"X\"}}}}\n"
	whole := "name: m\ntables: {T: {key: PK}}\nentities: {E: {table: T, key: {PK: 'X'}}}\n"
	for _, tt := range []struct {
		read             func(name string, data []byte) error
		name, file, part string // X in file is replaced by part, many times
	}{
		{tables, "a.tf", table, "("}, {tables, "a.tf", table, "a"}, {tables, "a.tf", table, "${"},
		{tables, "a.tf", table, "f(1) + "}, {tables, "a.tf", table, "["}, {tables, "a.tf", "X", "x"},
		{tables, "a.tf", "variable \"X\" {\ntype = \"q\"\n}\n" + strings.ReplaceAll(table, "X", "var.X"), "v"},
		{tables, "a.tf", "resource \"aws_dynamodb_table\" \"X\" {}", "t"},
		{tables, "a.tf", "resource \"aws_dynamodb_table\" \"t\" {\nname = \"x\"\ncount = \"X\"\n}", "t"},
		{tables, "a.tf", "module \"dynamo\" {\nsource = \"X\"\n}", "t"},
		{tables, "a.json", stack, "("}, {tables, "a.json", stack, `{"Ref": `},
		{tables, "a.json", strings.Replace(stack, "X", `{"Ref": "X"}`, 1), "x"},
		{tables, "a.json", strings.Replace(stack, "X", `{"Fn::GetAtt": ["X", "Arn"]}`, 1), "x"},
		{tables, "a.json", strings.Replace(stack, "X", `{"Fn::Sub": "X"}`, 1), "${"},
		{tables, "a.json", strings.Replace(stack, "X", `{"Fn::Sub": "${X}"}`, 1), "x"},
		{tables, "a.json", strings.Replace(stack, "X", `{"Fn::ImportValue": "X"}`, 1), "x"},
		{tables, "a.json", strings.Replace(stack, "X", `{"Fn::X": 1}`, 1), "x"},
		{tables, "a.json", strings.Replace(stack, `"T"`, `"X"`, 1), "x"},
		{tables, "a.json", strings.Replace(stack, `"TableName": X`, `"TableName": "xxx", "KeySchema": "X"`, 1), "x"},
		{tables, "a.json", strings.Replace(stack, `"TableName": X`, `"KeySchema": {"Fn::If": ["X", 1, 2]}`, 1), "x"},
		{tables, "a.json", `{"KeySchema": "X"}`, "x"}, {tables, "a.json", `{"KeySchema": [{"X": 1}], "TableName": 5}`, "x"},
		{tables, "a.json", "X", "x"}, {tables, "a.yaml", "X", "("}, {tables, "a.yaml", "Resources: X", "{a: "},
		{tables, "serverless.yml", service, "("}, {tables, "serverless.yml", service, "${"},
		{tables, "serverless.yml", strings.Replace(service, "X", "${self:X}", 1), "a."},
		{tables, "serverless.yml", strings.Replace(service, "X", "${X}", 1), "a"},
		{tables, "serverless.yml", strings.Replace(service, "X", "${file(X)}", 1), "a"},
		{tables, "serverless.yml", strings.Replace(service, "X", "${file(X)}", 1), "a/"},
		{tables, "serverless.yml", strings.Replace(service, "X", "${env:X}", 1), "a"},
		{models, "m.yaml", "X", "("}, {models, "m.yaml", "X", "{a: "}, {models, "m.yaml", "X: 1", "a"},
		{models, "m.yaml", whole, "("}, {models, "m.yaml", whole, "{"}, {models, "m.yaml", whole, "{a}"},
		{models, "m.yaml", whole + "patterns: {p: {reads: E, where: 'X'}}", "("},
		{models, "m.yaml", whole + "patterns: {p: {reads: E, filter: 'X'}}", "("},
		{models, "m.yaml", whole + "patterns: {p: {reads: E, request: 'X'}}", "("},
		{models, "m.yaml", "name: m\ntables: {X: {key: PK}}", "x"}, {models, "m.yaml", "name: m\ntables: {T: {key: X}}", "x"},
		{models, "m.json", `{"name": "m", "X": 1}`, "a"}, {models, "m.json", `{"name": X}`, "["}, {models, "m.yaml", "a: &X b\nc: *Y", "a"},
		{models, "m.yaml", "a: !X b", "a"}, {models, "m.yaml", "a: *X", "a"}, {models, "m.yaml", "a: 'X", "a"},
		{designs, "a.json", `{"X": 1}`, "a"}, {designs, "a.json", "X", "["},
		{designs, "a.json", `{"format": "onetable:1.1.0", "indexes": {"X": 1}, "models": {"X": 2}}`, "a"},
		{designs, "a.json", `{"ModelName": "X", "DataModel": [{"TableName": "X", "KeyAttributes": "X"}]}`, "a"},
		{requests, "", `{"X": 1}`, "a"}, {requests, "", "X", "["}, {requests, "", `{"operation": "X"}`, "a"},
		{masks, "", "X", "("}, {masks, "", "X: 1", "a"}, {masks, "", "seed: x\nrules: [{path: X, as: hash, entity: X}]", "a"},
		{masks, "", "seed: x\nrules: [{path: a, as: X}]", "a"}, {masks, "", "seed: x\nrules: [{path: a, as: hash, names: X}]", "a"},
	} {
		text := strings.ReplaceAll(tt.file, "X", strings.Repeat(tt.part, many/len(tt.part)))
		err := tt.read(tt.name, []byte(text))
		if err == nil {
			t.Logf("%s with %q: read", tt.name, tt.file)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		for _, line := range append(lines, advice.Of(err)) {
			if len(line) > advice.MaxText+len(filepath.Base(t.TempDir()))+200 {
				t.Errorf("%s with %q of many %q: an error of %d bytes: %s", tt.name, tt.file, tt.part, len(line), line[:300])
			}
		}
	}
}

func TestBoundKeeps(t *testing.T) {
	cause := advice.New("write "+strings.Repeat("a", 5000), "f.tf:1:2: %s is unknown", strings.Repeat("ä", 5000))
	err := advice.Bound(cause)
	require.ErrorIs(t, err, error(cause))
	require.Regexp(t, "^f.tf:1:2: ä+…ä+ is unknown$", err.Error())
	require.Regexp(t, "^write a+…a+$", advice.Of(err))
	require.Nil(t, advice.Bound(nil))
	short := errors.New("short")
	require.Equal(t, short, advice.Bound(short))
}
