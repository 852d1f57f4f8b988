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
