package api_test

import (
	"fmt"
	"strings"
	"testing"
)

// Limits, one below, at, and one above. Source: DG/Constraints.html,
// DG/ServiceQuotas.html, unless another is given.

func x(n int) string { return strings.Repeat("x", n) }

// sizes runs a request of the sizes limit-1, limit and limit+1: it must be
// answered twice and then refused.
func (e *endpoint) sizes(name string, limit int, op string, body func(n int) string, want string) {
	e.t.Helper()
	for _, n := range []int{limit - 1, limit, limit + 1} {
		out, status := e.serve(op, body(n))
		switch got := fault(out); {
		case n <= limit && status != 200:
			e.t.Errorf("%s, %s of %d is refused: %s", name, op, n, short(out))
		case n > limit && (status != 400 || !strings.Contains(got, want)):
			e.t.Errorf("%s, %s of %d answers %s, want %s", name, op, n, short(out), want)
		}
	}
}

func TestLimitsItemSize(t *testing.T) {
	const limit = 400 * 1024
	const put, update = "ValidationException: Item size has exceeded the maximum allowed size", "ValidationException: Item size to update has exceeded the maximum allowed size"
	e := newEndpoint(t, tableH, tableR)
	item := func(n int) string { return `{"a":{"S":"k"},"v":{"S":"` + x(n-len("akv")) + `"}}` }
	e.sizes("item", limit, "PutItem", func(n int) string { return `{"TableName":"HHH","Item":` + item(n) + `}` }, put)
	e.sizes("item", limit, "BatchWriteItem", func(n int) string { return `{"RequestItems":{"HHH":[{"PutRequest":{"Item":` + item(n) + `}}]}}` }, put)
	e.sizes("item", limit, "TransactWriteItems", func(n int) string { return transact(`{"Put":{"TableName":"HHH","Item":` + item(n) + `}}`) }, put)
	e.sizes("names count", limit, "PutItem", func(n int) string {
		return `{"TableName":"HHH","Item":{"a":{"S":"k"},"` + x(60000) + `":{"S":"` + x(n-60002) + `"}}}`
	}, put)
	e.sizes("binary", limit, "PutItem", func(n int) string {
		return `{"TableName":"HHH","Item":{"a":{"S":"k"},"v":{"B":"` + strings.Repeat("AAAA", (n-3)/3) + []string{"", "AA==", "AAA="}[(n-3)%3] + `"}}}`
	}, put)
	e.sizes("maps and lists", limit, "PutItem", func(n int) string {
		// 3 bytes for a list and a map, one more for each element.
		return `{"TableName":"HHH","Item":{"a":{"S":"k"},"v":{"L":[{"M":{"m":{"S":"` + x(n-12) + `"}}}]}}}`
	}, put)

	// An update of a long key is limited by the item it makes, and one of a
	// short key by what the expression writes, 22 bytes more than its
	// attributes. Source: conformance limits/itemSizeBySurface.
	set := func(key string, n int) string {
		return `"TableName":"HHH","Key":{"a":{"S":"` + key + `"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"` + x(n) + `"}}`
	}
	e.sizes("made by an update", limit, "UpdateItem", func(n int) string { return `{` + set(x(500), n-502) + `}` }, update)
	e.sizes("written by an update", limit, "UpdateItem", func(n int) string { return `{` + set("u", n-23) + `}` }, update)
	e.sizes("made by a transacted update", limit, "TransactWriteItems", func(n int) string { return transact(`{"Update":{` + set("u", n-3) + `}}`) }, "TransactionCanceledException: ")
	e.sizes("made by AttributeUpdates", limit, "UpdateItem", func(n int) string {
		return `{"TableName":"HHH","Key":{"a":{"S":"l"}},"AttributeUpdates":{"v":{"Value":{"S":"` + x(n-3) + `"}}}}`
	}, update)
	e.sizes("grown by an update", limit, "UpdateItem", func(n int) string {
		e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"`+x(300)+`"},"v":{"S":"`+x(n-200_000-303)+`"}}}`)
		return `{"TableName":"HHH","Key":{"a":{"S":"` + x(300) + `"}},"UpdateExpression":"SET w = :w","ExpressionAttributeValues":{":w":{"S":"` + x(200_000) + `"}}}`
	}, update)
	e.invalid("UpdateItem", `{`+set("z", limit)+`,"ConditionExpression":"attribute_exists(a)"}`, "Item size to update has exceeded the maximum allowed size") // before the condition

	// With local indexes their entries count: index1 has everything.
	local := func(n int) string {
		return `{"a":{"S":"k"},"b":{"S":"k"},"c":{"S":"c"},"v":{"S":"` + x(n-7) + `"}}`
	}
	e.sizes("with a local index", limit/2, "PutItem", func(n int) string { return `{"TableName":"RRR","Item":` + local(n) + `}` }, put)
	e.sizes("with a local index", limit/2, "BatchWriteItem", func(n int) string { return `{"RequestItems":{"RRR":[{"PutRequest":{"Item":` + local(n) + `}}]}}` }, put)
	e.sizes("with a local index", limit/2, "UpdateItem", func(n int) string {
		return `{"TableName":"RRR","Key":{"a":{"S":"u"},"b":{"S":"u"}},"UpdateExpression":"SET c = :c, v = :v","ExpressionAttributeValues":{":c":{"S":"c"},":v":{"S":"` + x(n-7) + `"}}}`
	}, update)
	e.sizes("not in the local index", limit, "PutItem", func(n int) string {
		return `{"TableName":"RRR","Item":{"a":{"S":"k"},"b":{"S":"k"},"v":{"S":"` + x(n-5) + `"}}}`
	}, put)
}

func TestLimitsKeys(t *testing.T) {
	const hash = "ValidationException: One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"
	const sort = "ValidationException: One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
	const beyond = "ValidationException: The update expression attempted to update the secondary index key beyond allowed size limits"
	e := newEndpoint(t, tableH, tableR, `{"TableName":"GGG","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"g","AttributeType":"B"},{"AttributeName":"h","AttributeType":"B"}],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"ix1","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`)
	b := func(n int) string { return strings.Repeat("AAAA", n/3) + []string{"", "AA==", "AAA="}[n%3] }
	for _, tt := range []struct {
		limit      int
		table      string
		item, want string
	}{
		{2048, "HHH", `{"a":{"S":"$"}}`, hash},
		{2048, "RRR", `{"a":{"S":"$"},"b":{"S":"x"}}`, hash},
		{1024, "RRR", `{"a":{"S":"x"},"b":{"S":"$"}}`, sort},
		{1024, "RRR", `{"a":{"S":"x"},"b":{"S":"x"},"c":{"S":"$"}}`, sort}, // a sort key of index1
		{2048, "GGG", `{"a":{"S":"x"},"g":{"B":"%"}}`, hash},
		{1024, "GGG", `{"a":{"S":"x"},"h":{"B":"%"}}`, sort},
	} {
		item := func(n int) string { return strings.NewReplacer("$", x(n), "%", b(n)).Replace(tt.item) }
		e.sizes(tt.item, tt.limit, "PutItem", func(n int) string { return `{"TableName":"` + tt.table + `","Item":` + item(n) + `}` }, tt.want)
		e.sizes(tt.item, tt.limit, "BatchWriteItem", func(n int) string {
			return `{"RequestItems":{"` + tt.table + `":[{"PutRequest":{"Item":` + item(n) + `}}]}}`
		}, tt.want)
		e.sizes(tt.item, tt.limit, "TransactWriteItems", func(n int) string { return transact(`{"Put":{"TableName":"` + tt.table + `","Item":` + item(n) + `}}`) }, "TransactionCanceledException: ")
	}
	for _, op := range []string{"GetItem", "DeleteItem", "UpdateItem"} {
		e.sizes("hash key", 2048, op, func(n int) string { return `{"TableName":"RRR","Key":{"a":{"S":"` + x(n) + `"},"b":{"S":"x"}}}` }, hash)
		e.sizes("sort key", 1024, op, func(n int) string { return `{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"` + x(n) + `"}}}` }, sort)
	}
	for limit, name := range map[int]string{2048: "g", 1024: "h"} {
		e.sizes(name, limit, "UpdateItem", func(n int) string {
			return `{"TableName":"GGG","Key":{"a":{"S":"x"}},"UpdateExpression":"SET ` + name + ` = :v","ExpressionAttributeValues":{":v":{"B":"` + b(n) + `"}}}`
		}, beyond)
	}
}

func TestLimitsCounts(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	list := func(n int, one string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(one, "$", fmt.Sprint(i))
		}
		return strings.Join(all, ",")
	}
	const at100 = "failed to satisfy constraint: Member must have length less than or equal to 100"
	e.sizes("writes", 25, "BatchWriteItem", func(n int) string {
		return `{"RequestItems":{"HHH":[` + list(n, `{"PutRequest":{"Item":{"a":{"S":"$"}}}}`) + `]}}`
	}, "Member must have length less than or equal to 25, Member must have length greater than or equal to 1")
	e.sizes("writes to two tables", 25, "BatchWriteItem", func(n int) string {
		return `{"RequestItems":{"HHH":[` + list(12, `{"DeleteRequest":{"Key":{"a":{"S":"$"}}}}`) + `],"RRR":[` + list(n-12, `{"DeleteRequest":{"Key":{"a":{"S":"$"},"b":{"S":"$"}}}}`) + `]}}`
	}, "Too many items requested for the BatchWriteItem call")
	e.sizes("keys", 100, "BatchGetItem", func(n int) string { return `{"RequestItems":{"HHH":{"Keys":[` + list(n, `{"a":{"S":"$"}}`) + `]}}}` }, at100)
	e.sizes("keys of two tables", 100, "BatchGetItem", func(n int) string {
		return `{"RequestItems":{"HHH":{"Keys":[` + list(50, `{"a":{"S":"$"}}`) + `]},"RRR":{"Keys":[` + list(n-50, `{"a":{"S":"$"},"b":{"S":"$"}}`) + `]}}}`
	}, "Too many items requested for the BatchGetItem call")
	e.sizes("actions", 100, "TransactWriteItems", func(n int) string { return transact(list(n, putH("$", ""))) }, "at 'transactItems' "+at100)
	e.sizes("gets", 100, "TransactGetItems", func(n int) string { return transact(list(n, onH("Get", `{"S":"$"}`, ""))) }, "at 'transactItems' "+at100)

	// 4 MB of what is to be written, however large what is deleted is. Source:
	// alternator, test_transact.py.
	const most = 400 * 1024
	full := list(10, putH("$", `,"v":{"S":"`+x(most-3)+`"}`))
	e.sizes("bytes to write", 4<<20, "TransactWriteItems", func(n int) string { return transact(full, putH("last", `,"v":{"S":"`+x(n-10*most-6)+`"}`)) }, "ValidationException: Transaction payload size cannot exceed 4194304 bytes")
	e.sizes("bytes to read", 4<<20, "TransactGetItems", func(n int) string {
		e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"last"},"v":{"S":"`+x(n-10*most-6)+`"}}}`)
		return transact(list(10, onH("Get", `{"S":"$"}`, "")), onH("Get", `{"S":"last"}`, ""))
	}, "ValidationException: ")
	e.answer("TransactWriteItems", transact(list(10, onH("Delete", `{"S":"$"}`, "")), onH("Delete", `{"S":"last"}`, "")))
	e.sizes("token", 36, "TransactWriteItems", func(n int) string { return with(transact(putH("x", "")), `"ClientRequestToken":"`+x(n)+`"`) }, "at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36")
}

func TestLimitsExpressions(t *testing.T) {
	e := newEndpoint(t, tableH)
	const key = `"TableName":"HHH","Key":{"a":{"S":"k"}}`
	pad := func(expr string, n int) string { return expr + strings.Repeat(" ", n-len(expr)) }
	e.sizes("UpdateExpression", 4096, "UpdateItem", func(n int) string { return `{` + key + `,"UpdateExpression":"` + pad("REMOVE x", n) + `"}` }, "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;")
	e.sizes("ConditionExpression", 4096, "UpdateItem", func(n int) string {
		return `{` + key + `,"ConditionExpression":"` + pad("attribute_not_exists(x)", n) + `"}`
	},
		"Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4097")
	e.sizes("transacted UpdateExpression", 4096, "TransactWriteItems", func(n int) string {
		return transact(onH("Update", `{"S":"k"}`, `,"UpdateExpression":"`+pad("REMOVE x", n)+`"`))
	}, "Invalid UpdateExpression: Expression size has exceeded")
	e.sizes("operators", 300, "UpdateItem", func(n int) string {
		return `{` + key + `,"ConditionExpression":"` + strings.TrimSuffix(strings.Repeat("x<>:v OR ", (n+1)/2), " OR ") + []string{" OR attribute_not_exists(x)", ""}[n%2] + `","ExpressionAttributeValues":{":v":{"S":"y"}}}`
	}, "The expression contains too many operators; operator count: 301")
	e.sizes("operands of IN", 100, "UpdateItem", func(n int) string {
		var names, values []string
		for i := range n {
			names, values = append(names, fmt.Sprintf(":v%d", i)), append(values, fmt.Sprintf(`":v%d":{"S":"k%d"}`, i, i))
		}
		return `{` + key + `,"ConditionExpression":"NOT (a IN (` + strings.Join(names, ",") + `))","ExpressionAttributeValues":{` + strings.Join(values, ",") + `}}`
	}, "Invalid ConditionExpression: ")
}

// Levels of nesting: the maps around a leaf, and the leaf. Source: conformance
// limits/nestingDepth, validation-ordering/transactions.
func TestLimitsNesting(t *testing.T) {
	const nested = "Nesting Levels have exceeded supported limits"
	e := newEndpoint(t, tableH)
	deep := func(levels int) string {
		return strings.Repeat(`{"M":{"n":`, levels-1) + `{"S":"x"}` + strings.Repeat(`}}`, levels-1)
	}
	list := func(levels int) string {
		return strings.Repeat(`{"L":[`, levels-1) + `{"S":"x"}` + strings.Repeat(`]}`, levels-1)
	}
	const key = `"TableName":"HHH","Key":{"a":{"S":"k"}}`
	e.sizes("item", 32, "PutItem", func(n int) string { return `{"TableName":"HHH","Item":{"a":{"S":"k"},"v":` + deep(n) + `}}` }, nested)
	e.sizes("lists", 32, "PutItem", func(n int) string { return `{"TableName":"HHH","Item":{"a":{"S":"k"},"v":` + list(n) + `}}` }, nested)
	e.sizes("value", 32, "UpdateItem", func(n int) string {
		return `{` + key + `,"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":` + deep(n) + `}}`
	}, nested)
	e.sizes("AttributeUpdates", 32, "UpdateItem", func(n int) string { return `{` + key + `,"AttributeUpdates":{"v":{"Value":` + deep(n) + `}}}` }, nested)
	e.sizes("transacted", 32, "TransactWriteItems", func(n int) string { return transact(putH("k", `,"v":`+deep(n))) }, nested)
	e.sizes("batch", 32, "BatchWriteItem", func(n int) string {
		return `{"RequestItems":{"HHH":[{"PutRequest":{"Item":{"a":{"S":"k"},"v":` + deep(n) + `}}}]}}`
	}, nested)
	// What an update makes of two that are each allowed.
	e.sizes("made by an update", 32, "UpdateItem", func(n int) string {
		e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"k"},"v":`+deep(20)+`}}`)
		return `{` + key + `,"UpdateExpression":"SET v` + strings.Repeat(".n", 19) + ` = :v","ExpressionAttributeValues":{":v":` + deep(n-19) + `}}`
	}, nested)
	e.sizes("made by list_append", 32, "UpdateItem", func(n int) string {
		e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"k"},"v":{"L":[{"L":[]}]}}}`)
		return `{` + key + `,"UpdateExpression":"SET v[0] = list_append(v[0], :v)","ExpressionAttributeValues":{":v":{"L":[` + deep(n-2) + `]}}}`
	}, nested)
}

func TestLimitsNamesAndNumbers(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.sizes("table name", 255, "CreateTable", func(n int) string { return strings.Replace(tableH, "HHH", x(n), 1) }, "Member must have length less than or equal to 255")
	e.sizes("index name", 255, "CreateTable", func(n int) string {
		return with(strings.Replace(tableH, "HHH", fmt.Sprint("T-", n), 1), `"GlobalSecondaryIndexes":[{"IndexName":"`+x(n)+`","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]`)
	}, "Member must have length less than or equal to 255")
	e.sizes("key attribute name", 255, "CreateTable", func(n int) string {
		return strings.NewReplacer("HHH", fmt.Sprint("U-", n), `"a"`, `"`+x(n)+`"`).Replace(tableH)
	}, "Member must have length less than or equal to 255")
	const most = 65535
	const long = "ValidationException: "
	e.sizes("attribute name", most, "PutItem", func(n int) string { return `{"TableName":"HHH","Item":{"a":{"S":"k"},"` + x(n) + `":{"S":"v"}}}` }, long)
	e.sizes("attribute name", most, "UpdateItem", func(n int) string {
		return `{"TableName":"HHH","Key":{"a":{"S":"k"}},"UpdateExpression":"SET #x = :v","ExpressionAttributeNames":{"#x":"` + x(n) + `"},"ExpressionAttributeValues":{":v":{"S":"v"}}}`
	}, long)
	e.sizes("attribute name", most, "UpdateItem", func(n int) string {
		return `{"TableName":"HHH","Key":{"a":{"S":"k"}},"AttributeUpdates":{"` + x(n) + `":{"Value":{"S":"v"}}}}`
	}, long)

	const digits = "Attempting to store more than 38 significant digits in a Number"
	const over, under = "Number overflow. Attempting to store a number with magnitude larger than supported range", "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	e.sizes("digits", 38, "PutItem", func(n int) string {
		return `{"TableName":"HHH","Item":{"a":{"S":"k"},"n":{"N":"` + strings.Repeat("9", n) + `"}}}`
	}, digits)
	e.sizes("exponent", 125, "PutItem", func(n int) string {
		return fmt.Sprintf(`{"TableName":"HHH","Item":{"a":{"S":"k"},"n":{"N":"-9.9e%d"}}}`, n)
	}, over)
	e.sizes("negative exponent", 130, "PutItem", func(n int) string {
		return fmt.Sprintf(`{"TableName":"HHH","Item":{"a":{"S":"k"},"n":{"N":"1e-%d"}}}`, n)
	}, under)
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"k"},"n":{"N":"9e125"},"m":{"N":"1"}}}`)
	const key = `"TableName":"HHH","Key":{"a":{"S":"k"}}`
	e.answer("UpdateItem", `{`+key+`,"UpdateExpression":"SET o = n + :v","ExpressionAttributeValues":{":v":{"N":"9e124"}}}`)
	e.invalid("UpdateItem", `{`+key+`,"UpdateExpression":"SET o = n + :v","ExpressionAttributeValues":{":v":{"N":"1e125"}}}`, over)
	e.invalid("UpdateItem", `{`+key+`,"UpdateExpression":"ADD n :v","ExpressionAttributeValues":{":v":{"N":"1e125"}}}`, over)
	e.invalid("UpdateItem", `{`+key+`,"AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"1e125"}}}}`, over)
	e.cancelled("TransactWriteItems", transact(`{"Update":{`+key+`,"UpdateExpression":"ADD n :v","ExpressionAttributeValues":{":v":{"N":"1e125"}}}}`), reasons(reasonInvalid(over)))
}
