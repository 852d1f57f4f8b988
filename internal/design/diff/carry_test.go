package diff_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A carrier sends the requests of a plan's steps to a server, as a team would.
type carrier struct {
	need  require.TestingT
	ctx   context.Context
	url   string
	units float64 // of all writes
}

// send sends a request and returns the response.
func (c *carrier) send(op string, in map[string]any) map[string]any {
	writes := slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem"}, op)
	if writes {
		in["ReturnConsumedCapacity"] = "TOTAL"
	}
	body, err := json.Marshal(in)
	require.NoError(c.need, err)
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.url, strings.NewReader(string(body)))
	require.NoError(c.need, err)
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+op)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(c.need, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.need, err)
	require.Equal(c.need, http.StatusOK, resp.StatusCode, "%s: %s", op, text)
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
