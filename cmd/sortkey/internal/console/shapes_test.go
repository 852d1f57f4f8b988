package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A batch is a message to a page of live requests.
type batch struct {
	Requests       []console.Request
	Shapes         []console.Shape
	Further, Other int
	Total          int
}

// live returns the first batch that a page receives, and its size in bytes.
func (c *client) live() (b batch, size int) {
	c.Helper()
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/events", nil)
	require.NoError(c, err)
	resp, err := browser.Do(req)
	require.NoError(c, err)
	defer resp.Body.Close()
	line, err := bufio.NewReaderSize(resp.Body, 1<<20).ReadString('\n')
	require.NoError(c, err)
	require.NoError(c, json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &b))
	return b, len(line)
}

// TestAdviceFollows tests that advice follows the existing indexes, and that statements get no advice. Names of any
// kind and deleted tables must not cause errors.
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
		server := httptest.NewServer(quiet(console.New(console.Options{Target: explain.InProcess(db.DB), Requests: r}).Handler()))
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
	none := "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, " +
		"joined by AND; IN is a query for each of its values"
	want := map[string]string{
		"Tab Scan filter state = ?":      add + "state, and query it",
		"Tab Scan filter <b>state\\u{20": add + "`<b>state\\u202e`, and query it",
		"Tab Scan filter nnnnnnnnnnnnn":  none,
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
	require.Equal(t, "query index ByState with state = ?", advice()["Tab Scan filter state = ?"])
}
