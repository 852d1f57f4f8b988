package sdk

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/internal/wire/wiretest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sortkey/sortkey/attr"
)

// The conversions are held to the wire: an input must become what the body
// that the SDK sends for it is decoded to, and an output what the SDK makes of
// the body that is sent for it. Every member is filled at random, so one that
// was forgotten shows.

var protocol = awsjson.New10(schemas.DynamoDB_20120810)

func TestInputsAreThoseOfTheWire(t *testing.T) {
	t.Run("GetItem", inputs(schemas.GetItem, (*source).getItem))
	t.Run("PutItem", inputs(schemas.PutItem, (*source).putItem))
	t.Run("UpdateItem", inputs(schemas.UpdateItem, (*source).updateItem))
	t.Run("DeleteItem", inputs(schemas.DeleteItem, (*source).deleteItem))
	t.Run("Query", inputs(schemas.Query, (*source).query))
	t.Run("Scan", inputs(schemas.Scan, (*source).scan))
	t.Run("BatchGetItem", inputs(schemas.BatchGetItem, (*source).batchGetItem))
	t.Run("BatchWriteItem", inputs(schemas.BatchWriteItem, (*source).batchWriteItem))
	t.Run("TransactGetItems", inputs(schemas.TransactGetItems, (*source).transactGetItems))
	t.Run("TransactWriteItems", inputs(schemas.TransactWriteItems, (*source).transactWriteItems))
}

func inputs[In, Out any, P interface {
	*Out
	wire.Input
}, S interface {
	*In
	smithy.Serializable
}](operation *smithy.Schema, convert func(*source, S) P) func(*testing.T) {
	return rapid.MakeCheck(func(t *rapid.T) {
		in := S(new(In))
		filler{T: t, texts: append(texts, "x\xff")}.fill(reflect.ValueOf(in).Elem(), 0)
		s := sources.Get().(*source)
		defer s.release()
		got := convert(s, in)

		request := smithyhttp.NewStackRequest().(*smithyhttp.Request)
		require.NoError(t, protocol.SerializeRequest(context.Background(), smithy.NewOperationSchema(operation, operation, operation), in, request))
		body, err := io.ReadAll(request.GetStream())
		require.NoError(t, err)
		want := P(new(Out))
		err = want.DecodeJSON(body)
		faults := reflect.ValueOf(want).Elem().FieldByName("Faults").Len()
		if s.refused {
			if err == nil && faults == 0 && !bytes.Contains(body, []byte("�")) {
				t.Fatalf("refused what the service takes: %s", body)
			}
			return
		}
		require.NoError(t, err)
		require.Zero(t, faults, "took what the service refuses: %s", body)
		require.Equal(t, string(wiretest.JSON(want)), string(wiretest.JSON(got)), "%s", body)
	})
}

func TestOutputsAreThoseOfTheWire(t *testing.T) {
	t.Run("GetItem", outputs(func(out *wire.GetItemOutput) *dynamodb.GetItemOutput {
		m := makers.Get().(*maker)
		defer m.release()
		if out.Item != nil {
			m.take(out.Item)
		}
		return m.getItemOutput(out.ConsumedCapacity)
	}))
	t.Run("PutItem", outputs(putItemOutput))
	t.Run("UpdateItem", outputs(updateItemOutput))
	t.Run("DeleteItem", outputs(deleteItemOutput))
	t.Run("Query", outputs(func(out *wire.QueryOutput) *dynamodb.QueryOutput { return found(out, out.Items, (*maker).queryOutput) }))
	t.Run("Scan", outputs(func(out *wire.ScanOutput) *dynamodb.ScanOutput { return found(out, out.Items, (*maker).scanOutput) }))
	t.Run("BatchGetItem", outputs(batchGetItemOutput))
	t.Run("BatchWriteItem", outputs(batchWriteItemOutput))
	t.Run("TransactGetItems", outputs(transactGetItemsOutput))
	t.Run("TransactWriteItems", outputs(transactWriteItemsOutput))
}

// found gives items to a maker as a read does, and makes its output of the rest.
func found[In, Out any](out In, items []attr.Item, convert func(*maker, In) Out) Out {
	m := makers.Get().(*maker)
	defer m.release()
	m.counting = items == nil
	for _, it := range items {
		m.add(it)
	}
	return convert(m, out)
}

func outputs[In, Out any, P interface {
	*In
	AppendJSON([]byte) []byte
}, S interface {
	*Out
	smithy.Deserializable
}](convert func(P) S) func(*testing.T) {
	return rapid.MakeCheck(func(t *rapid.T) {
		out := P(new(In))
		filler{T: t, texts: texts, ours: true}.fill(reflect.ValueOf(out).Elem(), 0)
		got := convert(out)

		body := out.AppendJSON(nil)
		want := S(new(Out))
		schema := &smithy.OperationSchema{Output: new(smithy.Schema)}
		response := &smithyhttp.Response{Response: &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}}
		require.NoError(t, protocol.DeserializeResponse(context.Background(), schema, dynamodb.TypeRegistry, response, want))
		require.Equal(t, want, got, "%s", body)
	})
}

// Member names that are not filled: what the SDK and the wire do not share.
var skipped = []string{"ResultMetadata", "Faults"}

// A filler draws contents of every type of member.
type filler struct {
	*rapid.T
	texts []string
	ours  bool // outputs, which have no nil lists in maps
}

var texts = []string{"", "a", "b", "#n", ":v", "é", "😀\x00\"\\\u2028"}

// fill gives a value and all that belongs to it random contents.
func (t filler) fill(v reflect.Value, depth int) {
	switch v.Type() {
	case reflect.TypeFor[types.AttributeValue]():
		if x := t.attribute(depth); x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return
	case reflect.TypeFor[attr.Value]():
		v.Set(reflect.ValueOf(t.ownItem().Get("v")))
		return
	case reflect.TypeFor[attr.Item]():
		if rapid.Bool().Draw(t.T, "item") {
			v.Set(reflect.ValueOf(t.ownItem()))
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if rapid.Bool().Draw(t.T, "present") {
			v.Set(reflect.New(v.Type().Elem()))
			t.fill(v.Elem(), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(skipped, f.Name) {
				t.fill(v.Field(i), depth)
			}
		}
	case reflect.Map:
		n := rapid.IntRange(-1, 2).Draw(t.T, "entries")
		if n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for range n {
			e := reflect.New(v.Type().Elem()).Elem()
			t.fill(e, depth+1)
			if t.ours && e.Kind() == reflect.Slice && e.IsNil() {
				e.Set(reflect.MakeSlice(e.Type(), 0, 0))
			}
			if e.Kind() != reflect.Interface || !e.IsNil() { // which the SDK cannot write
				v.SetMapIndex(reflect.ValueOf(t.text()), e)
			}
		}
	case reflect.Slice:
		n := rapid.IntRange(-1, 2).Draw(t.T, "elements")
		if n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			t.fill(v.Index(i), depth+1)
			switch e := v.Index(i); { // a list has no absent elements
			case e.Type() == reflect.TypeFor[attr.Item]() && e.IsNil():
				e.Set(reflect.ValueOf(t.ownItem()))
			case e.Type() == reflect.TypeFor[types.AttributeValue]() && e.IsNil():
				e.Set(reflect.ValueOf(&types.AttributeValueMemberNULL{Value: true}))
			}
		}
	case reflect.String:
		v.SetString(t.text())
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t.T, "bool"))
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(rapid.Int32().Draw(t.T, "int")))
	case reflect.Float64:
		v.SetFloat(float64(rapid.IntRange(0, 1000).Draw(t.T, "float")) / 2)
	default:
		t.Fatalf("no contents for a %v", v.Type())
	}
}

func (t filler) text() string {
	return rapid.SampledFrom(t.texts).Draw(t.T, "text")
}

var numbers = []string{"0", "-0", "1", "1.0", "-12.50", "1e5", "1E-130", "9.99E125", "12345678901234567890123456789012345678", "+3",
	"", "x", "1e126", "123456789012345678901234567890123456789"}

func (t filler) attribute(depth int) types.AttributeValue {
	kinds := 10
	if depth > 4 {
		kinds = 8
	}
	strings := func() []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), -1, 3).Draw(t.T, "SS")
	}
	switch rapid.IntRange(-1, kinds-1).Draw(t.T, "kind") {
	case 0:
		return &types.AttributeValueMemberS{Value: t.text()}
	case 1:
		return &types.AttributeValueMemberN{Value: rapid.SampledFrom(numbers).Draw(t.T, "N")}
	case 2:
		return &types.AttributeValueMemberB{Value: rapid.SampledFrom([][]byte{{}, {0}, {0xff, 1}, nil}).Draw(t.T, "B")}
	case 3:
		return &types.AttributeValueMemberBOOL{Value: rapid.Bool().Draw(t.T, "BOOL")}
	case 4:
		return &types.AttributeValueMemberNULL{Value: rapid.IntRange(0, 9).Draw(t.T, "NULL") > 0}
	case 5:
		return &types.AttributeValueMemberSS{Value: strings()}
	case 6:
		return &types.AttributeValueMemberNS{Value: rapid.SliceOfN(rapid.SampledFrom(numbers[:10]), -1, 3).Draw(t.T, "NS")}
	case 7:
		v := &types.AttributeValueMemberBS{}
		for _, s := range strings() {
			v.Value = append(v.Value, []byte(s))
		}
		return v
	case 8:
		v := &types.AttributeValueMemberL{}
		for range rapid.IntRange(0, 3).Draw(t.T, "L") {
			if e := t.attribute(depth + 1); e != nil {
				v.Value = append(v.Value, e)
			}
		}
		return v
	case 9:
		v := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
		for range rapid.IntRange(0, 3).Draw(t.T, "M") {
			if e := t.attribute(depth + 1); e != nil {
				v.Value[t.text()] = e
			}
		}
		return v
	}
	return nil
}

// ownItem returns an item that the service takes.
func (t filler) ownItem() attr.Item {
	it := new(source).item(map[string]types.AttributeValue{"v": &types.AttributeValueMemberNULL{Value: true}})
	for range 3 {
		m := map[string]types.AttributeValue{}
		if v := t.attribute(0); v != nil {
			m["v"] = v
		}
		s := new(source)
		if made := s.item(m); !s.refused {
			it = made
		}
	}
	return it
}

// Source: DG/Constraints.html, 32 levels, the innermost string being one.
// Deeper values go over the wire, which refuses them.
func TestNesting(t *testing.T) {
	for _, tt := range []struct {
		levels  int
		refused bool
	}{{30, false}, {31, false}, {32, true}, {40, true}} {
		var l, m types.AttributeValue = &types.AttributeValueMemberS{Value: "x"}, &types.AttributeValueMemberS{Value: "x"}
		for range tt.levels {
			l = &types.AttributeValueMemberL{Value: []types.AttributeValue{l}}
			m = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"a": m}}
		}
		for _, v := range []types.AttributeValue{l, m} {
			s := new(source)
			it := s.item(map[string]types.AttributeValue{"v": v})
			if s.refused != tt.refused {
				t.Errorf("%d levels of %T: refused is %v", tt.levels, v, s.refused)
			}
			if !tt.refused {
				require.Equal(t, v, itemOf(it)["v"])
			}
		}
	}
}

// What is not an attribute value must not be taken, and must not panic.
func TestNoValue(t *testing.T) {
	for _, v := range []types.AttributeValue{
		nil, (*types.AttributeValueMemberS)(nil), (*types.AttributeValueMemberN)(nil), (*types.AttributeValueMemberB)(nil),
		(*types.AttributeValueMemberBOOL)(nil), (*types.AttributeValueMemberNULL)(nil), (*types.AttributeValueMemberL)(nil),
		(*types.AttributeValueMemberM)(nil), (*types.AttributeValueMemberSS)(nil), (*types.AttributeValueMemberNS)(nil),
		(*types.AttributeValueMemberBS)(nil), &types.UnknownUnionMember{Tag: "X"}, &types.AttributeValueMemberB{},
	} {
		s := new(source)
		s.item(map[string]types.AttributeValue{"a": v})
		require.True(t, s.refused, "%#v", v)
	}
}

// A source that is used again must not keep anything of the use before.
func TestSourceIsReusable(t *testing.T) {
	s := new(source)
	first := s.item(map[string]types.AttributeValue{"a": &types.AttributeValueMemberL{Value: []types.AttributeValue{
		&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"deep": &types.AttributeValueMemberS{Value: strings.Repeat("x", 100)}}},
	}}})
	was := string(first)
	s.release()
	s = sources.Get().(*source)
	s.item(map[string]types.AttributeValue{"b": &types.AttributeValueMemberS{Value: strings.Repeat("y", 1000)}})
	require.Equal(t, was, string(first))
	require.Equal(t, []string{"a"}, slices.Collect(maps.Keys(itemOf(first))))
}
