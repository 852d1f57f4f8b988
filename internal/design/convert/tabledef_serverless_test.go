package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// names returns the names of tables.
func names(list []*tabledef.Schema) (all []string) {
	for _, s := range list {
		all = append(all, s.TableName)
	}
	return all
}

// texts returns notes as text.
func texts(notes []tabledef.Note) (all []string) {
	for _, n := range notes {
		all = append(all, n.String())
	}
	return all
}

func TestService(t *testing.T) {
	const path = "../tabledef/testdata/service/serverless.yml"
	list, notes, err := tabledef.Read(path, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-api-dev-shop-api-dev-customers", "PREFIX-links-network-dev.Suffix", "shop-api-dev-orders", "shop-api-dev-sessions"}, names(list))
	orders, sessions := list[2], list[3]
	require.EqualValues(t, 2, orders.ProvisionedThroughput.ReadCapacityUnits)
	require.EqualValues(t, 2, orders.GlobalSecondaryIndexes[0].ProvisionedThroughput.ReadCapacityUnits)
	require.EqualValues(t, 1, orders.GlobalSecondaryIndexes[0].ProvisionedThroughput.WriteCapacityUnits)
	require.EqualValues(t, "NEW_AND_OLD_IMAGES", orders.StreamSpecification.StreamViewType)
	require.Equal(t, &tabledef.TimeToLive{AttributeName: "ends", Enabled: true}, sessions.TimeToLiveSpecification)
	require.Equal(t, path+": Resources.OrdersTable", orders.Place)
	require.Equal(t, []string{
		"resources[2] is not read: the value of ${file(resources/alarms.js)} is unknown; if it has tables, load .serverless/cloudformation-template-update-stack.json, which serverless package writes",
		`${env:PREFIX} is not given: "PREFIX" is used; "env:PREFIX=…" gives it`,
		`${cf:network-dev.Suffix} is not given: "network-dev.Suffix" is used; "cf:network-dev.Suffix=…" gives it`,
	}, texts(notes))

	list, notes, err = tabledef.Read(path, tabledef.Parameters{"stage": "prod", "env:PREFIX": "x", "cf:network-prod.Suffix": "y", "AWS::StackName": "s", "retention": "gone"})
	require.NoError(t, err)
	require.Equal(t, []string{"audit", "s-shop-api-prod-customers", "x-links-y", "shop-api-prod-orders", "shop-api-prod-sessions"}, names(list))
	require.EqualValues(t, 20, list[3].ProvisionedThroughput.ReadCapacityUnits)
	require.EqualValues(t, "KEYS_ONLY", list[3].StreamSpecification.StreamViewType)
	require.Equal(t, "gone", list[4].TimeToLiveSpecification.AttributeName)
	require.Len(t, notes, 1)

	_, _, err = tabledef.Read(path, tabledef.Parameters{"Stage": "prod"})
	require.ErrorContains(t, err, path+": unknown parameter Stage")
	require.Contains(t, advice.Of(err), "opt:stage")
}

// service writes a serverless.yml whose only table has the given name, followed by the lines of more. It returns the
// path.
func service(t *testing.T, name, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serverless.yml")
	text := "service: shop\nprovider: {name: aws}\n" + more + `
resources:
  Resources:
    Table:
      Type: AWS::DynamoDB::Table
      Properties:
        TableName: ` + name + `
        AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
        KeySchema: [{AttributeName: id, KeyType: HASH}]
`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestVariables(t *testing.T) {
	for _, tt := range []struct {
		text, more string
		with       tabledef.Parameters
		want       string
		madeUp     bool
	}{
		{text: "plain", want: "plain"},
		{text: "${self:service}-${sls:stage}", want: "shop-dev"},
		{text: "${sls:stage}", with: tabledef.Parameters{"stage": "qa"}, want: "qa"},
		{text: "${self:provider.stage}-${aws:region}", want: "dev-us-east-1"},
		{text: "orders-${opt:stage, 'local'}", want: "orders-local"},
		{text: `orders-${opt:stage, "local"}`, want: "orders-local"},
		{text: "orders-${opt:stage, self:custom.stage, 'local'}", more: "custom: {stage: test}", want: "orders-test"},
		{text: "orders-${opt:stage, ${self:custom.stage}}", more: "custom: {stage: test}", want: "orders-test"},
		{text: "orders-${opt:stage,'${self:service}-x'}", want: "orders-shop-x"},
		{text: "orders-${opt:stage}", want: "orders-dev", madeUp: true},
		{text: "orders-${opt:team}", want: "orders-team", madeUp: true},
		{text: "${env:TABLE}", want: "TABLE", madeUp: true},
		{text: "${env:TABLE, 'orders'}", want: "orders"},
		{text: "${env:TABLE}", with: tabledef.Parameters{"env:TABLE": "x"}, want: "x"},
		{text: "${ssm:/shop/table~true}", want: "shop-table-true", madeUp: true},
		{text: "${self:custom.names.${self:custom.stage}.orders}", more: "custom: {stage: test, names: {test: {orders: o-t}}}", want: "o-t"},
		{text: "${self:custom.names.${opt:stage}}", more: "custom: {names: {dev: o-dev}}", want: "o-dev"},
		{text: "${self:custom.list.1}", more: "custom: {list: [a, b]}", want: "b"},
		{text: "${self:custom.none, 'x'}", more: "custom: {none: null}", want: "x"},
		{text: "${self:custom.absent}", want: "custom.absent", madeUp: true},
		{text: "${self:custom.a}", more: `custom: {a: "${self:custom.b}", b: "${self:custom.a}"}`, want: "error"},
		{text: "${param:name}", more: "params: {default: {name: x}, dev: {name: y}}", want: "y"},
		{text: "${param:name}", more: "stages: {default: {params: {name: x}}}", want: "x"},
		{text: "${param:name}", with: tabledef.Parameters{"name": "z"}, more: "params: {default: {name: x}}", want: "z"},
		{text: "${file(absent.yml):name, 'x'}", want: "x"},
		{text: "!Sub '${AWS::StackName}-${AWS::Region}-${self:service}'", want: "shop-dev-us-east-1-shop"},
		{text: "!Sub '${AWS::StackName}'", more: "# provider:", with: tabledef.Parameters{"AWS::StackName": "s"}, want: "s"},
		{text: "!Join ['-', [a, '${env:B}', !Ref Bucket]]", want: "a-B-Bucket", madeUp: true},
		{text: "${opt:name, '${self:custom.a}${self:custom.b}'}", more: "custom: {a: orders, b: -x}\t", want: "orders-x"},
		{text: "'${opt:stage, ''qa''}-orders'", want: "qa-orders"},
		{text: "${strToBool(${self:custom.on})}", more: "custom: {on: 'yes'}", want: "error"},
	} {
		list, notes, err := tabledef.Read(service(t, tt.text, tt.more), tt.with)
		if tt.want == "error" {
			require.Error(t, err, tt.text)
			continue
		}
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, list[0].TableName, tt.text)
		require.Equal(t, tt.madeUp, len(notes) > 0, "%s: %s", tt.text, notes)
	}
}

func TestServiceErrors(t *testing.T) {
	for _, tt := range []struct{ text, want, hint string }{
		{"resources: {}", "the service has no resources", ""},
		{"resources: {Resources: {B: {Type: AWS::S3::Bucket}}}", "the template has no table", ""},
		{"resources: ['${file(resources.js)}']", "the service has no resources", "resources[0] is not read"},
		{"resources: ['${file(absent.yml)}']", "resources[0]: stat ", ""},
		{"resources: {Resources: {T: '${file(absent.yml):T}'}}", "resources.Resources.T: stat ", ""},
		{"resources: ['${file(.)}']", "is a folder, not a file", ""},
		{"resources: {Resources: [{T: '${file(absent.yml):T}'}]}", "resources.Resources[0].T: stat ", ""},
		{"resources: {Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: [{KeyType: '${opt:role}'}]}}}}", "Resources.T.KeySchema[0].KeyType: the value of ${opt:role} is unknown", `give "role=…"`},
	} {
		path := filepath.Join(t.TempDir(), "serverless.yml")
		require.NoError(t, os.WriteFile(path, []byte("service: {name: shop}\nprovider: {name: aws}\n"+tt.text), 0o600))
		_, _, err := tabledef.Read(path, nil)
		require.ErrorContains(t, err, tt.want)
		require.Contains(t, advice.Of(err), tt.hint, tt.text)
	}
	path := filepath.Join(t.TempDir(), "serverless.ts")
	require.NoError(t, os.WriteFile(path, []byte("export default {}"), 0o600))
	_, _, err := tabledef.Read(path, nil)
	require.ErrorContains(t, err, "only Node.js can evaluate the file")
	require.Contains(t, advice.Of(err), "cloudformation-template-update-stack.json")
}

// TestMadeUpNames holds that Read invents a name that only a deployment knows, and that the note says how to choose
// it.
func TestMadeUpNames(t *testing.T) {
	const properties = "AttributeDefinitions: [{AttributeName: id, AttributeType: S}], KeySchema: [{AttributeName: id, KeyType: HASH}]"
	for _, tt := range []struct{ file, text, name, note string }{
		{"a.yaml", `Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Sub "${AWS::StackName}-orders", ` + properties + `}}}`,
			"stack-orders", `AWS::StackName is not given: "stack" is used; "AWS::StackName=…" gives it`},
		{"a.yaml", `Resources: {T1: {Type: AWS::DynamoDB::Table, Properties: {` + properties + `}}}`,
			"stack-T1", `AWS::StackName is not given: "stack" is used; "AWS::StackName=…" gives it`},
		{"a.yaml", `Parameters: {Prefix: {Type: String}}
Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Join ["-", [!Ref Prefix, orders]], ` + properties + `}}}`,
			"Prefix-orders", `Prefix is not given: "Prefix" is used; "Prefix=…" gives it`},
		{"a.tf", "resource \"aws_dynamodb_table\" \"t\" {\nname = \"${var.prefix}-orders\"\n" + key + "}\n",
			"prefix-orders", `var.prefix is not given: "prefix" is used; "prefix=…" gives it`},
	} {
		path := filepath.Join(t.TempDir(), tt.file)
		require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
		list, notes, err := tabledef.Read(path, nil)
		require.NoError(t, err)
		require.Equal(t, []string{tt.name}, names(list))
		require.Contains(t, strings.Join(texts(notes), "\n"), tt.note)
	}
}
