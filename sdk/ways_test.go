package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestRepeatedNames gets an item by a key with one attribute too many, a map, after a request with the same attribute
// names. The short way must refuse the key as the wire does: it must not lose an attribute when the map needs more
// memory.
func TestRepeatedNames(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("One", "pk")
		db.Put("One", map[string]any{"pk": "P"})
		for range 50 { // repeat, because a pool may return other memory
			deep := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"pk": s("P"), "z": s("x")}}
			for _, z := range []types.AttributeValue{s("x"), deep} {
				_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
					TableName: aws.String("One"), Key: map[string]types.AttributeValue{"pk": s("P"), "z": z},
				})
				refused(t, err, "ValidationException", "The provided key element does not match the schema")
			}
		}
	})
}

// TestPropertyWays sends random requests, valid and invalid, to three databases: on the short way, by a client that
// chooses, and over HTTP. The answers and errors must be equal. It reuses inputs after changing them in place, to
// find code that keeps a part of an earlier request.
func TestPropertyWays(t *testing.T) {
	cases := 240
	if !proptest.Long() {
		cases = 100 // a short run takes a fifth of these
	}

	sent, refused := 0, 0
	proptest.Check(t, cases, func(t *proptest.T) {
		w := newWays(t)
		for range t.Between(1, 120) {
			w.step()
		}
		sent += w.sent
		refused += w.refused
	})
	t.Logf("%d requests each way, %d of them refused", sent, refused)
}

// ways are clients of databases with the same items, one client for each way. They must give the same answers.
type ways struct {
	*proptest.T
	names   []string
	clients []*dynamodb.Client

	inputs        map[string]any // the last input of each operation
	last          []any          // the last answers
	sent, refused int
}

func newWays(t *proptest.T) *ways {
	w := &ways{T: t, names: []string{"HTTP", "Direct", "Client"}, inputs: map[string]any{}}
	test := &caseOf{TB: t.TB()}
	t.Cleanup(test.end)
	for _, name := range w.names {
		db := sortkeytest.New(test)
		db.Clock.Set(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		db.Table("Rows", "pk / sk:N", sortkeytest.Global("ByG", "g / sk:N"), sortkeytest.Local("ByL", "l"))
		db.Table("Flat", "id:B")
		for i := range 6 {
			db.Put("Rows", map[string]any{"pk": "P", "sk": i, "g": "G", "l": fmt.Sprint(i % 2), "n": i})
		}
		db.Put("Flat", map[string]any{"id": []byte("x"), "n": 1})

		client := db.Client
		switch name {
		case "Direct":
			client = db.Direct
		case "HTTP":
			o := db.Client.Options()
			client = dynamodb.New(dynamodb.Options{
				Region: o.Region, BaseEndpoint: aws.String(db.URL()), Credentials: o.Credentials, RetryMaxAttempts: 1,
			})
		}
		w.clients = append(w.clients, client)
	}
	return w
}

// A caseOf is a testing.TB that ends with a case of a property, so that databases are closed after each case.
type caseOf struct {
	testing.TB
	cleanups []func()
}

func (c *caseOf) Cleanup(f func()) { c.cleanups = append(c.cleanups, f) }

func (c *caseOf) end() {
	for i := len(c.cleanups) - 1; i >= 0; i-- {
		c.cleanups[i]()
	}
}

// step sends one request by each way and compares the answers.
func (w *ways) step() {
	op := proptest.Pick(w.T, "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem",
		"BatchWriteItem", "TransactGetItems", "TransactWriteItems")
	in := w.inputs[op]
	switch {
	case in == nil || w.Often(70):
		if in = w.input(op); !w.Often(5) {
			dropUnused(in)
		}
	case w.Often(80):
		w.change(in)
	}
	if w.Often(15) {
		w.change(in)
	}
	w.inputs[op] = in
	// The earlier answers must not have changed with the input.
	for i := range w.last {
		if !reflect.DeepEqual(w.last[0], w.last[i]) {
			w.Fatalf("the answer of %s changed with the input of the next request\n%s", w.names[i], show(w.last[i]))
		}
	}

	if in, ok := in.(*dynamodb.TransactWriteItemsInput); ok && in.ClientRequestToken == nil {
		in.ClientRequestToken = aws.String(fmt.Sprint("token ", w.sent)) // the SDK would set a random token
	}

	before := show(in)
	answers, failures := make([]any, len(w.clients)), make([]any, len(w.clients))
	for i, c := range w.clients {
		answers[i], failures[i] = call(c, op, in)
	}
	if after := show(in); after != before {
		w.Fatalf("%s has changed its input\n%s\nto\n%s", op, before, after)
	}
	w.sent++
	if failures[0] != nil {
		w.refused++
	}
	for i, c := range w.clients {
		same := reflect.DeepEqual(answers[0], answers[i]) && reflect.DeepEqual(failures[0], failures[i])
		// The SDK writes the members of a map in random order, and the database reports only the first error. So
		// repeat the call until both report the same one.
		for tries := 0; !same && failures[0] != nil && failures[i] != nil && tries < 50; tries++ {
			_, failures[0] = call(w.clients[0], op, in)
			_, failures[i] = call(c, op, in)
			same = reflect.DeepEqual(failures[0], failures[i])
		}
		if !same {
			w.Fatalf("%s %s\n%s answers %s %s\n%s answers %s %s", op, before,
				w.names[0], show(answers[0]), show(failures[0]), w.names[i], show(answers[i]), show(failures[i]))
		}
	}
	w.last = answers
}

// A refusal is an error without the parts that differ from request to request.
type refusal struct {
	Type, Text string
	Status     int
	API        error // with all members
}

var anyRequestID = regexp.MustCompile(`RequestID: \w*`)

// call calls the method of a client with the name of the operation.
func call(c *dynamodb.Client, op string, in any) (answer, failure any) {
	defer func() {
		if p := recover(); p != nil { // the SDK dereferences nil pointers in values
			answer, failure = nil, refusal{Type: "panic", Text: fmt.Sprint(p)}
		}
	}()
	out := reflect.ValueOf(c).MethodByName(op).Call([]reflect.Value{
		reflect.ValueOf(context.Background()), reflect.ValueOf(in),
	})
	if err, _ := out[1].Interface().(error); err != nil {
		r := refusal{Type: fmt.Sprintf("%T", err), Text: anyRequestID.ReplaceAllString(err.Error(), "RequestID: ID")}
		if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
			r.Status = response.HTTPStatusCode()
		}
		if api, ok := errors.AsType[smithy.APIError](err); ok {
			r.API = api
		}
		return nil, r
	}
	out[0].Elem().FieldByName("ResultMetadata").SetZero()
	return out[0].Interface(), nil
}

// input returns a random input of an operation that is usually valid.
func (w *ways) input(op string) any {
	table, names, values := w.table(), w.placeholders(), w.values()
	total := proptest.Pick(w.T, types.ReturnConsumedCapacityNone, "", types.ReturnConsumedCapacityTotal,
		types.ReturnConsumedCapacityIndexes)
	old := proptest.Pick(w.T, types.ReturnValuesOnConditionCheckFailureNone,
		types.ReturnValuesOnConditionCheckFailureAllOld)
	switch op {
	case "GetItem":
		return &dynamodb.GetItemInput{
			TableName: &table, Key: w.key(table), ConsistentRead: new(w.Bool()), ReturnConsumedCapacity: total,
			ProjectionExpression: w.expression("", "pk, n", "m.a, l[0]", "#n"), ExpressionAttributeNames: names,
		}
	case "PutItem":
		return &dynamodb.PutItemInput{
			TableName: &table, Item: w.item(table), ConditionExpression: w.condition(), ExpressionAttributeNames: names,
			ExpressionAttributeValues: values,
			ReturnValues:              proptest.Pick(w.T, types.ReturnValueNone, types.ReturnValueAllOld),
			ReturnConsumedCapacity:    total, ReturnValuesOnConditionCheckFailure: old,
			ReturnItemCollectionMetrics: w.metrics(),
		}
	case "UpdateItem":
		return &dynamodb.UpdateItemInput{
			TableName: &table, Key: w.key(table), UpdateExpression: w.update(), ConditionExpression: w.condition(),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnConsumedCapacity: total,
			ReturnValues:                        proptest.Pick(w.T, types.ReturnValue("").Values()...),
			ReturnValuesOnConditionCheckFailure: old,
		}
	case "DeleteItem":
		return &dynamodb.DeleteItemInput{
			TableName: &table, Key: w.key(table), ConditionExpression: w.condition(), ExpressionAttributeNames: names,
			ExpressionAttributeValues: values,
			ReturnValues:              proptest.Pick(w.T, types.ReturnValueNone, types.ReturnValueAllOld),
			ReturnConsumedCapacity:    total, ReturnValuesOnConditionCheckFailure: old,
			ReturnItemCollectionMetrics: w.metrics(),
		}
	case "Query":
		in := &dynamodb.QueryInput{
			TableName: aws.String("Rows"), KeyConditionExpression: aws.String("pk = :s"),
			FilterExpression:         w.condition(),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, Limit: w.limit(),
			ReturnConsumedCapacity: total,
			Select:                 proptest.Pick(w.T, "", types.SelectCount, types.SelectAllAttributes),
			ScanIndexForward:       new(w.Bool()),
		}
		values[":s"] = s("P")
		switch w.IntN(4) {
		case 0:
			in.IndexName, in.KeyConditionExpression = aws.String("ByG"), aws.String("g = :s AND sk > :n")
			values[":s"] = s("G")
		case 1:
			in.IndexName, in.KeyConditionExpression = aws.String("ByL"), aws.String("pk = :s AND begins_with(l, :t)")
			values[":t"] = s("1")
		case 2:
			in.ExclusiveStartKey = w.key("Rows")
		}
		return in
	case "Scan":
		in := &dynamodb.ScanInput{
			TableName: &table, FilterExpression: w.condition(), ExpressionAttributeNames: names,
			ExpressionAttributeValues: values, Limit: w.limit(), ReturnConsumedCapacity: total,
			Select: proptest.Pick(w.T, "", types.SelectCount), ConsistentRead: new(w.Bool()),
		}
		switch w.IntN(3) {
		case 0:
			in.ExclusiveStartKey = w.key(table)
		case 1:
			in.Segment, in.TotalSegments = aws.Int32(int32(w.IntN(3))), aws.Int32(2)
		}
		return in
	case "BatchGetItem":
		in := &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{}, ReturnConsumedCapacity: total,
		}
		for range w.Between(1, 2) {
			in.RequestItems[table] = types.KeysAndAttributes{
				Keys: proptest.SliceOf(w.T, 1, 3, func(*proptest.T) map[string]types.AttributeValue {
					return w.key(table)
				}),
				ProjectionExpression: w.expression("", "n"), ConsistentRead: new(w.Bool()),
			}
			table = w.table()
		}
		return in
	case "BatchWriteItem":
		in := &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{}, ReturnConsumedCapacity: total,
			ReturnItemCollectionMetrics: w.metrics(),
		}
		in.RequestItems[table] = proptest.SliceOf(w.T, 1, 3, func(*proptest.T) (r types.WriteRequest) {
			if w.Bool() {
				r.PutRequest = &types.PutRequest{Item: w.item(table)}
			} else {
				r.DeleteRequest = &types.DeleteRequest{Key: w.key(table)}
			}
			return r
		})
		return in
	case "TransactGetItems":
		return &dynamodb.TransactGetItemsInput{
			ReturnConsumedCapacity: total,
			TransactItems: proptest.SliceOf(w.T, 1, 3, func(*proptest.T) types.TransactGetItem {
				table := w.table()
				return types.TransactGetItem{
					Get: &types.Get{TableName: &table, Key: w.key(table), ProjectionExpression: w.expression("", "n")},
				}
			}),
		}
	}
	return &dynamodb.TransactWriteItemsInput{
		ReturnConsumedCapacity: total, ReturnItemCollectionMetrics: w.metrics(),
		ClientRequestToken: w.expression("t1", "t2", "t3", "t4"),
		TransactItems: proptest.SliceOf(w.T, 1, 3, func(*proptest.T) (item types.TransactWriteItem) {
			table := w.table()
			switch w.IntN(4) {
			case 0:
				item.Put = &types.Put{TableName: &table, Item: w.item(table), ReturnValuesOnConditionCheckFailure: old}
			case 1:
				item.Delete = &types.Delete{TableName: &table, Key: w.key(table)}
			case 2:
				item.Update = &types.Update{
					TableName: &table, Key: w.key(table), UpdateExpression: aws.String("SET n = :n"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":n": values[":n"]},
				}
			default:
				item.ConditionCheck = &types.ConditionCheck{
					TableName: &table, Key: w.key(table), ConditionExpression: aws.String("attribute_exists(n)"),
					ReturnValuesOnConditionCheckFailure: old,
				}
			}
			return item
		}),
	}
}

// dropUnused removes the placeholders from an input that no expression uses, because DynamoDB refuses them.
func dropUnused(in any) {
	v := reflect.ValueOf(in).Elem()
	var expressions strings.Builder
	for field, member := range v.Fields() {
		if strings.HasSuffix(field.Name, "Expression") && !member.IsNil() {
			expressions.WriteString(member.Elem().String() + " ")
		}
	}
	for _, name := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		m := v.FieldByName(name)
		if !m.IsValid() || m.IsNil() {
			continue
		}
		for _, placeholder := range m.MapKeys() {
			if !strings.Contains(expressions.String(), placeholder.String()) {
				m.SetMapIndex(placeholder, reflect.Value{})
			}
		}
		if m.Len() == 0 {
			m.SetZero()
		}
	}
}

func (w *ways) table() string { return proptest.Pick(w.T, "Rows", "Rows", "Flat") }

func (w *ways) limit() *int32 { return proptest.Pick(w.T, nil, aws.Int32(1), aws.Int32(3)) }

func (w *ways) metrics() types.ReturnItemCollectionMetrics {
	return proptest.Pick(w.T, "", types.ReturnItemCollectionMetricsNone, types.ReturnItemCollectionMetricsSize)
}

// expression returns one of the texts at random, or nil instead of the first.
func (w *ways) expression(texts ...string) *string {
	if i := w.IntN(len(texts)); i > 0 {
		return &texts[i]
	}
	return nil
}

func (w *ways) condition() *string {
	return w.expression("", "attribute_exists(n)", "n > :n", "#n = :n OR size(l) < :n", "contains(l, :t)", "n >")
}

func (w *ways) update() *string {
	return w.expression("", "SET n = :n", "ADD n :n", "SET m.a = :t REMOVE l", "SET #n = if_not_exists(#n, :n) + :n",
		"SET pk = :t")
}

func (w *ways) placeholders() map[string]string {
	return map[string]string{"#n": "n"}
}

func (w *ways) values() map[string]types.AttributeValue {
	values := map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: fmt.Sprint(w.IntN(9))}}
	values[":t"] = w.value(0)
	return values
}

func (w *ways) key(table string) map[string]types.AttributeValue {
	if table == "Flat" {
		return map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberB{Value: []byte(proptest.Pick(w.T, "x", "y"))},
		}
	}
	return key(proptest.Pick(w.T, "P", "Q"), w.IntN(8))
}

func (w *ways) item(table string) map[string]types.AttributeValue {
	item := w.key(table)
	for _, name := range []string{"n", "l", "m", "g"} {
		if w.Bool() {
			item[name] = w.value(0)
		}
	}
	return item
}

// value returns a random value, rarely one that DynamoDB refuses.
func (w *ways) value(depth int) types.AttributeValue {
	text := func(*proptest.T) string {
		return proptest.Pick(w.T, "1", "0", "G", "a", "é", "1.50", "b", "", "x\xff", strings.Repeat("long", 100))
	}
	kind := w.IntN(10)
	if depth > 3 {
		kind %= 8
	}
	switch kind {
	case 1:
		return &types.AttributeValueMemberN{
			Value: proptest.Pick(w.T, "1", "-0.5", "1e5", "12345678901234567890123456789012345678", "x", ""),
		}
	case 2:
		return &types.AttributeValueMemberB{Value: []byte(text(w.T))}
	case 3:
		return &types.AttributeValueMemberBOOL{Value: w.Bool()}
	case 4:
		return &types.AttributeValueMemberNULL{Value: !w.Often(10)}
	case 5:
		return &types.AttributeValueMemberSS{Value: proptest.SliceOf(w.T, 0, 2, text)}
	case 6:
		return &types.AttributeValueMemberNS{Value: append([]string{"7"}, proptest.SliceOf(w.T, 0, 1, text)...)}
	case 7:
		return &types.AttributeValueMemberBS{Value: [][]byte{{0}, []byte(text(w.T))}}
	case 8:
		return &types.AttributeValueMemberL{
			Value: proptest.SliceOf(w.T, 0, 3, func(*proptest.T) types.AttributeValue { return w.value(depth + 1) }),
		}
	case 9:
		m := map[string]types.AttributeValue{}
		for range w.IntN(3) {
			m[proptest.Pick(w.T, "a", "b", "pk", "sk", "")] = w.value(depth + 1)
		}
		return &types.AttributeValueMemberM{Value: m}
	}
	return &types.AttributeValueMemberS{Value: text(w.T)}
}

// change changes one random place of an input in place.
func (w *ways) change(in any) {
	var places []func()
	w.places(reflect.ValueOf(in).Elem(), &places)
	places[w.IntN(len(places))]()
}

// places appends a function for each settable place at or below v. The function changes that place.
func (w *ways) places(v reflect.Value, places *[]func()) {
	add := func(change func()) { *places = append(*places, change) }
	switch v.Kind() {
	case reflect.Struct:
		for field, member := range v.Fields() {
			if field.IsExported() {
				w.places(member, places)
			}
		}
	case reflect.String:
		add(func() { v.SetString(proptest.Pick(w.T, "", "Rows", "NONE", "n", "pk = :s", "x", "x\xff")) })
	case reflect.Bool:
		add(func() { v.SetBool(!v.Bool()) })
	case reflect.Int32:
		add(func() { v.SetInt(int64(proptest.Pick(w.T, 0, -1, 1, 2, 1<<20))) })
	case reflect.Pointer:
		add(func() { v.Set(w.filled(v.Type())) })
		if !v.IsNil() {
			w.places(v.Elem(), places)
		}
	case reflect.Interface:
		add(func() {
			if x := w.value(0); !w.Often(10) {
				v.Set(reflect.ValueOf(x))
			} else {
				v.Set(reflect.ValueOf(proptest.Pick[types.AttributeValue](w.T, &types.AttributeValueMemberB{},
					&types.UnknownUnionMember{Tag: "X"}, (*types.AttributeValueMemberS)(nil),
					(*types.AttributeValueMemberM)(nil))))
			}
		})
		if !v.IsNil() && !v.Elem().IsNil() { // do not change the target of a pointer, which another input may share
			w.places(v.Elem().Elem(), places)
		}
	case reflect.Slice:
		add(func() {
			switch n := v.Len(); {
			case n == 0 || w.Often(20):
				v.Set(reflect.MakeSlice(v.Type(), w.IntN(2), 2))
			case w.Bool():
				v.Set(reflect.Append(v, v.Index(w.IntN(n)))) // both elements now share memory
			default:
				v.SetLen(n - 1)
			}
		})
		for i := range v.Len() {
			w.places(v.Index(i), places)
		}
	case reflect.Map:
		add(func() {
			name := reflect.ValueOf(proptest.Pick(w.T, "n", "pk", "sk", "id", ":n", "#n", "Rows", "", "x\xff"))
			switch {
			case v.IsNil() || w.Often(10):
				v.Set(reflect.MakeMap(v.Type()))
			case w.Bool():
				v.SetMapIndex(name, reflect.Value{})
			default:
				e := reflect.New(v.Type().Elem()).Elem()
				w.change(e.Addr().Interface())
				v.SetMapIndex(name, e)
			}
		})
		// in a fixed order
		for _, name := range []string{"n", "pk", "sk", "id", ":n", ":t", ":s", "Rows", "Flat", "m", "l"} {
			at := reflect.ValueOf(name)
			if old := v.MapIndex(at); old.IsValid() {
				e := reflect.New(old.Type()).Elem()
				e.Set(old)
				var inner []func()
				w.places(e, &inner)
				for _, change := range inner {
					add(func() {
						change()
						v.SetMapIndex(at, e)
					})
				}
			}
		}
	}
}

// filled returns nil or a pointer to a new value.
func (w *ways) filled(t reflect.Type) reflect.Value {
	if w.Bool() {
		return reflect.Zero(t)
	}
	p := reflect.New(t.Elem())
	w.change(p.Interface())
	return p
}

// show returns a text of a value and of everything that it points to.
func show(v any) string {
	var b strings.Builder
	showValue(&b, reflect.ValueOf(v), 0)
	return b.String()
}

func showValue(b *strings.Builder, v reflect.Value, depth int) {
	switch {
	case !v.IsValid():
		b.WriteString("nil")
	case depth > 40:
		b.WriteString("…")
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		if v.IsNil() {
			fmt.Fprintf(b, "%v(nil)", v.Type())
			return
		}
		if v.Kind() == reflect.Interface {
			fmt.Fprintf(b, "%v ", v.Elem().Type())
		}
		showValue(b, v.Elem(), depth+1)
	case v.Kind() == reflect.Struct:
		b.WriteByte('{')
		for field, member := range v.Fields() {
			if field.IsExported() && !member.IsZero() {
				b.WriteString(field.Name + ":")
				showValue(b, member, depth+1)
				b.WriteByte(' ')
			}
		}
		b.WriteByte('}')
	case v.Kind() == reflect.Map:
		b.WriteString("map[")
		keys := make([]string, 0, v.Len())
		for _, k := range v.MapKeys() {
			keys = append(keys, k.String())
		}
		slices.Sort(keys)
		for _, k := range keys {
			fmt.Fprintf(b, "%q:", k)
			showValue(b, v.MapIndex(reflect.ValueOf(k)), depth+1)
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		b.WriteByte('[')
		for i := range v.Len() {
			showValue(b, v.Index(i), depth+1)
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case v.Kind() == reflect.String:
		fmt.Fprintf(b, "%q", v.String())
	default:
		fmt.Fprintf(b, "%v", v)
	}
}
