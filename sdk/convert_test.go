package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/internal/wire/wiretest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
)

// The conversions are held to the wire: an input must become what the body
// that the SDK sends for it is decoded to, and an output what the SDK makes of
// the body that is sent for it. Every member is filled at random, so one that
// was forgotten shows.

// A wireEnd is the HTTP client of an SDK client. It keeps the body of a request
// and answers with another.
type wireEnd struct{ request, response []byte }

// Do implements [dynamodb.HTTPClient].
func (w *wireEnd) Do(r *http.Request) (*http.Response, error) {
	var err error
	if w.request, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(w.response)), ContentLength: int64(len(w.response)),
	}, nil
}

// client returns a client of the SDK that sends any input, also one that its
// own checks refuse.
func (w *wireEnd) client() *dynamodb.Client {
	o := dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(endpoint), Credentials: aws.AnonymousCredentials{},
		HTTPClient: w, RetryMaxAttempts: 1,
	}
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		for _, id := range []string{"OperationInputValidation", "OperationIdempotencyTokenAutoFill"} {
			if _, ok := stack.Initialize.Get(id); ok {
				if _, err := stack.Initialize.Remove(id); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return dynamodb.New(o)
}

// A method is an operation of the SDK's client.
type method[In, Out any] func(*dynamodb.Client, context.Context, In, ...func(*dynamodb.Options)) (Out, error)

func TestInputsAreThoseOfTheWire(t *testing.T) {
	t.Run("GetItem", inputs((*dynamodb.Client).GetItem, (*fromSDK).getItem))
	t.Run("PutItem", inputs((*dynamodb.Client).PutItem, (*fromSDK).putItem))
	t.Run("UpdateItem", inputs((*dynamodb.Client).UpdateItem, (*fromSDK).updateItem))
	t.Run("DeleteItem", inputs((*dynamodb.Client).DeleteItem, (*fromSDK).deleteItem))
	t.Run("Query", inputs((*dynamodb.Client).Query, (*fromSDK).query))
	t.Run("Scan", inputs((*dynamodb.Client).Scan, (*fromSDK).scan))
	t.Run("BatchGetItem", inputs((*dynamodb.Client).BatchGetItem, (*fromSDK).batchGetItem))
	t.Run("BatchWriteItem", inputs((*dynamodb.Client).BatchWriteItem, (*fromSDK).batchWriteItem))
	t.Run("TransactGetItems", inputs((*dynamodb.Client).TransactGetItems, (*fromSDK).transactGetItems))
	t.Run("TransactWriteItems", inputs((*dynamodb.Client).TransactWriteItems, (*fromSDK).transactWriteItems))
}

func inputs[In, SDKOut, Own any, P interface {
	*Own
	wire.Input
}](send method[*In, SDKOut], convert func(*fromSDK, *In) P) func(*testing.T) {
	return func(t *testing.T) {
		end := &wireEnd{response: []byte("{}")}
		client := end.client()
		proptest.Check(t, 100, func(t *proptest.T) {
			in := new(In)
			filler{T: t, texts: append(texts, "x\xff")}.fill(reflect.ValueOf(in).Elem(), 0)
			s := fromSDKs.Get().(*fromSDK)
			defer s.release()
			got := convert(s, in)

			_, err := send(client, context.Background(), in)
			require.NoError(t, err)
			want := P(new(Own))
			err = want.DecodeJSON(end.request)
			faults := reflect.ValueOf(want).Elem().FieldByName("Faults").Len()
			if s.refused {
				if err == nil && faults == 0 && !changed(end.request) && !wrongKey(end.request) {
					t.Fatalf("refused what the service takes: %s", end.request)
				}
				return
			}
			require.NoError(t, err, "%s", end.request)
			require.Zero(t, faults, "took what the service refuses: %s", end.request)
			require.Equal(t, string(wiretest.JSON(want)), string(wiretest.JSON(got)), "%s", end.request)
		})
	}
}

// wrongKey reports whether a request has an expression value whose key is not a
// placeholder. The wire has no faults then: the key's error comes first.
func wrongKey(request []byte) bool {
	var body any
	if json.Unmarshal(request, &body) != nil {
		return false
	}
	var wrong func(v any) bool
	wrong = func(v any) bool {
		switch v := v.(type) {
		case []any:
			return slices.ContainsFunc(v, wrong)
		case map[string]any:
			values, _ := v["ExpressionAttributeValues"].(map[string]any)
			for key := range values {
				if len(key) < 2 || key[0] != ':' {
					return true
				}
			}
			return slices.ContainsFunc(slices.Collect(maps.Values(v)), wrong)
		}
		return false
	}
	return wrong(body)
}

func TestOutputsAreThoseOfTheWire(t *testing.T) {
	t.Run("GetItem", outputs(asks((*dynamodb.Client).GetItem), func(out *wire.GetItemOutput) *dynamodb.GetItemOutput {
		m := toSDKs.Get().(*toSDK)
		defer m.release()
		if out.Item != nil {
			m.visitOne(out.Item)
		}
		return m.getItemOutput(out.ConsumedCapacity)
	}))
	t.Run("PutItem", outputs(asks((*dynamodb.Client).PutItem), putItemOutput))
	t.Run("UpdateItem", outputs(asks((*dynamodb.Client).UpdateItem), updateItemOutput))
	t.Run("DeleteItem", outputs(asks((*dynamodb.Client).DeleteItem), deleteItemOutput))
	t.Run("Query", outputs(asks((*dynamodb.Client).Query), func(out *wire.QueryOutput) *dynamodb.QueryOutput {
		return found(out, out.Items, (*toSDK).queryOutput)
	}))
	t.Run("Scan", outputs(asks((*dynamodb.Client).Scan), func(out *wire.ScanOutput) *dynamodb.ScanOutput {
		return found(out, out.Items, (*toSDK).scanOutput)
	}))
	t.Run("BatchGetItem", outputs(asks((*dynamodb.Client).BatchGetItem), batchGetItemOutput))
	t.Run("BatchWriteItem", outputs(asks((*dynamodb.Client).BatchWriteItem), batchWriteItemOutput))
	t.Run("TransactGetItems", outputs(asks((*dynamodb.Client).TransactGetItems), transactGetItemsOutput))
	t.Run("TransactWriteItems", outputs(asks((*dynamodb.Client).TransactWriteItems), transactWriteItemsOutput))
}

// found gives items to a toSDK as a read does, and makes its output of the rest.
func found[In, Out any](out In, items []attr.Item, convert func(*toSDK, In) Out) Out {
	m := toSDKs.Get().(*toSDK)
	defer m.release()
	m.counting = items == nil
	for _, it := range items {
		_, _ = m.visitEach(it)
	}
	return convert(m, out)
}

// changed reports whether the SDK has sent text that is not UTF-8 as another,
// which versions of it write in two ways.
func changed(body []byte) bool {
	return bytes.ContainsRune(body, utf8.RuneError) || bytes.Contains(body, []byte(`\ufffd`))
}

// asks makes a function that calls a method with an empty input.
func asks[In, Out any](send method[*In, Out]) func(*dynamodb.Client) (Out, error) {
	return func(c *dynamodb.Client) (Out, error) { return send(c, context.Background(), new(In)) }
}

func outputs[Own, Out any, P interface {
	*Own
	AppendJSON([]byte) []byte
}](ask func(*dynamodb.Client) (*Out, error), convert func(P) *Out) func(*testing.T) {
	return func(t *testing.T) {
		var end wireEnd
		client := end.client()
		proptest.Check(t, 100, func(t *proptest.T) {
			out := P(new(Own))
			filler{T: t, texts: texts}.fill(reflect.ValueOf(out).Elem(), 0)
			got := convert(out)

			end.response = out.AppendJSON(nil)
			want, err := ask(client)
			require.NoError(t, err)
			metadata := reflect.ValueOf(want).Elem().FieldByName("ResultMetadata")
			metadata.SetZero()
			require.Equal(t, want, got, "%s", end.response)
		})
	}
}

// Member names that are not filled: what the SDK and the wire do not share. The
// oldest SDK that works has no VectorIndexes.
var skipped = []string{"ResultMetadata", "Faults", "VectorIndexes"}

// A filler draws contents of every type of member.
type filler struct {
	*proptest.T
	texts []string
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
		if t.Bool() {
			v.Set(reflect.ValueOf(t.ownItem()))
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if t.Bool() {
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
		n := t.Between(-1, 2)
		if n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for range n {
			e := reflect.New(v.Type().Elem()).Elem()
			t.fill(e, depth+1)
			if e.Kind() == reflect.Slice && e.IsNil() {
				e.Set(reflect.MakeSlice(e.Type(), 0, 0))
			}
			if e.Kind() != reflect.Interface || !e.IsNil() { // which the SDK cannot write
				v.SetMapIndex(reflect.ValueOf(t.text()), e)
			}
		}
	case reflect.Slice:
		n := t.Between(-1, 2)
		if n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			t.fill(v.Index(i), depth+1)
			switch e := v.Index(i); { // a list has no absent elements
			case e.Type() == reflect.TypeFor[attr.Item]() && e.IsNil():
				e.Set(reflect.ValueOf(t.ownItem()))
			case e.Kind() == reflect.Map && e.IsNil():
				e.Set(reflect.MakeMap(e.Type()))
			case e.Type() == reflect.TypeFor[types.AttributeValue]() && e.IsNil():
				e.Set(reflect.ValueOf(&types.AttributeValueMemberNULL{Value: true}))
			}
		}
	case reflect.String:
		v.SetString(t.text())
	case reflect.Bool:
		v.SetBool(t.Bool())
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(int32(t.Uint64())))
	case reflect.Float64:
		v.SetFloat(float64(t.Between(0, 1000)) / 2)
	default:
		t.Fatalf("no contents for a %v", v.Type())
	}
}

func (t filler) text() string {
	return proptest.Pick(t.T, t.texts...)
}

var numbers = []string{"0", "-0", "1", "1.0", "-12.50", "1e5", "1E-130", "9.99E125",
	"12345678901234567890123456789012345678", "+3", "", "x", "1e126", "123456789012345678901234567890123456789"}

func (t filler) attribute(depth int) types.AttributeValue {
	kinds := 10
	if depth > 4 {
		kinds = 8
	}
	strings := func() []string {
		return proptest.SliceOf(t.T, 0, 3, func(t *proptest.T) string { return proptest.Pick(t, "a", "b", "c", "") })
	}
	switch t.Between(-1, kinds-1) {
	case 0:
		return &types.AttributeValueMemberS{Value: t.text()}
	case 1:
		return &types.AttributeValueMemberN{Value: proptest.Pick(t.T, numbers...)}
	case 2:
		return &types.AttributeValueMemberB{Value: proptest.Pick(t.T, []byte{}, []byte{0}, []byte{0xff, 1}, nil)}
	case 3:
		return &types.AttributeValueMemberBOOL{Value: t.Bool()}
	case 4:
		return &types.AttributeValueMemberNULL{Value: t.Between(0, 9) > 0}
	case 5:
		return &types.AttributeValueMemberSS{Value: strings()}
	case 6:
		return &types.AttributeValueMemberNS{
			Value: proptest.SliceOf(t.T, 0, 3, func(t *proptest.T) string { return proptest.Pick(t, numbers[:10]...) }),
		}
	case 7:
		v := &types.AttributeValueMemberBS{}
		for _, s := range strings() {
			v.Value = append(v.Value, []byte(s))
		}
		return v
	case 8:
		v := &types.AttributeValueMemberL{}
		for range t.Between(0, 3) {
			if e := t.attribute(depth + 1); e != nil {
				v.Value = append(v.Value, e)
			}
		}
		return v
	case 9:
		v := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
		for range t.Between(0, 3) {
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
	it := new(fromSDK).item(map[string]types.AttributeValue{"v": &types.AttributeValueMemberNULL{Value: true}})
	for range 3 {
		m := map[string]types.AttributeValue{}
		if v := t.attribute(0); v != nil {
			m["v"] = v
		}
		s := new(fromSDK)
		if made := s.item(m); !s.refused {
			it = made
		}
	}
	return it
}

// TestNilElements: versions of the SDK differ in what they send for nil in a list
// or map, so such an input goes over the wire.
func TestNilElements(t *testing.T) {
	s := new(fromSDK)
	s.batchWriteItem(&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"T": nil}})
	require.True(t, s.refused)
	s = new(fromSDK)
	s.batchGetItem(&dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"T": {Keys: []map[string]types.AttributeValue{nil}}},
	})
	require.True(t, s.refused)
}

// Source: DG/Constraints.html, 32 levels, the innermost string being one.
// Deeper values go over the wire, which refuses them.
func TestNesting(t *testing.T) {
	for _, tt := range []struct {
		levels  int
		refused bool
	}{{30, false}, {31, false}, {32, true}, {40, true}} {
		var l, m types.AttributeValue = &types.AttributeValueMemberS{
			Value: "x",
		}, &types.AttributeValueMemberS{Value: "x"}
		for range tt.levels {
			l = &types.AttributeValueMemberL{Value: []types.AttributeValue{l}}
			m = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"a": m}}
		}
		for _, v := range []types.AttributeValue{l, m} {
			s := new(fromSDK)
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
		nil, (*types.AttributeValueMemberS)(nil), (*types.AttributeValueMemberN)(nil),
		(*types.AttributeValueMemberB)(nil),
		(*types.AttributeValueMemberBOOL)(nil), (*types.AttributeValueMemberNULL)(nil),
		(*types.AttributeValueMemberL)(nil),
		(*types.AttributeValueMemberM)(nil), (*types.AttributeValueMemberSS)(nil), (*types.AttributeValueMemberNS)(nil),
		(*types.AttributeValueMemberBS)(nil), &types.UnknownUnionMember{Tag: "X"}, &types.AttributeValueMemberB{},
	} {
		s := new(fromSDK)
		s.item(map[string]types.AttributeValue{"a": v})
		require.True(t, s.refused, "%#v", v)
	}
}

// A source that is used again must not keep anything of the use before.
func TestSourceIsReusable(t *testing.T) {
	s := new(fromSDK)
	first := s.item(map[string]types.AttributeValue{"a": &types.AttributeValueMemberL{Value: []types.AttributeValue{
		&types.AttributeValueMemberM{
			Value: map[string]types.AttributeValue{
				"deep": &types.AttributeValueMemberS{Value: strings.Repeat("x", 100)},
			},
		},
	}}})
	was := string(first)
	s.release()
	s = fromSDKs.Get().(*fromSDK)
	s.item(map[string]types.AttributeValue{"b": &types.AttributeValueMemberS{Value: strings.Repeat("y", 1000)}})
	require.Equal(t, was, string(first))
	require.Equal(t, []string{"a"}, slices.Collect(maps.Keys(itemOf(first))))
}
