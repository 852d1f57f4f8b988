package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/wire"
	"github.com/sortkey/sortkey/examples"
)

// ErrNotFound is the error of [Find] for what is neither an example nor a file.
var ErrNotFound = errors.New("neither an example nor a file")

// Find returns the embedded example of that name, or the model file at that
// path.
func Find(name string) (*examples.System, error) {
	if slices.Contains(examples.Names(), name) {
		return examples.Load(name)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return examples.Parse(name, data)
}

// batchSize is how many items one BatchWriteItem takes, and attempts how often
// those it left are sent again.
const (
	batchSize = 25
	attempts  = 8
)

// ErrOther is the error of [Ensure] for a table that is not the one of the
// model.
var ErrOther = errors.New("is there already, with other keys")

// Ensure makes sure that the tables of s are there with its items, and reports
// whether they were. A table that is missing is made, and one with fewer items
// than the model, left by a Load that was cut off, is loaded again; one with
// more is left alone. The error wraps [ErrOther] for a table of that name with
// other keys or indexes.
func Ensure(ctx context.Context, client *dynamodb.Client, s *examples.System) (found bool, err error) {
	found = true
	for _, data := range s.Tables {
		var in dynamodb.CreateTableInput
		if err := wire.Decode(data, &in); err != nil {
			return false, fmt.Errorf("%s: table: %w", s.Name, err)
		}
		whole, err := ensureTable(ctx, client, s, &in)
		if err != nil {
			return false, fmt.Errorf("%s: table %s: %w", s.Name, *in.TableName, err)
		}
		found = found && whole
	}
	return found, nil
}

func ensureTable(ctx context.Context, client *dynamodb.Client, s *examples.System, in *dynamodb.CreateTableInput) (found bool, err error) {
	there, err := Describe(ctx, client, *in.TableName)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		if _, err := client.CreateTable(ctx, in); err != nil {
			return false, err
		}
		return false, loadItems(ctx, client, s, *in.TableName)
	}
	if err != nil {
		return false, err
	}
	want, err := tableOfRequest(in)
	if err != nil {
		return false, err
	}
	if !there.sameKeys(want) {
		return false, ErrOther
	}
	n, err := count(ctx, client, there.Name)
	if err != nil || n >= len(s.Items[there.Name]) {
		return err == nil, err
	}
	return false, loadItems(ctx, client, s, there.Name)
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

// Load makes the tables of s and writes its items.
func Load(ctx context.Context, client *dynamodb.Client, s *examples.System) error {
	for _, data := range s.Tables {
		var in dynamodb.CreateTableInput
		if err := wire.Decode(data, &in); err != nil {
			return fmt.Errorf("%s: table: %w", s.Name, err)
		}
		if _, err := client.CreateTable(ctx, &in); err != nil {
			return fmt.Errorf("%s: cannot make table %s: %w", s.Name, *in.TableName, err)
		}
		if err := loadItems(ctx, client, s, *in.TableName); err != nil {
			return fmt.Errorf("%s: cannot write items to %s: %w", s.Name, *in.TableName, err)
		}
	}
	return nil
}

func loadItems(ctx context.Context, client *dynamodb.Client, s *examples.System, table string) error {
	for batch := range slices.Chunk(s.Items[table], batchSize) {
		writes := make([]types.WriteRequest, len(batch))
		for i, data := range batch {
			item, err := wire.ParseItem(data)
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
