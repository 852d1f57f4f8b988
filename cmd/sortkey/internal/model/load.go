package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/wire"
	"github.com/sortkey/sortkey/internal/design"
)

// batchSize is how many items one BatchWriteItem takes, and attempts how often
// those it left are sent again.
const (
	batchSize = 25
	attempts  = 8
)

// ErrOther is the error of [Ensure] for a table that is not the one of the
// model.
var ErrOther = errors.New("is there already, with other keys")

// Ensure makes sure that the tables of m are there with the items that the
// file writes out, and reports whether they were. A table that is missing is
// made, and one with fewer items than the model, left by a Load that was cut
// off, is loaded again; one with more is left alone. The error wraps
// [ErrOther] for a table of that name with other keys or indexes.
func Ensure(ctx context.Context, client *dynamodb.Client, m *design.Model) (found bool, err error) {
	items, err := written(ctx, m)
	if err != nil {
		return false, err
	}
	found = true
	for _, t := range m.Tables {
		whole, err := ensureTable(ctx, client, t, items[t])
		if err != nil {
			return false, fmt.Errorf("%s: table %s: %w", m.Name, t.Name, err)
		}
		found = found && whole
	}
	return found, nil
}

func ensureTable(ctx context.Context, client *dynamodb.Client, t *design.Table, items []attr.Item) (found bool, err error) {
	var in dynamodb.CreateTableInput
	if err := wire.Decode(t.CreateRequest(), &in); err != nil {
		return false, err
	}
	there, err := Describe(ctx, client, t.Name)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		if _, err := client.CreateTable(ctx, &in); err != nil {
			return false, err
		}
		return false, loadItems(ctx, client, t.Name, items)
	}
	if err != nil {
		return false, err
	}
	want, err := tableOfRequest(&in)
	if err != nil {
		return false, err
	}
	if !there.sameKeys(want) {
		return false, ErrOther
	}
	n, err := count(ctx, client, there.Name)
	if err != nil || n >= len(items) {
		return err == nil, err
	}
	return false, loadItems(ctx, client, t.Name, items)
}

// count returns the number of items of a table.
func count(ctx context.Context, client *dynamodb.Client, table string) (n int, err error) {
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, Select: types.SelectCount})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		n += int(page.Count)
	}
	return n, nil
}

// Load makes the tables of m and writes the items that the file writes out:
// samples and items of no entity, none that are generated.
func Load(ctx context.Context, client *dynamodb.Client, m *design.Model) error {
	items, err := written(ctx, m)
	if err != nil {
		return err
	}
	for _, t := range m.Tables {
		var in dynamodb.CreateTableInput
		if err := wire.Decode(t.CreateRequest(), &in); err != nil {
			return fmt.Errorf("%s: table %s: %w", m.Name, t.Name, err)
		}
		if _, err := client.CreateTable(ctx, &in); err != nil {
			return fmt.Errorf("%s: cannot make table %s: %w", m.Name, t.Name, err)
		}
		if err := loadItems(ctx, client, t.Name, items[t]); err != nil {
			return fmt.Errorf("%s: cannot write items to %s: %w", m.Name, t.Name, err)
		}
	}
	return nil
}

// written returns the items that the file of m writes out. They come from a
// world of their own, which refuses what no table would take and says where
// in the file it stands.
func written(ctx context.Context, m *design.Model) (map[*design.Table][]attr.Item, error) {
	w, err := design.Build(ctx, m, design.Options{MaxItems: -1})
	if err != nil {
		return nil, err
	}
	items := map[*design.Table][]attr.Item{}
	for _, it := range w.Items {
		items[it.Table] = append(items[it.Table], it.Attributes)
	}
	return items, w.Close()
}

func loadItems(ctx context.Context, client *dynamodb.Client, table string, items []attr.Item) error {
	for batch := range slices.Chunk(items, batchSize) {
		writes := make([]types.WriteRequest, len(batch))
		for i, it := range batch {
			item, err := wire.ParseItem(it.AppendJSON(nil))
			if err != nil {
				return err
			}
			writes[i].PutRequest = &types.PutRequest{Item: item}
		}
		if err := write(ctx, client, table, writes); err != nil {
			return err
		}
	}
	return nil
}

func write(ctx context.Context, client *dynamodb.Client, table string, writes []types.WriteRequest) error {
	pause := 10 * time.Millisecond
	for range attempts {
		out, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: writes},
		})
		if err != nil {
			return err
		}
		writes = out.UnprocessedItems[table]
		if len(writes) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
			pause *= 2
		}
	}
	return fmt.Errorf("%d items were not taken after %d attempts", len(writes), attempts)
}
