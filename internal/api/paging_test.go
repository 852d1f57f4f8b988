package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

const tableN = `{"TableName":"NNN","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"p",
	"AttributeType":"N"},{"AttributeName":"s","AttributeType":"N"},{"AttributeName":"g","AttributeType":"S"}],
	"KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],
	"GlobalSecondaryIndexes":[{"IndexName":"byG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},
	{"AttributeName":"s","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`

// A page is a response of Query or Scan.
type page struct {
	Items               []map[string]map[string]any
	Count, ScannedCount int
	LastEvaluatedKey    json.RawMessage
}

// page reads one page. members are members of the request, in JSON.
func (e *endpoint) page(op string, members ...string) page {
	e.t.Helper()
	var p page
	if err := json.Unmarshal([]byte(e.answer(op, "{"+strings.Join(members, ",")+"}")), &p); err != nil {
		e.t.Fatal(err)
	}
	return p
}

// pages reads all pages, and returns the values of an attribute of their items. The last member may be a start key.
func (e *endpoint) pages(name, op string, members ...string) (seen []string) {
	e.t.Helper()
	const start = `"ExclusiveStartKey":`
	request := members
	if last := len(members) - 1; strings.HasPrefix(members[last], start) {
		members = members[:last]
	}
	for range 1000 {
		p := e.page(op, request...)
		for _, it := range p.Items {
			for _, v := range it[name] {
				seen = append(seen, fmt.Sprint(v))
			}
		}
		if p.LastEvaluatedKey == nil {
			return seen
		}
		request = append(slices.Clip(members), start+string(p.LastEvaluatedKey))
	}
	e.t.Fatalf("%s %v does not end", op, members)
	return nil
}

func (e *endpoint) numbers(table string, n int) {
	for i := range n {
		e.answer("PutItem",
			fmt.Sprintf(`{"TableName":%q,"Item":{"p":{"N":"1"},"s":{"N":"%d"},"g":{"S":"x"}}}`, table, i-n/2))
	}
}

// TestStartKeyInRange checks that a start key must satisfy the key condition, in both directions. The item with that
// key need not exist. Source: dynalite, test/query.js; alternator, test_query.py.
func TestStartKeyInRange(t *testing.T) {
	e := newEndpoint(t, tableN)
	e.numbers("NNN", 10) // -5 … 4
	const head = `"TableName":"NNN","ExpressionAttributeValues":{":p":{"N":"1"},":a":{"N":"-2.0"},":b":{"N":"2e0"}},` +
		`"KeyConditionExpression":"p = :p AND s BETWEEN :a AND :b"`
	for _, tt := range []struct{ start, forward, backward string }{
		{"-2", "-1 0 1 2", ""},
		{"-2.00", "-1 0 1 2", ""},
		{"-1.5", "-1 0 1 2", "-2"},
		{"0.5", "1 2", "0 -1 -2"},
		{"2", "", "1 0 -1 -2"},
	} {
		for _, forward := range []bool{true, false} {
			want := tt.forward
			if !forward {
				want = tt.backward
			}
			got := e.pages("s", "Query", head, fmt.Sprintf(`"ScanIndexForward":%v`, forward), `"Limit":1`,
				`"ExclusiveStartKey":{"p":{"N":"1.0"},"s":{"N":"`+tt.start+`"}}`)
			if strings.Join(got, " ") != want {
				t.Errorf("after %s, forward %v: %v, want %s", tt.start, forward, got, want)
			}
		}
	}
	for _, start := range []string{"-2.1", "2.000001", "-5", "4"} {
		for _, forward := range []bool{true, false} {
			e.invalid("Query",
				fmt.Sprintf(`{%s,"ScanIndexForward":%v,"ExclusiveStartKey":{"p":{"N":"1"},"s":{"N":"%s"}}}`, head,
					forward, start),
				"The provided starting key does not match the range key predicate")
		}
	}
}

// TestEqualNumbers checks that all spellings of a number are the same key. Source:
// DG/HowItWorks.NamingRulesDataTypes.html; alternator, test_number.py.
func TestEqualNumbers(t *testing.T) {
	e := newEndpoint(t, tableN)
	spelled := []string{"100", "100.0", "1e2", "1E+2", "00100", "+100", "0.1e3"}
	for i, n := range spelled {
		e.answer("PutItem",
			fmt.Sprintf(`{"TableName":"NNN","Item":{"p":{"N":"%s"},"s":{"N":"%s"},"i":{"N":"%d"}}}`, n, n, i))
	}
	want := fmt.Sprintf(`{"p":{"N":"100"},"s":{"N":"100"},"i":{"N":"%d"}}`, len(spelled)-1)
	e.want("Scan", `{"TableName":"NNN"}`, `{"Items":[`+want+`],"Count":1,"ScannedCount":1}`)
	for _, n := range spelled {
		key := fmt.Sprintf(`{"p":{"N":"%s"},"s":{"N":"%s"}}`, n, n)
		e.item("NNN", key, want)
		e.want("Query",
			`{"TableName":"NNN","KeyConditionExpression":"p = :n AND s = :n","ExpressionAttributeValues":{":n":{"N":"`+
				n+`"}}}`, `{"Items":[`+want+`],"Count":1,"ScannedCount":1}`)
		e.want("Query",
			`{"TableName":"NNN","KeyConditionExpression":"p = :n","ExpressionAttributeValues":{":n":{"N":"100"}},`+
				`"ExclusiveStartKey":`+key+`}`, `{"Items":[],"Count":0,"ScannedCount":0}`)
		e.invalid("BatchGetItem", `{"RequestItems":{"NNN":{"Keys":[`+key+`,{"p":{"N":"1.00e2"},"s":{"N":"100"}}]}}}`,
			"Provided list of item keys contains duplicates")
		e.invalid("TransactGetItems",
			`{"TransactItems":[{"Get":{"TableName":"NNN","Key":`+key+
				`}},{"Get":{"TableName":"NNN","Key":{"p":{"N":"1.00e2"},"s":{"N":"100"}}}}]}`,
			"Transaction request cannot include multiple operations on one item")
	}
}

// TestTiesAfterDeletion pages in both directions through an index whose rows all have the same index key, and deletes
// the last row of each page before it reads the next page.
func TestTiesAfterDeletion(t *testing.T) {
	for _, forward := range []bool{true, false} {
		e := newEndpoint(t, tableN)
		for i := range 40 {
			e.answer("PutItem",
				fmt.Sprintf(`{"TableName":"NNN","Item":{"p":{"N":"%d"},"s":{"N":"7"},"g":{"S":"x"}}}`, i))
		}
		query := []string{
			`"TableName":"NNN","IndexName":"byG","KeyConditionExpression":"g = :g AND s = ` +
				`:s","ExpressionAttributeValues":{":g":{"S":"x"},":s":{"N":"7"}}`,
			fmt.Sprintf(`"ScanIndexForward":%v`, forward),
		}
		whole := e.pages("p", "Query", query...)
		if len(whole) != 40 {
			t.Fatalf("%d rows", len(whole))
		}
		var got []string
		start := ""
		for range 50 {
			p := e.page("Query", append(slices.Clip(query), `"Limit":3`+start)...)
			for _, it := range p.Items {
				got = append(got, fmt.Sprint(it["p"]["N"]))
			}
			if p.LastEvaluatedKey == nil {
				break
			}
			start = `,"ExclusiveStartKey":` + string(p.LastEvaluatedKey)
			e.answer("DeleteItem", `{"TableName":"NNN","Key":{"p":{"N":"`+got[len(got)-1]+`"},"s":{"N":"7"}}}`)
		}
		if !slices.Equal(got, whole) {
			t.Errorf("forward %v: pages are %v, want %v", forward, got, whole)
		}
	}
}

// TestForeignSegment checks that a scan of a segment accepts a start key of that segment, and refuses a start key of
// another segment. Source: alternator, test_scan.py.
func TestForeignSegment(t *testing.T) {
	e := newEndpoint(t, tableH)
	for i := range 60 {
		e.answer("PutItem", fmt.Sprintf(`{"TableName":"HHH","Item":{"a":{"S":"k%d"}}}`, i))
	}
	const segments = 4
	var all []string
	for segment := range segments {
		mine := e.pages("a", "Scan",
			fmt.Sprintf(`"TableName":"HHH","Segment":%d,"TotalSegments":%d,"Limit":4`, segment, segments))
		for other := range segments {
			body := fmt.Sprintf(`{"TableName":"HHH","Segment":%d,"TotalSegments":%d,`+
				`"ExclusiveStartKey":{"a":{"S":%q}}}`, other, segments, mine[0])
			if other == segment {
				e.answer("Scan", body)
				continue
			}
			e.invalid("Scan", body,
				fmt.Sprintf("The provided starting key is invalid: Invalid ExclusiveStartKey. "+
					"Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d",
					segments, other))
		}
		all = append(all, mine...)
	}
	whole := e.pages("a", "Scan", `"TableName":"HHH"`)
	if len(whole) != 60 || !slices.Equal(all, whole) {
		t.Errorf("segments hold %d items, the scan %d", len(all), len(whole))
	}
}

// TestFullPage checks limits that end a page at the item where its size ends it, one item before and one after, with
// and without a filter.
func TestFullPage(t *testing.T) {
	proptest.SkipShort(t)
	e := newEndpoint(t, tableN)
	const n, size = 8, 1 << 17 // together exactly one page
	for i := range n {
		head := len("p") + len("s") + len("v") + 2 // the sizes of 1 and of i
		if i > 0 {
			head += 2
		} else {
			head++
		}
		e.answer("PutItem",
			fmt.Sprintf(`{"TableName":"NNN","Item":{"p":{"N":"1"},"s":{"N":"%d"},"v":{"S":"%s"}}}`, i,
				strings.Repeat("x", size-head)))
	}
	const head = `"TableName":"NNN","KeyConditionExpression":"p = :p"`
	const values, filtered = `"ExpressionAttributeValues":{":p":{"N":"1"}}`,
		`"ExpressionAttributeValues":{":p":{"N":"1"},":v":{"S":"y"}},"FilterExpression":"v = :v"`
	for _, rest := range []string{values, filtered} {
		for _, limit := range []int{0, n - 1, n, n + 1} {
			members := []string{head, rest, `"ReturnConsumedCapacity":"TOTAL"`}
			want, last := n, true // a full page has a last key even if no item follows
			if limit > 0 {
				members = append(members, fmt.Sprintf(`"Limit":%d`, limit))
				want = min(n, limit)
			}
			p := e.page("Query", members...)
			if p.ScannedCount != want || (p.LastEvaluatedKey != nil) != last {
				t.Errorf("limit %d: %d examined, last key %s", limit, p.ScannedCount, p.LastEvaluatedKey)
			}
			if count := len(p.Items); count != p.Count || strings.Contains(rest, "Filter") != (count == 0) {
				t.Errorf("limit %d: %d items, count %d", limit, count, p.Count)
			}
		}
	}
	e.answer("UpdateItem", `{"TableName":"NNN","Key":{"p":{"N":"1"},"s":{"N":"3"}},"UpdateExpression":"SET v = `+
		`:v","ExpressionAttributeValues":{":v":{"S":"short"}}}`)
	if p := e.page("Query", head, values); p.ScannedCount != n || p.LastEvaluatedKey != nil {
		t.Errorf("a page that is not full: %d examined, last key %s", p.ScannedCount, p.LastEvaluatedKey)
	}
}

// TestProjectedElements checks that projected list elements are in the order of the list and without gaps, at every
// level. Source: conformance getItem/projectionValidation.
func TestProjectedElements(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"k"},"l":{"L":[{"N":"0"},{"L":[{"N":"10"},{"N":"11"},`+
		`{"N":"12"}]},{"N":"2"},{"M":{"x":{"L":[{"N":"30"},{"N":"31"}]},"y":{"N":"3"}}}]}}}`)
	for projection, want := range map[string]string{
		"l[2], l[0]":                  `{"N":"0"},{"N":"2"}`,
		"l[1][2], l[1][0], l[0]":      `{"N":"0"},{"L":[{"N":"10"},{"N":"12"}]}`,
		"l[3].x[1], l[2], l[1][1]":    `{"L":[{"N":"11"}]},{"N":"2"},{"M":{"x":{"L":[{"N":"31"}]}}}`,
		"l[3].y, l[3].x[0], l[9]":     `{"M":{"x":{"L":[{"N":"30"}]},"y":{"N":"3"}}}`,
		"l[2][0], l[0].x, l[1].z":     "",
		"l[3].x[1], l[3].x[0], l[30]": `{"M":{"x":{"L":[{"N":"30"},{"N":"31"}]}}}`,
	} {
		item := `{}`
		if want != "" {
			item = `{"l":{"L":[` + want + `]}}`
		}
		e.want("GetItem", `{"TableName":"HHH","Key":{"a":{"S":"k"}},"ProjectionExpression":"`+projection+`"}`,
			`{"Item":`+item+`}`)
	}
}
