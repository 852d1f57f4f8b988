package sortkeytest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/requestfile"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// Put writes the items that the test starts with. Each argument is a struct or map that package attributevalue can
// marshal, a map of attribute values, or a slice or array of those.
func (db *DB) Put(table string, items ...any) {
	db.t.Helper()
	n := 0
	for _, item := range items {
		list := reflect.Indirect(reflect.ValueOf(item))
		if _, custom := item.(attributevalue.Marshaler); custom ||
			list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
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
		attributes, err = attributevalue.MarshalMap(item)
		db.must(err, "table %s: item %d: ", table, n)
	}
	if len(attributes) == 0 {
		db.t.Fatalf(
			"sortkeytest: table %s: item %d has no attributes: it has type %T, want a struct or a map", table, n, item,
		)
	}
	_, err := db.Direct.PutItem(quiet, &dynamodb.PutItemInput{TableName: &table, Item: attributes})
	db.must(err, "table %s: item %d: ", table, n)
}

// PutJSON writes items in DynamoDB JSON, such as {"id":{"S":"x"}}: one item, several in a row, lists of items, or a
// response with Items. It also accepts the lines of an export, {"Item":{...}}, and requests of BatchWriteItem,
// PutItem and TransactWriteItems. If the text has only requests, which name their tables, table may be "". Otherwise
// all requests must name table. PutJSON executes deletes in requests, but refuses conditions and updates.
func (db *DB) PutJSON(table string, text []byte) {
	db.t.Helper()
	db.must(db.putJSON(table, text), "%s", ofTable(table))
}

// ofTable returns the start of a message about a table. It returns "" if table is "".
func ofTable(table string) string {
	if table == "" {
		return ""
	}
	return "table " + table + ": "
}

// PutFile is [DB.PutJSON] with the text of a file, such as one in testdata.
func (db *DB) PutFile(table, path string) {
	db.t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = db.putJSON(table, text)
	}
	db.must(err, "%s%s: ", ofTable(table), path)
}

func (db *DB) putJSON(table string, text []byte) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	dec := jsontext.NewDecoder(bytes.NewBuffer(text))
	for {
		value, err := dec.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		}
		next := json.RawMessage(value)
		from := dec.InputOffset() - int64(len(next))
		if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			from, err = e.ByteOffset, requestfile.Syntax(e)
		}
		line := int64(1 + bytes.Count(text[:from], []byte("\n")))
		if err == nil && requestfile.Is(next) {
			if err := db.putRequests(table, next, line); err != nil {
				return err
			}
			continue
		}
		if err == nil && table == "" {
			err = errors.New("no table for an item: name it in the call, as only requests name theirs")
		}
		if err == nil {
			err = db.putAll(table, next)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// putRequests executes the writes of a request or of a list of requests. line is the line of the file at which the
// text begins.
func (db *DB) putRequests(table string, text json.RawMessage, line int64) error {
	for r := requestfile.NewReader(bytes.NewReader(text), len(text)); ; {
		w, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}

		to := cmp.Or(w.Table, table)
		switch {
		case err != nil:
		case w.Err != nil:
			err = w.Err
		case to == "":
			err = errors.New("the request names no table: name it in the call")
		case table != "" && to != table:
			err = fmt.Errorf("the request writes to table %s: leave the table of the call empty, or name that one", to)
		case w.Delete:
			_, err = db.Direct.DeleteItem(quiet, &dynamodb.DeleteItemInput{TableName: &to, Key: sdkvalue.Of(w.Item)})
			if err != nil {
				err = errors.New(db.reason(err)) // drop the text that the SDK puts around the error
			}
			err = db.written(err, w.Item.AppendJSON(nil))
		default:
			err = db.written(sortkey.Table[attr.Item](db.DB, to).Put(quiet, w.Item), w.Item.AppendJSON(nil))
		}
		if err != nil && table == "" && to != "" {
			err = fmt.Errorf("table %s: %w", to, err)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line+w.Line-1, err)
		}
	}
}

// written adds the item to the error of a write that failed. If the database has ended, it returns an error that says
// how and when.
func (db *DB) written(err error, item []byte) error {
	if over := db.life.over(); err != nil && over != "" {
		return errors.New(over)
	}
	if err != nil {
		return fmt.Errorf("%w in %s", err, shorten(item))
	}
	return nil
}

// putAll writes all items in one JSON value: an item, a list of items, or a response.
func (db *DB) putAll(table string, text json.RawMessage) error {
	items := []json.RawMessage{text}
	var members map[string]json.RawMessage
	if text[0] == '[' {
		if err := json.Unmarshal(text, &items); err != nil {
			return err
		}
	} else if err := json.Unmarshal(text, &members); err == nil {
		_ = json.Unmarshal(members["Items"], &items) // no attribute value is a list
	}
	for i, item := range items {
		if err := db.putOne(table, item); err != nil && len(items) > 1 {
			return fmt.Errorf("item %d: %w", i, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// putOne writes an item in DynamoDB JSON, or the item in a line of an export.
func (db *DB) putOne(table string, text json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	// A line of an export is {"Item":{...}}, and every member of the inner object is an object. The line itself could
	// not be an item: an item with one attribute called Item, a map, is {"Item":{"M":{...}}}.
	var inner map[string]map[string]any
	item, err := attr.ParseItem(text)
	if err != nil && len(members) == 1 && json.Unmarshal(members["Item"], &inner) == nil {
		text, members = members["Item"], nil
		_ = json.Unmarshal(text, &members)
		item, err = attr.ParseItem(text)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !isTyped(members[name]) {
			return fmt.Errorf("attribute %s is %s, which is not DynamoDB JSON such as {\"S\": \"x\"}: "+
				"for plain JSON, decode it and use db.Put", name, shorten(members[name]))
		}
	}

	if err == nil {
		err = sortkey.Table[attr.Item](db.DB, table).Put(quiet, item)
	}
	return db.written(err, text)
}

// isTyped reports whether a value looks like an attribute value in DynamoDB JSON: an object with one member whose
// name is a type.
func isTyped(value json.RawMessage) bool {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(value, &v); err != nil || len(v) != 1 {
		return false
	}
	for name := range v {
		_, ok := attr.ParseKind(name)
		return ok
	}
	return false
}

// shorten returns JSON on one line for messages. It cuts the text to 200 bytes.
func shorten(value []byte) string {
	const most = 200
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		b.Reset()
		b.Write(value)
	}
	if b.Len() > most {
		return strings.ToValidUTF8(string(b.Bytes()[:most]), "") + "…"
	}
	return b.String()
}

// Get returns the item with a key, to check what code has written. key has the value of the partition key and, if the
// table has a sort key, its value. ok reports whether there is such an item.
func Get[T any](db *DB, table string, key ...any) (item T, ok bool) {
	db.t.Helper()
	schema := db.schema(quiet, table, "")
	if len(key) != schema.Len() {
		db.t.Fatalf(
			"sortkeytest: Get from %s has %s, want values for %s", table, text.Count(len(key), "key value"),
			text.Join(namesOf(schema, schema.Len()), "and"),
		)
	}

	values := db.keyValues("Get from "+table, schema, key)
	found, err := sortkey.Table[attr.Item](db.DB, table).Get(quiet, values, sortkey.Consistent)
	if errors.Is(err, sortkey.ErrNotFound) {
		return item, false
	}
	db.must(err, "Get from %s: ", table)
	return unmarshal[T](db, table, sdkvalue.Of(found)), true
}

// Query returns the items whose key begins with the given values, ordered by the rest of the key. With one value,
// these are all items of a partition. To read an index, write its name after the table's name and a slash:
// "Orders/ByStatus".
func Query[T any](db *DB, from string, key ...any) []T {
	db.t.Helper()
	table, index, _ := strings.Cut(from, "/")
	schema := db.schema(quiet, table, index)
	switch n, least := len(key), len(schema.Partition()); {
	case n < least:
		db.t.Fatalf(
			"sortkeytest: Query of %s has %s, want values for %s", from, text.Count(n, "key value"),
			text.Join(namesOf(schema, least), "and"),
		)
	case n > schema.Len():
		db.t.Fatalf(
			"sortkeytest: Query of %s has %s, want at most values for %s", from, text.Count(n, "key value"),
			text.Join(namesOf(schema, schema.Len()), "and"),
		)
	}

	values := db.keyValues("Query of "+from, schema, key)
	rows, opts := sortkey.Table[attr.Item](db.DB, table), []sortkey.QueryOption{sortkey.Consistent}
	if index != "" {
		rows, opts = rows.Index(index), nil
	}
	all := []T{}
	for item, err := range rows.Query(quiet, values, opts...) {
		db.must(err, "Query of %s: ", from)
		all = append(all, unmarshal[T](db, table, sdkvalue.Of(item)))
	}
	return all
}

// Items returns all items of a table in the order of their keys. To get them as text, call [DB.Dump].
func Items[T any](db *DB, table string) []T {
	db.t.Helper()
	all := []T{}
	db.moment(func(ctx context.Context) {
		for _, row := range db.rows(ctx, db.schema(ctx, table, ""), table) {
			all = append(all, unmarshal[T](db, table, sdkvalue.Of(row.item)))
		}
	})
	return all
}

// unmarshal decodes an item into a T. It fails the test if the item does not fit.
func unmarshal[T any](db *DB, table string, item map[string]types.AttributeValue) (v T) {
	db.t.Helper()
	err := attributevalue.UnmarshalMap(item, &v)
	if err == nil {
		return v
	}
	attribute := ""
	// look for the attribute, as the error of UnmarshalMap does not name it
	for _, name := range slices.Sorted(maps.Keys(item)) {
		var probe T
		if attributevalue.UnmarshalMap(map[string]types.AttributeValue{name: item[name]}, &probe) != nil {
			attribute = " attribute " + name + " of"
			break
		}
	}

	var key []string
	for _, a := range db.schema(quiet, table, "").Attributes() {
		if v, err := sdkvalue.Value(item[a.Name]); err == nil {
			key = append(key, text.Literal(v))
		}
	}
	db.t.Fatalf("sortkeytest: table %s: cannot decode%s item %s into a %T: %v",
		table, attribute, strings.Join(key, " / "), v, err)
	return v
}

// keyValues converts the values of key attributes. If one does not fit, it fails the test. The message begins with
// what, which describes the call.
func (db *DB) keyValues(what string, s *keycond.Schema, key []any) (values sortkey.Key) {
	db.t.Helper()
	for i, v := range key {
		a := s.Attribute(i)
		value, err := sdkvalue.Value(db.value(v))
		if err != nil || value.Kind() != a.Kind {
			db.t.Fatalf("sortkeytest: %s: the value %v for %s has type %T, want %s, as the key is %q",
				what, v, a.Name, v, kinds[a.Kind], s)
		}
		values = append(values, value)
	}
	return values
}

// kinds describes the types of key attributes.
var kinds = map[attr.Kind]string{attr.String: "a string", attr.Number: "a number", attr.Binary: "bytes"}

// value converts v, the value of a key attribute. It fails the test if v cannot be stored.
func (db *DB) value(v any) types.AttributeValue {
	db.t.Helper()
	if own, ok := v.(types.AttributeValue); ok {
		return own
	}
	out, err := attributevalue.Marshal(v)
	db.must(err, "key value %v: ", v)
	return out
}
