package api_test

import (
	"fmt"
	"testing"

	"github.com/sortkey/sortkey/api"
	"github.com/sortkey/sortkey/attr"
)

const (
	putBody = `{"TableName":"Orders","Item":{"pk":{"S":"customer#42"},"sk":{"S":"order#2026-11-21"},"total":{"N":"129.95"},` +
		`"lines":{"L":[{"M":{"sku":{"S":"A-1"},"n":{"N":"2"}}},{"M":{"sku":{"S":"B-7"},"n":{"N":"1"}}}]},"paid":{"BOOL":true}},` +
		`"ConditionExpression":"attribute_not_exists(pk)","ReturnValues":"NONE"}`
	queryBody = `{"TableName":"Orders","KeyConditionExpression":"#p = :p AND begins_with(sk, :s)","FilterExpression":"total > :t",` +
		`"ExpressionAttributeNames":{"#p":"pk"},"ExpressionAttributeValues":{":p":{"S":"customer#42"},":s":{"S":"order#"},":t":{"N":"10"}},"Limit":100}`
)

func BenchmarkDecode(b *testing.B) {
	for _, bb := range []struct {
		op   api.Op
		body []byte
	}{{api.OpPutItem, []byte(putBody)}, {api.OpQuery, []byte(queryBody)}} {
		b.Run(bb.op.String(), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.body)))
			for b.Loop() {
				in := bb.op.NewInput()
				if err := in.DecodeJSON(bb.body); err != nil {
					b.Fatal(err)
				}
				if err := in.Validate(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func queryPage(tb testing.TB, n int) *api.QueryOutput {
	out := &api.QueryOutput{Count: new(int64(n)), ScannedCount: new(int64(n)), Items: []attr.Item{}}
	for i := range n {
		out.Items = append(out.Items, mustItem(tb, fmt.Sprintf(`{"pk":{"S":"customer#42"},"sk":{"S":"order#%06d"},"total":{"N":"%d.5"},"note":{"S":"left at the door"}}`, i, i)))
	}
	return out
}

func BenchmarkAppendQueryOutput(b *testing.B) {
	out := queryPage(b, 1000)
	buf := out.AppendJSON(nil)
	b.ReportAllocs()
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		buf = out.AppendJSON(buf[:0])
	}
}

func TestAppendQueryOutputDoesNotAllocate(t *testing.T) {
	out := queryPage(t, 100)
	out.ConsumedCapacity = &api.ConsumedCapacity{TableName: new("Orders"), CapacityUnits: new(12.0)}
	buf := out.AppendJSON(nil)
	if n := testing.AllocsPerRun(50, func() { buf = out.AppendJSON(buf[:0]) }); n != 0 {
		t.Errorf("AppendJSON allocates %v times, want 0", n)
	}
}
