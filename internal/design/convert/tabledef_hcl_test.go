package convert_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// tableNamed returns a Terraform file with a table whose name is the given expression.
func tableNamed(name string) string {
	return "resource \"aws_dynamodb_table\" \"t\" {\nname = " + name + "\n" + key + "}\n"
}

// expressions have the values that Terraform gives to them.
var expressions = []struct{ text, want string }{
	{`1 == "1" ? "yes" : "no"`, "no"},
	{`"true" == true ? "yes" : "no"`, "no"},
	{`1.0 == 1 ? "yes" : "no"`, "yes"},
	{`"n-${1e3}"`, "n-1000"},
	{`"n-${7 % -3}"`, "n-1"},
	{`join("-", ["n", 1.50])`, "n-1.5"},
	{`substr("abcdef", -3, 2)`, "de"},
	{`substr("abcdef", 1, 9223372036854775807)`, "bcdef"},
	{`"n-${format("%05d", 42)}"`, "n-00042"},
	{`format("%s-%03d-%v-%q", "a", 7, true, "b")`, `a-007-true-"b"`},
	{`replace("a1b22", "/[0-9]+/", "-")`, "a-b-"},
	{`replace("a1b22", "/(\\d+)/", "_$1")`, "a_1b_22"},
	{`replace("a/b/c", "/", "-")`, "a-b-c"},
	{`can(tonumber("x")) ? "yes" : "bcd"`, "bcd"},
	{`can(local.x.y) ? "yes" : "bcd"`, "error: the value of local.x.y is unknown"},
	{`can() ? "abc" : "bcd"`, `error: function "can" expects 1 argument(s)`},
	{`element(["abc", "bcd", "cde"], 1e300)`, "error: value must be a whole number"},
	{`element(["abc", "bcd", "cde"], 10000000000000000000)`, "error: value must be a whole number"},
	{`element(["abc", "bcd", "cde"], 4)`, "bcd"},
	{`try(tonumber("x"), "abc")`, "abc"},
	{`try(aws_kms_key.x.arn, "abc")`, "error: the value of aws_kms_key.x.arn is unknown"},
	{`coalesce(null, "", aws_kms_key.x.arn, "abc")`, "abc"},
	{`"n-${length(coalesce(null, {}))}"`, "n-0"},
	{`jsondecode(data.x.y.z).a`, "error: the value of jsondecode(data.x.y.z).a is unknown"},
	{`lookup({a = "abc"}, "a", "none")`, "abc"},
	{`lookup({a = "abc"}, "b", "none")`, "none"},
	{`merge({a = "abc"}, {b = aws_kms_key.x.arn}).a`, "abc"},
	{`concat(["abc"], [aws_kms_key.x.arn])[0]`, "abc"},
	{`flatten([["abc"], [["def"]]])[1]`, "def"},
	{`"n-${length(flatten([aws_kms_key.x.arns]))}"`, "error: the value of aws_kms_key.x.arns is unknown"},
	{`"n-${length("äöü")}-${length({a = 1})}-${length([])}"`, "n-3-1-0"},
	{`tolist(toset(["b", "a", "b"]))[0]`, "a"},
	{`keys(tomap({b = "x", a = "y"}))[0]`, "a"},
	{`values(zipmap(["b", "a"], ["x", "y"]))[1]`, "x"},
	{`join("-", [for k, v in {a = "x", b = "y"} : "${k}${v}" if v != "x"])`, "by"},
	{`{for k, v in {a = "x"} : v => k...}["x"][0]`, "a"},
	{`[{name = "abc"}].*.name[0]`, "abc"},
	{`join("-", [{name = "abc"}, {name = "d"}].*.name)`, "abc-d"},
	{`jsondecode("{\"a\": [\"abc\"]}").a[0]`, "abc"},
	{`jsonencode({a = 1})`, `{"a":1}`},
	{`yamldecode("a: [abc]").a[0]`, "abc"},
	{`"n-${one([3])}"`, "n-3"},
	{`title(trimspace(" abc "))`, "Abc"},
	{`"%{ if true }yes%{ else }no%{ endif }"`, "yes"},
	{`"%{ for a in ["x", "y"] }${a}%{ endfor }-z"`, "xy-z"},
	{"<<-EOT\n  abc\n  EOT\n", "abc\n"},
	{`"$${a}"`, "${a}"},
	{`terraform.workspace`, "default"},
	{`join("-", random_pet.x[*].id)`, "x"},
	{`module.label[each.key].id`, "label"},
	{`"${data.aws_caller_identity.current.account_id}-${data.aws_region.current.name}"`, "000000000000-us-east-1"},
	{`file("name.tpl")`, "x-${a}"},
	{`yamldecode("a: [abc").a[0]`, "error: the YAML is malformed"},
	{`file("/etc/passwd")`, "error: has no file /etc/passwd"},
	{`file("../a.tf")`, "error: has no file ../a.tf"},
	{`uuid()`, `error: a.tf:2:8: there is no function named "uuid"`},
	{`aws_dynamodb_table.t.name`, "error: a.tf:2:8: it refers to itself"},
	{`local.x`, "error: the value of local.x is unknown"},
	{`var.x.y`, "error: the value of var.x.y is unknown"},
}

func TestExpressions(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "name.tpl"), []byte("x-${a}"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub/x/y"), 0o700))
	for _, name := range []string{"sub/a.yaml", "sub/x/b.yaml", "sub/x/y/c.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for _, tt := range expressions {
		got, err := nameIn(t, dir, tt.text)
		if want, fails := strings.CutPrefix(tt.want, "error: "); fails {
			require.ErrorContains(t, err, want, tt.text)
			continue
		}
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, got, tt.text)
	}
}

// TestModule reads a module with constructs that occur in public repositories.
func TestModule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"env/main.tf": `
locals {
  config = jsondecode(file("${path.module}/config/tables.json"))
  suffix = terraform.workspace == "default" ? "" : "-${terraform.workspace}"
}
module "table" {
  source   = "../table"
  for_each = { for t in local.config["tables"] : t["name"] => t }
  name     = "${var.prefix}-${each.key}${local.suffix}"
  config   = each.value
}
resource aws_dynamodb_table many {
  count        = length(var.names)
  name         = var.names[count.index]
  hash_key     = "id"
  billing_mode = var.on_demand ? "PAY_PER_REQUEST" : "PROVISIONED"
  attribute    = [{ name = "id", type = "S" }]
}
resource "aws_dynamodb_table" "off" {
  count = var.off ? 1 : 0
}`,
		"env/variables.tf": `
variable prefix { type = "string" }
variable "names" { type = list(string) }
variable "on_demand" { type = bool }
variable "off" { default = "false" }`,
		"env/test.auto.tfvars":   "names = [\"a\", \"b\"]",
		"env/config/tables.json": `{"tables": [{"name": "one", "key": {"id": "S"}, "gsi": {"by": "id"}}, {"name": "two", "key": {"no": "N"}, "ttl": "ends"}]}`,
		"table/main.tf": `
variable "name" {}
variable "config" {
  type = object({ key = map(string), gsi = optional(map(string)), ttl = optional(string), units = optional(number, 3) })
}
resource "aws_dynamodb_table" "t" {
  name           = var.name
  hash_key       = one(keys(var.config.key))
  read_capacity  = var.config.units
  write_capacity = try(var.config.writes, 4)
  dynamic "attribute" {
    for_each = var.config.key
    iterator = a
    content {
      name = a.key
      type = a.value
    }
  }
  dynamic "global_secondary_index" {
    for_each = coalesce(var.config.gsi, {})
    content {
      name            = global_secondary_index.key
      hash_key        = global_secondary_index.value
      projection_type = "ALL"
    }
  }
  dynamic "ttl" {
    for_each = var.config.ttl[*]
    content {
      attribute_name = ttl.value
    }
  }
  tags = { arn = aws_kms_key.x.arn, x = nosuch() }
}`,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}

	list, notes, err := tabledef.Read(filepath.Join(dir, "env"), tabledef.Parameters{"on_demand": "true"})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"prefix-one", "prefix-two", "a", "b"}, names(list))
	require.Equal(t, []string{`var.prefix is not given: "prefix" is used; "prefix=…" gives it`}, texts(notes))
	for _, s := range list {
		switch s.TableName {
		case "prefix-one":
			require.Equal(t, "by", s.GlobalSecondaryIndexes[0].IndexName)
			require.Nil(t, s.TimeToLiveSpecification)
		case "prefix-two":
			require.Equal(t, map[string]string{"no": "N"}, s.KeyTypes())
			require.Equal(t, &tabledef.TimeToLive{AttributeName: "ends", Enabled: true}, s.TimeToLiveSpecification)
			require.Equal(t, &tabledef.Throughput{ReadCapacityUnits: 3, WriteCapacityUnits: 4}, s.ProvisionedThroughput)
		default:
			require.EqualValues(t, "PAY_PER_REQUEST", s.BillingMode)
		}
	}
}

// nameIn returns the name of the only table in a file of a folder.
func nameIn(t testing.TB, dir, name string) (string, error) {
	t.Helper()
	path := filepath.Join(dir, "a.tf")
	require.NoError(t, os.WriteFile(path, []byte(tableNamed(name)), 0o600))
	list, _, err := tabledef.Read(path, nil)
	if err != nil {
		return "", err
	}
	return list[0].TableName, nil
}

// A grammar generates random expressions.
type grammar struct{ *rand.Rand }

func (g grammar) expression(depth int) string {
	leaves := []string{
		`1`, `-2`, `1e30`, `0.5`, `"abc"`, `"1e9"`, `true`, `null`, `[]`, `{}`, `var.text`, `var.list`,
		`local.a`, `local.b`, `aws_x.y.z`, `module.m`, `data.d.e.f`, `each.key`, `x`, `"/a+/"`, `"%05d%s"`, `range(9)`,
	}
	if depth == 0 {
		return leaves[g.IntN(len(leaves))]
	}
	e := func() string { return g.expression(depth - 1) }
	switch g.IntN(14) {
	case 0, 1, 2, 3:
		name := functions[g.IntN(len(functions))]
		args := make([]string, g.IntN(4))
		for i := range args {
			args[i] = e()
		}
		return name + "(" + strings.Join(args, ", ") + ")"
	case 4:
		op := []string{"+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"}
		return fmt.Sprintf("(%s %s %s)", e(), op[g.IntN(len(op))], e())
	case 5:
		return fmt.Sprintf("(%s ? %s : %s)", e(), e(), e())
	case 6:
		return fmt.Sprintf("[for x in %s : %s if %s]", e(), e(), e())
	case 7:
		return fmt.Sprintf("{for k, x in %s : %s => %s...}", e(), e(), e())
	case 8:
		return fmt.Sprintf("[%s, %s]", e(), e())
	case 9:
		return fmt.Sprintf("{a = %s, (%s) = %s}", e(), e(), e())
	case 10:
		return fmt.Sprintf("%s[%s]", e(), e())
	case 11:
		return fmt.Sprintf("%s[*].a", e())
	case 12:
		return fmt.Sprintf(`"${%s}-%%{ for x in %s }${x}%%{ endfor }"`, e(), e())
	}
	return fmt.Sprintf("%s.a", e())
}

var functions = strings.Fields(`can coalesce
	compact concat contains distinct element file flatten format
	join jsondecode jsonencode keys length lookup lower merge one range
	regex replace slice sort split
	substr title tobool tolist tomap tonumber toset tostring trim trimprefix try upper
	values yamldecode zipmap nosuch`)

// read writes a module of random expressions and reads it.
func (g grammar) read(t testing.TB, path string) {
	text := fmt.Sprintf("locals {\na = %s\nb = %s\n}\nvariable \"list\" { type = list(string) }\n"+
		"variable \"text\" { default = %s }\nresource \"aws_dynamodb_table\" \"t\" {\ncount = %s\nname = %s\n"+
		"dynamic \"ttl\" {\nfor_each = %s\ncontent {\nattribute_name = %s\n}\n}\n%s}\n",
		g.expression(4), g.expression(3), g.expression(2), g.expression(1), g.expression(4), g.expression(3), g.expression(2), key)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	list, _, err := tabledef.Read(path, nil)
	require.NotContains(t, fmt.Sprint(err), "runtime error", text)
	again, _, errAgain := tabledef.Read(path, nil)
	require.Equal(t, list, again, text)
	require.Equal(t, fmt.Sprint(err), fmt.Sprint(errAgain), text)
}

// TestGrammar holds that no expression panics, and that reading one again gives the same.
func TestGrammar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tf")
	for seed := range uint64(proptest.Cases(200)) {
		grammar{rand.New(rand.NewPCG(seed, 1))}.read(t, path)
	}
}

// TestForEach holds that a list of strings in for_each gives the same tables as a set.
func TestForEach(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tf")
	for _, list := range []string{`["abc", "abd"]`, `tolist(["abc", "abd"])`, `toset(["abd", "abc"])`, `{abc = 1, abd = 2}`} {
		text := tableNamed("\"tab-${each.key}\"\nfor_each = " + list)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		tables, _, err := tabledef.Read(path, nil)
		require.NoError(t, err, list)
		require.Equal(t, []string{"tab-abc", "tab-abd"}, names(tables), list)
	}
}
