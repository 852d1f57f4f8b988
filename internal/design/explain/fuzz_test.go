package explain_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/explain"
)

// FuzzSelect holds that every statement is explained or refused, and that the endpoint accepts the requests that the
// hints describe.
func FuzzSelect(f *testing.F) {
	for _, s := range []string{
		`SELECT * FROM "Shop"."GSI1" WHERE G = 'g' AND H BETWEEN 1 AND 9 ORDER BY H DESC`,
		`SELECT a.b[1], "c" FROM Shop WHERE PK IN ['a', 'd'] AND NOT (n > 1 OR n IS MISSING);`,
		`SELECT * FROM Shop WHERE PK = 'a' AND contains(SK, '''') AND x IS NOT MISSING AND y = TRUE -- end`,
		`SELECT * FROM Shop WHERE PK = 'a' AND SK > 'b' AND SK <= 'd' AND size(SK) < 5`,
	} {
		f.Add(s)
	}
	db := makeDB(f, "table Shop PK SK\nindex GSI1 (G:S) (H:N) all\nitem {\"PK\": \"a\", \"SK\": \"b1\", \"n\": 1, \"G\": \"g\", \"H\": 5}\n")
	f.Cleanup(func() { db.Close() })
	f.Fuzz(func(t *testing.T, statement string) {
		request, err := json.Marshal(map[string]string{"Statement": statement})
		require.NoError(t, err)
		r, err := runJSON(t.Context(), explain.InProcess(db), "ExecuteStatement", request, explain.Options{})
		if err != nil {
			return
		}
		require.NotContains(t, r.Hints, "")
	})
}
