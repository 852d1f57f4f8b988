package convert_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

const (
	customer = `{"AttributeName":"customer","KeyType":"HASH"}`
	placed   = `{"AttributeName":"placed","KeyType":"RANGE"}`
	status   = `{"AttributeName":"status","KeyType":"HASH"}`
	defined  = `{"AttributeName":"customer","AttributeType":"S"},{"AttributeName":"placed","AttributeType":"N"},{"AttributeName":"status","AttributeType":"S"}`
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		with       tabledef.Parameters
		want       []string
	}{
		{"template", "../tabledef/testdata/template.yaml", tabledef.Parameters{"AWS::StackName": "shop"}, []string{
			`{"TableName":"Names","AttributeDefinitions":[` + defined + `],"KeySchema":[` + customer + `],"BillingMode":"PAY_PER_REQUEST"}`,
			`{"TableName":"shop-orders-dev","AttributeDefinitions":[` + defined + `],"KeySchema":[` + customer + `,` + placed + `],
				"GlobalSecondaryIndexes":[{"IndexName":"by-d","KeySchema":[` + status + `,` + placed + `],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["total"]}}],
				"BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},"TimeToLiveSpecification":{"AttributeName":"ends","Enabled":true}}`,
			`{"TableName":"Simple","AttributeDefinitions":[{"AttributeName":"at","AttributeType":"N"}],"KeySchema":[{"AttributeName":"at","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`,
		}},
		{"folder with Terraform", "../tabledef/testdata/module", nil, []string{
			`{"TableName":"shop-test-orders","AttributeDefinitions":[` + defined + `],"KeySchema":[` + customer + `,` + placed + `],
				"GlobalSecondaryIndexes":[{"IndexName":"by-status","KeySchema":[` + status + `,` + placed + `],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["total"]},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}],
				"LocalSecondaryIndexes":[{"IndexName":"by-status-of-customer","KeySchema":[` + customer + `,{"AttributeName":"status","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
				"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":7},
				"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"TimeToLiveSpecification":{"AttributeName":"ends","Enabled":true}}`,
		}},
		{"output of terraform show", "../tabledef/testdata/plan.json", nil, []string{
			`{"TableName":"Events","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"B"},{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"S"},{"AttributeName":"c","AttributeType":"N"}],
				"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
				"GlobalSecondaryIndexes":[{"IndexName":"multi","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, _, err := tabledef.Read(tt.path, tt.with)
			require.NoError(t, err)
			require.Len(t, list, len(tt.want))
			for i, s := range list {
				got, err := json.Marshal(s)
				require.NoError(t, err)
				require.JSONEq(t, tt.want[i], string(got))
			}
		})
	}
}

func TestParametersDecide(t *testing.T) {
	list, _, err := tabledef.Read("../tabledef/testdata/module", tabledef.Parameters{"stage": "x", "capacity": "9"})
	require.NoError(t, err)
	require.Equal(t, "shop-x-orders", list[0].TableName)
	require.EqualValues(t, 9, list[0].ProvisionedThroughput.ReadCapacityUnits)
	_, _, err = tabledef.Read("../tabledef/testdata/template.yaml", tabledef.Parameters{"AWS::StackName": "shop", "Stage": "prod"})
	require.ErrorContains(t, err, "../tabledef/testdata/template.yaml: Resources.Audit: the schema has no KeySchema")
}

const key = `hash_key = "id"
attribute {
  name = "id"
  type = "S"
}
`

func TestReadErrors(t *testing.T) {
	table := func(text string) string {
		return "resource \"aws_dynamodb_table\" \"t\" {\n" + text + "\n" + key + "}\n"
	}
	for _, tt := range []struct{ file, text, want string }{
		{"a.yaml", "a: [", tabledef.ErrOther.Error()},
		{"a.yaml", "name: shop\ntables: {}", tabledef.ErrOther.Error()},
		{"a.json", "{}", tabledef.ErrOther.Error()},
		{"a.json", "[]", tabledef.ErrOther.Error()},
		{"a.json", `[{"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}]}]`, "table 1 has no TableName"},
		{"a.yaml", "Resources: {T: {Type: AWS::S3::Bucket}}", "the template has no table"},
		{"a.yaml", "Resources: {'Fn::ForEach::L': [X, [a], {}]}", "the template has no table: Resources.Fn::ForEach::L is not read: it is a loop"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table}}", "Resources.T has no Properties"},
		{"a.yaml", "Resources: {S: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: 'https://x'}}}", "the template has no table"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: '${self:service}'}}}", "variables of the Serverless Framework"},
		{"a.yaml", "Conditions: {A: !Or [!Condition B, !Condition C]}\nResources: {T: {Type: AWS::DynamoDB::Table, Condition: A}}", "the condition A depends on a value that is unknown"},
		{"a.yaml", "Conditions: {A: !And [!Equals [a, a], !Equals [b, b]]}\nResources: {T: {Type: AWS::DynamoDB::Table, Condition: A}}", "Resources.T has no Properties"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Join ['-', [{a: b}]]}}}", "a list or an object within a text"},
		{"a.json", `{"TableName":"T","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}`, "the schema has no AttributeDefinitions"},
		{"a.json", `{"TableName":"T","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"b","AttributeType":"S"}]}`, "the schema does not define the type of the key attribute a"},
		{"a.json", `{"TableName":"T","KeySchema":[{"AttributeName":"a","KeyType":"HSH"}],"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}]}`, `the key attribute a has the KeyType "HSH"`},
		{"a.json", `{"TableName":"T","KeySchema":["a"]}`, "KeySchema"},
		{"a.json", `{"TableName":"T","KeySchema":[],"AttributeDefinitions":["b"]}`, "AttributeDefinitions"},
		{"a.yaml", "Parameters: {P: {Type: String, AllowedValues: [p]}}\nResources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Ref P, KeySchema: 5}}}", "Resources.T: KeySchema is text, not a list"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !GetAtt [A, B]}}}", `the value of Fn::GetAtt ["A","B"] is unknown`},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: [{KeyType: !Ref Role}]}}}", "Resources.T.KeySchema[0].KeyType: the value of Role is unknown"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !GetAtt A.B}}}", "Resources.T.TableName: the value of Fn::GetAtt A.B is unknown"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: [{AttributeName: !GetAtt A.B}]}}}", "Resources.T.KeySchema[0].AttributeName: the value of Fn::GetAtt A.B is unknown"},
		{"a.yaml", "Conditions: {A: !Condition A}\nResources: {T: {Type: AWS::DynamoDB::Table, Condition: A}}", "the condition A depends on a value that is unknown"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: [id]}}}", "Resources.T: an element of KeySchema is text, not an object"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: 5}}}", "Resources.T: KeySchema is text, not a list"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {ProvisionedThroughput: 5}}}", "Resources.T: ProvisionedThroughput is text, not an object"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {DeletionProtectionEnabled: {a: b}}}}", "DeletionProtectionEnabled is an object, not true or false"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {GlobalSecondaryIndexes: [{KeySchema: [a]}]}}}", "an element of GlobalSecondaryIndexes.KeySchema is text, not an object"},
		{"a.json", `{"format_version":"1.0","values":{"root_module":{}}}`, "there is no resource aws_dynamodb_table"},
		{"a.tf", "resource {", "a.tf:1:10: unclosed configuration block"},
		{"a.tf", "a = \"x\n", "a.tf:1:7: invalid multi-line string"},
		{"a.tf", "a = <<EOT\nx\n", "a.tf:3:1: unterminated template string"},
		{"a.tf", "}", "a.tf:1:1: argument or block definition required"},
		{"a.tf", "", "there is no resource aws_dynamodb_table"},
		{"a.tf", table("local_secondary_index {\nname = \"x\"\nprojection_type = var.kind\n}"), "LocalSecondaryIndexes[0].Projection.ProjectionType: the value of var.kind is unknown"},
		{"a.tf", table(`name = lower("X${a["}"]}")`), `the value of a["}"] is unknown`},
		{"a.tf", table(`for_each = var.list`), "repeated with for_each, and the value of var.list is unknown"},
		{"a.tf", table(`for_each = toset(["a"])`), `aws_dynamodb_table.t["a"] has no name`},
		{"a.tf", table(`count = var.n`), "repeated with count"},
		{"a.tf", table(`for_each = null`), "there is no resource aws_dynamodb_table"},
		{"a.tf", "variable \"n\" {\ntype = number\ndefault = \"x\"\n}\n" + table(`name = "x-${var.n}"`), "a number is required"},
		{"a.tf", table("dynamic \"attribute\" {\nfor_each = aws_x.y.z\n}"), "t.attribute is repeated with for_each, and the value of aws_x.y.z is unknown"},
	} {
		path := filepath.Join(t.TempDir(), tt.file)
		require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
		_, _, err := tabledef.Read(path, nil)
		require.ErrorContains(t, err, tt.want, tt.text)
	}
	_, _, err := tabledef.Read(t.TempDir(), nil)
	require.ErrorContains(t, err, "the folder has no Terraform files")
	require.NotErrorIs(t, err, tabledef.ErrOther)
	path := filepath.Join(t.TempDir(), "a.tf")
	require.NoError(t, os.WriteFile(path, []byte(table(`count = var.n`)), 0o600))
	_, _, err = tabledef.Read(path, nil)
	require.Contains(t, advice.Of(err), "terraform show -json")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "b.tf"), []byte("}"), 0o600))
	_, _, err = tabledef.Read(path, nil)
	require.ErrorContains(t, err, "b.tf:1:1: argument or block definition required (the .tf files of a folder are one")
}

// TestKeySchemaBlocks holds that a local index gets the table's partition key, even if key_schema blocks define the
// key.
func TestKeySchemaBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tf")
	require.NoError(t, os.WriteFile(path, []byte(`resource "aws_dynamodb_table" "t" {
  name = "orders"
  key_schema {
    attribute_name = "placed"
    key_type       = "RANGE"
  }
  key_schema {
    attribute_name = "customer"
    key_type       = "HASH"
  }
  attribute {
    name = "customer"
    type = "S"
  }
  attribute {
    name = "placed"
    type = "S"
  }
  attribute {
    name = "total"
    type = "N"
  }
  local_secondary_index {
    name            = "by-total"
    range_key       = "total"
    projection_type = "ALL"
  }
}
`), 0o600))
	list, _, err := tabledef.Read(path, nil)
	require.NoError(t, err)
	want := []types.KeySchemaElement{
		{AttributeName: new("customer"), KeyType: types.KeyTypeHash},
		{AttributeName: new("total"), KeyType: types.KeyTypeRange},
	}
	require.Equal(t, want, list[0].LocalSecondaryIndexes[0].KeySchema)
}

// TestLoneFile holds that reading one file uses the values of the other files in its folder, but not their tables.
func TestLoneFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	path := write("table.tf", tableNamed("local.table"))
	write("other.tf", "locals {\n  table = \"orders\"\n}\n"+strings.ReplaceAll(tableNamed(`"other"`), `"t"`, `"u"`))
	list, _, err := tabledef.Read(path, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"orders"}, names(list))
}

// TestUnknownParameters holds that Read refuses a parameter with a typo, because the default would remain in force.
func TestUnknownParameters(t *testing.T) {
	for path, declared := range map[string]string{"../tabledef/testdata/template.yaml": "Stage", "../tabledef/testdata/module": "stage"} {
		_, _, err := tabledef.Read(path, tabledef.Parameters{"Stge": "x", "AWS::StackName": "shop"})
		require.ErrorContains(t, err, "unknown parameter Stge")
		require.Contains(t, advice.Of(err), declared)
	}
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, []byte("Resources: {T: {Type: AWS::DynamoDB::Table}}"), 0o600))
	_, _, err := tabledef.Read(path, tabledef.Parameters{"Stage": "x"})
	require.Equal(t, "no parameters are declared", advice.Of(err))
}

func FuzzRead(f *testing.F) {
	for _, path := range []string{"../tabledef/testdata/template.yaml", "../tabledef/testdata/module/main.tf", "../tabledef/testdata/module/variables.tf", "../tabledef/testdata/plan.json", "../tabledef/testdata/service/serverless.yml"} {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(filepath.Ext(path), data)
	}
	for _, tt := range expressions {
		f.Add(".tf", []byte(tableNamed(tt.text)))
	}
	f.Add(".tf", []byte("a = \"$${x} %{if} ${\"${b}\"} \\u0041\"\nlocals {\na = local.a\n}"))
	f.Fuzz(func(t *testing.T, ext string, data []byte) {
		if ext != ".tf" {
			ext = ".yaml"
		}
		path := filepath.Join(t.TempDir(), "f"+ext)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		list, _, err := tabledef.Read(path, tabledef.Parameters{"x": "y"})
		if err == nil && len(list) == 0 {
			t.Error("neither a table nor an error")
		}
	})
}

// doubledTexts returns n variables of a service. Each contains the one before twice.
func doubledTexts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  a%d: '${self:custom.a%d}${self:custom.a%d}'\n", i+1, i, i)
	}
	return b.String()
}

// mapped returns a template with one table, whose name comes from a mapping.
func mapped(name, members string) string {
	return `{"Mappings": {"M": {` + members + `}}, "Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": ` +
		`{"TableName": ` + name + `}}}}`
}

func nested(n int, before, inner, after string) string {
	return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
}

// doubledMaps returns n members of a mapping. Each contains the one before twice.
func doubledMaps(n int) string {
	text := `"a0": {"x": "y"}`
	for i := range n {
		find := fmt.Sprintf(`{"Fn::FindInMap": ["M", "a%d", "x"]}`, i)
		text += fmt.Sprintf(`, "a%d": {"x": {"Fn::Join": ["", [%s, %s]]}}`, i+1, find, find)
	}
	return text
}

// doubledConditions returns n conditions. Each contains the one before twice.
func doubledConditions(n int) string {
	text := `"C0": {"Fn::Equals": ["a", "a"]}`
	for i := range n {
		again := fmt.Sprintf(`{"Condition": "C%d"}`, i)
		text += fmt.Sprintf(`, "C%d": {"Fn::And": [%s, %s]}`, i+1, again, again)
	}
	return text
}

// doubledLocals returns a Terraform file with n locals. Each is made from the one before.
func doubledLocals(n int, first, next string) string {
	text := "locals {\na0 = " + first + "\n"
	for i := range n {
		text += fmt.Sprintf("a%d = %s\n", i+1, strings.ReplaceAll(next, "@", fmt.Sprint("local.a", i)))
	}
	return text + "}\n" + tableNamed(fmt.Sprintf("\"x-${length(local.a%d)}\"", n))
}

// TestBombs holds that small files that would make very large values give an error quickly.
func TestBombs(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	for _, tt := range []struct{ file, text, want string }{
		{"a.tf", tableNamed("\"x\"\ncount = 1e9"), "aws_dynamodb_table.t is repeated with count more than 1000 times"},
		{"a.tf", tableNamed(strings.Repeat("(", 1000)), "brackets nest more than 100 deep"},
		{"a.tf", "module \"a\" {\nsource = \"./\"\n}\nmodule \"b\" {\nsource = \"./\"\n}\nmodule \"c\" {\nsource = \"./\"\n}\n", "tables and modules"},
		{"a.tf", doubledLocals(60, `"xxxxxxxx"`, `"${@}${@}"`), "MB"},
		{"a.tf", doubledLocals(60, `[1]`, `[@, @]`), "MB"},
		{"a.tf", doubledLocals(60, `[1]`, `concat(@, @)`), "MB"},
		{"a.tf", doubledLocals(60, `"x"`, `join(@, [@, @])`), "MB"},
		{"a.tf", doubledLocals(60, `"xxxx"`, `replace(@, "x", @)`), "MB"},
		{"a.tf", doubledLocals(60, `{}`, `{a = @, b = @}`), "MB"},
		{"a.tf", doubledLocals(60, `1`, `jsonencode([@, @])`), "MB"},
		{"a.tf", doubledLocals(60, `[1]`, `true ? tolist([@, @]) : []`), "MB"},
		{"a.tf", doubledLocals(4, `range(1000)`, `[for x in @ : [for y in @ : [for z in @ : x]]]`), "MB"},
		{"a.tf", doubledLocals(1, `split("x", join("xxxx", range(1000)))`, `[for x in @ : [for y in @ : x if false]]`), "MB"},
		{"a.tf", doubledLocals(1, `range(1000)`, `"%{for x in @}%{for y in @}x%{endfor}%{endfor}"`), "MB"},
		{"a.tf", tableNamed("format(\"%999999999d\", 3)"), "a width is too large"},
		{"a.tf", tableNamed("format(\"" + strings.Repeat("%[1]s", 10000) + "\", \"" + strings.Repeat("x", 10000) + "\")"), "MB"},
		{"a.tf", tableNamed("length([" + strings.Repeat("range(1000), ", 10000) + "])"), "MB"},
		{"serverless.yml", "service: s\nprovider: {}\ncustom: {y: '${sls:stage-${self:custom}}'}\nresources: {Resources: {T: " +
			"{Type: AWS::DynamoDB::Table, Properties: {TableName: '${self:custom.y}'}}}}", "unknown"},
		{"serverless.yml", "service: s\nprovider: {}\ncustom:\n  a0: xxxxxxxx\n" + doubledTexts(60) + "resources: {Resources: {T: " +
			"{Type: AWS::DynamoDB::Table, Properties: {TableName: '${self:custom.a60}'}}}}", "its variables and functions make more than 100000 values"},
		{"a.json", mapped(`{"Fn::FindInMap": ["M", "a60", "x"]}`, doubledMaps(60)), "functions make more than 100000 values"},
		{"a.json", mapped(`{"Fn::FindInMap": ["M", "a", "x"]}`, `"a": {"x": {"Fn::FindInMap": ["M", "a", "x"]}}`), "unknown"},
		{"a.json", mapped(nested(60, `{"Fn::FindInMap": [`, `"M"`, `, "a", "x"]}`), `"M": {"x": "M"}`), "unknown"},
		{"a.json", mapped(nested(60, `{"Fn::Sub": ["${a}${a}", {"a": `, `"x"`, `}]}`), ""), "functions make more than 100000 values"},
		{"a.json", mapped(nested(9000, `{"Fn::X": `, `"x"`, `}`), ""), "unknown"},
		{"a.json", `{"Conditions": {` + doubledConditions(60) + `}, "Resources": {"T": {"Type": "AWS::DynamoDB::Table", ` +
			`"Condition": "C60", "Properties": {}}}}`, "functions make more than 100000 values"},
	} {
		path := filepath.Join(t.TempDir(), tt.file)
		require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
		_, _, err := tabledef.Read(path, nil)
		require.ErrorContains(t, err, tt.want, tt.text[:min(200, len(tt.text))])
	}
}
