package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store/memory"
)

func queryPage(tb testing.TB, n int) *wire.QueryOutput {
	out := &wire.QueryOutput{Count: new(int64(n)), ScannedCount: new(int64(n)), Items: []attr.Item{}}
	for i := range n {
		out.Items = append(out.Items,
			mustItem(tb,
				fmt.Sprintf(`{"pk":{"S":"customer#42"},"sk":{"S":"order#%06d"},"total":{"N":"%d.5"},`+
					`"note":{"S":"left at the door"}}`, i, i)))
	}
	return out
}

func TestAppendQueryOutputDoesNotAllocate(t *testing.T) {
	out := queryPage(t, 100)
	out.ConsumedCapacity = &wire.ConsumedCapacity{TableName: new("Orders"), CapacityUnits: new(12.0)}
	buf := wire.AppendJSON(nil, out)
	if n := testing.AllocsPerRun(50, func() { buf = wire.AppendJSON(buf[:0], out) }); n != 0 {
		t.Errorf("AppendJSON allocates %v times, want 0", n)
	}
}

// ordersService returns a service with a table Orders, which has rows of about 130 bytes in one partition.
func ordersService(tb testing.TB, rows int) *api.Service {
	tb.Helper()
	db, err := life.Open(tb.Context(), memory.Open())
	if err != nil {
		tb.Fatal(err)
	}
	s := api.New(db, api.Options{})
	serve(tb, s, "CreateTable",
		`{"TableName":"Orders","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},`+
			`{"AttributeName":"sk","KeyType":"RANGE"}],`+
			`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk",`+
			`"AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`)
	err = db.Update(tb.Context(), func(tx *table.Tx) error {
		t, err := tx.Table("Orders")
		if err != nil {
			return err
		}
		for i := range rows {
			it := mustItem(tb,
				fmt.Sprintf(`{"pk":{"S":"customer#42"},"sk":{"S":"order#%08d"},"total":{"N":"%d.5"},`+
					`"paid":{"BOOL":true},"note":{"S":"left at the door, with a neighbour or in `+
					`the garden; ring twice, please"}}`, i, i))
			if _, err := tx.Put(t, it, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func serve(tb testing.TB, s *api.Service, op, body string) []byte {
	tb.Helper()
	out, status := s.Serve(tb.Context(), "DynamoDB_20120810."+op, []byte(body), nil)
	if status != 200 {
		tb.Fatalf("%s = %d %s", op, status, out)
	}
	return out
}

// served measures how long one request takes.
func served(b *testing.B, s *api.Service, op, body string) {
	target, in, out := "DynamoDB_20120810."+op, []byte(body), serve(b, s, op, body)
	b.SetBytes(int64(len(out)))
	b.ReportAllocs()
	for b.Loop() {
		var status int
		if out, status = s.Serve(b.Context(), target, in, out[:0]); status != 200 {
			b.Fatal(string(out))
		}
	}
}

const (
	pageBody = `{"TableName":"Orders","KeyConditionExpression":"pk = ` +
		`:p","ExpressionAttributeValues":{":p":{"S":"customer#42"}}}`
	query10 = `{"TableName":"Orders","KeyConditionExpression":"pk = :p AND sk BETWEEN :a AND ` +
		`:b","ExpressionAttributeValues":{":p":{"S":"customer#42"},":a":{"S":"order#00000040"},` +
		`":b":{"S":"order#00000049"}}}`
	getBody   = `{"TableName":"Orders","Key":{"pk":{"S":"customer#42"},"sk":{"S":"order#00000040"}}}`
	putSimple = `{"TableName":"Orders","Item":{"pk":{"S":"customer#42"},"sk":{"S":"order#00000040"},` +
		`"total":{"N":"12.5"},"note":{"S":"left at the door"}}}`
)

// batchBody returns the body of a BatchGetItem of 100 rows of ordersService.
func batchBody() string {
	keys := make([]string, api.MaxBatchKeys)
	for i := range keys {
		keys[i] = fmt.Sprintf(`{"pk":{"S":"customer#42"},"sk":{"S":"order#%08d"}}`, 7*i)
	}
	return `{"RequestItems":{"Orders":{"Keys":[` + strings.Join(keys, ",") + `]}}}`
}

// transactBody returns the body of a TransactWriteItems that puts four rows of ordersService.
func transactBody() string {
	puts := make([]string, 4)
	for i := range puts {
		puts[i] = fmt.Sprintf(`{"Put":{"TableName":"Orders","Item":{"pk":{"S":"customer#42"},"sk":{"S":"order#%08d"},`+
			`"total":{"N":"%d.5"},"paid":{"BOOL":true},"note":{"S":"left at the door, with a neighbour or in the `+
			`garden; ring twice, please"}}}}`, 7*i, i)
	}
	return `{"TransactItems":[` + strings.Join(puts, ",") + `]}`
}

// BenchmarkServe measures whole requests without a socket. Its MB/s count the response body.
func BenchmarkServe(b *testing.B) {
	s := ordersService(b, 12_000)
	for _, bb := range []struct{ name, op, body string }{
		{"Page", "Query", pageBody}, {"Query10", "Query", query10}, {"GetItem", "GetItem", getBody},
		{"PutItem", "PutItem", putSimple}, {"BatchGet100", "BatchGetItem", batchBody()},
		{"TransactWrite4", "TransactWriteItems", transactBody()},
	} {
		b.Run(bb.name, func(b *testing.B) { served(b, s, bb.op, bb.body) })
	}
}

// TestServeAllocates bounds the allocations of whole requests.
func TestServeAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector a pool does not keep what it is given")
	}
	s := ordersService(t, 12_000)
	for _, tt := range []struct {
		op, body string
		most     float64
	}{
		{"Query", pageBody, 20},
		{"Query", query10, 20},
		{"GetItem", getBody, 25},
	} {
		target, body, out := "DynamoDB_20120810."+tt.op, []byte(tt.body), serve(t, s, tt.op, tt.body)
		got := testing.AllocsPerRun(50, func() { out, _ = s.Serve(t.Context(), target, body, out[:0]) })
		if got > tt.most {
			t.Errorf("%s allocates %v times, want at most %v", tt.op, got, tt.most)
		}
	}
}
