package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// tableV has two vector indexes, one with a partition key and a filter, and one without.
const tableV = `{"TableName":"VVV","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"h","AttributeType":"S"},
	{"AttributeName":"f","AttributeType":"N"}],
	"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
	"VectorIndexes":[
		{"IndexName":"scoped","VectorAttribute":{"AttributeName":"v"},"Dimensions":2,"DistanceFunction":"EUCLIDEAN",
		"Projection":{"ProjectionType":"KEYS_ONLY"},
			"SearchSchema":[{"AttributeName":"f","SearchSchemaElementType":"INLINE_FILTER"},{"AttributeName":"h",
			"SearchSchemaElementType":"HASH"}]},
		{"IndexName":"all","VectorAttribute":{"AttributeName":"v"},"Dimensions":2,"DistanceFunction":"COSINE",
		"Projection":{"ProjectionType":"ALL"}}]}`

func putV(item string) string { return `{"TableName":"VVV","Item":{` + item + `}}` }

func search(index, vector string, k int, rest string) string {
	return fmt.Sprintf(`{"TableName":"VVV","IndexName":"%s","SearchVector":[%s],"TopK":%d%s}`, index, vector, k, rest)
}

func updateV(name, attribute string, dimensions int, rest string) string {
	return fmt.Sprintf(`{"TableName":"VVV","VectorIndexUpdates":[{"Create":{"IndexName":"%s",`+
		`"VectorAttribute":{"AttributeName":"%s"},"Dimensions":%d,"DistanceFunction":"DOT_PRODUCT",`+
		`"Projection":{"ProjectionType":"KEYS_ONLY"}%s}}]}`, name, attribute, dimensions, rest)
}

// TestSearchVectorsModel makes random writes and compares searches with a search of all items. One index is older
// than the items, the other is newer.
func TestSearchVectorsModel(t *testing.T) {
	const k = 5
	e := newEndpoint(t, strings.Replace(tableV, `"COSINE"`, `"DOT_PRODUCT"`, 1))
	r := rand.New(rand.NewPCG(1, 2))
	items := map[string][2]float64{}
	for range 300 {
		a := fmt.Sprint(r.IntN(60))
		switch r.IntN(4) {
		case 0:
			e.answer("DeleteItem", `{"TableName":"VVV","Key":{"a":{"S":"`+a+`"}}}`)
			delete(items, a)
		case 1:
			e.answer("PutItem", putV(`"a":{"S":"`+a+`"}`))
			delete(items, a)
		default:
			v := [2]float64{float64(r.IntN(41) - 20), float64(r.IntN(41)-20) / 4}
			e.answer("PutItem", putV(fmt.Sprintf(`"a":{"S":"%s"},"v":{"L":[{"N":"%g"},{"N":"%g"}]}`, a, v[0], v[1])))
			items[a] = v
		}
	}
	e.answer("UpdateTable", updateV("new", "v", 2, ""))
	for range 20 {
		q := [2]float64{float64(r.IntN(9) - 4), float64(r.IntN(9) - 4)}
		var want []float64
		for _, v := range items {
			want = append(want, q[0]*v[0]+q[1]*v[1])
		}
		slices.SortFunc(want, func(a, b float64) int { return -int(math.Copysign(1, a-b)) })
		for _, index := range []string{"all", "new"} {
			var out struct{ SearchResults []struct{ Score float64 } }
			body := e.answer("SearchVectors", search(index, fmt.Sprintf(`{"N":"%g"},{"N":"%g"}`, q[0], q[1]), k, ""))
			if err := json.Unmarshal([]byte(body), &out); err != nil || len(out.SearchResults) != k {
				t.Fatalf("%s: %v", body, err)
			}
			for i, m := range out.SearchResults {
				if m.Score != want[i] {
					t.Fatalf("%s: score %d is %g, want %g", index, i, m.Score, want[i])
				}
			}
		}
	}
	for _, index := range []string{"all", "new"} {
		if d := e.answer(
			"DescribeTable", `{"TableName":"VVV"}`,
		); !strings.Contains(d, fmt.Sprintf(`"IndexName":"%s"`, index)) ||
			strings.Count(d, fmt.Sprintf(`"ItemCount":%d`, len(items))) < 2 {
			t.Errorf("%d items: %s", len(items), d)
		}
	}
	e.answer("UpdateTable", `{"TableName":"VVV","VectorIndexUpdates":[{"Delete":{"IndexName":"new"}}]}`)
	e.invalid("SearchVectors", search("new", `{"N":"1"},{"N":"1"}`, 1, ""),
		"The table does not have the specified index: new")
}

// TestVectorUnits has row 8 of the list of 2026-11-22: an item counts 4 bytes for each dimension of a vector in a
// vector index, however many digits the numbers have. Sources: captures of the service of 2026-10-09, and of reads of
// 2026-10-23, eu-west-2 and us-east-1.
func TestVectorUnits(t *testing.T) {
	const (
		dimensions = 256
		definition = `{"TableName":"Vec","BillingMode":"PAY_PER_REQUEST",
			"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"g",
			"AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
			"GlobalSecondaryIndexes":[{"IndexName":"byG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"ALL"}}]}`
		update = `{"TableName":"Vec","VectorIndexUpdates":[%s]}`
		create = `{"Create":{"IndexName":"near","VectorAttribute":{"AttributeName":"v"},"Dimensions":256,` +
			`"DistanceFunction":"COSINE","Projection":{"ProjectionType":"ALL"}}}`
		remove = `{"Delete":{"IndexName":"near"}}`
		key    = `"TableName":"Vec","Key":{"a":{"S":"1"}}`
		total  = `"ReturnConsumedCapacity":"TOTAL"`
	)
	number := `{"N":"0.` + strings.Repeat("12345678901234567890", 2)[:38] + `"},`
	vector := `{"L":[` + strings.TrimSuffix(strings.Repeat(number, dimensions), ",") + `]}`
	item := `"Item":{"a":{"S":"1"},"v":` + vector + `}`
	e := newEndpoint(t, definition)
	units := func(op, body string) float64 {
		t.Helper()
		var out struct{ ConsumedCapacity json.RawMessage }
		e.call(op, body, &out)
		type used struct{ CapacityUnits float64 }
		var one used
		if err := json.Unmarshal(out.ConsumedCapacity, &one); err != nil {
			list := []used{}
			if err := json.Unmarshal(out.ConsumedCapacity, &list); err != nil {
				t.Fatal(err)
			}
			one = list[0]
		}
		return one.CapacityUnits
	}
	bytes := func() (size int) {
		t.Helper()
		var d struct {
			Table struct{ TableSizeBytes int }
		}
		e.call("DescribeTable", `{"TableName":"Vec"}`, &d)
		return d.Table.TableSizeBytes
	}
	check := func(what string, write, read float64, size int) {
		t.Helper()
		for _, tt := range []struct {
			op, body string
			want     float64
		}{
			{"PutItem", `{"TableName":"Vec",` + total + `,` + item + `}`, write},
			{"UpdateItem", `{` + key + `,"UpdateExpression":"REMOVE x",` + total + `}`, write},
			{
				"TransactWriteItems", `{` + total + `,"TransactItems":[{"Put":{"TableName":"Vec",` + item + `}}]}`,
				2 * write,
			},
			{"GetItem", `{` + key + `,"ConsistentRead":true,` + total + `}`, read},
			{
				"BatchGetItem",
				`{` + total + `,"RequestItems":{"Vec":{"ConsistentRead":true,"Keys":[{"a":{"S":"1"}}]}}}`, read,
			},
			{"TransactGetItems", `{` + total + `,"TransactItems":[{"Get":{` + key + `}}]}`, 2 * read},
			{
				"Query",
				`{"TableName":"Vec","ConsistentRead":true,"KeyConditionExpression":"a = ` +
					`:a","ExpressionAttributeValues":{":a":{"S":"1"}},` + total + `}`, read,
			},
			{"Scan", `{"TableName":"Vec","ConsistentRead":true,` + total + `}`, read},
			{
				"ExecuteStatement",
				`{"Statement":"SELECT a FROM Vec WHERE a = '1'","ConsistentRead":true,` + total + `}`, read,
			},
			{
				"PutItem",
				`{"TableName":"Vec","ConditionExpression":"attribute_exists(a)",` + total + `,` + item + `}`, write,
			},
		} {
			if got := units(tt.op, tt.body); got != tt.want {
				t.Errorf("%s: %s consumes %v units, want %v", what, tt.op, got, tt.want)
			}
		}
		if got := bytes(); got != size {
			t.Errorf("%s: table has %d bytes, want %d", what, got, size)
		}
	}

	digits := bytes() // of an empty table
	e.answer("PutItem", `{"TableName":"Vec",`+item+`}`)
	digits = bytes() - digits
	check("no vector index", 6, 2, digits)
	e.answer("UpdateTable", fmt.Sprintf(update, create))
	const billed = 1 + 1 + 1 + 4*dimensions + 100
	check("a vector index", 2, 1, billed)
	if got := units(
		"Query",
		`{"TableName":"Vec","IndexName":"byG","KeyConditionExpression":"g = `+
			`:a","ExpressionAttributeValues":{":a":{"S":"1"}},`+total+`}`,
	); got != 0.5 {
		t.Errorf("a query of nothing in an index consumes %v units", got)
	}
	// Entries of a secondary index count the digits of the numbers.
	put := strings.Replace(`{"TableName":"Vec",`+total+`,`+item+`}`, `"v":`, `"g":{"S":"1"},"v":`, 1)
	if got := units("PutItem", put); got != 2+6 {
		t.Errorf("a put with an entry in an index consumes %v units, want 8", got)
	}
	e.answer("DeleteItem", `{`+key+`}`)
	e.answer("PutItem", `{"TableName":"Vec",`+item+`}`)
	e.answer("UpdateTable", fmt.Sprintf(update, remove))
	check("no vector index any more", 6, 2, digits)
	e.answer("DeleteItem", `{`+key+`}`)
	if got := bytes(); got != 0 {
		t.Errorf("an empty table has %d bytes", got)
	}

	// The limit for items counts the digits.
	e.answer("UpdateTable", fmt.Sprintf(update, create))
	filler := `"f":{"S":"` + strings.Repeat("x", 400<<10-2000) + `"},"v":`
	e.invalid("PutItem", `{"TableName":"Vec",`+strings.Replace(item, `"v":`, filler, 1)+`}`,
		"Item size has exceeded the maximum allowed size")
}
