package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store/disk"
)

var million = flag.Int("items", 0, "items that TestImportOfMany and TestKillImportTable import")

// peakLimit is the memory that an import may use, whatever the number of items.
const peakLimit = 300 << 20

// TestImportOfMany exports a table from memory, imports it into a folder with the
// command, and compares the answers of both databases. scripts/check-million.sh runs
// it with a million items.
func TestImportOfMany(t *testing.T) {
	if *million == 0 {
		t.Skip("run scripts/check-million.sh 1000000 ImportOfMany")
	}
	ctx := t.Context()
	dir := t.TempDir()
	// The export runs in a process of its own: the peak memory of a child process
	// includes that of its parent.
	generate := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestGenerateMany$", "-test.v", "-items", fmt.Sprint(*million))
	generate.Env = append(os.Environ(), generateTo+"="+filepath.Join(dir, "export"))
	out, err := generate.CombinedOutput()
	require.NoError(t, err, string(out))
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "export: ") {
			t.Log(strings.TrimSpace(line))
		}
	}

	bin := filepath.Join(dir, "sortkey")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	out, err = exec.CommandContext(ctx, "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	cmd := exec.CommandContext(ctx, bin, "import", filepath.Join(dir, "export"), "--data", filepath.Join(dir, "db"), "--json")
	stderr := &strings.Builder{}
	cmd.Stderr = stderr
	start := time.Now()
	out, err = cmd.Output()
	took := time.Since(start)
	require.NoError(t, err, stderr.String())
	var summary struct{ Total transfer.TableResult }
	require.NoError(t, json.Unmarshal(out, &summary), string(out))
	require.Equal(t, transfer.TableResult{Read: int64(*million), Written: int64(*million)}, summary.Total)
	peak := peakMemory(cmd.ProcessState)
	t.Logf("import: %v, %.0f items a second, %.1f s of CPU, peak memory %.1f MB", took.Round(time.Millisecond),
		float64(*million)/took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), float64(peak)/1e6)
	if peak > peakLimit {
		t.Errorf("the import used %d bytes of memory, more than %d", peak, peakLimit)
	}

	st, err := disk.Open(filepath.Join(dir, "db"), disk.Options{})
	require.NoError(t, err)
	durable, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	defer durable.Close()
	memory, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer memory.Close()
	want := sdk.Direct(memory)
	fillMany(ctx, t, want, *million)
	compareMany(ctx, t, want, sdk.Direct(durable), *million)
}

const generateTo = "SORTKEY_TEST_GENERATE"

// TestGenerateMany writes the export for TestImportOfMany.
func TestGenerateMany(t *testing.T) {
	dir := os.Getenv(generateTo)
	if dir == "" {
		t.Skip("run by TestImportOfMany")
	}
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer db.Close()
	client := sdk.Direct(db)
	fillMany(t.Context(), t, client, *million)
	start := time.Now()
	results, err := transfer.Export(t.Context(), client, []string{"Orders"}, dir, false, transfer.ExportOptions{Clock: time.Now})
	require.NoError(t, err)
	require.Equal(t, int64(*million), results[0].Items)
	t.Logf("export: %d items, %.1f MB packed, %v", results[0].Items, float64(results[0].Bytes)/1e6, time.Since(start).Round(time.Millisecond))
}

const ordersOfCustomer = 50

func customers(n int) int { return max(n/ordersOfCustomer, 1) }

func fillMany(ctx context.Context, t *testing.T, client *dynamodb.Client, n int) {
	t.Helper()
	schema, err := tabledef.Parse([]byte(`{"TableName": "Orders",
		"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"},
			{"AttributeName": "status", "AttributeType": "S"}, {"AttributeName": "total", "AttributeType": "N"}],
		"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
		"GlobalSecondaryIndexes": [{"IndexName": "ByStatus", "Projection": {"ProjectionType": "ALL"},
			"KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}, {"AttributeName": "total", "KeyType": "RANGE"}]}]}`))
	require.NoError(t, err)
	_, err = client.CreateTable(ctx, schema.CreateTable("Orders"))
	require.NoError(t, err)
	for from := 0; from < n; from += 25 {
		var puts []types.WriteRequest
		for i := from; i < min(from+25, n); i++ {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: order(i, n)}})
		}
		_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"Orders": puts}})
		require.NoError(t, err)
	}
}

// order returns item i of n, the same one at each call.
func order(i, n int) map[string]types.AttributeValue {
	s := func(format string, args ...any) types.AttributeValue {
		return &types.AttributeValueMemberS{Value: fmt.Sprintf(format, args...)}
	}
	number := func(i int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(i)} }
	mixed := i * 7919 % 1_000_003
	item := map[string]types.AttributeValue{
		"pk": s("CUSTOMER#%06d", i%customers(n)), "sk": s("ORDER#%08d", mixed*100+i/customers(n)%100),
		"total": number(mixed), "status": s("STATUS#%d", i%97), "note": s("%s", strings.Repeat("note ", 5+i%20)),
		"paid":    &types.AttributeValueMemberBOOL{Value: i%3 == 0},
		"address": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"street": s("Street %d", i%1000), "zip": s("%05d", i%99999)}},
		"lines":   &types.AttributeValueMemberL{Value: []types.AttributeValue{number(i), s("product-%d", i%5000)}},
	}
	if i%5 == 0 {
		item["tags"] = &types.AttributeValueMemberSS{Value: []string{"gift", "express"}}
		item["hash"] = &types.AttributeValueMemberB{Value: []byte{byte(i), byte(i >> 8), byte(i >> 16)}}
	}
	return item
}

// compareMany sends the same queries to both databases and compares the answers.
func compareMany(ctx context.Context, t *testing.T, want, got *dynamodb.Client, n int) {
	t.Helper()
	type rows = []map[string]types.AttributeValue
	all := func(client *dynamodb.Client, in dynamodb.QueryInput, most int) (out rows) {
		for {
			page, err := client.Query(ctx, &in)
			require.NoError(t, err)
			out = append(out, page.Items...)
			if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil || len(out) >= most {
				return out
			}
		}
	}
	var queries, total int
	ask := func(in dynamodb.QueryInput, values ...any) {
		in.TableName = aws.String("Orders")
		in.ExpressionAttributeValues = map[string]types.AttributeValue{}
		for i, v := range values {
			name := fmt.Sprintf(":v%d", i)
			if text, ok := v.(string); ok {
				in.ExpressionAttributeValues[name] = &types.AttributeValueMemberS{Value: text}
			} else {
				in.ExpressionAttributeValues[name] = &types.AttributeValueMemberN{Value: fmt.Sprint(v)}
			}
		}
		a, b := all(want, in, 3000), all(got, in, 3000)
		require.Equal(t, a, b)
		queries++
		total += len(a)
	}
	for i := range 200 {
		customer := fmt.Sprintf("CUSTOMER#%06d", i*7919%customers(n))
		ask(dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :v0"), ScanIndexForward: aws.Bool(i%2 == 0)}, customer)
		ask(dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :v0 AND sk BETWEEN :v1 AND :v2"), Limit: aws.Int32(7)}, customer, "ORDER#02", "ORDER#07")
		ask(dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :v0 AND begins_with(sk, :v1)")}, customer, "ORDER#0")
	}
	for i := range 97 {
		ask(dynamodb.QueryInput{
			IndexName: aws.String("ByStatus"), KeyConditionExpression: aws.String("#s = :v0 AND #t > :v1"),
			ExpressionAttributeNames: map[string]string{"#s": "status", "#t": "total"}, ScanIndexForward: aws.Bool(i%2 == 0),
		}, fmt.Sprintf("STATUS#%d", i), i*9000)
	}
	t.Logf("queries: %d, with %d rows, the same from both", queries, total)
	require.NotZero(t, total)

	scan := func(client *dynamodb.Client) (count int) {
		pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String("Orders"), Select: types.SelectCount})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			require.NoError(t, err)
			count += int(page.Count)
		}
		return count
	}
	require.Equal(t, n, scan(got))
}
