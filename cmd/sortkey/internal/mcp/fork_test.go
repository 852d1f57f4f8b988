package mcp_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/mcp"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// has reports whether a database has the item with a key of table Shop.
func has(t *testing.T, db *sortkey.DB, pk, sk string) bool {
	t.Helper()
	out, err := sdk.Client(db).GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String("Shop"), Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk},
		},
	})
	require.NoError(t, err)
	return out.Item != nil
}

const (
	putX = `{"table": "Shop", "item": {"PK": "x", "SK": "y", "n": 1}}`
	getX = `{"table": "Shop", "partition": "x", "sort": "y"}`
)

func TestFork(t *testing.T) {
	t.Parallel()
	o := example(t, "shop", true)
	c := connect(t, o)
	require.Contains(t, c.fail("fork_diff", ""), "there is no fork")
	require.Contains(t, c.call("fork_discard", ""), "there was no fork")
	require.Contains(t, c.call("tables", ""), "go to a fork")

	c.call("put", putX)
	const order = `"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#O1"`
	c.call("update", `{`+order+`, "update": "SET total = total + 1"}`)
	deleted := c.call("delete", `{"table": "Shop", "partition": "USER#123", "sort": "PROFILE#"}`)
	require.Contains(t, deleted, "alex_developer")
	require.Contains(t, c.call("get", getX), `"n":1`)
	require.False(t, has(t, o.DB, "x", "y"), "the database stays as it is")
	require.True(t, has(t, o.DB, "USER#123", "PROFILE#"))

	diff := c.call("fork_diff", "")
	for _, line := range []string{
		`{"table":"Shop","key":{"PK":"x","SK":"y"},"is":{"n":1}}`,
		`{"table":"Shop","key":{"PK":"CUSTOMER#C1","SK":"ORDER#O1"},"was":{"total":129.99},"is":{"total":130.99}}`,
		`{"table":"Shop","key":{"PK":"USER#123","SK":"PROFILE#"},"was":{"username":"alex_developer"}}`, `"count": 3`,
	} {
		require.Contains(t, diff, line)
	}
	require.Contains(t, c.call("fork_diff", `{"table": "Other"}`), `"count": 0`)
	require.NotContains(t, c.call("fork_diff", `{"skip": 3}`), `"key"`)
	c.call("fork_discard", "")
	require.Contains(t, c.call("get", getX), `"item": null`)
}

func TestWrite(t *testing.T) {
	t.Parallel()
	o := example(t, "shop", true)
	o.Write = true
	c := connect(t, o)
	require.Contains(t, c.call("put", putX), "go to the database itself")
	require.True(t, has(t, o.DB, "x", "y"))
	require.Contains(t, c.fail("fork_diff", ""), "go to the database itself")
}

// A server cannot be forked, and is read all the same.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	db := example(t, "shop", true).DB
	listen := httptest.NewServer(server.New(db, server.Options{}))
	t.Cleanup(listen.Close)
	o := mcp.Options{
		Client: dynamodb.New(dynamodb.Options{
			BaseEndpoint: &listen.URL, Region: "us-east-1",
			Credentials: credentials.NewStaticCredentialsProvider("AKIDSECRET", "verysecret", ""),
		}),
		Target: explain.HTTP(listen.URL, nil, nil),
	}
	c := connect(t, o)
	require.Contains(t, c.call("tables", ""), "are refused")
	require.Contains(t, c.call("query", `{"table": "Shop", "partition": "CUSTOMER#C1"}`), "all of it")
	for _, call := range [][2]string{
		{"put", putX}, {"delete", getX},
		{"update", `{"table": "Shop", "partition": "x", "sort": "y", "update": "SET n = 1"}`},
	} {
		require.Contains(t, c.fail(call[0], call[1]), "--write")
	}
	require.Contains(t, c.fail("design_load", `{"model": "file-tree"}`), "does not create tables on a server")
	require.False(t, has(t, db, "x", "y"))

	o.Write = true
	c = connect(t, o)
	c.call("put", putX)
	require.True(t, has(t, db, "x", "y"))
	listen.Close()
	text := c.fail("query", `{"table": "Shop", "partition": "x"}`)
	require.Contains(t, text, "no server is listening")
	require.NotContains(t, text, "secret")
}

// A store that cannot be forked is not written to either.
func TestNoFork(t *testing.T) {
	t.Parallel()
	db, err := sortkey.Open(sortkey.Options{Store: struct{ store.Store }{memory.Open()}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	c := connect(t, mcp.Options{DB: db, NoFork: true})
	require.Contains(t, c.call("tables", ""), "are refused")
	require.Contains(t, c.fail("put", putX), "cannot be forked")
	c = connect(t, mcp.Options{DB: db})
	require.Contains(t, c.fail("design_load", `{"model": "file-tree"}`), "cannot be forked")
}
