package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
)

// program sends one request of each kind as a program does, and returns what the page receives about them.
func (c *client) program() (all []console.Request, shapes []console.Shape) {
	c.Helper()
	ctx := c.Context()
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	key := map[string]types.AttributeValue{"PK": s("CUSTOMER#c1"), "SK": s("PROFILE#")}
	query := &dynamodb.QueryInput{
		TableName: new("Shop"), KeyConditionExpression: new("#p = :p AND begins_with(SK, :s)"), FilterExpression: new("#t > :t"),
		ExpressionAttributeNames:  map[string]string{"#p": "PK", "#t": "total"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": s("CUSTOMER#c1"), ":s": s("ORDER#"), ":t": &types.AttributeValueMemberN{Value: "27"}},
	}
	for range 3 {
		_, err := c.db.Client.Query(ctx, query)
		require.NoError(c, err)
	}
	_, err := c.db.Client.Query(ctx, &dynamodb.QueryInput{
		TableName: new("Shop"), IndexName: new("ByDay"), KeyConditionExpression: new("#d = :d AND SK BETWEEN :a AND :b"), Limit: new(int32(2)),
		ScanIndexForward: new(false), ExpressionAttributeNames: map[string]string{"#d": "day"}, ExpressionAttributeValues: map[string]types.AttributeValue{":d": s("2026-01-01"), ":a": s("A"), ":b": s("Z")},
	})
	require.NoError(c, err)
	_, err = c.db.Client.Query(ctx, &dynamodb.QueryInput{
		TableName: new("Shop"), KeyConditionExpression: new("begins_with(PK, :p)"), ExpressionAttributeValues: map[string]types.AttributeValue{":p": s("CUST")},
	})
	require.Error(c, err)
	_, err = c.db.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: new("Shop"), Key: key})
	require.NoError(c, err)
	_, err = c.db.Client.Scan(ctx, &dynamodb.ScanInput{TableName: new("Shop"), Limit: new(int32(5))})
	require.NoError(c, err)
	_, err = c.db.Client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: new("SELECT * FROM Shop WHERE PK = 'CUSTOMER#c2'")})
	require.NoError(c, err)
	_, err = c.db.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: new("Shop"), Item: key, ConditionExpression: new("attribute_exists(PK)")})
	require.NoError(c, err)
	_, err = c.db.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"Shop": {Keys: []map[string]types.AttributeValue{key}}}})
	require.NoError(c, err)
	_, err = c.db.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: new("Shop"), Key: key, UpdateExpression: new("SET note = :n"), ExpressionAttributeValues: map[string]types.AttributeValue{":n": s(strings.Repeat("x", 9000))},
	})
	require.NoError(c, err)

	return c.recorded()
}

// recorded returns what the page receives about the requests so far.
func (c *client) recorded() (all []console.Request, shapes []console.Shape) {
	c.Helper()
	b, _ := c.live()
	return b.Requests, b.Shapes
}

// TestItemsOfRequests tests that the page shows which items a request names, and how many it read and found.
func TestItemsOfRequests(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	ctx := t.Context()
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	key := func(sk string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"PK": s("CUSTOMER#c1"), "SK": s(sk)}
	}
	for _, sk := range []string{"PROFILE#", "none"} {
		_, err := c.db.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: new("Shop"), Key: key(sk)})
		require.NoError(t, err)
	}
	_, err := c.db.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: new("Shop"), Item: key("new<b>")})
	require.NoError(t, err)
	_, err = c.db.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: new("Shop"), Key: key("new<b>")})
	require.NoError(t, err)
	_, err = c.db.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: new("Shop"), Key: key("x\u202e"), ConditionExpression: new("attribute_exists(PK)")})
	require.Error(t, err)
	keys := types.KeysAndAttributes{}
	for i := range 5 {
		keys.Keys = append(keys.Keys, key(fmt.Sprintf("ORDER#%04d", 28+i)))
	}
	_, err = c.db.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"Shop": keys}})
	require.NoError(t, err)
	_, err = c.db.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Delete: &types.Delete{TableName: new("Shop"), Key: key("a")}},
		{ConditionCheck: &types.ConditionCheck{TableName: new("Shop"), Key: key("b"), ConditionExpression: new("attribute_not_exists(PK)")}},
	}})
	require.NoError(t, err)

	all, shapes := c.recorded()
	var got []string
	for _, one := range all {
		got = append(got, fmt.Sprintf("%s %d %d: %s %s", one.Operation, one.Examined, one.Returned, one.Slice, one.Message))
	}
	c1 := func(sk string) string { return `PK = "CUSTOMER#c1", SK = "` + sk + `"` }
	require.Equal(t, []string{
		`GetItem 1 1: ` + c1("PROFILE#") + ` `, `GetItem 1 0: ` + c1("none") + ` `, `PutItem 0 0: ` + c1("new<b>") + ` `,
		`DeleteItem 0 0: ` + c1("new<b>") + ` `, `UpdateItem 0 0: ` + c1(`x\u202e`) + ` The conditional request failed`,
		`BatchGetItem 5 2: ` + c1("ORDER#0028") + "; " + c1("ORDER#0029") + "; " + c1("ORDER#0030") + `; and 2 items more `,
		`TransactWriteItems 0 0: ` + c1("a") + "; " + c1("b") + ` `,
	}, got)
	for _, shape := range shapes {
		if shape.Operation == "UpdateItem" {
			require.Equal(t, "ConditionalCheckFailedException: The conditional request failed", shape.Message)
		}
	}
	require.Contains(t, c.page(fmt.Sprintf("request?n=%d", all[3].N)), "It is about")
}

var (
	sentBox = regexp.MustCompile(`(?s)<textarea id="query-request"[^>]*>(.*?)</textarea>`)
)

// TestExplainRequests opens the page of each request of a program. It tests that the page sends reads again, and only
// shows writes.
func TestExplainRequests(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	all, _ := c.program()
	require.Len(t, all, 11)
	before := c.db.Dump()
	for _, one := range all {
		page := c.page(fmt.Sprintf("request?n=%d", one.N))
		require.Contains(t, page, one.Operation)
		m := sentBox.FindStringSubmatch(page)
		switch one.Operation {
		case "PutItem":
			require.Nil(t, m)
			require.Contains(t, page, "not run again")
		case "BatchGetItem":
			require.Nil(t, m)
			require.Contains(t, page, "not run again")
		case "UpdateItem":
			require.Contains(t, page, "longer than 8 KB")
		default:
			require.NotNil(t, m, page)
			_, answer := c.ask(url.Values{"request": {html.UnescapeString(m[1])}})
			if one.Error != "" {
				require.Contains(t, page, one.Error)
				require.Contains(t, answer, "Rule: ")
				require.NotEmpty(t, hints(answer))
				continue
			}
			require.Contains(t, answer, fmt.Sprintf(", %d returned", max(one.Returned, 1)), one.Operation)
			require.Contains(t, answer, `class="bracket"`)
			for _, code := range []string{"aws dynamodb", "client.", "boto3", "DynamoDBClient"} {
				require.Contains(t, answer, code)
			}
		}
	}
	require.Equal(t, before, c.db.Dump())
	for _, n := range []string{"", "0", "-1", "12", "x"} {
		status, _ := c.do("GET", "request?n="+n, "")
		require.Equal(t, http.StatusBadRequest, status)
	}
}

// TestRecording tests that a recording has a line for each kept request, which begins with the operation.
func TestRecording(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	all, _ := c.program()
	status, text := c.do("GET", "recording", "")
	require.Equal(t, http.StatusOK, status)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	require.Len(t, lines, len(all)-1, "one is too long")
	for i, line := range lines {
		operation, body, ok := strings.Cut(line, " ")
		require.True(t, ok)
		require.Equal(t, all[i].Operation, operation)
		require.True(t, json.Valid([]byte(body)), body)
	}
}

// TestShapes tests that requests that differ only in their values have the same shape.
func TestShapes(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	_, shapes := c.program()
	for _, shape := range shapes {
		if strings.HasPrefix(shape.Conditions, "PK = ? AND begins_with") {
			require.Equal(t, 3, shape.Requests)
		}
	}
}
