package models

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Describe returns the keys of the table with a name.
func Describe(ctx context.Context, client *dynamodb.Client, name string) (*keyschema.Table, error) {
	var out wire.DescribeTableOutput
	if err := sdktarget.Send(ctx, client, &wire.DescribeTableInput{TableName: &name}, &out); err != nil {
		return nil, err
	}
	if out.Table == nil {
		return nil, fmt.Errorf("the endpoint did not describe table %s", name)
	}
	return keyschema.Of(out.Table)
}

// hasKeys reports whether a table has the key of the model's and all of its indexes.
func hasKeys(t *keyschema.Table, want *model.Table) bool {
	same := func(s *keycond.Schema, partition, sort []model.Attribute) bool {
		return s != nil && slices.Equal(s.Partition(), partition) && slices.Equal(s.Sort(), sort)
	}
	for _, x := range want.Indexes {
		if !same(t.Schema(x.Name), x.Partition, x.Sort) {
			return false
		}
	}
	return same(t.Key, want.Partition, want.Sort)
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
