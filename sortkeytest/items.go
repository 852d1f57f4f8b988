package sortkeytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/sortkey/sortkey/internal/inside"
)

// Put writes items. Each is a map of attribute values, or a struct or map that
// package attributevalue can marshal.
func (db *DB) Put(table string, items ...any) {
	db.t.Helper()
	for i, item := range items {
		attributes, ok := item.(map[string]types.AttributeValue)
		if !ok {
			var err error
			if attributes, err = attributevalue.MarshalMap(item); err != nil {
				db.t.Fatalf("sortkeytest: item %d: %v", i, err)
			}
		}
		if _, err := db.Direct.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &table, Item: attributes}); err != nil {
			db.t.Fatalf("sortkeytest: item %d: %v", i, err)
		}
	}
}

// PutJSON writes items in DynamoDB JSON, such as {"id":{"S":"x"}}: one item,
// several in a row, lists of them, or a response with Items. It also accepts
// the lines of an export, {"Item":{...}}.
func (db *DB) PutJSON(table string, text []byte) {
	db.t.Helper()
	if err := db.putJSON(table, text); err != nil {
		db.t.Fatalf("sortkeytest: %v", err)
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
		db.t.Fatalf("sortkeytest: %s: %v", path, err)
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
	answer, status := inside.Service(db.DB).Serve(context.Background(), "DynamoDB_20120810.PutItem", body, nil)
	if status != 200 {
		return errors.New(string(answer) + " for " + string(text))
	}
	return nil
}

// All returns all items of a table in scan order.
func All[T any](db *DB, table string) []T {
	db.t.Helper()
	all := []T{}
	pages := dynamodb.NewScanPaginator(db.Direct, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			db.t.Fatalf("sortkeytest: %v", err)
		}
		var items []T
		if err := attributevalue.UnmarshalListOfMaps(page.Items, &items); err != nil {
			db.t.Fatalf("sortkeytest: %v", err)
		}
		all = append(all, items...)
	}
	return all
}
