package wire_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
)

var rewrite = flag.Bool("rewrite", false, "write the table of wordings into docs/fidelity.md")

// TestWordings has the messages that the service changed in 2026, with the date
// of the newer form and the number of regions that showed it. The older forms
// are those of dynalite's tests and of the conformance suite before July.
func TestWordings(t *testing.T) {
	const (
		one    = "1 validation error detected: "
		values = "ExpressionAttributeValues can only be specified when using expressions"
		number = "The parameter cannot be converted to a numeric value: z"
		noKind = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
		length = " failed to satisfy constraint: Member must have length greater than or equal to "
		chars  = " failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
	)
	var table strings.Builder
	enum := at("x", "returnValues", "satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]")
	for _, tt := range []struct {
		op           wire.Op
		body         string
		october, may string
		when         string
	}{
		{
			wire.OpPutItem, `{"TableName":"","Item":{}}`, one + "Value at 'TableName'" + length + "1",
			one + "Value '' at 'tableName'" + length + "1", "2026-10-09, 7 of 7",
		},
		{
			wire.OpUpdateItem, `{"TableName":"","Key":{}}`, one + "Value at 'TableName'" + length + "1",
			one + "Value '' at 'tableName'" + length + "1", "2026-10-09, 5 of 7",
		},
		{
			wire.OpGetItem, `{"TableName":"","Key":{}}`, one + "Value at 'TableName'" + length + "1",
			one + "Value '' at 'tableName'" + length + "1", "2026-10-09, 6 of 7",
		},
		{
			wire.OpBatchGetItem, `{"RequestItems":{}}`, one + "Value at 'RequestItems'" + length + "1",
			"The requestItems parameter is required for BatchGetItem", "2026-09-02, all regions but one",
		},
		{
			wire.OpScan, `{"TableName":""}`, one + "Value at 'TableName'" + length + "1",
			one + "Value '' at 'tableName'" + length + "1", "2026-10-20, 20 of 33",
		},
		{
			wire.OpQuery, `{"TableName":"","Limit":0}`,
			errorsOf(
				"Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
				"Value at 'TableName'"+length+"1",
			),
			one + "Value '' at 'tableName'" + length + "1", "2026-10-09, 6 of 7",
		},
		{
			wire.OpGetItem, `{"TableName":"a;","Key":{}}`, one + "Value 'a;' at 'tableName'" + length + "3",
			one + "Value 'a;' at 'tableName'" + length + "3", "2026-10-09, 7 of 7",
		},
		{
			wire.OpPutItem, `{"TableName":"a;","Item":{}}`, one + "Value 'a;' at 'tableName'" + length + "3",
			errorsOf("Value 'a;' at 'tableName'"+chars, "Value 'a;' at 'tableName'"+length+"3"), "2026-10-09, 7 of 7",
		},
		{
			wire.OpUpdateItem, `{"TableName":"a;","Key":{}}`,
			errorsOf("Value 'a;' at 'tableName'"+chars, "Value 'a;' at 'tableName'"+length+"3"),
			errorsOf("Value 'a;' at 'tableName'"+chars, "Value 'a;' at 'tableName'"+length+"3"), "2026-10-09, 5 of 7",
		},
		{
			wire.OpPutItem, `{"TableName":"abc","Item":{},"ReturnValues":"x"}`, one + returns, errorsOf(enum),
			"2026-10-08, 31 of 33",
		},
		{
			wire.OpUpdateItem, `{"TableName":"abc","Key":{},"ReturnValues":"x","ReturnConsumedCapacity":"x"}`,
			one + returns, errorsOf(enum), "2026-10-08, 31 of 33",
		},
		{
			wire.OpScan, `{"TableName":"abc","Limit":0}`,
			one + "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
			errorsOf(at("0", "limit", "have value greater than or equal to 1")), "2026-10-20, 20 of 33",
		},
		{
			wire.OpPutItem, `{"TableName":"abc","Item":{},"ExpressionAttributeValues":{":a":{"N":"1"}}}`, one + values,
			values + ": ConditionExpression is null", "2026-10-09, 7 of 7",
		},
		{
			wire.OpDeleteItem, `{"TableName":"abc","Key":{},"ExpressionAttributeNames":{"#a":"a"}}`,
			one + "ExpressionAttributeNames can only be specified when using expressions",
			"ExpressionAttributeNames can only be specified when using expressions", "2026-10-09, 7 of 7",
		},
		{
			wire.OpUpdateItem, `{"TableName":"abc","Key":{},"UpdateExpression":"SET a = ` +
				`:a","ExpressionAttributeValues":{":a":{"N":"z"}}}`, one + number,
			"ExpressionAttributeValues contains invalid value: " + number + " for key :a", "2026-10-09, 7 of 7",
		},
		{
			wire.OpScan, `{"TableName":"abc","FilterExpression":"a = :a","ExpressionAttributeValues":{":a":{"N":"z"}}}`,
			number, "ExpressionAttributeValues contains invalid value: " + number + " for key :a",
			"2026-10-20, 20 of 33",
		},
		{wire.OpPutItem, `{"TableName":"abc","Item":{"a":{}}}`, noKind, noKind, "2026-10-09, 7 of 7"},
		{
			wire.OpPutItem, `{"TableName":"abc","Item":{"a":{"BS":["Yg==","Yg=="]}}}`,
			one +
				`One or more parameter values were invalid: Input collection ["Yg==","Yg=="]of ` +
				`type BS contains duplicates.`,
			`One or more parameter values were invalid: Input collection [Yg==, Yg==]of type BS contains duplicates.`,
			"2026-07, eu-west-2; 2026-10-09, 7 of 7",
		},
	} {
		in := tt.op.NewInput()
		if err := in.DecodeJSON([]byte(tt.body)); err != nil {
			t.Fatal(err)
		}
		err := in.Validate()
		if err == nil {
			err = in.(interface{ CheckParams() error }).CheckParams()
		}
		if err == nil {
			switch in := in.(type) {
			case *wire.PutItemInput:
				err = tt.op.FaultError(in.Faults, "")
			case *wire.UpdateItemInput:
				err = tt.op.FaultError(in.Faults, "")
			case *wire.ScanInput:
				err = tt.op.FaultError(in.Faults, "")
			}
		}
		if got := messageIn(t, wire.WordingOctober, err); got != tt.october {
			t.Errorf("%v %s, %s\n got %s\nwant %s", tt.op, tt.body, tt.when, got, tt.october)
		}
		if got := messageIn(t, wire.WordingMay, err); got != tt.may {
			t.Errorf("%v %s, before\n got %s\nwant %s", tt.op, tt.body, got, tt.may)
		}
		if tt.october != tt.may {
			fmt.Fprintf(&table, "| %v `%s` | %s | %s | %s |\n", tt.op, tt.body, code(tt.october), code(tt.may), tt.when)
		}
	}
	holdTable(t, table.String())
}

// code returns a message as code that may have backquotes.
func code(message string) string { return "`` " + message + " ``" }

// holdTable checks, or writes with -rewrite, the table of wordings in docs/fidelity.md.
func holdTable(t *testing.T, rows string) {
	const path, head = "../../docs/fidelity.md", "| request | 2026-10 | 2026-05 | seen |\n|---|---|---|---|\n"
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), head)
	require.True(t, ok, "%s has no table of wordings", path)
	was, after, _ := strings.Cut(rest, "\n\n")
	if *rewrite {
		page := before + head + strings.TrimSuffix(rows, "\n") + "\n\n" + after
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
		return
	}
	require.Equal(t, rows, was+"\n", "run go test ./internal/wire -run TestWordings -rewrite")
}

// TestFailedConditionMessage: a failed condition has message, and Message beside an item in the older wording.
func TestFailedConditionMessage(t *testing.T) {
	var b attr.Builder
	b.Add("pk", attr.NewString("a"))
	e := wire.NewError(wire.CodeConditionFailed, "The conditional request failed")
	e.Item = b.Item()
	require.Contains(t, string(e.AppendJSON(nil)), `"message":"The cond`)
	require.Contains(t, string(e.In(wire.WordingMay).AppendJSON(nil)), `"Message":"The cond`)
	e.Item = nil
	require.Contains(t, string(e.In(wire.WordingMay).AppendJSON(nil)), `"message":"The cond`)
}
