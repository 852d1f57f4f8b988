package api_test

import (
	"fmt"
	"strings"
	"testing"
)

const scalarKeys = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "

// TestPathsIntoKeys checks that paths into key attributes are refused. Sources: dynalite's test/getItem.js, query.js
// and scan.js.
func TestPathsIntoKeys(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	const key, values = `"Key":{"a":{"S":"k"},"b":{"S":"k"}}`, `"ExpressionAttributeValues":{":a":{"S":"1"},` +
		`":b":{"N":"1"}}`
	for _, tt := range []struct{ path, want string }{
		{"a.b", "Key: a"},
		{"e, b[0]", "Key: b"},
		{"d.b.c", "IndexKey: d"},
		{"d[0], c.x, a.b", "Key: a"},
	} {
		project := fmt.Sprintf(`"ProjectionExpression":%q`, tt.path)
		query := `"TableName":"RRR","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"1"}}`
		e.invalid("GetItem", `{"TableName":"RRR",`+key+`,`+project+`}`, scalarKeys+tt.want)
		e.invalid("Query", `{`+query+`,`+project+`}`, scalarKeys+tt.want)
		e.invalid("Scan", `{"TableName":"RRR",`+project+`}`, scalarKeys+tt.want)
		e.invalid("BatchGetItem", `{"RequestItems":{"RRR":{"Keys":[{"a":{"S":"k"},"b":{"S":"k"}}],`+project+`}}}`,
			scalarKeys+tt.want)
		e.invalid("TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"RRR",`+key+`,`+project+`}}]}`,
			scalarKeys+tt.want)
	}
	for _, tt := range []struct{ filter, want string }{
		{"attribute_exists(d.c) AND c = :b", scalarKeys + "IndexKey: d"},
		{"d[1] = :b", scalarKeys + "IndexKey: d"},
		{"size(c.x) = :b", scalarKeys + "IndexKey: c"},
		{"a.x = :b", "Filter Expression can only contain non-primary key attributes: Primary key attribute: a"},
	} {
		e.invalid("Query",
			fmt.Sprintf(`{"TableName":"RRR","KeyConditionExpression":"a = :a","FilterExpression":%q,%s}`, tt.filter,
				values), tt.want)
	}
	e.invalid("Scan", `{"TableName":"RRR","FilterExpression":"a[1] = :b","ExpressionAttributeValues":{":b":{"N":"1"}}}`,
		scalarKeys+"Key: a")
	e.invalid("Query", `{"TableName":"RRR","KeyConditionExpression":"a = `+
		`:a","ExpressionAttributeValues":{":a":{"S":"1"}},"ProjectionExpression":"a.b",`+
		`"ExclusiveStartKey":{"a":{"S":"2"},"b":{"S":"1"}}}`,
		"The provided starting key is outside query boundaries based on provided conditions")
	e.invalid("Scan", `{"TableName":"RRR","ProjectionExpression":"a.b","ExclusiveStartKey":{"a":{"S":"2"}}}`,
		"The provided starting key is invalid: The provided key element does not match the schema")
	e.answer("Scan", `{"TableName":"HHH","FilterExpression":"b[1] = :b","ExpressionAttributeValues":{":b":{"N":"1"}}}`)
	e.answer("GetItem", `{"TableName":"RRR",`+key+`,"ProjectionExpression":"a, e.d[1]"}`)
}

// TestKeyConditionFaults checks the texts of errors of key conditions, and their order. Sources: conformance
// error-messages/queryKeyConditionOperands and validation-ordering/queryKeyCondition.
func TestKeyConditionFaults(t *testing.T) {
	const tableN = `{"TableName":"NNN","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk",
		"AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`
	const tableS = `{"TableName":"SSS","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk",
		"AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`
	e := newEndpoint(t, tableN, tableS)
	const (
		schema  = "One or more parameter values were invalid: Condition parameter type does not match schema type"
		operand = "Invalid KeyConditionExpression: Incorrect operand type for operator or " +
			"function; operator or function: "
		undefined = "Invalid KeyConditionExpression: An expression attribute value used in expression is not " +
			"defined; attribute value: :missing"
		twice  = "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
		nested = "KeyConditionExpressions cannot have conditions on nested attributes"
	)
	for _, tt := range []struct{ table, condition, want string }{
		{"SSS", "pk = :s AND begins_with(sk, :n)", operand + "begins_with, operand type: N"},
		{"SSS", "pk = :s AND begins_with(sk, :b)", operand + "begins_with, operand type: BOOL"},
		{"NNN", "pk = :s AND begins_with(sk, :n)", operand + "begins_with, operand type: N"},
		{"NNN", "pk = :s AND begins_with(sk, :s)", schema},
		{"NNN", "pk = :s AND sk < :b", operand + "<, operand type: BOOL"},
		{"NNN", "pk = :s AND :b >= sk", operand + ">=, operand type: BOOL"},
		{"NNN", "pk = :s AND sk BETWEEN :b AND :b", operand + "BETWEEN, operand type: BOOL"},
		{"NNN", "pk = :s AND sk = :b", schema},
		{"NNN", "pk = :s AND sk > :n AND sk < :n", twice},
		{
			"NNN", "pk = :s AND sk > :n AND extra = :n",
			"The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
		},
		{"SSS", "pk = :missing AND begins_with(sk, :n)", undefined},
		{"SSS", "begins_with(sk, :n) AND pk = :missing", operand + "begins_with, operand type: N"},
		{"SSS", "pk = :s AND begins_with(sk, :n) AND sk > :s", operand + "begins_with, operand type: N"},
		{"absent", "pk = :s AND begins_with(sk, :n)", operand + "begins_with, operand type: N"},
		{"absent", "pk = :s AND sk > :n AND sk < :n", twice},
		{"absent", "pk = :s AND sk.x = :n", nested},
	} {
		var values []string
		for name, v := range map[string]string{":s": `{"S":"a"}`, ":n": `{"N":"1"}`, ":b": `{"BOOL":true}`} {
			if strings.Contains(tt.condition+" ", name+" ") || strings.Contains(tt.condition, name+")") {
				values = append(values, fmt.Sprintf("%q:%s", name, v))
			}
		}
		e.invalid("Query",
			fmt.Sprintf(`{"TableName":%q,"KeyConditionExpression":%q,"ExpressionAttributeValues":{%s}}`, tt.table,
				tt.condition, strings.Join(values, ",")), tt.want)
	}
	e.refuse("Query",
		`{"TableName":"absent","KeyConditionExpression":"pk = :s","ExpressionAttributeValues":{":s":{"S":"a"}}}`,
		"ResourceNotFoundException: Requested resource not found")
}

// TestStartKeyAndCondition checks which error is reported if both the start key and the key condition are wrong.
// Source: dynalite, test/query.js.
func TestStartKeyAndCondition(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	const invalid, schema, missed = "The provided starting key is invalid", "The provided key element does not match " +
		"the schema", "Query condition missed key schema element: "
	for _, tt := range []struct{ table, start, want string }{
		{`"HHH"`, `{}`, invalid},
		{`"HHH"`, `{"b":{"S":"a"}}`, invalid},
		{`"HHH"`, `{"a":{"S":"a"},"b":{"S":"a"}}`, invalid},
		{`"HHH"`, `{"a":{"BOOL":true}}`, schema},
		{`"RRR"`, `{"a":{"S":"a"}}`, invalid},
		{`"RRR"`, `{"a":{"N":"1"},"b":{"N":"1"},"z":{"N":"1"}}`, invalid},
		{`"RRR"`, `{"a":{"N":"1"},"z":{"S":"a"}}`, schema},
		{`"RRR"`, `{"a":{"S":"a"},"b":{"N":"1"}}`, missed + "a"},
		{`"RRR"`, `{"a":{"S":"a"},"z":{"S":"1"}}`, missed + "a"},
		{`"RRR","IndexName":"index1"`, `{"a":{"S":"a"},"c":{"S":"a"}}`, invalid},
		{`"RRR","IndexName":"index3"`, `{"a":{"S":"a"},"b":{"S":"a"},"z":{"S":"a"}}`, invalid},
		{`"RRR","IndexName":"index3"`, `{"x":{"S":"1"},"y":{"S":"1"},"c":{"N":"1"}}`, schema},
		{`"RRR","IndexName":"index3"`, `{"a":{"N":"1"},"b":{"N":"1"},"c":{"S":"1"}}`, missed + "c"},
	} {
		e.invalid("Query",
			`{"TableName":`+tt.table+`,"ExclusiveStartKey":`+tt.start+
				`,"KeyConditionExpression":"z = :a","ExpressionAttributeValues":{":a":{"N":"1"}}}`, tt.want)
	}
}

// TestValuesOfStartKeys checks the errors of a scan for invalid values in the start key. The text names the start
// key, except for invalid numbers, empty number sets and duplicates. Source: dynalite, test/scan.js.
func TestValuesOfStartKeys(t *testing.T) {
	e := newEndpoint(t, tableH)
	const start = "The provided starting key is invalid: "
	for _, tt := range []struct{ value, want string }{
		{`{}`, start + "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{`{"SS":[]}`, start + "One or more parameter values were invalid: An string set  may not be empty"},
		{`{"NS":[]}`, "One or more parameter values were invalid: An number set  may not be empty"},
		{
			`{"SS":["a","a"]}`,
			`One or more parameter values were invalid: Input collection ["a", "a"] contains duplicates.`,
		},
		{`{"N":"x"}`, "The parameter cannot be converted to a numeric value: x"},
		{`{"N":"1e126"}`, "Number overflow. Attempting to store a number with magnitude larger than supported range"},
	} {
		e.invalid("Scan", `{"TableName":"HHH","ExclusiveStartKey":{"a":`+tt.value+`}}`, tt.want)
	}
}

// TestLegacyFaultsOfQuery checks that errors in QueryFilter and AttributesToGet are reported before those in the key
// condition. Source: dynalite, validations/query.js.
func TestLegacyFaultsOfQuery(t *testing.T) {
	e := newEndpoint(t, tableH)
	const filter = `"QueryFilter":{"x":{"ComparisonOperator":"BEGINS_WITH","AttributeValueList":[{"N":"1"}]}}`
	const wrongFilter = "One or more parameter values were invalid: ComparisonOperator BEGINS_WITH is not valid for " +
		"N AttributeValue type"
	for _, key := range []string{
		``, `,"KeyConditions":{}`, `,"KeyConditions":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[]}}`,
	} {
		e.invalid("Query", `{"TableName":"HHH",`+filter+`,"AttributesToGet":["a","a"]`+key+`}`, wrongFilter)
		e.invalid("Query", `{"TableName":"HHH","AttributesToGet":["a","a"]`+key+`}`,
			"One or more parameter values were invalid: Duplicate value in attribute name: a")
	}
	e.invalid("Query", `{"TableName":"HHH"}`,
		"Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
}

// TestKeyConditionsFaults checks that a missing condition on a key attribute is reported before an operator that key
// conditions do not allow. Source: dynalite, test/query.js.
func TestKeyConditionsFaults(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	const eq, null = `{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"b"}]}`, `{"ComparisonOperator":"NULL"}`
	const operator, missed = "Attempted conditional constraint is not an indexable operation", "Query condition " +
		"missed key schema element: "
	for _, tt := range []struct{ table, conditions, want string }{
		{`"HHH"`, `{"a":` + null + `}`, operator},
		{`"HHH"`, `{"a":` + eq + `,"b":` + null + `}`, "Query key condition not supported"},
		{`"HHH"`, `{"z":` + null + `}`, missed + "a"},
		{`"RRR"`, `{"a":` + eq + `,"b":` + null + `}`, operator},
		{`"RRR"`, `{"a":` + eq + `,"c":` + null + `}`, missed + "b"},
		{`"RRR","IndexName":"index1"`, `{"a":` + eq + `,"b":` + null + `}`, missed + "c"},
		{`"RRR","IndexName":"index4"`, `{"c":` + eq + `,"b":` + null + `}`, missed + "d"},
		{`"RRR","IndexName":"index3"`, `{"c":` + eq + `,"z":` + null + `}`, "Query key condition not supported"},
	} {
		e.invalid("Query", `{"TableName":`+tt.table+`,"KeyConditions":`+tt.conditions+`}`, tt.want)
	}
}
