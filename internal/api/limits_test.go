package api_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestManyElements checks that the decoder stops early in a long list of empty structures, which would take two
// hundred times as much memory as their JSON.
func TestManyElements(t *testing.T) {
	e := newEndpoint(t)
	const indexes = 5 << 20
	body := `{"TableName":"aaa","GlobalSecondaryIndexes":[{}` + strings.Repeat(",{}", indexes) + `]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e.invalid("CreateTable", body, "The request contains too many elements")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
		t.Errorf("a body of %d bytes took %d bytes of memory", len(body), used)
	}
}

// TestManyAttributes checks projections of many more attributes than an item has, with and without a duplicate.
func TestManyAttributes(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.want("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"x"},"n7":{"N":"1"},"other":{"N":"2"}}}`, `{}`)
	var names strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&names, `,"n%d"`, i)
	}
	got := e.answer("Scan", `{"TableName":"HHH","AttributesToGet":["a"`+names.String()+`]}`)
	require.Contains(t, got, `"Items":[{"a":{"S":"x"},"n7":{"N":"1"}}]`)
	e.invalid("Scan", `{"TableName":"HHH","AttributesToGet":["a"`+names.String()+`,"n99999"]}`,
		"One or more parameter values were invalid: Duplicate value in attribute name: n99999")
}

// TestBatchGetEncoded checks that a BatchGetItem ends when its JSON becomes too long. With control characters, the
// JSON has six times the size of the items.
func TestBatchGetEncoded(t *testing.T) {
	proptest.NeedLong(t)
	e := newEndpoint(t, tableH)
	text := strings.Repeat(`\u0001`, 390<<10)
	var keys []string
	for i := range 16 {
		e.want("PutItem", fmt.Sprintf(`{"TableName":"HHH","Item":{"a":{"S":"%d"},"v":{"S":"%s"}}}`, i, text), `{}`)
		keys = append(keys, fmt.Sprintf(`{"a":{"S":"%d"}}`, i))
	}
	got := e.answer("BatchGetItem", `{"RequestItems":{"HHH":{"Keys":[`+strings.Join(keys, ",")+`]}}}`)
	require.LessOrEqual(t, len(got), 32<<20)
	require.Greater(t, len(got), 26<<20)
	require.Contains(t, got, `"UnprocessedKeys":{"HHH":{"Keys":[`)
}

// TestBatchGetBytes checks the example in API_BatchGetItem: of 100 items of 300 KB each, the response has 52.
func TestBatchGetBytes(t *testing.T) {
	proptest.SkipShort(t)
	e := newEndpoint(t, tableH)
	var keys []string
	for i := range 60 {
		key := fmt.Sprintf("%03d", i)
		text := strings.Repeat("v", 300<<10-len("a")-len(key)-len("v"))
		e.want("PutItem", fmt.Sprintf(`{"TableName":"HHH","Item":{"a":{"S":%q},"v":{"S":%q}}}`, key, text), `{}`)
		keys = append(keys, fmt.Sprintf(`{"a":{"S":%q}}`, key))
	}
	got := e.answer("BatchGetItem", `{"RequestItems":{"HHH":{"Keys":[`+strings.Join(keys, ",")+`]}}}`)
	require.Equal(t, 52, strings.Count(got, `"v":{"S":`))
	require.Equal(t, 60, strings.Count(got, `"a":{"S":`), "the others are unprocessed keys")
}

// TestMostSlices checks that a statement may read 50 partitions, but not more.
func TestMostSlices(t *testing.T) {
	e := newEndpoint(t, tableH)
	statement := func(n int) string {
		var either []string
		for i := range n {
			either = append(either, fmt.Sprintf("a = '%d'", i))
		}
		return `{"Statement":"SELECT * FROM HHH WHERE ` + strings.Join(either, " OR ") + `"}`
	}
	e.want("ExecuteStatement", statement(50), `{"Items":[]}`)
	e.refuse("ExecuteStatement", statement(51),
		"ValidationException: Too many decomposed read operations for a given query.")
}
