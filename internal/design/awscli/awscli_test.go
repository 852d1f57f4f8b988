package awscli_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/wire"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, line, op, want string }{
		{
			"single quotes", `aws dynamodb query --table-name Shop --key-condition-expression 'PK = :p' --expression-attribute-values '{":p":{"S":"C#1"}}'`, "Query",
			`{"TableName":"Shop","KeyConditionExpression":"PK = :p","ExpressionAttributeValues":{":p":{"S":"C#1"}}}`,
		},
		{
			"double quotes", `aws dynamodb query --table-name "Shop" --expression-attribute-values "{\":p\":{\"S\":\"a\"}}"`, "Query",
			`{"TableName":"Shop","ExpressionAttributeValues":{":p":{"S":"a"}}}`,
		},
		{"lines", "$ aws dynamodb scan \\\n  --table-name Shop \\\r\n  --limit 5 # five\n", "Scan", `{"TableName":"Shop","Limit":5}`},
		{"no aws", `get-item --table-name Shop --key '{"PK":{"S":"a"}}' --consistent-read`, "GetItem", `{"TableName":"Shop","Key":{"PK":{"S":"a"}},"ConsistentRead":true}`},
		{"environment", `AWS_PROFILE=x aws --region eu-west-1 dynamodb query --table-name T --no-scan-index-forward --no-consistent-read`, "Query", `{"TableName":"T","ScanIndexForward":false,"ConsistentRead":false}`},
		{"equals", `aws dynamodb query --table-name=Shop --limit=3 --scan-index-forward=false`, "Query", `{"TableName":"Shop","Limit":3,"ScanIndexForward":false}`},
		{"shorthand key", `aws dynamodb get-item --table-name T --key PK={S=a},n={N=5}`, "GetItem", `{"TableName":"T","Key":{"PK":{"S":"a"},"n":{"N":"5"}}}`},
		{"shorthand names", `aws dynamodb query --table-name T --expression-attribute-names '#s=status,#t=type'`, "Query", `{"TableName":"T","ExpressionAttributeNames":{"#s":"status","#t":"type"}}`},
		{
			"shorthand values", `aws dynamodb query --table-name T --expression-attribute-values ':a={S="x, y"},:b={BOOL=true},:c={SS=[a,b]},:d={NS=1},:e={L=[{S=x},{N=1}]},:f={M={k={S=v}}}'`, "Query",
			`{"TableName":"T","ExpressionAttributeValues":{":a":{"S":"x, y"},":b":{"BOOL":true},":c":{"SS":["a","b"]},":d":{"NS":["1"]},":e":{"L":[{"S":"x"},{"N":"1"}]},":f":{"M":{"k":{"S":"v"}}}}}`,
		},
		{"shorthand csv", `aws dynamodb get-item --table-name T --key tags={SS=a,b}`, "GetItem", `{"TableName":"T","Key":{"tags":{"SS":["a","b"]}}}`},
		{
			"words", `aws dynamodb execute-statement --statement 'SELECT * FROM T WHERE a = ? AND b = ?' --parameters S=x '{"N":"5"}'`, "ExecuteStatement",
			`{"Statement":"SELECT * FROM T WHERE a = ? AND b = ?","Parameters":[{"S":"x"},{"N":"5"}]}`,
		},
		{
			"lists in shorthand", `aws dynamodb batch-get-item --request-items 'T={Keys=[{PK={S=a}},{PK={S=b}}],AttributesToGet=PK,ConsistentRead=true}'`, "BatchGetItem",
			`{"RequestItems":{"T":{"Keys":[{"PK":{"S":"a"}},{"PK":{"S":"b"}}],"AttributesToGet":["PK"],"ConsistentRead":true}}}`,
		},
		{"list of strings", `aws dynamodb query --table-name T --attributes-to-get a b --limit 1`, "Query", `{"TableName":"T","AttributesToGet":["a","b"],"Limit":1}`},
		{"input", `aws dynamodb query --limit 2 --cli-input-json '{"TableName":"T","Limit":1}'`, "Query", `{"TableName":"T","Limit":2}`},
		{"C quotes", `aws dynamodb query --table-name T --expression-attribute-values $'{":p":{"S":"it\'s \\\\"}}'`, "Query", `{"TableName":"T","ExpressionAttributeValues":{":p":{"S":"it's \\"}}}`},
		{"pipe", `aws dynamodb scan --table-name T --output json | jq .`, "Scan", `{"TableName":"T"}`},
		{"joined quotes", `aws dynamodb scan --table-name 'a'"b"c\ d`, "Scan", `{"TableName":"abc d"}`},
		{"batch", `aws dynamodb batch-get-item --request-items '{"T":{"Keys":[{"PK":{"S":"a"}}]}}'`, "BatchGetItem", `{"RequestItems":{"T":{"Keys":[{"PK":{"S":"a"}}]}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := new(awscli.Parser).Parse(tt.line)
			require.NoError(t, err)
			require.Equal(t, tt.op, c.Operation)
			require.JSONEq(t, tt.want, string(c.Request))
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ line, want, todo string }{
		{``, "the line has no operation", "such as query"},
		{`aws dynamodb`, "the line has no operation", "such as query"},
		{`aws s3 ls`, "s3 is not an operation that reads items", ""},
		{`aws dynamodb querry --table-name T`, "querry is not an operation that reads items", "get-item, query and scan"},
		{`aws dynamodb put-item --table-name T`, "put-item is not an operation that reads items", "get-item, query and scan"},
		{`aws dynamodb query --tablename T`, "query has no flag --tablename", "did you mean --table-name?"},
		{`aws dynamodb scan --key-condition-expression x`, "scan has no flag --key-condition-expression", "did you mean"},
		{`aws dynamodb query --table-name T --key-condition-expression ‘PK = :p’`, `"=" does not belong to a flag`, "straight quotes"},
		{`aws dynamodb query --table-name $'T`, "the quote $' is not closed: $'T", ""},
		{`aws dynamodb query --table-name $'\a'`, "unknown escape in $'…'", ""},
		{"aws dynamodb query --table-name `ls`", "not expanded: `ls`", "single quotes"},
		{`aws --limit 5 dynamodb query`, `unknown flag --limit`, "after it"},
		{`aws dynamodb query --limit many`, `--limit must be a whole number, not "many"`, ""},
		{`aws dynamodb query --table-name`, "--table-name needs a value", ""},
		{`aws dynamodb query --table-name --limit 5`, "--table-name needs a value", ""},
		{`aws dynamodb query --attributes-to-get`, "--attributes-to-get needs a value", ""},
		{`aws dynamodb query --table-name T --table-name U`, "--table-name is given twice", ""},
		{`aws dynamodb query T`, `"T" does not belong to a flag`, ""},
		{`aws dynamodb query --expression-attribute-values '{":p":{"S":}'`, "not JSON: invalid character '}' looking for beginning of value\n{\":p\":{\"S\":}\n           ^", ""},
		{`aws dynamodb query --expression-attribute-values '{“:p”:1}'`, `not JSON`, "use straight quotes"},
		{`aws dynamodb query --expression-attribute-values file://v.json`, `cannot read file://v.json`, "write the value"},
		{`aws dynamodb query --expression-attribute-values fileb://v.bin`, `is a binary file`, "base64"},
		{`aws dynamodb query --expression-attribute-values ':a={S=x'`, "the brace is not closed:\n:a={S=x\n       ^", ""},
		{`aws dynamodb query --expression-attribute-values ':a={BOOL=maybe}'`, `BOOL must be true or false, not "maybe"`, ""},
		{`aws dynamodb query --expression-attribute-values ':a={L=[x'`, `bracket is not closed`, ""},
		{`aws dynamodb query --expression-attribute-values ':a={S="x}'`, `quote is not closed`, ""},
		{`aws dynamodb query --expression-attribute-values 'x'`, `want key=value`, ""},
		{`aws dynamodb query --expression-attribute-values 'x={}y'`, `want a comma`, ""},
		{`aws dynamodb query --expression-attribute-values 'x=1,x=2'`, `x is given twice`, ""},
		{`aws dynamodb query --consistent-read=perhaps`, `--consistent-read must be true or false`, ""},
		{`aws dynamodb query --table-name $TABLE`, `variables and commands are not expanded: $TABLE`, ""},
		{"aws dynamodb query --table-name \"`date`\"", `variables and commands are not expanded`, ""},
		{`aws dynamodb query --table-name 'T`, `the quote ' is not closed: 'T`, ""},
		{`aws dynamodb query --table-name "T`, `the quote " is not closed: "T`, ""},
		{`aws dynamodb query --cli-input-yaml x`, `query has no flag --cli-input-yaml`, "known names: --table-name"},
		{`aws dynamodb query --cli-input-json '[]'`, `--cli-input-json is not a JSON object`, ""},
	} {
		_, err := new(awscli.Parser).Parse(tt.line)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(advice.Of(err), tt.todo) {
			t.Errorf("Parse(%s) = %v (%s), want %s (%s)", tt.line, err, advice.Of(err), tt.want, tt.todo)
		}
	}
}

func TestNotes(t *testing.T) {
	c, err := (&awscli.Parser{}).Parse(`aws dynamodb query --table-name T --max-items 5 --query 'Items[0]' --no-paginate --endpoint-url http://localhost:8000 > out`)
	require.NoError(t, err)
	require.Len(t, c.Notes, 4)
	require.JSONEq(t, `{"TableName":"T"}`, string(c.Request))
}

func TestFiles(t *testing.T) {
	p := &awscli.Parser{ReadFile: func(name string) ([]byte, error) {
		if name != "v.json" {
			return nil, os.ErrNotExist
		}
		return []byte("{\":p\": {\"S\": \"x\"}}\n"), nil
	}}
	c, err := p.Parse(`aws dynamodb query --table-name T --expression-attribute-values file://v.json`)
	require.NoError(t, err)
	require.JSONEq(t, `{"TableName":"T","ExpressionAttributeValues":{":p":{"S":"x"}}}`, string(c.Request))
	_, err = p.Parse(`aws dynamodb query --key-conditions file://w.json`)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Parse of a missing file = %v", err)
	}
}

func TestIs(t *testing.T) {
	for line, want := range map[string]bool{
		"aws dynamodb query": true, "$ aws dynamodb query --table-name 'T": true, "/usr/bin/aws --region x dynamodb scan": true,
		"query": false, "{}": false, "": false, "aws s3 ls": false,
	} {
		if got := awscli.Is(line); got != want {
			t.Errorf("Is(%q) = %v", line, got)
		}
	}
}

func TestFormat(t *testing.T) {
	request := `{"TableName":"T","ScanIndexForward":false,"Limit":3,"KeyConditionExpression":"PK = :p AND begins_with(SK, :s)","ExpressionAttributeValues":{":p":{"S":"it's"}}}`
	want := `aws dynamodb query --table-name T --key-condition-expression 'PK = :p AND begins_with(SK, :s)' --expression-attribute-values '{":p":{"S":"it'\''s"}}' --limit 3 --no-scan-index-forward`
	in, err := wire.DecodeRequest("Query", []byte(request))
	require.NoError(t, err)
	require.Equal(t, want, awscli.Format(in))
	// Text that the command would take for a flag needs --cli-input-json.
	require.Equal(t, `aws dynamodb query --cli-input-json '{"TableName":"--odd"}'`, awscli.Format(&wire.QueryInput{TableName: new("--odd")}))
}

func FuzzParse(f *testing.F) {
	f.Add(`aws dynamodb query --table-name T --expression-attribute-values ':a={S="x, y"},:c={SS=[a,b]}' --limit 5 | jq`)
	f.Add(`get-item --table-name=T --key '{"a":{"S":"it'\''s"}}' --no-consistent-read --attributes-to-get a b`)
	f.Add("scan --table-name \"a\\\"b\" \\\n --cli-input-json '{}'")
	f.Fuzz(func(t *testing.T, line string) {
		_ = awscli.Is(line)
		c, err := new(awscli.Parser).Parse(line)
		if err != nil {
			return
		}
		// A parsed line can be written and parsed again.
		in, err := wire.DecodeRequest(c.Operation, c.Request)
		if err != nil {
			return
		}
		again := awscli.Format(in)
		c2, err := new(awscli.Parser).Parse(again)
		if err != nil || c.Operation != c2.Operation || !equal(in.AppendJSON(nil), c2.Request) {
			t.Errorf("Parse(%q) = %s %s, and Parse(%q) = %v, %v", line, c.Operation, c.Request, again, c2, err)
		}
	})
}

func equal(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func TestSplitPartial(t *testing.T) {
	for _, tt := range []struct{ line, words, last, rest, quote string }{
		{"", "", "", "", ""},
		{"query", "", "query", "query", ""},
		{"query ", "query", "", "", ""},
		{"query Drive 'DRIVE#a", "query|Drive", "DRIVE#a", "'DRIVE#a", "'"},
		{"query Drive DRIVE#a", "query|Drive", "DRIVE#a", "DRIVE#a", ""},
		{`get "a b" "c\"d`, "get|a b", `c"d`, `"c\"d`, `"`},
		{`get \#a`, "get", "#a", `\#a`, ""},
		{`get x'y z'"w`, "get", "xy zw", `x'y z'"w`, `"`},
		{"get '' '", "get|", "", "'", "'"},
		{`get $'a\tb`, "get", "a\tb", `$'a\tb`, "$'"},
	} {
		p, ok := awscli.SplitPartial(tt.line)
		words := strings.Join(p.Words, "|")
		if !ok || words != tt.words || p.Last != tt.last || tt.line[p.Start:] != tt.rest || p.Quote != tt.quote {
			t.Errorf("SplitPartial(%s) = %+v, %v", tt.line, p, ok)
		}
	}
	for _, line := range []string{"get > ", "get $x", "a | b", `get "$x`} {
		if p, ok := awscli.SplitPartial(line); ok {
			t.Errorf("SplitPartial(%s) = %+v", line, p)
		}
	}
}
