package api_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
)

// shape is what all inputs and outputs can do.
type shape interface {
	DecodeJSON(body []byte) error
	AppendJSON(dst []byte) []byte
}

var outputs = []shape{
	new(api.QueryOutput), new(api.ScanOutput), new(api.GetItemOutput), new(api.PutItemOutput), new(api.UpdateItemOutput),
	new(api.DeleteItemOutput), new(api.BatchGetItemOutput), new(api.BatchWriteItemOutput), new(api.TransactGetItemsOutput),
	new(api.TransactWriteItemsOutput), new(api.CreateTableOutput), new(api.DescribeTableOutput), new(api.ListTablesOutput),
	new(api.GetRecordsOutput), new(api.DescribeStreamOutput), new(api.ExecuteStatementOutput), new(api.DescribeTimeToLiveOutput),
}

func shapes() []shape {
	list := append([]shape(nil), outputs...)
	for _, op := range api.Operations() {
		list = append(list, op.NewInput().(shape))
	}
	return list
}

var (
	typeValue  = reflect.TypeFor[attr.Value]()
	typeItem   = reflect.TypeFor[attr.Item]()
	typeBytes  = reflect.TypeFor[[]byte]()
	typeFaults = reflect.TypeFor[api.Faults]()
)

// fill gives v a random value; absent members and empty collections included.
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

// normal makes the bytes of an empty item one: what a builder writes for no
// attributes and the empty item are both empty.
func normal(s shape) string { return string(s.AppendJSON(nil)) }

func TestRoundTrip(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 1))
	for _, s := range shapes() {
		typ := reflect.TypeOf(s).Elem()
		for i := range 60 {
			in := reflect.New(typ)
			fill(r, in.Elem(), 0)
			text := in.Interface().(shape).AppendJSON([]byte("x"))[1:]
			if !jsontext.Value(text).IsValid() {
				t.Fatalf("seed %d, %v, run %d: AppendJSON wrote %s", seed, typ, i, text)
			}
			out := reflect.New(typ)
			if err := out.Interface().(shape).DecodeJSON(text); err != nil {
				t.Fatalf("seed %d, %v, run %d: DecodeJSON(%s) = %v", seed, typ, i, text, err)
			}
			if got := normal(out.Interface().(shape)); got != string(text) {
				t.Fatalf("seed %d, %v, run %d: decoding and appending gave\n%s\nfor\n%s", seed, typ, i, got, text)
			}
			if !same(in.Elem(), out.Elem()) {
				t.Fatalf("seed %d, %v, run %d: decoding %s gave\n%+v\nfor\n%+v", seed, typ, i, text, out.Elem(), in.Elem())
			}
		}
	}
}

// same is reflect.DeepEqual, with attribute values compared as such and nil
// told from empty.
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

// FuzzDecode reads any body as any input: nothing may panic, what is taken can
// be written and read again, and what is refused is refused in one of two ways.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for i, op := range api.Operations() {
		in := op.NewInput()
		fill(r, reflect.ValueOf(in).Elem(), 0)
		f.Add(uint8(i), in.AppendJSON(nil))
	}
	f.Add(uint8(api.OpBatchGetItem-1), []byte(`{"RequestItems":{"bad!name":{"Keys":[{"pk":{"S":"a"}},null]}},"ReturnConsumedCapacity":3}`))
	f.Add(uint8(api.OpPutItem-1), []byte(`{"Item":{"a":{"L":[{"NS":["1","1"]}]}},"ExpressionAttributeValues":{":a":{}}}`))
	f.Add(uint8(api.OpQuery-1), []byte("{\"TableName\":\"\xff\",\"Limit\":1e400}"))
	ops := api.Operations()
	f.Fuzz(func(t *testing.T, n uint8, body []byte) {
		op := ops[int(n)%len(ops)]
		in := op.NewInput()
		if err := in.DecodeJSON(body); err != nil {
			if e, ok := err.(*api.Error); !ok || e.Code != api.CodeSerialization {
				t.Fatalf("%v.DecodeJSON = %v", op, err)
			}
			return
		}
		if err := in.Validate(); err != nil {
			if e, ok := err.(*api.Error); !ok || e.Code != api.CodeValidation {
				t.Fatalf("%v.Validate = %v", op, err)
			}
		}
		if c, ok := in.(interface{ CheckParams() error }); ok {
			_ = c.CheckParams()
		}
		text := in.AppendJSON(nil)
		again := op.NewInput()
		if err := again.DecodeJSON(text); err != nil {
			t.Fatalf("%v: reading %s again = %v", op, text, err)
		}
		if got := again.AppendJSON(nil); string(got) != string(text) {
			t.Fatalf("%v: writing is not stable:\n%s\n%s", op, text, got)
		}
	})
}
