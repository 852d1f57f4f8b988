package models

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdksend"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// Describe returns the keys of the table with a name.
func Describe(ctx context.Context, client *dynamodb.Client, name string) (*keyschema.Table, error) {
	var out wire.DescribeTableOutput
	if err := sdksend.Send(ctx, client, &wire.DescribeTableInput{TableName: &name}, &out); err != nil {
		return nil, err
	}
	if out.Table == nil {
		return nil, fmt.Errorf("the endpoint did not describe table %s", name)
	}
	return keyschema.Of(out.Table)
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
