package lint_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/engine"
)

// A carrier sends the requests of a plan's steps to a database, as a team would.
type carrier struct {
	need  require.TestingT
	ctx   context.Context
	db    *sortkey.DB
	units float64 // of all writes
}

// opened returns a new database.
func opened(t *testing.T) *sortkey.DB {
	t.Helper()
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// send sends a request and returns the response.
func (c *carrier) send(op string, in map[string]any) map[string]any {
	writes := slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem"}, op)
	if writes {
		in["ReturnConsumedCapacity"] = "TOTAL"
	}
	body, err := json.Marshal(in)
	require.NoError(c.need, err)
	text, status := engine.Of(c.db).Service.Serve(c.ctx, "DynamoDB_20120810."+op, body, nil)
	require.Equal(c.need, 200, status, "%s: %s", op, text)
	out := map[string]any{}
	require.NoError(c.need, json.Unmarshal(text, &out))
	if writes {
		c.units += out["ConsumedCapacity"].(map[string]any)["CapacityUnits"].(float64)
	}
	return out
}

func jsonOf(it attr.Item) (v map[string]any) {
	if err := json.Unmarshal(it.AppendJSON(nil), &v); err != nil {
		panic(err)
	}
	return v
}

func keyOf(t *model.Table, it attr.Item) map[string]any {
	all := jsonOf(it)
	key := map[string]any{}
	for _, a := range t.Keys() {
		key[a.Name] = all[a.Name]
	}
	return key
}

// scan returns all items of a table.
func (c *carrier) scan(t *model.Table) (all []map[string]any) {
	in := map[string]any{"TableName": t.Name}
	for {
		out := c.send("Scan", in)
		for _, it := range out["Items"].([]any) {
			all = append(all, it.(map[string]any))
		}
		if out["LastEvaluatedKey"] == nil {
			return all
		}
		in["ExclusiveStartKey"] = out["LastEvaluatedKey"]
	}
}
