package transfer_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// itemsOf returns the items of a table in DynamoDB JSON, sorted.
func itemsOf(t testing.TB, client *dynamodb.Client, table string) (items []string) {
	t.Helper()
	var out strings.Builder
	_, err := transfer.ExportTo(context.Background(), client, table, &out, transfer.ExportOptions{})
	require.NoError(t, err)
	for line := range strings.Lines(out.String()) {
		items = append(items, strings.TrimSpace(line))
	}
	slices.Sort(items)
	return items
}

// write writes a file into a new folder and returns its path.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// options returns the options of an import into a table with the key pk, with the
// journal and the report beside the input.
func options(t testing.TB, path string) transfer.ImportOptions {
	t.Helper()
	schema, err := transfer.ParseKey("pk")
	require.NoError(t, err)
	o := transfer.ImportOptions{Table: "Rows", Schema: schema}
	o.Journal, o.Rejects = transfer.Beside([]string{path})
	return o
}

func importFiles(t testing.TB, ctx context.Context, client *dynamodb.Client, o transfer.ImportOptions, paths ...string) (*transfer.ImportResult, error) {
	t.Helper()
	sources, err := transfer.Discover(paths, "", "")
	require.NoError(t, err)
	return transfer.Import(ctx, client, sources, o)
}

// report reads a report of rejected records, with files reduced to their names.
func report(t testing.TB, path string) (rejects []transfer.Reject) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		var r transfer.Reject
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		r.File = filepath.Base(r.File)
		rejects = append(rejects, r)
	}
	return rejects
}

// A hook is called with each batch that a client writes. It may return a response or an error, or neither to let the
// database respond.
type hook func(ctx context.Context, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error)

// hooked returns a client of db that calls a hook.
func hooked(db *sortkeytest.DB, h hook) *dynamodb.Client {
	return sdk.Direct(db.DB, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("hook",
				func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					if batch, ok := in.Parameters.(*dynamodb.BatchWriteItemInput); ok {
						out, err := h(ctx, batch)
						if out != nil || err != nil {
							return middleware.InitializeOutput{Result: out}, middleware.Metadata{}, err
						}
					}
					return next.HandleInitialize(ctx, in)
				}), middleware.Before)
		})
	})
}

func get(t testing.TB, client *dynamodb.Client, pk string) attr.Item {
	t.Helper()
	out, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String("Rows"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}},
	})
	require.NoError(t, err)
	var b attr.Builder
	for name, v := range out.Item {
		if n, ok := v.(*types.AttributeValueMemberN); ok {
			number, err := attr.NewNumber(n.Value)
			require.NoError(t, err)
			b.Add(name, number)
		}
	}
	return b.Item()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
