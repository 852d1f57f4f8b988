package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
)

// A probe asks for the health of a server again and again.
type probe struct {
	stop    chan struct{}
	running sync.WaitGroup
	asked   int
	bad     []string
	longest time.Duration
}

// probing begins to ask.
func (p *process) probing() *probe {
	b := &probe{stop: make(chan struct{})}
	client := &http.Client{Timeout: 3 * time.Second}
	b.running.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			began := time.Now()
			res, err := client.Get(p.URL + "/healthz")
			b.asked++
			b.longest = max(b.longest, time.Since(began))
			switch {
			case err != nil:
				b.bad = append(b.bad, err.Error())
			case res.StatusCode != http.StatusOK:
				b.bad = append(b.bad, res.Status)
			}
			if err == nil {
				_ = res.Body.Close()
			}
			select {
			case <-tick.C:
			case <-b.stop:
				return
			}
		}
	})
	return b
}

// TestHealthWhileBusy tests that a server says that it is healthy, every 100 ms, while it imports a table, makes a
// snapshot and deletes the table. scripts/check-million.sh runs it with a million items.
func TestHealthWhileBusy(t *testing.T) {
	items := 2000
	if n, err := strconv.Atoi(os.Getenv("SORTKEY_ITEMS")); err == nil {
		items = n
	}
	for _, engine := range []string{"memory", "disk"} {
		t.Run(engine, func(t *testing.T) {
			root, data := t.TempDir(), filepath.Join(t.TempDir(), "db")
			writeLines(t, filepath.Join(root, "bucket", "items.json"), items)
			args := []string{"--s3-root", root}
			if engine == "disk" {
				args = append(args, "--data", data)
			}
			p := serve(t, args...)
			c := p.client(t)
			during := func(what string, do func()) {
				t.Helper()
				b, began := p.probing(), time.Now()
				do()
				took := time.Since(began)
				close(b.stop)
				b.running.Wait()
				t.Logf("%s in %s: %d probes of /healthz, the longest took %s; %d were not answered with 200",
					what, took.Round(time.Millisecond), b.asked, b.longest.Round(time.Millisecond), len(b.bad))
				require.Empty(t, b.bad)
			}
			during(fmt.Sprintf("import of %d items", items), func() { importLines(t, c, items) })
			if engine == "disk" {
				during("snapshot", func() { run(t, "snapshot", "--data", data, filepath.Join(t.TempDir(), "copy")) })
			}
			during(fmt.Sprintf("DeleteTable of %d items", items), func() {
				_, err := c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Imported")})
				require.NoError(t, err)
			})
		})
	}
}

// writeLines writes items as lines of DynamoDB JSON.
func writeLines(t *testing.T, name string, items int) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	f, err := os.Create(name)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	for i := range items {
		fmt.Fprintf(w, `{"Item":{"id":{"S":"item %d"},"text":{"S":"%s"}}}`+"\n", i, strings.Repeat("x", 40))
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
}

// importLines imports the lines into a new table and waits until the table has all items.
func importLines(t *testing.T, c *dynamodb.Client, items int) {
	t.Helper()
	out, err := c.ImportTable(t.Context(), &dynamodb.ImportTableInput{
		InputFormat: types.InputFormatDynamodbJson, S3BucketSource: &types.S3BucketSource{S3Bucket: aws.String("bucket")},
		TableCreationParameters: &types.TableCreationParameters{
			TableName: aws.String("Imported"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		},
	})
	require.NoError(t, err)
	var found *types.ImportTableDescription
	require.Eventually(t, func() bool {
		got, err := c.DescribeImport(t.Context(), &dynamodb.DescribeImportInput{ImportArn: out.ImportTableDescription.ImportArn})
		require.NoError(t, err)
		found = got.ImportTableDescription
		return found.ImportStatus != types.ImportStatusInProgress
	}, 10*time.Minute, 100*time.Millisecond)
	require.Equal(t, types.ImportStatusCompleted, found.ImportStatus, aws.ToString(found.FailureMessage))
	require.EqualValues(t, items, found.ImportedItemCount)
}
