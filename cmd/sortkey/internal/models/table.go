package models

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// Tables returns the names of all tables.
func Tables(ctx context.Context, from explain.Target) (names []string, err error) {
	in := &wire.ListTablesInput{}
	for {
		out, _, err := from.Do(ctx, in)
		if err != nil {
			return nil, err
		}
		page := out.(*wire.ListTablesOutput)
		names = append(names, page.TableNames...)
		if in.ExclusiveStartTableName = page.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
			return names, nil
		}
	}
}

// A Table is a line in a list of tables.
type Table struct {
	Name string `json:"name"`
	Key  string `json:"key"`
	// Items and Bytes are what the service says; other services than Sortkey update them every few hours.
	Items int `json:"items"`
	Bytes int `json:"bytes"`
	// Indexes has the key and the projection of each index by name. IndexNames has the names in their order.
	Indexes    map[string]string `json:"indexes,omitempty"`
	IndexNames []string          `json:"-"`
}

// List describes the tables called names.
func List(ctx context.Context, from explain.Target, names []string) ([]Table, error) {
	all := []Table{}
	for _, name := range names {
		out, _, err := from.Do(ctx, &wire.DescribeTableInput{TableName: &name})
		if err != nil {
			return nil, err
		}
		d := out.(*wire.DescribeTableOutput).Table
		t, err := keyschema.Of(d)
		if err != nil {
			return nil, err
		}
		one := Table{
			Name: name, Key: t.Key.String(), Items: int(aws.ToInt64(d.ItemCount)),
			Bytes: int(aws.ToInt64(d.TableSizeBytes)), Indexes: map[string]string{}, IndexNames: t.IndexNames(),
		}
		for _, ix := range t.Indexes {
			one.Indexes[ix.Key.Name()] = ix.String()
		}
		all = append(all, one)
	}
	return all, nil
}
