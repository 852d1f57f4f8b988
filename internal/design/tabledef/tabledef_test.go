package tabledef_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
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
		{"template", "testdata/template.yaml", tabledef.Parameters{"AWS::StackName": "shop"}, []string{
			`{"TableName":"Names","AttributeDefinitions":[` + defined + `],"KeySchema":[` + customer + `],"BillingMode":"PAY_PER_REQUEST"}`,
			`{"TableName":"shop-orders-dev","AttributeDefinitions":[` + defined + `],"KeySchema":[` + customer + `,` + placed + `],
				"GlobalSecondaryIndexes":[{"IndexName":"by-d","KeySchema":[` + status + `,` + placed + `],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["total"]}}],
				"BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},"TimeToLiveSpecification":{"AttributeName":"ends","Enabled":true}}`,
			`{"TableName":"Simple","AttributeDefinitions":[{"AttributeName":"at","AttributeType":"N"}],"KeySchema":[{"AttributeName":"at","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`,
		}},
		{"folder with Terraform", "testdata/module", nil, []string{
			`{"TableName":"shop-test-orders","AttributeDefinitions":[` + defined + `],"KeySchema":[` + customer + `,` + placed + `],
				"GlobalSecondaryIndexes":[{"IndexName":"by-status","KeySchema":[` + status + `,` + placed + `],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["total"]},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}],
				"LocalSecondaryIndexes":[{"IndexName":"by-status-of-customer","KeySchema":[` + customer + `,{"AttributeName":"status","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
				"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":7},
				"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"TimeToLiveSpecification":{"AttributeName":"ends","Enabled":true}}`,
		}},
		{"output of terraform show", "testdata/plan.json", nil, []string{
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
	list, _, err := tabledef.Read("testdata/module", tabledef.Parameters{"stage": "x", "capacity": "9"})
	require.NoError(t, err)
	require.Equal(t, "shop-x-orders", list[0].TableName)
	require.EqualValues(t, 9, list[0].ProvisionedThroughput.ReadCapacityUnits)
	_, _, err = tabledef.Read("testdata/template.yaml", tabledef.Parameters{"AWS::StackName": "shop", "Stage": "prod"})
	require.ErrorContains(t, err, "testdata/template.yaml: Resources.Audit: the schema has no KeySchema")
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
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table}}", "Resources.T has no Properties"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: [{KeyType: !Ref Role}]}}}", "Resources.T.KeySchema[0].KeyType: the value of Role is unknown"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !GetAtt A.B}}}", "Resources.T.TableName: the value of Fn::GetAtt A.B is unknown"},
		{"a.yaml", "Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: [{AttributeName: !GetAtt A.B}]}}}", "Resources.T.KeySchema[0].AttributeName: the value of Fn::GetAtt A.B is unknown"},
		{"a.yaml", "Conditions: {A: !Condition A}\nResources: {T: {Type: AWS::DynamoDB::Table, Condition: A}}", "the condition A depends on a value that is unknown"},
		{"a.json", `{"format_version":"1.0","values":{"root_module":{}}}`, "there is no resource aws_dynamodb_table"},
		{"a.tf", "resource {", "a.tf:1:11: unexpected end of file"},
		{"a.tf", "a = \"x\n", "a.tf:1:5: the text has no closing quote"},
		{"a.tf", "a = <<EOT\nx\n", "a.tf:1:5: the text after << has no end"},
		{"a.tf", "}", `unexpected "}"`},
		{"a.tf", "", "there is no resource aws_dynamodb_table"},
		{"a.tf", table("local_secondary_index {\nname = \"x\"\nprojection_type = var.kind\n}"), "LocalSecondaryIndexes[0].Projection.ProjectionType: the value of var.kind is unknown"},
		{"a.tf", table(`name = lower("X${a["}"]}")`), `the value of lower("X${a["}"]}") is unknown`},
		{"a.tf", table(`for_each = var.list`), "repeated with for_each, and the value of var.list is unknown"},
		{"a.tf", table(`for_each = toset(["a"])`), `aws_dynamodb_table.t["a"] has no name`},
		{"a.tf", table(`count = var.n`), "repeated with count"},
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
}

// A parameter with a typo would leave the default in force.
func TestUnknownParameters(t *testing.T) {
	for path, declared := range map[string]string{"testdata/template.yaml": "Stage", "testdata/module": "stage"} {
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
	for _, path := range []string{"testdata/template.yaml", "testdata/module/main.tf", "testdata/module/variables.tf", "testdata/plan.json", "testdata/service/serverless.yml"} {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(filepath.Ext(path), data)
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

// TestBombs holds that small files which would make very large values end with an error, at once.
func TestBombs(t *testing.T) {
	table := func(name string) string {
		return "resource \"aws_dynamodb_table\" \"t\" {\nname = " + name + "\n" + key + "}\n"
	}
	doubled := func(first, step string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "locals {\na0 = %s\n", first)
		for i := range 60 {
			fmt.Fprintf(&b, "a%d = %s\n", i+1, strings.ReplaceAll(step, "X", fmt.Sprintf("local.a%d", i)))
		}
		return b.String() + "}\n"
	}
	many := strings.TrimSuffix(strings.Repeat("a,", 3000), ",")
	for _, tt := range []struct{ file, text, want string }{
		{"a.tf", doubled(`"xxxxxxxx"`, `"${X}${X}"`) + table("local.a60"), "unknown"},
		{"a.tf", doubled(`"xxxxxxxx"`, `join("", [X, X])`) + table("local.a60"), "unknown"},
		{"a.tf", doubled(`"xxxxxxxx"`, `replace(X, "x", X)`) + table("local.a60"), "unknown"},
		{"a.tf", doubled(`[1, 2]`, `concat(X, X)`) + table(`"x-${length(local.a60)}"`), "unknown"},
		{"a.tf", doubled(`[1, 2]`, `[X, X]`) + table(`"x-${length(flatten(local.a60))}"`), "unknown"},
		{"a.tf", doubled(`{a = 1}`, `{a = X, b = X}`) + table(`tostring(local.a60["a"])`), "unknown"},
		{"a.tf", table(`format("%0900000000d", 1)`), "unknown"},
		{"a.tf", table(`"${format("%.99999s", "a")}"`), "unknown"},
		{"a.yaml", "Resources: {'Fn::ForEach::A': [A, [" + many + "], {'Fn::ForEach::B': [B, [" + many +
			"], {'T${A}${B}': {Type: AWS::DynamoDB::Table, Properties: {}}}]}]}", "Fn::ForEach are more than 1000"},
	} {
		path := filepath.Join(t.TempDir(), tt.file)
		require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
		_, _, err := tabledef.Read(path, nil)
		require.ErrorContains(t, err, tt.want, tt.text[:min(200, len(tt.text))])
	}
}
