package fuzz_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/server"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// tables are the tables for the requests of FuzzHandler, with indexes and keys
// of every kind.
var tables = []string{
	`CreateTable {"TableName":"Orders","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"},
			{"AttributeName":"total","AttributeType":"N"},{"AttributeName":"city","AttributeType":"S"},{"AttributeName":"tag","AttributeType":"B"}],
		"LocalSecondaryIndexes":[
			{"IndexName":"byTotal","KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"total","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexes":[
			{"IndexName":"byCity","KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}},
			{"IndexName":"byTag","KeySchema":[{"AttributeName":"tag","KeyType":"HASH"},{"AttributeName":"total","KeyType":"RANGE"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["list"]}},
			{"IndexName":"byAll","KeySchema":[{"AttributeName":"city","KeyType":"HASH"},{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"total","KeyType":"RANGE"},{"AttributeName":"SK","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`,
	`CreateTable {"TableName":"Counters","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5},
		"KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"}]}`,
	`CreateTable {"TableName":"Blobs","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"b","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"b","AttributeType":"B"},{"AttributeName":"n","AttributeType":"N"}]}`,
	`BatchWriteItem {"RequestItems":{
		"Orders":[
			{"PutRequest":{"Item":{"PK":{"S":"c#1"},"SK":{"S":"o#1"},"total":{"N":"10"},"city":{"S":"Bern"},"tag":{"B":"/w=="},"list":{"L":[{"S":"x"},{"N":"1"}]}}}},
			{"PutRequest":{"Item":{"PK":{"S":"c#1"},"SK":{"S":"o#2"},"total":{"N":"10"},"city":{"S":"Bern"},"map":{"M":{"a":{"M":{"b":{"NULL":true}}}}}}}},
			{"PutRequest":{"Item":{"PK":{"S":"c#1"},"SK":{"S":"p"},"set":{"SS":["a","b"]},"status":{"BOOL":true}}}},
			{"PutRequest":{"Item":{"PK":{"S":"c#2"},"SK":{"S":"o#1"},"total":{"N":"-1.5"},"tag":{"B":"AA=="}}}}],
		"Counters":[{"PutRequest":{"Item":{"n":{"N":"1"}}}},{"PutRequest":{"Item":{"n":{"N":"-1E-130"},"v":{"NS":["1","2"]}}}}],
		"Blobs":[{"PutRequest":{"Item":{"b":{"B":"AP8="},"n":{"N":"0"}}}},{"PutRequest":{"Item":{"b":{"B":"AP8="},"n":{"N":"9.9E125"}}}}]}}`,
}

// good are requests that succeed, at least one for every operation.
var good = []string{
	`ListTables {}`,
	`ListTables {"ExclusiveStartTableName":"Blobs","Limit":1}`,
	`DescribeTable {"TableName":"Orders"}`,
	`DescribeTable {"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/Orders"}`,
	`DescribeLimits {}`,
	`DescribeEndpoints {}`,
	`CreateTable {"TableName":"New","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"B"}],"Tags":[{"Key":"k","Value":"v"}],"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"DeletionProtectionEnabled":true}`,
	`UpdateTable {"TableName":"Orders","AttributeDefinitions":[{"AttributeName":"status","AttributeType":"S"},{"AttributeName":"total","AttributeType":"N"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"more","KeySchema":[{"AttributeName":"status","KeyType":"HASH"},{"AttributeName":"total","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}}]}`,
	`UpdateTable {"TableName":"Orders","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"byTag"}}]}`,
	`UpdateTable {"TableName":"Counters","ProvisionedThroughput":{"ReadCapacityUnits":6,"WriteCapacityUnits":1}}`,
	`UpdateTable {"TableName":"Counters","BillingMode":"PAY_PER_REQUEST"}`,
	`DeleteTable {"TableName":"Blobs"}`,
	`PutItem {"TableName":"Orders","Item":{"PK":{"S":"c#1"},"SK":{"S":"o#3"},"total":{"N":"1E+2"},"city":{"S":"Zürich"}},"ConditionExpression":"attribute_not_exists(PK) OR #t < :t","ExpressionAttributeNames":{"#t":"total"},"ExpressionAttributeValues":{":t":{"N":"5"}},"ReturnValues":"ALL_OLD","ReturnConsumedCapacity":"INDEXES","ReturnItemCollectionMetrics":"SIZE"}`,
	`PutItem {"TableName":"Orders","Item":{"PK":{"S":"c#1"},"SK":{"S":"o#1"}},"Expected":{"total":{"ComparisonOperator":"GE","AttributeValueList":[{"N":"10"}]},"gone":{"Exists":false}},"ConditionalOperator":"AND"}`,
	`PutItem {"TableName":"Orders","Item":{"PK":{"S":"c#1"},"SK":{"S":"o#1"}},"ConditionExpression":"attribute_exists(nope)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`,
	`DeleteItem {"TableName":"Orders","Key":{"PK":{"S":"c#1"},"SK":{"S":"o#1"}},"ConditionExpression":"size(#l) = :n AND contains(#l, :x) AND attribute_type(#l, :t)","ExpressionAttributeNames":{"#l":"list"},"ExpressionAttributeValues":{":n":{"N":"2"},":x":{"S":"x"},":t":{"S":"L"}},"ReturnValues":"ALL_OLD"}`,
	`GetItem {"TableName":"Orders","Key":{"PK":{"S":"c#1"},"SK":{"S":"o#2"}},"ProjectionExpression":"#m.a.b, city","ExpressionAttributeNames":{"#m":"map"},"ConsistentRead":true,"ReturnConsumedCapacity":"TOTAL"}`,
	`GetItem {"TableName":"Counters","Key":{"n":{"N":"1.0"}},"AttributesToGet":["n","v"]}`,
	`BatchGetItem {"RequestItems":{"Orders":{"Keys":[{"PK":{"S":"c#1"},"SK":{"S":"o#2"}},{"PK":{"S":"c#9"},"SK":{"S":"x"}}],"ProjectionExpression":"PK, city"},"Counters":{"Keys":[{"n":{"N":"1"}}],"ProjectionExpression":"n"}},"ReturnConsumedCapacity":"INDEXES"}`,
	`BatchWriteItem {"RequestItems":{"Orders":[{"DeleteRequest":{"Key":{"PK":{"S":"c#1"},"SK":{"S":"o#1"}}}},{"PutRequest":{"Item":{"PK":{"S":"c#3"},"SK":{"S":"o"},"tag":{"B":"AA=="}}}}]},"ReturnConsumedCapacity":"INDEXES","ReturnItemCollectionMetrics":"SIZE"}`,
	`Query {"TableName":"Orders","KeyConditionExpression":"PK = :p AND begins_with(SK, :s)","ExpressionAttributeValues":{":p":{"S":"c#1"},":s":{"S":"o#"}},"ScanIndexForward":false,"Limit":1,"ReturnConsumedCapacity":"INDEXES"}`,
	`Query {"TableName":"Orders","KeyConditionExpression":"PK = :p AND SK BETWEEN :a AND :b","FilterExpression":"NOT (#t IN (:n, :m)) OR attribute_exists(#m.a[0])","ExpressionAttributeNames":{"#m":"map","#t":"total"},"ExpressionAttributeValues":{":p":{"S":"c#1"},":a":{"S":"a"},":b":{"S":"z"},":n":{"N":"1"},":m":{"N":"2"}},"ExclusiveStartKey":{"PK":{"S":"c#1"},"SK":{"S":"o#1"}}}`,
	`Query {"TableName":"Orders","IndexName":"byTotal","KeyConditionExpression":"PK = :p AND #t >= :n","ExpressionAttributeNames":{"#t":"total"},"ExpressionAttributeValues":{":p":{"S":"c#1"},":n":{"N":"10"}},"Select":"ALL_ATTRIBUTES","ConsistentRead":true}`,
	`Query {"TableName":"Orders","IndexName":"byAll","KeyConditionExpression":"city = :c AND PK = :p AND #t = :n AND SK > :s","ExpressionAttributeNames":{"#t":"total"},"ExpressionAttributeValues":{":p":{"S":"c#1"},":c":{"S":"Bern"},":n":{"N":"10"},":s":{"S":"o"}},"ExclusiveStartKey":{"PK":{"S":"c#1"},"SK":{"S":"o#1"},"city":{"S":"Bern"},"total":{"N":"10"}}}`,
	`Query {"TableName":"Orders","IndexName":"byTag","KeyConditions":{"tag":{"ComparisonOperator":"EQ","AttributeValueList":[{"B":"/w=="}]},"total":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"-1"},{"N":"99"}]}},"QueryFilter":{"list":{"ComparisonOperator":"NOT_NULL"}},"Select":"COUNT"}`,
	`Query {"TableName":"Blobs","KeyConditionExpression":"b = :b AND :n <= n","ExpressionAttributeValues":{":b":{"B":"AP8="},":n":{"N":"-0"}},"ProjectionExpression":"n"}`,
	`Scan {"TableName":"Orders","Segment":1,"TotalSegments":2,"FilterExpression":"begins_with(PK, :p) AND #s <> :t","ExpressionAttributeNames":{"#s":"status"},"ExpressionAttributeValues":{":p":{"S":"c"},":t":{"BOOL":false}}}`,
	`Scan {"TableName":"Orders","IndexName":"byCity","Limit":1,"ExclusiveStartKey":{"PK":{"S":"c#1"},"SK":{"S":"o#1"},"city":{"S":"Bern"}},"ReturnConsumedCapacity":"INDEXES"}`,
	`Scan {"TableName":"Counters","ScanFilter":{"v":{"ComparisonOperator":"CONTAINS","AttributeValueList":[{"N":"1"}]},"x":{"ComparisonOperator":"NULL"}},"ConditionalOperator":"OR","AttributesToGet":["n"]}`,
	`ExecuteStatement {"Statement":"SELECT SK, map.a.b FROM \"Orders\" WHERE PK = ? AND begins_with(SK, 'o#') AND NOT (size(list) > 5) ORDER BY SK DESC","Parameters":[{"S":"c#1"}],"Limit":1}`,
	`ExecuteStatement {"Statement":"SELECT * FROM \"Orders\".\"byCity\" WHERE city IN ['Bern', 'Basel'] AND (total IS MISSING OR total BETWEEN 1 AND 99)"}`,
	`ExecuteStatement {"Statement":"INSERT INTO Counters VALUE {'n': 77, 'v': {'a': [1, 'x', <<'s'>>]}}","ReturnConsumedCapacity":"INDEXES"}`,
	`ExecuteStatement {"Statement":"UPDATE \"Orders\" SET total = total + 1 SET list = list_append(list, ?) REMOVE city WHERE PK = 'c#1' AND SK = 'o#1' RETURNING ALL NEW *","Parameters":[{"L":[{"S":"y"}]}]}`,
	`BatchExecuteStatement {"Statements":[{"Statement":"DELETE FROM Counters WHERE n = 1"},{"Statement":"INSERT INTO Counters VALUE {'n': 2.50}"}]}`,
	`ExecuteTransaction {"TransactStatements":[{"Statement":"EXISTS(SELECT * FROM \"Orders\" WHERE PK = 'c#1' AND SK = 'o#1' AND total > 0)"},{"Statement":"DELETE FROM \"Orders\" WHERE PK = 'c#1' AND SK = 'o#2'"}]}`,
	`UpdateTable {"TableName":"Orders","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`,
	`DynamoDBStreams_20120810.ListStreams {"TableName":"Orders"}`,
}

// bad are requests that are refused, or whose operations are not implemented.
var bad = []string{
	`Query {"TableName":"Orders"}`, `Scan null`, `PutItem []`, `PutItem {"TableName":"Orders","Item":{"PK":{"S":""},"SK":{"N":"x"}}}`, `GetItem {`, ` `,
	`UpdateItem {"TableName":"Orders","Key":{"PK":{"S":"c#1"},"SK":{"S":"o#1"}},"UpdateExpression":"SET total = total + :n, list[9] = :n REMOVE #m.a ADD v :n DELETE s :s","ExpressionAttributeNames":{"#m":"map"},"ExpressionAttributeValues":{":n":{"N":"1"},":s":{"SS":["a"]}},"ReturnValues":"UPDATED_NEW"}`,
	`TransactWriteItems {"TransactItems":[{"Put":{"TableName":"Counters","Item":{"n":{"N":"7"}}}},{"ConditionCheck":{"TableName":"Counters","Key":{"n":{"N":"1"}},"ConditionExpression":"attribute_exists(n)"}}],"ClientRequestToken":"t"}`,
	`TransactGetItems {"TransactItems":[{"Get":{"TableName":"Counters","Key":{"n":{"N":"1"}}}}]}`,
	`DescribeTimeToLive {"TableName":"Orders"}`, `ListTagsOfResource {"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Orders"}`,
	`Query {"TableName":"Orders","KeyConditionExpression":"((PK = :p))","ExpressionAttributeValues":{":p":{"S":"c#1"}}}`,
	`Scan {"TableName":"Orders","Segment":1000000,"TotalSegments":1000000,"Limit":0}`,
}

// FuzzHandler sends a script of requests, one per line, to the handler of a database. The handler must not panic,
// respond with status 500, log anything, or respond with anything but JSON.
func FuzzHandler(f *testing.F) {
	base := memory.Open()
	for _, r := range tables {
		r = strings.ReplaceAll(r, "\n", "") // one line each
		if status, body, log := runScript(f, base, r); status != 200 || log != "" {
			f.Fatalf("%s\n%s%s", r, body, log)
		}
	}
	for _, r := range good {
		status, body, log := runScript(f, fork(f, base), r)
		if status != 200 && !strings.Contains(r, "OnConditionCheckFailure") || log != "" {
			f.Fatalf("%s\n%s%s", r, body, log)
		}
	}
	for i, r := range slices.Concat(good, bad) {
		f.Add([]byte(r))
		f.Add([]byte(strings.Join([]string{good[(7*i)%len(good)], r, good[(5*i+3)%len(good)]}, "\n")))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		st := fork(t, base)
		_, _, log := runScript(t, st, string(script))
		if log != "" {
			t.Fatalf("logged: %s", log)
		}
	})
}

// runScript sends the first requests of a script to a database on st. It returns the first status, the last response
// and the log. It fails the test for responses that no request may get.
func runScript(t testing.TB, st store.Forker, script string) (first int, body, logged string) {
	var log bytes.Buffer
	opts := sortkey.Options{Store: keptStore{st}, Rand: rand.NewChaCha8([32]byte{}), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	db, err := sortkey.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, line := range strings.Split(script, "\n") {
		if i == 6 {
			break
		}
		op, text, _ := strings.Cut(line, " ")
		target := "DynamoDB_20120810." + op
		if strings.Contains(op, ".") {
			target = op
		}
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://localhost/", strings.NewReader(text))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header["X-Amz-Target"] = []string{target}
		r.Header.Set(server.TraceHeader, fmt.Sprint(i%2))
		w := httptest.NewRecorder()
		server.New(db, server.Options{}).ServeHTTP(w, r)
		if body = w.Body.String(); i == 0 {
			first = w.Code
		}
		if w.Code >= 500 || strings.Contains(body, "#InternalServerError") {
			t.Fatalf("%s\nanswers %d %s\n%s", line, w.Code, body, log.String())
		}
		var e struct {
			Type string `json:"__type"`
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil || w.Code != 200 && e.Type == "" {
			t.Fatalf("%s\nanswers %d %s: %v", line, w.Code, body, err)
		}
	}
	return first, body, log.String()
}

// A keptStore stays open when its database closes it.
type keptStore struct{ store.Forker }

func (keptStore) Close() error { return nil }

func fork(t testing.TB, s store.Forker) store.Forker {
	t.Helper()
	f, err := s.Fork()
	if err != nil {
		t.Fatal(err)
	}
	return f.(store.Forker)
}
