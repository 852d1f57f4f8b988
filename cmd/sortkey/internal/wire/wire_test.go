package wire_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/wire"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/sdkvalue"
)

func TestDecode(t *testing.T) {
	var got dynamodb.QueryInput
	err := wire.Decode([]byte(`{
		"TableName": "T", "Limit": 3, "ScanIndexForward": false, "Select": "COUNT", "IndexName": null,
		"ExpressionAttributeNames": {"#a": "b"},
		"ExpressionAttributeValues": {":v": {"N": "1e2"}},
		"AttributesToGet": ["x"]
	}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := dynamodb.QueryInput{
		TableName: aws.String("T"), Limit: aws.Int32(3), ScanIndexForward: aws.Bool(false), Select: types.SelectCount,
		ExpressionAttributeNames:  map[string]string{"#a": "b"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberN{Value: "1e2"}},
		AttributesToGet:           []string{"x"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(dynamodb.QueryInput{}, types.AttributeValueMemberN{})); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`[]`, "request: [] is not an object"},
		{`{"Nope": 1}`, `request has no member "Nope"`},
		{`{"tableName": "x"}`, `request has no member "tableName"`},
		{`{"noSmithyDocumentSerde": {}}`, `request has no member "noSmithyDocumentSerde"`},
		{`{"TableName": 1}`, "request.TableName: 1 is not of type string"},
		{`{"Limit": "1"}`, `request.Limit: "1" is not of type int32`},
		{`{"AttributesToGet": "x"}`, `request.AttributesToGet: "x" is not an array`},
		{`{"AttributesToGet": [1]}`, "request.AttributesToGet[0]: 1 is not of type string"},
		{`{"ExpressionAttributeValues": {":v": {"Q": 1}}}`, "request.ExpressionAttributeValues.:v: Q: 1: unknown type"},
		{`{"ExpressionAttributeValues": {":v": {"S": 1}}}`, "S: 1: the value has another type"},
		{`{"ExpressionAttributeValues": {":v": {"S": null}}}`, "S: null: null is not a value"},
		{`{"ExpressionAttributeValues": {":v": {"S": "a", "N": "1"}}}`, "is not a value"},
		{`{"ExpressionAttributeValues": {":v": {"B": "?"}}}`, "must be in base64"},
		{`{"ExpressionAttributeValues": {":v": {"L": [{}]}}}`, "{} is not a value"},
	} {
		err := wire.Decode([]byte(tt.text), new(dynamodb.QueryInput))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Decode(%s) = %v, want %s", tt.text, err, tt.want)
		}
	}
	if wire.Decode([]byte("{}"), dynamodb.QueryInput{}) == nil {
		t.Error("Decode into a value that cannot be set succeeds")
	}
}

func TestItem(t *testing.T) {
	const text = `{"b":{"B":"AP8="},"bs":{"BS":["AA==","AQ=="]},"l":{"L":[{"BOOL":true},{"NULL":true},{"BOOL":false}]},` +
		`"m":{"M":{"x":{"S":"\"<é"}}},"n":{"N":"1.50"},"ns":{"NS":["2","1"]},"ss":{"SS":["b","a"]}}`
	var put dynamodb.PutItemInput
	if err := wire.Decode([]byte(`{"Item": `+text+`}`), &put); err != nil {
		t.Fatal(err)
	}
	it, err := sdkvalue.Item(put.Item)
	if err != nil {
		t.Fatal(err)
	}
	want, err := attr.ParseItem([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if string(it) != string(want) {
		t.Errorf("Item(%s) = %s", text, it.AppendJSON(nil))
	}
	const plain = `{"b":"AP8=","bs":["AA==","AQ=="],"l":[true,null,false],"m":{"x":"\"<é"},"n":1.5,"ns":[1,2],"ss":["a","b"]}`
	if got := string(item.AppendPlain(nil, it)); got != plain {
		t.Errorf("AppendPlainItem = %s, want %s", got, plain)
	}
	if _, err := sdkvalue.Item(map[string]types.AttributeValue{"x": nil}); err == nil {
		t.Error("Item with no value succeeds")
	}
	if _, err := sdkvalue.Item(map[string]types.AttributeValue{"x": &types.AttributeValueMemberN{Value: "one"}}); err == nil {
		t.Error("Item with a number that is none succeeds")
	}
}
