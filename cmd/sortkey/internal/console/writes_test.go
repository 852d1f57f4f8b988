package console

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrites holds how many items a request is said to have written.
func TestWrites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		operation, body string
		want            int
	}{
		{"GetItem", "", 0},
		{"PutItem", "", 1},
		{"BatchWriteItem", `{"RequestItems": {"A": [{}, {}], "B": [{}]}}`, 3},
		{"TransactWriteItems", `{"TransactItems": [{"Put": {}}, {"ConditionCheck": {}}]}`, 1},
		{"ExecuteStatement", `{"Statement": "INSERT INTO Tab VALUE {'id': 'a'}"}`, 1},
		{"ExecuteStatement", `{"Statement": " update\nTab SET n = 1 WHERE id = 'a'"}`, 1},
		{"ExecuteStatement", `{"Statement": "SELECT * FROM Tab WHERE id = 'DELETE'"}`, 0},
		{"ExecuteStatement", "", 0},
		{"ExecuteTransaction", `{"TransactStatements": [{"Statement": "DELETE FROM Tab"}, {"Statement": "EXISTS(SELECT *)"}]}`, 1},
		{"ExecuteTransaction", `{"TransactStatements": [{"Statement": "SELECT * FROM Tab WHERE id = 'a'"}]}`, 0},
	} {
		require.Equal(t, tt.want, writes(tt.operation, []byte(tt.body)), tt.body)
	}
}
