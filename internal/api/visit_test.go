package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestVisit checks that the items that typed reads pass to visit, and the rest of their outputs, equal the JSON
// responses.
func TestVisit(t *testing.T) {
	e := newEndpoint(t, tableR)
	for i := range 5 {
		e.answer("PutItem",
			fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"x"},"b":{"S":"%d"},"n":{"N":"%d"},`+
				`"l":{"L":[{"S":"é"}]}}}`, i, i))
	}
	var visited []string
	visit := func(it attr.Item) (int, error) {
		visited = append(visited, string(it.AppendJSON(nil)))
		return 0, nil
	}
	for _, body := range []string{
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"3"}},"ReturnConsumedCapacity":"TOTAL"}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"none"}}}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"none"}},"ReturnConsumedCapacity":"TOTAL"}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"}}}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"1"}},"ProjectionExpression":"n, l[0]"}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"1"}},"ProjectionExpression":"absent"}`,
	} {
		var in wire.GetItemInput
		require.NoError(t, wire.Decode([]byte(body), &in))
		visited = nil
		used, err := e.svc.GetItem(t.Context(), &in, func(it attr.Item) { _, _ = visit(it) })
		want, _ := e.serve("GetItem", body)
		if err != nil {
			require.Contains(t, want, err.(*wire.Error).Message)
			require.Empty(t, visited)
			continue
		}
		rest := &wire.GetItemOutput{ConsumedCapacity: used}
		require.Equal(t, want, object("Item", visited, wire.AppendJSON(nil, rest)))
	}

	for _, op := range []string{"Query", "Scan"} {
		for _, sel := range []string{"ALL_ATTRIBUTES", "COUNT"} {
			body := `{"TableName":"RRR","Limit":3,"ReturnConsumedCapacity":"TOTAL","Select":"` + sel + `"`
			visited = nil
			var out wire.Output
			var err error
			if op == "Query" {
				body += `,"KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"x"}}}`
				in := new(wire.QueryInput)
				require.NoError(t, wire.Decode([]byte(body), in))
				out, err = e.svc.Query(t.Context(), in, visit)
			} else {
				body += "}"
				in := new(wire.ScanInput)
				require.NoError(t, wire.Decode([]byte(body), in))
				out, err = e.svc.Scan(t.Context(), in, visit)
			}
			require.NoError(t, err)
			got := string(wire.AppendJSON(nil, out))
			if sel == "COUNT" {
				require.Empty(t, visited)
			} else {
				got = object("Items", []string{"[" + strings.Join(visited, ",") + "]"}, []byte(got))
			}
			require.Equal(t, e.answer(op, body), got)
		}
	}
}

// object returns the object others with a member in front, or others alone if value is empty.
func object(name string, value []string, others []byte) string {
	rest := strings.TrimPrefix(string(others), "{")
	switch {
	case len(value) == 0:
		return string(others)
	case rest != "}":
		rest = "," + rest
	}
	return `{"` + name + `":` + value[0] + rest
}
