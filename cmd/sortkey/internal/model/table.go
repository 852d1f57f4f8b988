package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// A Table describes the keys of a table and of its indexes.
type Table struct {
	Name string
	// Key is the key of the table. Indexes are the keys of its indexes in the
	// order of the description, local ones first.
	Key     *keycond.Schema
	Indexes []*keycond.Schema
}

// Describe describes the table with a name.
func Describe(ctx context.Context, client *dynamodb.Client, name string) (*Table, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	return TableOf(out.Table)
}

// TableOf returns the table in a description.
func TableOf(d *types.TableDescription) (*Table, error) {
	kinds := make(map[string]attr.Kind, len(d.AttributeDefinitions))
	for _, a := range d.AttributeDefinitions {
		kind, ok := attr.ParseKind(string(a.AttributeType))
		if !ok {
			return nil, fmt.Errorf("attribute %s has type %q, which is not a key type", aws.ToString(a.AttributeName), a.AttributeType)
		}
		kinds[aws.ToString(a.AttributeName)] = kind
	}
	schema := func(index string, elems []types.KeySchemaElement) *keycond.Schema {
		s := &keycond.Schema{Index: index}
		for _, e := range elems {
			name := aws.ToString(e.AttributeName)
			a := keycond.Attribute{Name: name, Kind: kinds[name]}
			if e.KeyType == types.KeyTypeHash {
				s.Hash = append(s.Hash, a)
			} else {
				s.Range = append(s.Range, a)
			}
		}
		return s
	}
	t := &Table{Name: aws.ToString(d.TableName), Key: schema("", d.KeySchema)}
	for _, i := range d.LocalSecondaryIndexes {
		t.Indexes = append(t.Indexes, schema(aws.ToString(i.IndexName), i.KeySchema))
	}
	for _, i := range d.GlobalSecondaryIndexes {
		t.Indexes = append(t.Indexes, schema(aws.ToString(i.IndexName), i.KeySchema))
	}
	for _, s := range t.Indexes {
		s.Table = t.Key
	}
	if len(t.Key.Hash) == 0 {
		return nil, fmt.Errorf("table %s has no partition key", t.Name)
	}
	return t, nil
}

// tableOfRequest returns the table that a request creates.
func tableOfRequest(in *dynamodb.CreateTableInput) (*Table, error) {
	d := &types.TableDescription{TableName: in.TableName, AttributeDefinitions: in.AttributeDefinitions, KeySchema: in.KeySchema}
	for _, i := range in.LocalSecondaryIndexes {
		d.LocalSecondaryIndexes = append(d.LocalSecondaryIndexes, types.LocalSecondaryIndexDescription{IndexName: i.IndexName, KeySchema: i.KeySchema})
	}
	for _, i := range in.GlobalSecondaryIndexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, types.GlobalSecondaryIndexDescription{IndexName: i.IndexName, KeySchema: i.KeySchema})
	}
	return TableOf(d)
}

// sameKeys reports whether t has the key of o and all of its indexes.
func (t *Table) sameKeys(o *Table) bool {
	same := func(a, b *keycond.Schema) bool { return slices.Equal(a.Hash, b.Hash) && slices.Equal(a.Range, b.Range) }
	for _, want := range o.Indexes {
		if got, ok := t.Schema(want.Index); !ok || !same(got, want) {
			return false
		}
	}
	return same(t.Key, o.Key)
}

// Schema returns the key of an index, or of the table if index is empty, and
// whether it exists.
func (t *Table) Schema(index string) (*keycond.Schema, bool) {
	if index == "" {
		return t.Key, true
	}
	for _, s := range t.Indexes {
		if s.Index == index {
			return s, true
		}
	}
	return nil, false
}

// IndexNames returns the names of the indexes.
func (t *Table) IndexNames() []string {
	names := make([]string, len(t.Indexes))
	for i, s := range t.Indexes {
		names[i] = s.Index
	}
	return names
}

// Tables returns the names of all tables.
func Tables(ctx context.Context, client *dynamodb.Client) ([]string, error) {
	var names []string
	pages := dynamodb.NewListTablesPaginator(client, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		names = append(names, page.TableNames...)
	}
	return names, nil
}
