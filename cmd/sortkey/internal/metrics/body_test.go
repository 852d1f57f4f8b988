package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
)

// tablesIn returns the tables that Watch finds in a body.
func tablesIn(body string, bytewise bool) []string {
	var found []string
	h := metrics.Watch(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var src io.Reader = r.Body
		if bytewise {
			src = iotest.OneByteReader(src)
		}
		_, _ = io.Copy(io.Discard, src)
	}), metrics.WatchOptions{Tables: true}, func(_ context.Context, r *metrics.Request) { found = r.Tables })
	h.ServeHTTP(httptest.NewRecorder(), request(context.Background(), "Any", body))
	return found
}

func TestTables(t *testing.T) {
	many := strings.Builder{}
	for i := range 20 {
		fmt.Fprintf(&many, `,"T%d":[]`, i)
	}
	for _, tt := range []struct{ body, want string }{
		{`{"TableName":"Cats"}`, "[Cats]"},
		{` { "TableName" : "Cats" , "Item":{}}`, "[Cats]"},
		{`{"Item":{"TableName":{"S":"secret"},"m":{"M":{"TableName":{"S":"secret"}}}},"TableName":"Cats"}`, "[Cats]"},
		{`{"Item":{"q":{"S":"\"TableName\":\"secret\""}},"TableName":"Cats"}`, "[Cats]"},
		{`{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/Cats"}`, "[arn:aws:dynamodb:us-east-1:000000000000:table/Cats]"},
		{`{"TableName":{"S":"secret"}}`, "[]"},
		{`{"TableName":["secret"]}`, "[]"},
		{`{"TableName":"bad name"}`, "[]"},
		{`{"TableName":"Ca\u0074s"}`, "[]"},
		{`{"RequestItems":{"Cats":[{"PutRequest":{"Item":{"k":{"S":"secret"}}}}],"Dogs":{"Keys":[{"k":{"S":"secret"}}]}}}`, "[Cats Dogs]"},
		{`{"RequestItems":{"T":[]` + many.String() + `}}`, "[T T0 T1 T2 T3 T4 T5 T6]"},
		{`{"TransactItems":[{"Put":{"Item":{"TableName":{"S":"secret"}},"TableName":"Cats"}},{"Update":{"TableName":"Dogs","Key":{}}},{"Put":{"TableName":"Cats"}}]}`, "[Cats Dogs]"},
		{`{"TransactItems":[{"Put":{"TableName":{"S":"secret"}}}]}`, "[]"},
		{`["TableName","secret"]`, "[]"},
		{`"TableName"`, "[]"},
		{`}}}}{"TableName":"x"}`, "[]"},
		{`{"TableName":"Cats`, "[]"},
		{``, "[]"},
	} {
		for _, bytewise := range []bool{false, true} {
			if got := fmt.Sprint(tablesIn(tt.body, bytewise)); got != tt.want {
				t.Errorf("tables of %s = %s, want %s", tt.body, got, tt.want)
			}
		}
	}
}

func FuzzTables(f *testing.F) {
	f.Add(`{"TransactItems":[{"Put":{"TableName":"Cats"}}]}`)
	f.Add(`{"RequestItems":{"Cats":[]},"TableName":"x"}`)
	f.Fuzz(func(t *testing.T, body string) {
		whole, bytewise := tablesIn(body, false), tablesIn(body, true)
		if fmt.Sprint(whole) != fmt.Sprint(bytewise) {
			t.Errorf("%q at once, %q byte by byte", whole, bytewise)
		}
		if len(whole) > metrics.MaxTables {
			t.Errorf("%d tables", len(whole))
		}
	})
}
