package wire_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/internal/wire/wiretest"

	"github.com/sortkey/sortkey/attr"
)

// outputs has an output of each operation that can succeed.
var outputs = []wire.Output{
	new(wire.BatchExecuteStatementOutput), new(wire.BatchGetItemOutput), new(wire.BatchWriteItemOutput),
	new(wire.CancelBulkOperationOutput), new(wire.CreateBackupOutput),
	new(wire.CreateTableOutput), new(wire.DeleteBackupOutput), new(wire.DeleteItemOutput),
	new(wire.DeleteResourcePolicyOutput), new(wire.DeleteTableOutput), new(wire.DescribeBackupOutput),
	new(wire.DescribeBulkOperationOutput), new(wire.DescribeContinuousBackupsOutput),
	new(wire.DescribeContributorInsightsOutput), new(wire.DescribeEndpointsResponse),
	new(wire.DescribeExportOutput), new(wire.DescribeImportOutput),
	new(wire.DescribeKinesisStreamingDestinationOutput), new(wire.DescribeLimitsOutput),
	new(wire.DescribeStreamOutput), new(wire.DescribeTableOutput),
	new(wire.DescribeTimeToLiveOutput), new(wire.ExecuteStatementOutput), new(wire.ExecuteTransactionOutput),
	new(wire.ExportTableToPointInTimeOutput), new(wire.GetItemOutput), new(wire.GetRecordsOutput),
	new(wire.GetResourcePolicyOutput), new(wire.GetShardIteratorOutput), new(wire.ImportTableOutput),
	new(wire.KinesisStreamingDestinationOutput), new(wire.ListBackupsOutput), new(wire.ListBulkOperationsOutput),
	new(wire.ListContributorInsightsOutput), new(wire.ListExportsOutput), new(wire.ListGlobalTablesOutput),
	new(wire.ListImportsOutput), new(wire.ListStreamsOutput), new(wire.ListTablesOutput),
	new(wire.ListTagsOfResourceOutput), new(wire.PutItemOutput), new(wire.PutResourcePolicyOutput),
	new(wire.QueryOutput), new(wire.RestoreTableFromBackupOutput), new(wire.RestoreTableToPointInTimeOutput),
	new(wire.ScanOutput), new(wire.SearchVectorsOutput), new(wire.StartBulkPutItemsOutput),
	new(wire.TransactGetItemsOutput), new(wire.TransactWriteItemsOutput), new(wire.UpdateContinuousBackupsOutput),
	new(wire.UpdateContributorInsightsOutput), new(wire.UpdateItemOutput),
	new(wire.UpdateKinesisStreamingDestinationOutput), new(wire.UpdateTableOutput), new(wire.UpdateTimeToLiveOutput),
}

var (
	typeValue  = reflect.TypeFor[attr.Value]()
	typeItem   = reflect.TypeFor[attr.Item]()
	typeBytes  = reflect.TypeFor[[]byte]()
	typeFaults = reflect.TypeFor[wire.Faults]()
)

// fill sets v to a random value, in which members may be absent and collections empty.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Type() {
	case typeFaults:
		return
	case typeValue:
		v.Set(reflect.ValueOf(randomValue(r, 2)))
		return
	case typeItem:
		v.Set(reflect.ValueOf(randomItem(r)))
		return
	case typeBytes:
		v.SetBytes([]byte(randomText(r)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(randomText(r))
	case reflect.Int64:
		v.SetInt(int64(int32(r.Uint32())))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(1e6)) / 2)
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), depth+1)
	case reflect.Slice:
		n := r.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(3) {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(r, e, depth+1)
			v.SetMapIndex(reflect.ValueOf(randomText(r)), e)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if r.IntN(3) > 0 && depth < 12 {
				fill(r, field, depth+1)
			}
		}
	default:
		panic("no random " + v.Type().String())
	}
}

func randomText(r *rand.Rand) string {
	const letters = "abcXYZ_-.:#\"\\/\n\t é☃𝄞<>&\u2028"
	runes := []rune(letters)
	out := make([]rune, r.IntN(6))
	for i := range out {
		out[i] = runes[r.IntN(len(runes))]
	}
	return string(out)
}

func randomValue(r *rand.Rand, depth int) attr.Value {
	switch n := r.IntN(8); {
	case n == 0:
		v, err := attr.NewNumber(fmt.Sprint(r.IntN(1e6)))
		if err != nil {
			panic(err)
		}
		return v
	case n == 1:
		return attr.NewBinary([]byte(randomText(r)))
	case n == 2:
		return attr.NewBool(r.IntN(2) == 0)
	case n == 3:
		return attr.NewNull()
	case n == 4 && depth > 0:
		return attr.NewList(randomValue(r, depth-1), randomValue(r, depth-1))
	case n == 5 && depth > 0:
		return attr.NewMap(randomItem(r))
	}
	return attr.NewString(randomText(r))
}

func randomItem(r *rand.Rand) attr.Item {
	var b attr.Builder
	for range r.IntN(3) {
		b.Add("a"+randomText(r), randomValue(r, 0))
	}
	if it := b.Item(); it != nil {
		return it
	}
	return attr.Item{}
}

// TestDecode encodes random inputs by reflection and decodes them.
func TestDecode(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 1))
	for _, op := range wire.Operations() {
		for i := range 60 {
			in, out := op.NewInput(), op.NewInput()
			fill(r, reflect.ValueOf(in).Elem(), 0)
			if in, ok := in.(*wire.SearchVectorsInput); ok { // Decode requires these members
				in.IndexName, in.TableName = cmp.Or(in.IndexName, new("i")), cmp.Or(in.TableName, new("t"))
				in.TopK = cmp.Or(in.TopK, new(int64(1)))
				if in.SearchVector == nil {
					in.SearchVector = []attr.Value{}
				}
			}
			text := wiretest.JSON(in)
			if err := wire.Decode(text, out); err != nil {
				t.Fatalf("seed %d, %v, run %d: Decode(%s) = %v", seed, op, i, text, err)
			}
			if !same(reflect.ValueOf(in), reflect.ValueOf(out)) {
				t.Fatalf("seed %d, %v, run %d: decoding %s = \n%+v\nwant\n%+v", seed, op, i, text, out, in)
			}
		}
	}
}

// TestAppend compares AppendJSON with other encoding by reflection.
func TestAppend(t *testing.T) {
	const seed = 8
	r := rand.New(rand.NewPCG(seed, 1))
	for _, s := range outputs {
		for i := range 60 {
			out := reflect.New(reflect.TypeOf(s).Elem())
			fill(r, out.Elem(), 0)
			text := wire.AppendJSON([]byte("x"), out.Interface())[1:]
			require.JSONEq(t, string(wiretest.JSON(out.Interface())), string(text), "seed %d, %T, run %d", seed, s, i)
		}
	}
}

// TestRequests encodes the inputs that this repository's clients send, and decodes them again.
func TestRequests(t *testing.T) {
	const seed = 9
	r := rand.New(rand.NewPCG(seed, 1))
	sent := 0
	for _, op := range wire.Operations() {
		in, ok := op.NewInput().(wire.Request)
		if !ok {
			continue
		}
		sent++
		require.Equal(t, op, in.Op())

		for i := range 60 {
			out := op.NewInput()
			fill(r, reflect.ValueOf(in).Elem(), 0)
			text := wire.AppendJSON(nil, in)
			require.JSONEq(t, string(wiretest.JSON(in)), string(text), "seed %d, %v, run %d", seed, op, i)
			require.NoError(t, wire.Decode(text, out), "seed %d, %v, run %d: %s", seed, op, i, text)
			require.True(t, same(reflect.ValueOf(in), reflect.ValueOf(out)), "seed %d, %v, run %d: %s", seed,
				op, i, text)
		}
	}
	require.GreaterOrEqual(t, sent, 8)
}

// TestResponses encodes outputs and decodes them again.
func TestResponses(t *testing.T) {
	const seed = 10
	r := rand.New(rand.NewPCG(seed, 1))
	for _, s := range outputs {
		for i := range 60 {
			want, got := reflect.New(reflect.TypeOf(s).Elem()), reflect.New(reflect.TypeOf(s).Elem())
			fill(r, want.Elem(), 0)
			text := wire.AppendJSON(nil, want.Interface())
			require.NoError(t, wire.DecodeOutput(text, got.Interface()), "seed %d, %T, run %d: %s", seed, s, i, text)
			require.True(t, same(want, got), "seed %d, %T, run %d: %s", seed, s, i, text)
		}
	}
	err := wire.DecodeOutput([]byte(`{"Items":[{"a":{"N":"x"}}]}`), new(wire.QueryOutput))
	require.ErrorContains(t, err, "numeric value")
}

// same is reflect.DeepEqual, but compares attribute values by value and distinguishes nil from empty.
func same(a, b reflect.Value) bool {
	if a.Type() == typeValue {
		x, y := a.Interface().(attr.Value), b.Interface().(attr.Value)
		return x.Kind() == y.Kind() && (x.Kind() == 0 || attr.Equal(x, y))
	}
	if a.Type() == typeItem {
		x, y := a.Interface().(attr.Item), b.Interface().(attr.Item)
		return (x == nil) == (y == nil) && attr.Equal(attr.NewMap(x), attr.NewMap(y))
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return same(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		for _, k := range a.MapKeys() {
			if !b.MapIndex(k).IsValid() || !same(a.MapIndex(k), b.MapIndex(k)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Interface() == b.Interface()
}

// FuzzDecode decodes arbitrary bodies as any input. It must not panic. An accepted body must be JSON, and its input
// must be the same after encoding and decoding. An error must be of one of two kinds.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for i, op := range wire.Operations() {
		in := op.NewInput()
		fill(r, reflect.ValueOf(in).Elem(), 0)
		f.Add(uint8(i), wiretest.JSON(in))
	}
	f.Add(uint8(wire.OpBatchGetItem-1),
		[]byte(`{"RequestItems":{"bad!name":{"Keys":[{"pk":{"S":"a"}},null]}},"ReturnConsumedCapacity":3}`))
	f.Add(uint8(wire.OpPutItem-1),
		[]byte(`{"Item":{"a":{"L":[{"NS":["1","1"]}]}},"ExpressionAttributeValues":{":a":{}}}`))
	f.Add(uint8(wire.OpSearchVectors-1), []byte(`{"TableName":"aaa"}`))
	f.Add(uint8(wire.OpQuery-1), []byte("{\"TableName\":\"\xff\",\"Limit\":1e400}"))
	ops := wire.Operations()
	f.Fuzz(func(t *testing.T, n uint8, body []byte) {
		op := ops[int(n)%len(ops)]
		in := op.NewInput()
		err := wire.Decode(body, in)
		if valid := jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)); err == nil && !valid {
			t.Fatalf("%v.Decode accepts %q, which is not JSON", op, body)
		}
		if err != nil {
			e, ok := err.(*wire.Error)
			strict := ok && op == wire.OpSearchVectors && e.Code == wire.CodeValidation // a missing member
			if !ok || e.Code != wire.CodeSerialization && !strict {
				t.Fatalf("%v.Decode = %v", op, err)
			}
			return
		}
		if err := wire.Validate(op, in); err != nil {
			if e, ok := err.(*wire.Error); !ok || e.Code != wire.CodeValidation {
				t.Fatalf("%v.Validate = %v", op, err)
			}
		}
		_ = op.CheckParams(in)
		text := wiretest.JSON(in)
		again := op.NewInput()
		if err := wire.Decode(text, again); err != nil {
			t.Fatalf("%v: reading %s again = %v", op, text, err)
		}
		if got := wiretest.JSON(again); string(got) != string(text) {
			t.Fatalf("%v: encoding is not stable:\n%s\n%s", op, text, got)
		}
	})
}

// TestAs checks that As takes the members with the same name and type, and leaves out others.
func TestAs(t *testing.T) {
	in := &wire.ImportTableDescription{
		ImportArn: new("arn"), EndTime: new(7.0), S3BucketSource: &wire.S3BucketSource{S3Bucket: new("b")},
		ErrorCount: new(int64(3)),
	}
	want := &wire.ImportSummary{ImportArn: in.ImportArn, EndTime: in.EndTime, S3BucketSource: in.S3BucketSource}
	require.Equal(t, want, wire.As[wire.ImportSummary](in))
	require.Equal(t, want, wire.As[wire.ImportSummary](*in))
	// ProvisionedThroughput has other types in the two structures.
	d := wire.TableDescription{ProvisionedThroughput: new(wire.ProvisionedThroughputDescription)}
	require.Equal(t, new(wire.SourceTableDetails), wire.As[wire.SourceTableDetails](d))
}
