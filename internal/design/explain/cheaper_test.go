package explain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
)

// cheap opens a database with a table of 60 items.
func cheap(t require.TestingT) *sortkey.DB {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	type schema []map[string]string
	attributes := map[string]string{"PK": "S", "SK": "S", "day": "S"}
	all := map[string]any{"IndexName": "ByDay", "Projection": map[string]string{"ProjectionType": "ALL"},
		"KeySchema": schema{{"AttributeName": "day", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}}}
	indexes := []any{all}
	var definitions []any
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		definitions = append(definitions, map[string]string{"AttributeName": name, "AttributeType": attributes[name]})
	}
	create, err := json.Marshal(map[string]any{
		"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": definitions, "GlobalSecondaryIndexes": indexes,
		"KeySchema": schema{{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}},
	})
	require.NoError(t, err)
	asked(t, db, "CreateTable", create)
	for i := range 60 {
		state, n := fmt.Sprintf(`{"S": "s%d"}`, i%5), fmt.Sprintf(`{"N": "%d"}`, i%7)
		if i%11 == 0 { // attributes of other types
			state, n = `{"N": "1"}`, `{"S": "3"}`
		}
		rest := fmt.Sprintf(`, "n": %s, "paid": {"BOOL": %t}`, n, i%2 == 0)
		if i%3 > 0 {
			rest += fmt.Sprintf(`, "state": %s, "day": {"S": "d%d"}`, state, i%4)
		}
		item := fmt.Sprintf(`{"TableName": "Tab", "Item": {"PK": {"S": "p%d"}, "SK": {"S": "s%02d"}%s}}`, i%4, i, rest)
		asked(t, db, "PutItem", []byte(item))
	}
	return db
}

// asked sends a request, which must succeed.
func asked(t require.TestingT, db *sortkey.DB, operation string, body []byte) []byte {
	out, status := engine.Of(db).Service.Serve(context.Background(), "DynamoDB_20120810."+operation, body, nil)
	require.Equal(t, 200, status, "%s: %s", body, out)
	return out
}

// TestCheaper compares the proposals for requests of all kinds with a list.
func TestCheaper(t *testing.T) {
	db := cheap(t)
	defer db.Close()
	table, err := explain.Describe(t.Context(), explain.InProcess(db), "Tab")
	require.NoError(t, err)
	const scan, query = `"FilterExpression": `, `"KeyConditionExpression": "PK = :p", "FilterExpression": `
	for _, tt := range []struct{ asked, want string }{
		{``, "a Scan reads every row: if some of them will do, put what they have in common into a key, and query that"},
		{scan + `"PK = :p"`, "query the table with PK = ?"},
		{scan + `"PK = :p AND begins_with(SK, :p) AND n > :n"`, "query the table with PK = ? AND begins_with(SK, ?), and the filter n > ?"},
		{scan + `"#d = :p AND SK BETWEEN :p AND :q"`, "query index ByDay with day = ? AND SK BETWEEN ? AND ?"},
		{scan + `"#s = :p"`, "add a global secondary index with the partition key state, and query it"},
		{scan + `"#s = :p AND n > :n"`, "add a global secondary index with the partition key state and the sort key n, and query it"},
		{scan + `"#s = :p AND contains(tags, :p)"`, "add a global secondary index with the partition key state, and query it"},
		{query + `"#s = :p"`, "add a global secondary index with the partition key PK and the sort key state, SK, and query it"},
		{`"ConsistentRead": true, ` + query + `"n > :n"`, "add a global secondary index with the partition key PK and the sort key n, and query it"},
		{`"KeyConditionExpression": "PK = :p AND SK > :p", "FilterExpression": "#s = :p AND n > :n"`, "add a global secondary index with the partition key PK and the sort key state, SK, and query it"},
		{`"KeyConditionExpression": "PK = :p AND SK > :p", "FilterExpression": "n > :n"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{scan + `"n > :n"`, "give the wanted rows an attribute in common, and make that the partition key of an index, with n as its sort key"},
		{scan + `"#s IN (:p, :q)"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{scan + `"a.b = :p"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{scan + `"paid = :b"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{scan + `"attribute_exists(#d)"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{`"IndexName": "ByDay", ` + scan + `"attribute_exists(#d)"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{scan + `"attribute_exists(PK)"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{query + `"attribute_exists(#d)"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{scan + `"contains(tags, :p)"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
		{scan + `"#s = :e"`, "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values"},
	} {
		operation := "Scan"
		if strings.Contains(tt.asked, "KeyCondition") {
			operation = "Query"
		}
		body := `{"TableName": "Tab", ` + tt.asked
		if tt.asked != "" {
			body += `, "ExpressionAttributeNames": {"#s": "state", "#d": "day"}, `
		}
		body += `"ExpressionAttributeValues": {":p": {"S": "p1"}, ":q": {"S": "x"}, ":n": {"N": "3"}, ":b": {"BOOL": true}, ":e": {"S": ""}}}`
		in, err := wire.DecodeRequest(operation, []byte(body))
		require.NoError(t, err)
		require.Equal(t, tt.want, explain.Cheaper(table, in), tt.asked)
	}
	for _, none := range []string{`{"TableName": "Tab", "KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "p1"}}}`, `{"TableName": "Tab", "IndexName": "Gone"}`} {
		in, err := wire.DecodeRequest("Query", []byte(none))
		require.NoError(t, err)
		require.Empty(t, explain.Cheaper(table, in))
	}
}

// TestCheaperProperty sends random requests with filters. A proposed request that needs no new index must find the
// same rows and must not read more.
func TestCheaperProperty(t *testing.T) {
	t.Parallel()
	db := cheap(t)
	defer db.Close()
	table, err := explain.Describe(t.Context(), explain.InProcess(db), "Tab")
	require.NoError(t, err)
	proptest.Check(t, 150, func(t *proptest.T) {
		condition := func(name, value string) string {
			return fmt.Sprintf(proptest.Pick(t, "%s = %s", "%s = %s", "%s > %s", "%s <= %s", "%s BETWEEN %[2]s AND :high", "begins_with(%s, :s)", "%s <> %s", "attribute_exists(%s)", "NOT %s = %s"), name, value)
		}
		var filter []string
		operation, key, names := "Scan", "", []string{"PK", "SK", "n", "#s", "#d", "paid"}
		if t.Bool() {
			operation, key, names = "Query", `"KeyConditionExpression": "PK = :PK`, names[2:]
			if t.Bool() {
				key += " AND " + proptest.Pick(t, "SK > :SK", "SK = :SK", "begins_with(SK, :s)", "SK BETWEEN :SK AND :high")
			}
			key += `", `
		}
		for range t.Between(1, 3) {
			name := proptest.Pick(t, names...)
			filter = append(filter, strings.ReplaceAll(condition(name, ":"+strings.TrimPrefix(name, "#")), "%!(EXTRA string=:"+strings.TrimPrefix(name, "#")+")", ""))
		}
		text := strings.Join(filter, proptest.Pick(t, " AND ", " AND ", " AND ", " OR "))
		high := `{"S": "zz"}`
		if strings.Contains(text, "n BETWEEN") {
			high = `{"N": "5"}`
		}
		body := fmt.Sprintf(`{"TableName": "Tab", %s"FilterExpression": %q, "ExpressionAttributeNames": {"#s": "state", "#d": "day"},
			"ExpressionAttributeValues": {":PK": {"S": "p%d"}, ":SK": {"S": "s%02d"}, ":n": {"N": "%d"}, ":s": {"S": "s"}, ":d": {"S": "d%d"},
			":high": %s, ":paid": {"BOOL": true}}}`, key, text, t.IntN(4), t.IntN(60), t.IntN(7), t.IntN(4), high)
		body = pruned(body)
		in, err := wire.DecodeRequest(operation, []byte(body))
		require.NoError(t, err)
		if _, _, err := explain.InProcess(db).Do(context.Background(), in); err != nil { // such as BETWEEN of two types
			return
		}
		words := explain.Cheaper(table, in)
		require.NotEmpty(t, words)
		cheaper := explain.CheaperQuery(table, in)
		if cheaper == nil {
			return
		}
		t.Logf("%s\n%s", body, words)
		was, read := found(t, asked(t, db, operation, []byte(body)))
		is, reads := found(t, asked(t, db, "Query", wire.AppendJSON(nil, cheaper)))
		require.Equal(t, was, is, string(wire.AppendJSON(nil, cheaper)))
		require.LessOrEqual(t, reads, read)
		if !strings.Contains(words, "filter") {
			require.Len(t, is, reads, "without a filter, all rows that are read are found")
		}
	})
}

// found returns the sorted keys of the rows that a response has, and the number of rows that the request read.
func found(t require.TestingT, body []byte) (keys []string, read int) {
	var page struct {
		Items        []map[string]map[string]any
		ScannedCount int
	}
	require.NoError(t, json.Unmarshal(body, &page))
	for _, it := range page.Items {
		keys = append(keys, fmt.Sprint(it["PK"], it["SK"]))
	}
	slices.Sort(keys)
	return keys, page.ScannedCount
}

// pruned returns a request without the names and values that its expressions do not use.
func pruned(body string) string {
	var in map[string]any
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		panic(err)
	}
	used := strings.FieldsFunc(fmt.Sprint(in["FilterExpression"], " ", in["KeyConditionExpression"]), func(r rune) bool {
		return !strings.ContainsRune("#:", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	for _, member := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		all := in[member].(map[string]any)
		for place := range all {
			if !slices.Contains(used, place) {
				delete(all, place)
			}
		}
		if len(all) == 0 {
			delete(in, member)
		}
	}
	out, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return string(out)
}
