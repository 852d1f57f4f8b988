package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store/postgres"
)

// importItems returns how many items TestKillImportTable imports.
func importItems() int { return cmp.Or(*million, 30_000) }

// A tableImport is a job of the operation ImportTable.
type tableImport struct {
	root  string // the folder of buckets
	items int
}

// newTableImport writes the files of an import.
func newTableImport(t *testing.T, items int) *tableImport {
	t.Helper()
	in := &tableImport{root: t.TempDir(), items: items}
	require.NoError(t, os.Mkdir(filepath.Join(in.root, "bucket"), 0o700))
	const files = 4
	for file := range files {
		f, err := os.Create(filepath.Join(in.root, "bucket", fmt.Sprint(file, ".json")))
		require.NoError(t, err)
		w := bufio.NewWriter(f)
		for i := file * items / files; i < (file+1)*items/files; i++ {
			fmt.Fprintf(w, `{"Item":{"PK":{"S":"item %d"},"group":{"S":"group %d"},"number":{"N":"%d"}}}`+"\n", i, i%1000, i)
		}
		require.NoError(t, w.Flush())
		require.NoError(t, f.Close())
	}
	return in
}

// start requests the import with the same client token each time. Its client stops waiting after a second.
func (in *tableImport) start(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	key := func(name string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &name, KeyType: types.KeyTypeHash}}
	}
	_, err := db.ImportTable(ctx, &dynamodb.ImportTableInput{
		ClientToken: aws.String("token"), InputFormat: types.InputFormatDynamodbJson, S3BucketSource: &types.S3BucketSource{S3Bucket: aws.String("bucket")},
		TableCreationParameters: &types.TableCreationParameters{
			TableName: aws.String("imported"), BillingMode: types.BillingModePayPerRequest, KeySchema: key("PK"),
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS},
				{AttributeName: aws.String("group"), AttributeType: types.ScalarAttributeTypeS},
			},
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
				{IndexName: aws.String("by-group"), KeySchema: key("group"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}},
			},
		},
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		require.NoError(t, err)
	}
}

// describe returns the description of the only import, or nil if the server does not list it yet.
func (in *tableImport) describe(t *testing.T, db *dynamodb.Client) *types.ImportTableDescription {
	t.Helper()
	list, err := db.ListImports(t.Context(), &dynamodb.ListImportsInput{})
	require.NoError(t, err)
	if len(list.ImportSummaryList) == 0 {
		return nil
	}
	require.Len(t, list.ImportSummaryList, 1)
	out, err := db.DescribeImport(t.Context(), &dynamodb.DescribeImportInput{ImportArn: list.ImportSummaryList[0].ImportArn})
	require.NoError(t, err)
	return out.ImportTableDescription
}

func (in *tableImport) running(t *testing.T, db *dynamodb.Client) bool {
	t.Helper()
	d := in.describe(t, db)
	return d != nil && d.ImportStatus == types.ImportStatusInProgress
}

// check waits for the end of the import, and tests that the table has each item once.
func (in *tableImport) check(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	for in.running(t, db) {
		time.Sleep(20 * time.Millisecond)
	}
	d := in.describe(t, db)
	require.Equal(t, types.ImportStatusCompleted, d.ImportStatus, aws.ToString(d.FailureMessage))
	require.EqualValues(t, []int64{int64(in.items), int64(in.items), 0}, []int64{d.ProcessedItemCount, d.ImportedItemCount, d.ErrorCount})
	for _, index := range []*string{nil, aws.String("by-group")} {
		seen := make([]bool, in.items)
		n := 0
		pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: aws.String("imported"), IndexName: index, ProjectionExpression: aws.String("#n"), ExpressionAttributeNames: map[string]string{"#n": "number"}})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			require.NoError(t, err)
			for _, it := range page.Items {
				i := number(it["number"])
				require.False(t, seen[i], "item %d is there twice", i)
				seen[i] = true
				n++
			}
		}
		require.Equal(t, in.items, n, aws.ToString(index))
	}
	checkCount(t, db, "imported", in.items)
}

// TestKillImportTable kills a server three times while it imports a table. Each time it then requests the import with
// the same client token. It tests that the table is complete in the end, and that there is only one import.
//
// scripts/check-million.sh runs it with a million items.
func TestKillImportTable(t *testing.T) {
	proptest.NeedLong(t)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 11<<32))
	in := newTableImport(t, importItems())
	flags := []string{"--data", filepath.Join(t.TempDir(), "db"), "--s3-root", in.root}
	began := time.Now()
	kills, midway := 0, 0
	server := serve(t, flags...)
	for ; kills < 3; kills++ {
		in.start(t, server.client(t, cmdtest.Once))
		time.Sleep(randomDelay(rng, time.Duration(in.items)*2*time.Microsecond))
		if in.running(t, server.client(t)) {
			midway++
		}
		server.Kill(t)
		server = serve(t, flags...)
	}
	db := server.client(t)
	in.start(t, db)
	in.check(t, db)
	server.Kill(t)
	t.Logf("an import of %d items killed %d times, %d times midway: complete after %v, one import, each item once", in.items, kills, midway, time.Since(began).Round(time.Second))
}

// TestKillServersImport kills one of two servers on PostgreSQL while it imports a table. It tests that the other
// server takes over when the lease has ended.
func TestKillServersImport(t *testing.T) {
	proptest.NeedLong(t)
	cluster := pgtest.New(t)
	url := cluster.Database(t)
	require.NoError(t, postgres.Init(t.Context(), url))
	in := newTableImport(t, min(importItems(), 30_000))
	one, two := serve(t, "--store", url, "--s3-root", in.root), serve(t, "--store", url, "--s3-root", in.root)
	in.start(t, one.client(t, cmdtest.Once))
	midway := in.running(t, two.client(t))
	in.start(t, two.client(t, cmdtest.Once))
	one.Kill(t)
	in.check(t, two.client(t))
	t.Logf("an import of %d items whose server was killed, midway: %v: complete on another server, one import, each item once", in.items, midway)
}
