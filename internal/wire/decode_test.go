package wire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/wire"
)

// serialization decodes an invalid body and returns the text of the error.
func serialization(t *testing.T, op wire.Op, body string) string {
	t.Helper()
	err := wire.Decode([]byte(body), op.NewInput())
	if err == nil {
		t.Errorf("%v.Decode(%s) = nil", op, body)
		return ""
	}
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Code != wire.CodeSerialization {
		t.Errorf("%v.Decode(%s) = %v, want a SerializationException", op, body, err)
		return ""
	}
	return e.Message
}

const cast = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast " +
	"to class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are " +
	"in module java.base of loader 'bootstrap')"

// wrongTypes lists values of the wrong type for each kind of position, with the service's messages. Source: dynalite
// test/helpers.js, assertType, in its newest capture.
var wrongTypes = map[string][][2]string{
	"Boolean": {
		{`"23"`, "Unexpected token received from parser"},
		{`23`, "NUMBER_VALUE cannot be converted to Boolean"},
		{`34.56`, "DECIMAL_VALUE cannot be converted to Boolean"},
		{`[]`, "Unrecognized collection type class java.lang.Boolean"},
		{`{}`, "Start of structure or map found where not expected"},
	},
	"String": {
		{`true`, "TRUE_VALUE cannot be converted to String"},
		{`false`, "FALSE_VALUE cannot be converted to String"},
		{`23`, "NUMBER_VALUE cannot be converted to String"},
		{`-2147483648`, "NUMBER_VALUE cannot be converted to String"},
		{`34.56`, "DECIMAL_VALUE cannot be converted to String"},
		{`[]`, "Unrecognized collection type class java.lang.String"},
		{`{}`, "Start of structure or map found where not expected"},
	},
	"Integer": {
		// Numbers up to 2^63 become the nearer bound: dynoxide's captures of Query and Scan, 2026-10-20. There is no
		// capture of larger ones.
		{`1e999999999`, "DECIMAL_VALUE cannot be converted to Integer"},
		{`-1e400`, "DECIMAL_VALUE cannot be converted to Integer"},
		{`"23"`, "STRING_VALUE cannot be converted to Integer"},
		{`true`, "TRUE_VALUE cannot be converted to Integer"},
		{`[]`, "Unrecognized collection type class java.lang.Integer"},
		{`{}`, "Start of structure or map found where not expected"},
	},
	"Long": {
		{`"23"`, "STRING_VALUE cannot be converted to Long"},
		{`false`, "FALSE_VALUE cannot be converted to Long"},
		{`[]`, "Unrecognized collection type class java.lang.Long"},
		{`{}`, "Start of structure or map found where not expected"},
	},
	"Blob": {
		{`true`, "only base-64-encoded strings are convertible to bytes"},
		{`23`, "only base-64-encoded strings are convertible to bytes"},
		{`[]`, "Unrecognized collection type class java.nio.ByteBuffer"},
		{`{}`, "Start of structure or map found where not expected"},
		{`"23456"`, "Base64 encoded length is expected a multiple of 4 bytes but found: 5"},
	},
	"List": {
		{`"23"`, "Unexpected field type"},
		{`true`, "Unexpected field type"},
		{`34.56`, "Unexpected field type"},
		{`{}`, "Start of structure or map found where not expected"},
	},
	"ParameterizedList": {
		{`"23"`, cast}, {`true`, cast}, {`23`, cast}, {`{}`, "Start of structure or map found where not expected"},
	},
	"ParameterizedMap": {
		{`"23"`, cast},
		{`23`, cast},
		{
			`[]`, "Unrecognized collection type java.util.Map<java.lang.String, " +
				"com.amazonaws.dynamodb.v20120810.AttributeValue>",
		},
	},
	"Map": {
		{`"23"`, "Unexpected field type"},
		{`true`, "Unexpected field type"},
		{`23`, "Unexpected field type"},
		{`[]`, "Unrecognized collection type java.util.Map<java.lang.String, %s>"},
	},
	"ValueStruct": {
		{`"23"`, "Unexpected value type in payload"},
		{`true`, "Unexpected value type in payload"},
		{`23`, "Unexpected value type in payload"},
		{`[]`, "Unrecognized collection type class %s"},
	},
	"FieldStruct": {
		{`"23"`, "Unexpected field type"},
		{`true`, "Unexpected field type"},
		{`23`, "Unexpected field type"},
		{`[]`, "Unrecognized collection type class %s"},
	},
}

func TestWrongTypes(t *testing.T) {
	const pkg = "com.amazonaws.dynamodb.v20120810."
	for _, tt := range []struct {
		op          wire.Op
		body        string // $ is the place
		kind, class string
	}{
		{wire.OpPutItem, `{"TableName":$}`, "String", ""},
		{wire.OpPutItem, `{"Item":$}`, "Map", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"Item":{"Attr":{"S":$}}}`, "String", ""},
		{wire.OpPutItem, `{"Item":{"Attr":$}}`, "ValueStruct", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"Item":{"Attr":{"B":$}}}`, "Blob", ""},
		{wire.OpPutItem, `{"Item":{"Attr":{"BOOL":$}}}`, "Boolean", ""},
		{wire.OpPutItem, `{"Item":{"Attr":{"SS":$}}}`, "List", ""},
		{wire.OpPutItem, `{"Item":{"Attr":{"NS":[$]}}}`, "String", ""},
		{wire.OpPutItem, `{"Item":{"Attr":{"BS":[$]}}}`, "Blob", ""},
		{wire.OpPutItem, `{"Item":{"Attr":{"L":$}}}`, "List", ""},
		{wire.OpPutItem, `{"Item":{"Attr":{"L":[$]}}}`, "ValueStruct", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"Item":{"Attr":{"L":[{"BS":[$]}]}}}`, "Blob", ""},
		{wire.OpPutItem, `{"Item":{"Attr":{"M":$}}}`, "Map", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"Item":{"Attr":{"M":{"a":$}}}}`, "ValueStruct", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"Expected":{"Attr":{"Value":{"M":{"a":$}}}}}`, "ValueStruct", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"Expected":$}`, "Map", pkg + "ExpectedAttributeValue"},
		{wire.OpPutItem, `{"Expected":{"Attr":$}}`, "ValueStruct", pkg + "ExpectedAttributeValue"},
		{wire.OpPutItem, `{"Expected":{"Attr":{"Exists":$}}}`, "Boolean", ""},
		{wire.OpPutItem, `{"Expected":{"Attr":{"Value":$}}}`, "FieldStruct", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"ExpressionAttributeValues":$}`, "Map", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"ExpressionAttributeValues":{":a":$}}`, "ValueStruct", pkg + "AttributeValue"},
		{wire.OpPutItem, `{"ExpressionAttributeNames":$}`, "Map", "java.lang.String"},
		{wire.OpPutItem, `{"ExpressionAttributeNames":{"#a":$}}`, "String", ""},
		{wire.OpQuery, `{"Limit":$}`, "Integer", ""},
		{wire.OpQuery, `{"AttributesToGet":$}`, "List", ""},
		{wire.OpQuery, `{"ConsistentRead":$}`, "Boolean", ""},
		{wire.OpQuery, `{"QueryFilter":$}`, "Map", pkg + "Condition"},
		{wire.OpQuery, `{"QueryFilter":{"Attr":{"AttributeValueList":$}}}`, "List", ""},
		{wire.OpQuery, `{"QueryFilter":{"Attr":{"AttributeValueList":[$]}}}`, "ValueStruct", pkg + "AttributeValue"},
		{wire.OpCreateTable, `{"KeySchema":$}`, "List", ""},
		{wire.OpCreateTable, `{"KeySchema":[$]}`, "ValueStruct", pkg + "KeySchemaElement"},
		{wire.OpCreateTable, `{"KeySchema":[{"KeyType":$}]}`, "String", ""},
		{wire.OpCreateTable, `{"ProvisionedThroughput":$}`, "FieldStruct", pkg + "ProvisionedThroughput"},
		{wire.OpCreateTable, `{"ProvisionedThroughput":{"ReadCapacityUnits":$}}`, "Long", ""},
		{wire.OpBatchWriteItem, `{"RequestItems":$}`, "Map", "java.util.List<" + pkg + "WriteRequest>"},
		{wire.OpBatchWriteItem, `{"RequestItems":{"Attr":$}}`, "ParameterizedList", ""},
		{wire.OpBatchWriteItem, `{"RequestItems":{"Attr":[$]}}`, "ValueStruct", pkg + "WriteRequest"},
		{wire.OpBatchWriteItem, `{"RequestItems":{"Attr":[{"PutRequest":$}]}}`, "FieldStruct", pkg + "PutRequest"},
		{wire.OpBatchWriteItem, `{"RequestItems":{"Attr":[{"PutRequest":{"Item":$}}]}}`, "Map", pkg + "AttributeValue"},
		{wire.OpBatchGetItem, `{"RequestItems":$}`, "Map", pkg + "KeysAndAttributes"},
		{wire.OpBatchGetItem, `{"RequestItems":{"Attr":$}}`, "ValueStruct", pkg + "KeysAndAttributes"},
		{wire.OpBatchGetItem, `{"RequestItems":{"Attr":{"Keys":$}}}`, "List", ""},
		{wire.OpBatchGetItem, `{"RequestItems":{"Attr":{"Keys":[$]}}}`, "ParameterizedMap", ""},
		{wire.OpTransactWriteItems, `{"TransactItems":$}`, "List", ""},
		{wire.OpTransactWriteItems, `{"TransactItems":[{"Update":$}]}`, "FieldStruct", pkg + "Update"},
		{wire.OpTagResource, `{"Tags":[$]}`, "ValueStruct", pkg + "Tag"},
	} {
		if len(wrongTypes[tt.kind]) == 0 {
			t.Fatalf("no kind %s", tt.kind)
		}
		for _, wrong := range wrongTypes[tt.kind] {
			body := strings.Replace(tt.body, "$", wrong[0], 1)
			want := strings.Replace(wrong[1], "%s", tt.class, 1)
			if got := serialization(t, tt.op, body); got != want {
				t.Errorf("%v %s\n got %s\nwant %s", tt.op, body, got, want)
			}
		}
	}
}

func TestBodiesThatAreNotJSON(t *testing.T) {
	for _, body := range []string{
		``, `hi`, `null`, `[]`, `"x"`, `3`, `{`, `{"TableName"`, `{"TableName":"a"`, `{"TableName":"a"}}`,
		`{"TableName":"a"} x`, `{"TableName":"a",}`,
		`{"Item":{"a":{"S":"x"}`, `{"TableName":"\ud8"}`, strings.Repeat(`{"Item":`, 20000),
		`{"Junk":` + strings.Repeat("[", 20000) + `}`,
	} {
		if got := serialization(t, wire.OpPutItem, body); got != "" && body != "[]" {
			t.Errorf("Decode(%.40s) has the message %s", body, got)
		}
	}
}

func TestDecodeTakes(t *testing.T) {
	var in wire.QueryInput
	body := ` {"Unknown":{"a":[1,{}]},"TableName":"a","TableName":"b\u0062","Limit":2.9,"ConsistentRead":"yes",
		"Select":null,
		"AttributesToGet":[],"ExclusiveStartKey":{},"ExpressionAttributeNames":{}} `
	if err := wire.Decode([]byte(body), &in); err != nil {
		t.Fatal(err)
	}
	if in.TableName == nil || *in.TableName != "bb" {
		t.Errorf("TableName = %v, want the last of two", in.TableName)
	}
	if in.Limit == nil || *in.Limit != 2 {
		t.Errorf("Limit = %v, want 2", in.Limit)
	}
	if in.ConsistentRead == nil || !*in.ConsistentRead {
		t.Error("ConsistentRead is not true")
	}
	if in.Select != nil {
		t.Error("Select is there and was null")
	}
	if in.AttributesToGet == nil || in.ExclusiveStartKey == nil || in.ExpressionAttributeNames == nil {
		t.Error("an empty list, item or map that was present is nil")
	}
	if in.ExpressionAttributeValues != nil || in.KeyConditions != nil {
		t.Error("an absent item or map is not nil")
	}
	var big wire.QueryInput
	if err := wire.Decode([]byte(`{"Limit":1e30}`), &big); err != nil || *big.Limit != 1<<31-1 {
		t.Errorf("Limit 1e30 = %v, %v", big.Limit, err)
	}
}

func TestFaults(t *testing.T) {
	const noKind = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	var put wire.PutItemInput
	if err := wire.Decode([]byte(`{"Item":{"a":{}},"TableName":"abc","ExpressionAttributeValues":{":a":{"S":"x"},
		":b":{"N":"z"},":c":null},
		"Expected":{"x":{"Value":{"SS":[]}}}}`), &put); err != nil {
		t.Fatal(err)
	}
	if put.TableName == nil || *put.TableName != "abc" {
		t.Error("decoding stopped at the fault")
	}
	want := wire.Faults{
		{Path: "Item", Msg: noKind},
		{Path: "ExpressionAttributeValues.:b", Msg: "The parameter cannot be converted to a numeric value: z"},
		{Path: "ExpressionAttributeValues.:c", Msg: noKind},
		{Path: "Expected.x.Value", Msg: "One or more parameter values were invalid: An string set  may not be empty"},
	}
	if len(put.Faults) != len(want) {
		t.Fatalf("Faults = %v, want %v", put.Faults, want)
	}
	for i := range want {
		if put.Faults[i] != want[i] {
			t.Errorf("Faults[%d] = %v, want %v", i, put.Faults[i], want[i])
		}
	}
	if f := put.Faults.At("Expected"); f == nil || f.Path != "Expected.x.Value" {
		t.Errorf("At(Expected) = %v", f)
	}
	if f := put.Faults.At("Exp"); f != nil {
		t.Errorf("At(Exp) = %v, want nil", f)
	}
	if f := put.Faults.At(""); f == nil || f.Path != "Item" {
		t.Errorf("At() = %v", f)
	}
	got := message(t, wire.OpPutItem.FaultError(put.Faults, "ExpressionAttributeValues"))
	if want := "1 validation error detected: The parameter cannot be converted to a numeric value: z"; got != want {
		t.Errorf("FaultError = %s, want %s", got, want)
	}
	if err := wire.OpPutItem.FaultError(put.Faults, "Key"); err != nil {
		t.Errorf("FaultError(Key) = %v", err)
	}

	var batch wire.BatchWriteItemInput
	if err := wire.Decode(
		[]byte(
			`{"RequestItems":{"T":[{"PutRequest":{"Item":{"a":{"S":"x"}}}},{"PutRequest":{"Item":{"a":{"X":1}}}}]}}`,
		), &batch); err != nil {
		t.Fatal(err)
	}
	if f := batch.Faults.At("RequestItems.T.1"); f == nil || f.Path != "RequestItems.T.1.PutRequest.Item" ||
		f.Msg != noKind {
		t.Errorf("At(RequestItems.T.1) = %v", f)
	}
	// A wrong JSON type stops decoding, even after a fault.
	if got := serialization(
		t, wire.OpPutItem, `{"Item":{"a":{}},"TableName":3}`,
	); got != "NUMBER_VALUE cannot be converted to String" {
		t.Errorf("text = %s", got)
	}
}

// TestDecodeNotText checks that two different names or keys that are not valid UTF-8 do not become equal. No source
// has the service's answer.
func TestDecodeNotText(t *testing.T) {
	for _, body := range []string{
		`{"TableName":"\ud800"}`, "{\"TableName\":\"x\xff\"}", `{"TableName":"T","Key":{"a":{"S":"\udc00"}}}`,
		`{"TableName":"T","ExpressionAttributeNames":{"#\ud83d":"a"}}`,
	} {
		if got := serialization(t, wire.OpGetItem, body); got != "" {
			t.Errorf("%q: %s", body, got)
		}
	}
}
