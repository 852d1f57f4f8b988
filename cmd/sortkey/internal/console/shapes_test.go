package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A batch is what a page of live requests gets.
type batch struct {
	Requests       []console.Request
	Shapes         []console.Shape
	Further, Other int
	Total          int
}

// live returns the first batch that a page gets, and its size.
func (c *client) live() (b batch, size int) {
	c.Helper()
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/events", nil)
	require.NoError(c, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(c, err)
	defer resp.Body.Close()
	line, err := bufio.NewReaderSize(resp.Body, 1<<20).ReadString('\n')
	require.NoError(c, err)
	require.NoError(c, json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &b))
	return b, len(line)
}

func number(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

// TestTotals compares the totals of shapes with a count of random requests.
func TestTotals(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	rnd := rand.New(rand.NewPCG(43, 4))
	all, errs, read, returned, written := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	requests := 0
	for range 400 {
		op := []string{"scan", "query", "get", "put", "refused"}[rnd.IntN(5)]
		requests++
		all[op]++
		key := map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "CUSTOMER#c1"}, "SK": &types.AttributeValueMemberS{Value: fmt.Sprintf("ORDER#%04d", rnd.IntN(60))},
		}
		switch op {
		case "scan":
			out, err := c.db.Client.Scan(t.Context(), &dynamodb.ScanInput{
				TableName: new("Shop"), FilterExpression: new("#t > :n"), ExpressionAttributeNames: map[string]string{"#t": "total"},
				ExpressionAttributeValues: map[string]types.AttributeValue{":n": number(rnd.IntN(40))},
			})
			require.NoError(t, err)
			read[op], returned[op] = read[op]+int(out.ScannedCount), returned[op]+int(out.Count)
		case "query":
			out, err := c.db.Client.Query(t.Context(), &dynamodb.QueryInput{
				TableName: new("Shop"), KeyConditionExpression: new("PK = :p"), FilterExpression: new("#t = :n"), ExpressionAttributeNames: map[string]string{"#t": "total"},
				ExpressionAttributeValues: map[string]types.AttributeValue{":p": key["PK"], ":n": number(rnd.IntN(40))},
			})
			require.NoError(t, err)
			read[op], returned[op] = read[op]+int(out.ScannedCount), returned[op]+int(out.Count)
		case "get":
			out, err := c.db.Client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: new("Shop"), Key: key})
			require.NoError(t, err)
			read[op]++
			if out.Item != nil {
				returned[op]++
			}
		case "put":
			_, err := c.db.Client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: new("Shop"), Item: key})
			require.NoError(t, err)
			written[op]++
		case "refused":
			_, err := c.db.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: new("Shop"), Key: key, ConditionExpression: new("attribute_not_exists(PK)"), ReturnValues: "NEVER"})
			require.Error(t, err)
			errs[op]++
		}
	}

	b, _ := c.live()
	require.Equal(t, requests, b.Total)
	require.Len(t, b.Shapes, 5)
	for _, s := range b.Shapes {
		op := map[string]string{"Scan": "scan", "Query": "query", "GetItem": "get", "PutItem": "put", "DeleteItem": "refused"}[s.Operation]
		require.Equal(t, []int{all[op], errs[op], read[op], returned[op], written[op]}, []int{s.Requests, s.Errors, s.Examined, s.Returned, s.Written}, op)
		switch op {
		case "scan":
			require.Equal(t, "give the wanted rows an attribute in common, and make that the partition key of an index, with total as its sort key", s.Advice)
		case "query":
			require.Contains(t, s.Advice, "add a global secondary index with the partition key PK and the sort key total (N), SK")
		default:
			require.Empty(t, s.Advice)
		}
	}
}

// TestAdviceFollows holds that advice is about the indexes that there are, also of a SELECT, and that names of any kind
// and a table that is gone do no harm.
func TestAdviceFollows(t *testing.T) {
	t.Parallel()
	db := sortkeytest.New(t)
	r := console.NewRecorder()
	t.Cleanup(db.DB.Observe(r))
	db.Table("Tab", "id")
	db.Table("Gone", "id")
	for i := range 30 {
		db.Put("Tab", map[string]any{"id": fmt.Sprint(i), "<b>state\u202e": fmt.Sprint(i % 5), "state": fmt.Sprint(i % 5)})
		db.Put("Gone", map[string]any{"id": fmt.Sprint(i), "state": "x"})
	}
	for _, table := range []string{"Tab", "Gone"} {
		for _, name := range []string{"state", "<b>state\u202e", strings.Repeat("n", 300)} {
			_, err := db.Client.Scan(t.Context(), &dynamodb.ScanInput{
				TableName: &table, FilterExpression: new("#s = :s"), ExpressionAttributeNames: map[string]string{"#s": name},
				ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberS{Value: "3"}},
			})
			require.NoError(t, err)
		}
	}
	_, err := db.Client.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{Statement: new("SELECT * FROM Tab WHERE state = '3'")})
	require.NoError(t, err)
	_, err = db.Client.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{Statement: new("SELECT id FROM Tab")})
	require.NoError(t, err)
	_, err = db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: new("Gone")})
	require.NoError(t, err)
	advice := func() map[string]string {
		server := httptest.NewServer(quiet(console.New(console.Options{Client: db.Client, Target: explain.InProcess(db.DB), Requests: r}).Handler()))
		defer func() {
			server.CloseClientConnections()
			server.Close()
		}()
		b, _ := (&client{t, db, server.URL}).live()
		out := map[string]string{}
		for _, s := range b.Shapes {
			if s.Advice != "" {
				out[s.Table+" "+s.Operation+" "+s.Conditions[:min(len(s.Conditions), 20)]] = s.Advice
			}
		}
		return out
	}
	const add = "add a global secondary index with the partition key "
	none := "no key serves this filter: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, joined by AND"
	want := map[string]string{
		"Tab Scan filter state = ?":                 add + "state, and query it with state = ?: that reads only these rows",
		"Tab Scan filter <b>state\\u{20":            add + "`<b>state\\u202e`, and query it with `<b>state\\u202e` = ?: that reads only these rows",
		"Tab Scan filter nnnnnnnnnnnnn":             none,
		"Tab ExecuteStatement SELECT id FROM Tab":   "a Scan reads every row: if some of them will do, put what they have in common into a key, and query that",
		"Tab ExecuteStatement SELECT * FROM Tab WH": add + "state, and query it with state = ?: that reads only these rows",
	}
	got := advice()
	for key, text := range want {
		require.Equal(t, text, got[key], "%s: %v", key, got)
	}
	require.Len(t, got, len(want))

	_, err = db.Client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName: new("Tab"), AttributeDefinitions: []types.AttributeDefinition{{AttributeName: new("state"), AttributeType: "S"}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: new("ByState"), KeySchema: []types.KeySchemaElement{{AttributeName: new("state"), KeyType: "HASH"}}, Projection: &types.Projection{ProjectionType: "ALL"},
		}}},
	})
	require.NoError(t, err)
	require.Equal(t, "query index ByState with state = ?: that reads only these rows", advice()["Tab Scan filter state = ?"])
}

// TestManyShapes sends requests of 10,000 shapes that scan: a page gets some of them with advice, and a number of the
// rest.
func TestManyShapes(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	for i := range 10_000 {
		_, err := c.db.Client.Scan(t.Context(), &dynamodb.ScanInput{
			TableName: new("Tab"), FilterExpression: new(fmt.Sprintf("a%d = :n AND %sb > :n", i, strings.Repeat("a", 200))),
			ExpressionAttributeValues: map[string]types.AttributeValue{":n": number(i)},
		})
		require.NoError(t, err)
	}
	b, size := c.live()
	require.Less(t, size, 1<<20)
	require.Equal(t, 10_000, b.Total)
	require.Equal(t, 1000, len(b.Shapes)+b.Further)
	require.Equal(t, 9000, b.Other)
	for _, s := range b.Shapes {
		require.NotEmpty(t, s.Advice)
	}
}
