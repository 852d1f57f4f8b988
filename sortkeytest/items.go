package sortkeytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/text"
)

// Put writes items. Each is a struct or map that package attributevalue can
// marshal, a map of attribute values, or a slice or array of those.
func (db *DB) Put(table string, items ...any) {
	db.t.Helper()
	n := 0
	for _, item := range items {
		list := reflect.Indirect(reflect.ValueOf(item))
		if _, custom := item.(attributevalue.Marshaler); custom || list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
			db.put(table, n, item)
			n++
			continue
		}
		for i := range list.Len() {
			db.put(table, n, list.Index(i).Interface())
			n++
		}
	}
}

func (db *DB) put(table string, n int, item any) {
	db.t.Helper()
	attributes, ok := item.(map[string]types.AttributeValue)
	if !ok {
		var err error
		if attributes, err = attributevalue.MarshalMap(item); err != nil {
			db.t.Fatalf("sortkeytest: table %s: item %d: %v", table, n, err)
		}
	}
	if len(attributes) == 0 {
		db.t.Fatalf("sortkeytest: table %s: item %d has no attributes: it has type %T, want a struct or a map", table, n, item)
	}
	if _, err := db.Direct.PutItem(quiet, &dynamodb.PutItemInput{TableName: &table, Item: attributes}); err != nil {
		db.t.Fatalf("sortkeytest: table %s: item %d: %v", table, n, err)
	}
}

// PutJSON writes items in DynamoDB JSON, such as {"id":{"S":"x"}}: one item,
// several in a row, lists of them, or a response with Items. It also accepts
// the lines of an export, {"Item":{...}}.
func (db *DB) PutJSON(table string, text []byte) {
	db.t.Helper()
	if err := db.putJSON(table, text); err != nil {
		db.t.Fatalf("sortkeytest: table %s: %v", table, err)
	}
}

// PutFile is [DB.PutJSON] for a file.
func (db *DB) PutFile(table, path string) {
	db.t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = db.putJSON(table, text)
	}
	if err != nil {
		db.t.Fatalf("sortkeytest: table %s: %s: %v", table, path, err)
	}
}

func (db *DB) putJSON(table string, text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var next json.RawMessage
		if err := dec.Decode(&next); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		items := []json.RawMessage{next}
		if next[0] == '[' {
			if err := json.Unmarshal(next, &items); err != nil {
				return err
			}
		}
		for _, item := range items {
			if err := db.putEach(table, item); err != nil {
				return err
			}
		}
	}
}

// putEach writes the item or items of one JSON value.
func (db *DB) putEach(table string, text json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	var list []json.RawMessage
	if json.Unmarshal(members["Items"], &list) == nil { // no attribute value is a list
		for _, item := range list {
			if err := db.putEach(table, item); err != nil {
				return err
			}
		}
		return nil
	}
	// Every member of {"Item":{...}}, a line of an export, is an object. An
	// item whose only attribute is called Item has a scalar there.
	var inner map[string]map[string]any
	if len(members) == 1 && json.Unmarshal(members["Item"], &inner) == nil {
		text = members["Item"]
	}
	body, err := json.Marshal(map[string]any{"TableName": table, "Item": text})
	if err != nil {
		return err
	}
	answer, status := inside.Service(db.DB).Serve(quiet, "DynamoDB_20120810.PutItem", body, nil)
	if status != 200 {
		return errors.New(string(answer) + " for " + string(text))
	}
	return nil
}

// Get returns the item with a key: the value of the partition key and, if the
// table has one, that of the sort key. It reports whether there is such an item.
func Get[T any](db *DB, table string, key ...any) (item T, ok bool) {
	db.t.Helper()
	names := db.schema(table, "").names
	if len(key) != len(names) {
		db.t.Fatalf("sortkeytest: Get from %s has %s, want values for %s", table, text.Count(len(key), "key value"), text.Join(names, "and"))
	}
	in := &dynamodb.GetItemInput{TableName: &table, Key: map[string]types.AttributeValue{}, ConsistentRead: aws.Bool(true)}
	for i, name := range names {
		in.Key[name] = db.value(key[i])
	}
	out, err := db.Direct.GetItem(quiet, in)
	if err == nil && out.Item != nil {
		ok, err = true, attributevalue.UnmarshalMap(out.Item, &item)
	}
	if err != nil {
		db.t.Fatalf("sortkeytest: %v", err)
	}
	return item, ok
}

// Query returns the items with the first values of a key, in the order of the
// rest: with one value those of a partition. To read an index, give its name
// after the table's and a slash: "Orders/ByStatus".
func Query[T any](db *DB, from string, key ...any) []T {
	db.t.Helper()
	table, index, _ := strings.Cut(from, "/")
	schema := db.schema(table, index)
	switch n := len(key); {
	case n < schema.partition:
		db.t.Fatalf("sortkeytest: Query of %s has %s, want values for %s", from, text.Count(n, "key value"), text.Join(schema.names[:schema.partition], "and"))
	case n > len(schema.names):
		db.t.Fatalf("sortkeytest: Query of %s has %s, want at most values for %s", from, text.Count(n, "key value"), text.Join(schema.names, "and"))
	}
	in := &dynamodb.QueryInput{
		TableName: &table, ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: map[string]types.AttributeValue{},
	}
	if index == "" {
		in.ConsistentRead = aws.Bool(true)
	} else {
		in.IndexName = &index
	}
	var conditions []string
	for i, v := range key {
		name, place := fmt.Sprintf("#k%d", i), fmt.Sprintf(":k%d", i)
		in.ExpressionAttributeNames[name], in.ExpressionAttributeValues[place] = schema.names[i], db.value(v)
		conditions = append(conditions, name+" = "+place)
	}
	in.KeyConditionExpression = aws.String(strings.Join(conditions, " AND "))
	all := []T{}
	for pages := dynamodb.NewQueryPaginator(db.Direct, in); pages.HasMorePages(); {
		page, err := pages.NextPage(quiet)
		if err != nil {
			db.t.Fatalf("sortkeytest: %v", err)
		}
		all = append(all, unmarshal[T](db, page.Items)...)
	}
	return all
}

// Items returns all items of a table in the order of their keys.
func Items[T any](db *DB, table string) []T {
	db.t.Helper()
	var items []map[string]types.AttributeValue
	for _, row := range db.rows(table) {
		items = append(items, sdkvalue.Of(row.item))
	}
	return unmarshal[T](db, items)
}

func unmarshal[T any](db *DB, items []map[string]types.AttributeValue) []T {
	db.t.Helper()
	all := []T{}
	if err := attributevalue.UnmarshalListOfMaps(items, &all); err != nil {
		db.t.Fatalf("sortkeytest: %v", err)
	}
	return all
}

// value returns a key value.
func (db *DB) value(v any) types.AttributeValue {
	db.t.Helper()
	if own, ok := v.(types.AttributeValue); ok {
		return own
	}
	out, err := attributevalue.Marshal(v)
	if err != nil {
		db.t.Fatalf("sortkeytest: key value %v: %v", v, err)
	}
	return out
}
