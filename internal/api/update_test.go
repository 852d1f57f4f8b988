package api_test

import (
	"strconv"
	"strings"
	"testing"
)

const wrongValues = "One or more parameter values were invalid: "

// Source: alternator, test_returnvalues.py.
func TestUpdateItemReturnValues(t *testing.T) {
	e := newEndpoint(t, tableH)
	const item = `{"a":{"S":"k"},"s":{"S":"old"},"m":{"M":{"b":{"S":"dog"},"c":{"L":[{"N":"1"},{"N":"2"},` +
		`{"N":"3"}]}}},"n":{"N":"5"}}`
	for _, tt := range []struct{ update, mode, want string }{
		{`"UpdateExpression":"SET s = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "", `{}`},
		{`"UpdateExpression":"SET s = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "NONE", `{}`},
		{`"UpdateExpression":"SET s = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "ALL_OLD", item},
		{
			`"UpdateExpression":"SET s = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "ALL_NEW",
			strings.Replace(item, "old", "new", 1),
		},
		{
			`"UpdateExpression":"SET s = :v, t = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "UPDATED_OLD",
			`{"s":{"S":"old"}}`,
		},
		{
			`"UpdateExpression":"SET s = :v, t = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "UPDATED_NEW",
			`{"s":{"S":"new"},"t":{"S":"new"}}`,
		},
		{`"UpdateExpression":"SET t = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "UPDATED_OLD", `{}`},
		{`"UpdateExpression":"REMOVE s"`, "UPDATED_NEW", `{}`},
		{`"UpdateExpression":"REMOVE s"`, "UPDATED_OLD", `{"s":{"S":"old"}}`},
		{
			`"UpdateExpression":"SET n = n - :v","ExpressionAttributeValues":{":v":{"N":"7"}}`, "UPDATED_NEW",
			`{"n":{"N":"-2"}}`,
		},
		{
			`"UpdateExpression":"SET m.b = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "UPDATED_OLD",
			`{"m":{"M":{"b":{"S":"dog"}}}}`,
		},
		{
			`"UpdateExpression":"SET m.c[1] = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`, "UPDATED_OLD",
			`{"m":{"M":{"c":{"L":[{"N":"2"}]}}}}`,
		},
		{
			`"UpdateExpression":"SET m.c[1] = :v, m.b = :v","ExpressionAttributeValues":{":v":{"S":"new"}}`,
			"UPDATED_NEW", `{"m":{"M":{"b":{"S":"new"},"c":{"L":[{"S":"new"}]}}}}`,
		},
		{`"UpdateExpression":"REMOVE m.c[0]"`, "UPDATED_NEW", `{"m":{"M":{"c":{"L":[{"N":"2"}]}}}}`},
		{`"UpdateExpression":"REMOVE m.c[2]"`, "UPDATED_NEW", `{}`},
		{`"AttributeUpdates":{}`, "UPDATED_NEW", `{}`},
		{`"AttributeUpdates":{}`, "UPDATED_OLD", `{}`},
		{`"AttributeUpdates":{}`, "ALL_NEW", item},
		{`"AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"1.5"}}}`, "UPDATED_NEW", `{"n":{"N":"6.5"}}`},
		{`"AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"1.5"}}}`, "ALL_OLD", item},
		{
			`"AttributeUpdates":{"s":{"Action":"DELETE"},"m.b":{"Value":{"BOOL":true}}}`, "UPDATED_NEW",
			`{"m.b":{"BOOL":true}}`,
		},
	} {
		e.answer("PutItem", `{"TableName":"HHH","Item":`+item+`}`)
		body := `{"TableName":"HHH","Key":{"a":{"S":"k"}},` + tt.update
		if tt.mode != "" {
			body += `,"ReturnValues":"` + tt.mode + `"`
		}
		want := tt.want
		if want != `{}` {
			want = `{"Attributes":` + want + `}`
		}
		e.want("UpdateItem", body+`}`, want)
	}
}

// TestUpdateItemMakesItems checks that an update creates an item that does not exist, unless the update only removes
// or its condition fails. Source: alternator, test_item.py, test_returnvalues.py.
func TestUpdateItemMakesItems(t *testing.T) {
	e := newEndpoint(t, tableH)
	const set = `"UpdateExpression":"SET x = :v","ExpressionAttributeValues":{":v":{"S":"y"}}`
	for i, tt := range []struct{ update, want, item string }{
		{set + `,"ReturnValues":"ALL_NEW"`, `{"Attributes":{"a":KEY,"x":{"S":"y"}}}`, `{"a":KEY,"x":{"S":"y"}}`},
		{set + `,"ReturnValues":"UPDATED_NEW"`, `{"Attributes":{"x":{"S":"y"}}}`, `{"a":KEY,"x":{"S":"y"}}`},
		{set + `,"ReturnValues":"ALL_OLD"`, `{}`, `{"a":KEY,"x":{"S":"y"}}`},
		{set + `,"ReturnValues":"UPDATED_OLD"`, `{}`, `{"a":KEY,"x":{"S":"y"}}`},
		{`"ReturnValues":"ALL_NEW"`, `{"Attributes":{"a":KEY}}`, `{"a":KEY}`},
		{`"AttributeUpdates":{},"ReturnValues":"ALL_NEW"`, `{"Attributes":{"a":KEY}}`, `{"a":KEY}`},
		{`"AttributeUpdates":{},"ReturnValues":"UPDATED_NEW"`, `{}`, `{"a":KEY}`},
		{`"ConditionExpression":"attribute_not_exists(a)"`, `{}`, `{"a":KEY}`},
		{`"UpdateExpression":"REMOVE x","ReturnValues":"ALL_NEW"`, `{}`, `{}`},
		{`"UpdateExpression":"REMOVE x.y","ReturnValues":"ALL_NEW"`, `{}`, `{}`},
		{
			`"UpdateExpression":"DELETE x :v","ExpressionAttributeValues":{":v":{"SS":["y"]}},"ReturnValues":"ALL_NEW"`,
			`{}`, `{}`,
		},
		{`"AttributeUpdates":{"x":{"Action":"DELETE"}},"ReturnValues":"ALL_NEW"`, `{}`, `{}`},
		{
			`"UpdateExpression":"REMOVE x ADD n :v","ExpressionAttributeValues":{":v":{"N":"2"}}`, `{}`,
			`{"a":KEY,"n":{"N":"2"}}`,
		},
		{
			`"UpdateExpression":"SET n = if_not_exists(n, :z) + ` +
				`:v","ExpressionAttributeValues":{":v":{"N":"2"},":z":{"N":"40"}}`, `{}`, `{"a":KEY,"n":{"N":"42"}}`,
		},
		{
			`"UpdateExpression":"REMOVE x","ReturnConsumedCapacity":"TOTAL"`,
			`{"ConsumedCapacity":{"TableName":"HHH","CapacityUnits":1}}`, `{}`,
		},
	} {
		key := `{"S":"` + strconv.Itoa(i) + `"}`
		e.want("UpdateItem", `{"TableName":"HHH","Key":{"a":`+key+`},`+tt.update+`}`,
			strings.ReplaceAll(tt.want, "KEY", key))
		e.item("HHH", `{"a":`+key+`}`, strings.ReplaceAll(tt.item, "KEY", key))
	}
	for _, failing := range []string{
		`"ConditionExpression":"attribute_exists(a)",` + set, `"ConditionExpression":"attribute_exists(a)"`,
		`"Expected":{"a":{"ComparisonOperator":"NOT_NULL"}},"AttributeUpdates":{"x":{"Value":{"S":"y"}}}`,
		`"Expected":{"a":{"Value":{"S":"ghost"}}}`,
		`"ConditionExpression":"x <> :v AND attribute_exists(x)",` + set,
	} {
		e.refuse("UpdateItem", `{"TableName":"HHH","Key":{"a":{"S":"ghost"}},`+failing+`}`,
			"ConditionalCheckFailedException: The conditional request failed")
		e.item("HHH", `{"a":{"S":"ghost"}}`, `{}`)
	}
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"old"},"x":{"N":"1"}}}`)
	for mode, item := range map[string]bool{"NONE": false, "ALL_OLD": true} {
		out, _ := e.serve("UpdateItem",
			`{"TableName":"HHH","Key":{"a":{"S":"old"}},"ConditionExpression":"x = `+
				`:v","ReturnValuesOnConditionCheckFailure":"`+mode+`",`+set+`}`)
		if got := strings.Contains(out, `"Item":{"a":{"S":"old"},"x":{"N":"1"}}`); got != item {
			t.Errorf("%s: %s", mode, out)
		}
	}
}

// Source: dynalite, test/updateItem.js, except where another one is given.
func TestUpdateItemRefusals(t *testing.T) {
	const (
		partOfKey = wrongValues + "Cannot update attribute %s. This attribute is part of the key"
		scalars   = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
		kind      = wrongValues + "Type mismatch for Index Key c Expected: S Actual: N IndexName: index1"
		unsupport = "The update expression attempted to update the secondary index key to unsupported type"
		emptyKey  = "One or more parameter values are not valid. The update expression attempted to update a " +
			"secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot " +
			"contain an empty string value."
		operand  = "An operand in the update expression has an incorrect data type"
		path     = "The document path provided in the update expression is invalid for update"
		mismatch = "Type mismatch for attribute to update"
		missing  = "The provided expression refers to an attribute that does not exist in the item"
		schema   = "The provided key element does not match the schema"
		one      = "1 validation error detected: " // of what needs no table
		mixed    = one +
			"Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {%s} Expression parameters: {%s}"
	)
	const n, s, ns = `,"ExpressionAttributeValues":{":v":{"N":"1"}}`, `,"ExpressionAttributeValues":{":v":{"S":"x"}}`,
		`,"ExpressionAttributeValues":{":v":{"NS":["1"]}}`
	e := newEndpoint(t, tableH, tableR)
	const old = `{"a":{"S":"k"},"b":{"S":"k"},"e":{"N":"1"},"ss":{"SS":["1"]},"l":{"L":[{"N":"1"}]},` +
		`"hollow":{"S":""},"s":{"S":"x"}}`
	e.answer("PutItem", `{"TableName":"RRR","Item":`+old+`}`)
	text := func(format string, args ...string) string {
		for _, a := range args {
			format = strings.Replace(format, "%s", a, 1)
		}
		return format
	}
	for _, tt := range []struct{ update, want string }{
		{`"UpdateExpression":"SET a = :v"` + s, text(partOfKey, "a")},
		{`"AttributeUpdates":{"a":{"Value":{"S":"x"}}}`, text(partOfKey, "a")},
		{`"AttributeUpdates":{"e":{"Value":{"S":"x"}},"b":{"Action":"DELETE"}}`, text(partOfKey, "b")},
		{`"UpdateExpression":"REMOVE b"`, text(partOfKey, "b")},
		{`"UpdateExpression":"ADD a.b :v"` + n, text(partOfKey, "a")},
		{`"UpdateExpression":"DELETE a :v"` + ns, text(partOfKey, "a")},
		{`"UpdateExpression":"SET d[1] = :v ADD b.b :v"` + n, text(partOfKey, "b")},
		{`"UpdateExpression":"SET a = :v","ConditionExpression":"attribute_not_exists(a)"` + s, text(partOfKey, "a")},
		{`"UpdateExpression":"ADD d.b :v"` + n, scalars + "IndexKey: d"},
		{`"UpdateExpression":"SET d[1] = :v"` + n, scalars + "IndexKey: d"},
		{`"UpdateExpression":"SET e = list_append(a, b), f = d[1]"`, scalars + "IndexKey: d"},
		{`"UpdateExpression":"SET f = a.b"`, scalars + "Key: a"},
		{`"AttributeUpdates":{"c":{"Value":{"N":"1"}}}`, kind},
		{`"UpdateExpression":"SET dd = a ADD c :v"` + n, kind},
		{`"UpdateExpression":"SET f = e, c = a + :v"` + n, kind},
		{`"UpdateExpression":"SET c = if_not_exists(f, :v)"` + n, kind},
		{`"UpdateExpression":"SET c = :v","ConditionExpression":"attribute_not_exists(a)"` + n, kind},
		{`"UpdateExpression":"SET c = e"`, unsupport},
		{`"UpdateExpression":"SET d = e"`, unsupport},
		// alternator test_gsi.py
		{`"UpdateExpression":"SET c = :v","ExpressionAttributeValues":{":v":{"S":""}}`, emptyKey},
		{`"UpdateExpression":"SET c = hollow"`, emptyKey},
		{`"AttributeUpdates":{"d":{"Value":{"S":""}}}`, emptyKey},
		// API_TransactWriteItems lists this text.
		{
			`"UpdateExpression":"SET d = :v","ExpressionAttributeValues":{":v":{"S":"` + strings.Repeat("x", 1025) +
				`"}}`, "The update expression attempted to update the secondary index key beyond allowed size limits",
		},
		{`"UpdateExpression":"SET x = ss + :v"` + n, operand},
		{`"UpdateExpression":"ADD s :v"` + n, operand},
		{`"UpdateExpression":"ADD ss :v"` + ns, operand},
		{`"UpdateExpression":"DELETE e :v"` + ns, operand},
		{`"UpdateExpression":"SET x = list_append(ss, l)"`, operand},
		{`"AttributeUpdates":{"ss":{"Action":"DELETE","Value":{"NS":["1"]}}}`, mismatch},
		{`"AttributeUpdates":{"ss":{"Action":"ADD","Value":{"NS":["1"]}}}`, mismatch},
		{`"AttributeUpdates":{"e":{"Action":"ADD","Value":{"L":[]}}}`, mismatch},
		{
			`"AttributeUpdates":{"x":{"Action":"ADD","Value":{"S":"y"}}}`,
			wrongValues + "ADD action is not supported for the type S",
		},
		{
			`"AttributeUpdates":{"x":{"Action":"DELETE","Value":{"L":[]}}}`,
			wrongValues + "DELETE action with value is not supported for the type L",
		},
		{
			`"AttributeUpdates":{"x":{"Action":"PUT"}}`,
			wrongValues + "Only DELETE action is allowed when no attribute value is specified",
		},
		{`"UpdateExpression":"SET x = y"`, missing},
		{`"UpdateExpression":"SET y.z = :v"` + n, path},
		{`"UpdateExpression":"SET e.z = :v"` + n, path},
		{`"UpdateExpression":"SET l.z = :v"` + n, path},
		{`"UpdateExpression":"REMOVE y.z SET x = :v"` + n, path},
		{`"UpdateExpression":"REMOVE s[0]"`, path},
		{
			`"UpdateExpression":"SET x = :v","AttributeUpdates":{},"Expected":{},"ConditionExpression":"x = :v"` + n,
			text(mixed, "AttributeUpdates, Expected", "UpdateExpression, ConditionExpression"),
		},
		{
			`"AttributeUpdates":{"x":{"Value":{"S":"y"}}},"ConditionExpression":"attribute_exists(a)"`,
			text(mixed, "AttributeUpdates", "ConditionExpression"),
		},
		{
			`"UpdateExpression":"SET x = s","ConditionalOperator":"AND"`,
			text(mixed, "ConditionalOperator", "UpdateExpression"),
		},
		{
			`"AttributeUpdates":{"x":{"Value":{"S":"y"}}},"ExpressionAttributeNames":{"#a":"a"}`,
			one + "ExpressionAttributeNames can only be specified when using expressions",
		},
		{
			`"AttributeUpdates":{"x":{"Value":{"S":"y"}}}` + n,
			one + "ExpressionAttributeValues can only be specified when using expressions",
		},
		{`"UpdateExpression":""`, one + "Invalid UpdateExpression: The expression can not be empty;"},
		{
			`"UpdateExpression":"INVALID SYNTAX HERE"`,
			one + `Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"`,
		},
		{
			`"UpdateExpression":"SET x = :v","ConditionExpression":"x = :w"` + n,
			one +
				"Invalid ConditionExpression: An expression attribute value used in expression " +
				"is not defined; attribute value: :w",
		},
		{
			`"UpdateExpression":"SET x = :v","ExpressionAttributeValues":{":v":{"N":"1"},":w":{"N":"2"}}`,
			one + "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}",
		},
		{
			`"UpdateExpression":"SET x = :v","ExpressionAttributeValues":{":v":{"SS":[]}}`,
			one + wrongValues + "An string set  may not be empty",
		}, // row 20 of TestFidelityOfData
	} {
		e.invalid("UpdateItem", `{"TableName":"RRR","Key":{"a":{"S":"k"},"b":{"S":"k"}},`+tt.update+`}`, tt.want)
	}
	e.item("RRR", `{"a":{"S":"k"},"b":{"S":"k"}}`, old)
	for _, key := range []string{
		`{}`, `{"b":{"S":"a"}}`, `{"a":{"S":"a"},"b":{"S":"a"}}`, `{"a":{"N":"1"}}`, `{"a":{"NULL":true}}`,
		`{"a":{"M":{}}}`,
	} {
		e.invalid("UpdateItem", `{"TableName":"HHH","Key":`+key+`}`, schema)
	}
	e.invalid("UpdateItem",
		`{"TableName":"HHH","Key":{"a":{"S":""}}}`, "One or more parameter values are not valid. "+
			"The AttributeValue for a key attribute cannot contain an empty string value. Key: a")
	e.refuse("UpdateItem", `{"TableName":"None","Key":{}}`, "ResourceNotFoundException: Requested resource not found")
}

// Capacity units of updates that keep, add, change, move and remove index entries. Source: DG/GSI.html and
// DG/LSI.html, write operations; dynalite, test/updateItem.js.
func TestUpdateItemUnits(t *testing.T) {
	e := newEndpoint(t, tableR)
	key := `"Key":{"a":{"S":"k"},"b":{"S":"k"}}`
	for _, tt := range []struct {
		table                    int
		name, expr, values, want string
	}{
		{1, "no entries", "SET x = :v", `{":v":{"N":"1"}}`, `"CapacityUnits":1`},
		{
			1, "added in index1 and index3", "SET c = :v",
			`{":v":{"S":"c"}}`, `"CapacityUnits":3,"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1}}`,
		},
		{
			1, "added in index2 and index4", "SET d = :v",
			`{":v":{"S":"d"}}`, `"CapacityUnits":5,"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1},` +
				`"index2":{"CapacityUnits":1}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1},"index4":{"CapacityUnits":1}}`,
		},
		{1, "unchanged", "SET d = :v", `{":v":{"S":"d"}}`, `"CapacityUnits":1`},
		{
			1, "changed where all is projected", "SET x = :v", `{":v":{"N":"2"}}`,
			`"CapacityUnits":3,"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1}}`,
		},
		{
			1, "moved in index2 and index4", "SET d = :v",
			`{":v":{"S":"e"}}`, `"CapacityUnits":7,"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1},` +
				`"index2":{"CapacityUnits":2}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1},"index4":{"CapacityUnits":2}}`,
		},
		{
			2, "grown to 2 KB", "SET e = :v", `{":v":{"S":"` + strings.Repeat("x", 1100) + `"}}`,
			`"CapacityUnits":8,"LocalSecondaryIndexes":{"index1":{"CapacityUnits":2}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":2},"index4":{"CapacityUnits":2}}`,
		},
		{
			2, "removed from index2 and index4", "REMOVE d",
			``, `"CapacityUnits":9,"LocalSecondaryIndexes":{"index1":{"CapacityUnits":2},` +
				`"index2":{"CapacityUnits":1}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":2},"index4":{"CapacityUnits":2}}`,
		},
		{
			2, "moved in index1 and index3", "SET c = :v",
			`{":v":{"S":"z"}}`, `"CapacityUnits":10,"LocalSecondaryIndexes":{"index1":{"CapacityUnits":4}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":4}}`,
		},
		{
			2, "removed from all", "REMOVE c, e",
			``, `"CapacityUnits":6,"LocalSecondaryIndexes":{"index1":{"CapacityUnits":2}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":2}}`,
		},
	} {
		body := `{"TableName":"RRR",` + key + `,"UpdateExpression":"` + tt.expr + `","ReturnConsumedCapacity":"INDEXES"`
		if tt.values != "" {
			body += `,"ExpressionAttributeValues":` + tt.values
		}
		out := e.answer("UpdateItem", body+`}`)
		if want := `{"ConsumedCapacity":{"TableName":"RRR","Table":{"CapacityUnits":` + strconv.Itoa(tt.table) + `},` +
			tt.want + `}}`; !sameJSON(t, out, want) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, out, want)
		}
	}
}
