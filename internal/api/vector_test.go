package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
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

// Sources: DG/VectorSearchWorkingWith.html; dynoxide's captures of 2026-08-11 to 13
// and 2026-10-23, eu-west-2 and us-east-1.
func TestSearchVectors(t *testing.T) {
	e := newEndpoint(t, tableV)
	e.answer("PutItem",
		putV(`"a":{"S":"1"},"h":{"S":"x"},"f":{"N":"1"},"v":{"L":[{"N":"1"},{"N":"0"}]},"o":{"S":"other"}`))
	e.answer("PutItem", putV(`"a":{"S":"2"},"h":{"S":"x"},"f":{"N":"2"},"v":{"L":[{"N":"0"},{"N":"2"}]}`))
	e.answer("PutItem", putV(`"a":{"S":"3"},"h":{"S":"y"},"v":{"L":[{"N":"-1"},{"N":"0"}]}`))
	e.answer("PutItem", putV(`"a":{"S":"4"},"v":{"L":[{"N":"0"},{"N":"0"}]}`)) // not in scoped: it has no h
	e.answer("PutItem", putV(`"a":{"S":"5"},"h":{"S":"x"}`))                   // in neither
	const one, two = `{"N":"1"},{"N":"0"}`, `{"N":"0.123456789"},{"N":"1"}`
	const scope = `,"SearchConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"x"}}`
	e.want("SearchVectors", search("scoped", one, 10, scope), `{"SearchResults":[
		{"Item":{"a":{"S":"1"},"h":{"S":"x"},"f":{"N":"1"}},"Score":0},
		{"Item":{"a":{"S":"2"},"h":{"S":"x"},"f":{"N":"2"}},"Score":2.23606797749979}]}`)
	e.want("SearchVectors",
		search("scoped", one,
			10, `,"SearchConditionExpression":":f = #f AND h = :h","ExpressionAttributeNames":{"#f":"f"},`+
				`"ExpressionAttributeValues":{":h":{"S":"x"},":f":{"N":"2.0"}},"ReturnConsumedCapacity":"TOTAL"`),
		`{"SearchResults":[{"Item":{"a":{"S":"2"},"h":{"S":"x"},"f":{"N":"2"}},"Score":2.23606797749979}],`+
			`"ConsumedCapacity":{"VectorSearchRequestBytes":1024}}`)
	e.want("SearchVectors", search("all", one, 1, ""),
		`{"SearchResults":[{"Item":{"a":{"S":"1"},"h":{"S":"x"},"f":{"N":"1"},"o":{"S":"other"}},"Score":0}]}`)
	e.want("SearchVectors", search("all", `{"N":"0"},{"N":"-3"}`, 100, `,"ProjectionExpression":"nothing"`),
		`{"SearchResults":[{"Item":{},"Score":1},{"Item":{},"Score":1},{"Item":{},"Score":1},{"Item":{},"Score":2}]}`)
	// A response has the vector only if the projection names it, with 32-bit numbers.
	e.answer("UpdateItem",
		`{"TableName":"VVV","Key":{"a":{"S":"1"}},"UpdateExpression":"SET v = `+
			`:v","ExpressionAttributeValues":{":v":{"L":[`+two+`]}}}`)
	e.want("SearchVectors", search("all", two, 1, `,"ProjectionExpression":"a, v"`),
		`{"SearchResults":[{"Item":{"a":{"S":"1"},"v":{"L":[{"N":"0.12345679"},{"N":"1"}]}},"Score":0}]}`)
	e.want("SearchVectors", search("scoped", two, 1, `,"ProjectionExpression":"v"`+scope),
		`{"SearchResults":[{"Item":{},"Score":0}]}`)
	e.want("PutItem",
		`{"TableName":"VVV","Item":{"a":{"S":"5"},"v":{"L":[`+one+`]}},"ReturnConsumedCapacity":"INDEXES"}`,
		`{"ConsumedCapacity":{"TableName":"VVV","CapacityUnits":1,"Table":{"CapacityUnits":1},`+
			`"VectorIndexes":{"all":{"VectorWriteRequestBytes":1024}}}}`)

	const bad = "One or more parameter values were invalid. "
	e.invalid("PutItem", putV(`"a":{"S":"6"},"v":{"S":"x"}`),
		bad+"Invalid type for parameter v, Expected: 32-bit floating point number list IndexName: scoped")
}

func TestSearchVectorsRefused(t *testing.T) {
	e := newEndpoint(t, tableV, tableH)
	const one = `{"N":"1"},{"N":"0"}`
	const wrong = "One or more parameter values were invalid: "
	const where = "Invalid SearchConditionExpression: "
	cond := func(expr, values string) string {
		return search("scoped", one, 1,
			`,"SearchConditionExpression":"`+expr+`","ExpressionAttributeValues":{`+values+`}`)
	}
	for _, tt := range []struct{ op, body, want string }{
		{
			"SearchVectors",
			search(
				"a", one, 1, "",
			), "1 validation error detected: Value at 'IndexName' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 3",
		},
		{
			"SearchVectors",
			search(
				"all", "", 1, "",
			), "1 validation error detected: Value at 'SearchVector' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 1",
		},
		{
			"SearchVectors",
			search(
				"all", one, 0, "",
			), "1 validation error detected: Value at 'TopK' failed to satisfy constraint: " +
				"Member must have value greater than or equal to 1",
		},
		{
			"SearchVectors", search("all", one, 101, ""),
			"Provided TopK value '101' is out of valid range. The value must be between 1 and 100 inclusive",
		},
		{
			"SearchVectors",
			search(
				"all", `{"S":"x"}`, 1, "",
			), "Search vector contains invalid values. All values in the search vector must be a 32-bit " +
				"floating-point number attribute",
		},
		{
			"SearchVectors",
			search(
				"all", `{"N":"1e39"}`, 1, "",
			), "Search vector contains invalid values. All values in the search vector must be a 32-bit " +
				"floating-point number attribute",
		},
		{
			"SearchVectors", search("all", `{"N":"1"}`, 1, ""),
			"Input search vector dimension 1 does not match vector index dimension 2",
		},
		{"SearchVectors", search("none", one, 1, ""), "The table does not have the specified index: none"},
		{
			"SearchVectors", search("all", one, 1, `,"ExpressionAttributeNames":{}`),
			"ExpressionAttributeNames must not be empty",
		},
		{
			"SearchVectors", search("all", one, 1, `,"ExpressionAttributeNames":{"#a":"a"}`),
			"ExpressionAttributeNames can only be specified when using expressions",
		},
		{
			"SearchVectors", search("all", one, 1, `,"ExpressionAttributeValues":{":a":{"S":"x"}}`),
			"ExpressionAttributeValues can only be specified when using expressions",
		},
		{
			"SearchVectors", search("scoped", one, 1, ""),
			"SearchConditionExpression must be provided when SearchSchema has a HASH key",
		},
		{
			"SearchVectors", cond("h > :h", `":h":{"S":"x"}`),
			where + "Invalid comparator used in SearchConditionExpression",
		},
		{
			"SearchVectors", cond("h = :h OR f = :f", `":h":{"S":"x"},":f":{"N":"1"}`),
			where + "Invalid comparator used in SearchConditionExpression",
		},
		{
			"SearchVectors", cond("h = :h AND f.x = :f", `":h":{"S":"x"},":f":{"N":"1"}`),
			where + "SearchConditionExpression cannot have conditions on nested attributes",
		},
		{
			"SearchVectors", cond("h = :h AND h = :g", `":h":{"S":"x"},":g":{"S":"x"}`),
			where + "SearchConditionExpression must only contain one condition per attribute",
		},
		{
			"SearchVectors",
			cond(
				"o = :h", `":h":{"S":"x"}`,
			), "SearchConditionExpression must not contain any attributes that is not in " +
				"SearchSchema. Invalid attribute: o",
		},
		{
			"SearchVectors", cond("h = :h", `":h":{"N":"1"}`),
			"Type of 'h' attribute in SearchConditionExpression (N) does not match type in search schema (S)",
		},
		{
			"SearchVectors",
			cond(
				"h = :h", `":h":{"S":""}`,
			), "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an " +
				"empty string value. Key: h",
		},
		{
			"Query", `{"TableName":"VVV","IndexName":"all","KeyConditionExpression":"a = ` +
				`:a","ExpressionAttributeValues":{":a":{"S":"x"}}}`,
			"Query operation not supported on this index type.",
		},
		{
			"BatchWriteItem",
			`{"RequestItems":{"VVV":[{"PutRequest":{"Item":{"a":{"S":"x"},"v":{"L":[{"N":"1"}]}}}}]}}`,
			"One or more parameter values were invalid. Invalid size for parameter v, Expected: " +
				"2, Actual: 1 IndexName: scoped",
		},
		{
			"BatchWriteItem",
			`{"RequestItems":{"VVV":[{"PutRequest":{"Item":{"a":{"S":"x"},"v":{"L":[{"N":"1"},{"S":"1"}]}}}}]}}`,
			"One or more parameter values were invalid. Invalid type for parameter v[1], Expected: " +
				"32-bit floating point number, Actual: S. IndexName: scoped",
		},
		{
			"BatchWriteItem", `{"RequestItems":{"VVV":[{"PutRequest":{"Item":{"a":{"S":"x"},"v":{"L":[{"N":"1"},` +
				`{"N":"1E39"}]}}}}]}}`, "One or more parameter values were invalid. " +
				"Invalid value for parameter v[1], Value: 1000000000000000000000000000000000000000 is outside valid " +
				"range [-3.4028235E38, 3.4028235E38]. IndexName: scoped",
		},
		{
			"BatchWriteItem", `{"RequestItems":{"VVV":[{"PutRequest":{"Item":{"a":{"S":"x"},"f":{"S":"x"}}}}]}}`,
			"One or more parameter values were invalid. Attribute 'f' type mismatch. Expected: " +
				"N, Actual: S. IndexName: scoped",
		},
		{
			"UpdateTable", `{"TableName":"VVV","BillingMode":"PROVISIONED",` +
				`"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}`,
			wrong + "Vector indexes are only supported for PAY_PER_REQUEST tables",
		},
		{
			"UpdateTable", `{"TableName":"VVV","VectorIndexUpdates":[{}]}`,
			wrong + "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null",
		},
		{"UpdateTable", updateV("all", "v", 2, ""), "Attempting to create an index which already exists"},
		{
			"UpdateTable", updateV("new", "v", 3, ""),
			wrong +
				"Conflicting attribute definition for 'v'. All VectorIndexes on the same vector attribute must use " +
				"the same dimensions.",
		},
		{
			"UpdateTable", updateV("new", "h", 3, ""),
			wrong +
				"Conflicting attribute definition for 'h'. An attribute cannot be defined in AttributeDefinitions " +
				"when used as a VectorAttribute.",
		},
		{
			"UpdateTable", updateV("new", "w", 4097, ""),
			wrong + "Number of dimensions must be between 1 and 4096 inclusive.",
		},
		{
			"UpdateTable",
			updateV("new", "w", 4, `,"SearchSchema":[{"AttributeName":"q","SearchSchemaElementType":"HASH"}]`),
			wrong + "One element in SearchSchema is not defined in attribute definitions",
		},
		{
			"CreateTable",
			strings.Replace(
				strings.Replace(tableV, "VVV", "WWW", 1),
				"PAY_PER_REQUEST", `PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,`+
					`"WriteCapacityUnits":1},"TableClass":"STANDARD`, 1,
			), wrong + "Vector indexes are only supported for PAY_PER_REQUEST tables",
		},
		{
			"CreateTable", strings.TrimSuffix(tableH, "}") + `,"VectorIndexes":[]}`,
			wrong + "List of VectorIndexes is empty",
		},
	} {
		e.invalid(tt.op, tt.body, tt.want)
	}
	e.refuse("UpdateTable", `{"TableName":"VVV","VectorIndexUpdates":[{"Delete":{"IndexName":"none"}}]}`,
		"ResourceNotFoundException: Requested resource not found: Index none for table VVV")
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

// An index that is CREATING cannot be searched. Source: dynoxide, captured 2026-08-11.
func TestSearchVectorsDelay(t *testing.T) {
	e := newEndpoint(t, tableV)
	e.db.Delay = time.Minute
	e.answer("UpdateTable", updateV("new", "v", 2, ""))
	find := search("new", `{"N":"1"},{"N":"1"}`, 1, "")
	e.invalid("SearchVectors", find, "Cannot search backfilling vector index: new")
	if d := e.answer("DescribeTable", `{"TableName":"VVV"}`); !strings.Contains(d, `"Backfilling":false`) {
		t.Error(d)
	}
	e.refuse("UpdateTable",
		updateV("other", "v", 2,
			""), "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted "+
			"simultaneously per table")
	e.sleep(time.Minute)
	e.want("SearchVectors", find, `{"SearchResults":[]}`)

	e.answer("UpdateTable", `{"TableName":"VVV","VectorIndexUpdates":[{"Delete":{"IndexName":"new"}}]}`)
	if d := e.answer("DescribeTable", `{"TableName":"VVV"}`); !strings.Contains(d, `"IndexStatus":"DELETING"`) {
		t.Error(d)
	}
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
