package sortkey_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

func TestTraceString(t *testing.T) {
	pk := []attr.Attribute{{Name: "PK", Value: attr.NewString("a")}}
	from := &keycond.Bound{Sort: []attr.Attribute{{Name: "SK", Value: attr.NewString("b")}}, Inclusive: true}
	sort := []string{"SK"}

	tr := sortkey.Trace{
		Operation: "Query", Partition: pk, SortKey: sort, Examined: 1, Returned: 1, Bytes: 1, Units: 1,
		Stop: keycond.StopEnd,
	}
	require.Equal(t, `PK = "a", all of it: 1 row examined, 1 returned, 1 byte, 1 read unit`, tr.String())

	tr = sortkey.Trace{
		Operation: "Query", Partition: pk, SortKey: sort, Low: from, Reverse: true, Examined: 9, Returned: 4,
		Bytes: 900, Fetched: 80, Units: 0.5, Stop: keycond.StopLimit,
	}
	require.Equal(t, `PK = "a", SK from "b", backwards`, tr.Slice())
	require.Equal(t,
		"9 rows examined, 4 returned, 900 bytes and 80 bytes from the table, 0.5 read units, stopped at Limit",
		tr.Cost())
}

// TestTraceJSON tests that a trace is unchanged after a round trip through JSON, as in a response header.
func TestTraceJSON(t *testing.T) {
	n, err := attr.NewNumber("12.50")
	require.NoError(t, err)
	notText := attr.MakeValue(attr.String, []byte("a\xc3"))
	for _, tr := range []sortkey.Trace{
		{Operation: "Query", Table: "T", Partition: []attr.Attribute{{Name: "PK", Value: n}}, Stop: keycond.StopEnd},
		{
			Operation: "Query", Table: "T", Index: "I", SortKey: []string{"SK", "n"}, Stop: keycond.StopSize,
			Partition: []attr.Attribute{
				{Name: "PK", Value: attr.NewBinary([]byte{0})}, {Name: "b", Value: attr.NewString("é")},
			},
			Low: &keycond.Bound{
				Sort: []attr.Attribute{{Name: "SK", Value: attr.NewString("x")}, {Name: "n", Value: n}},
				Item: []attr.Attribute{{Name: "id", Value: attr.NewString("7")}},
			},
			High:       &keycond.Bound{Sort: []attr.Attribute{{Name: "SK", Value: notText}}, Inclusive: true},
			Consistent: true, Examined: 3, Returned: 2, Bytes: 100, Fetched: 50, Units: 1.5,
		},
		{
			Operation: "Scan", Table: "T", Stop: keycond.StopLimit,
			Span: store.Span{First: 1, Last: 2, After: &store.Position{Partition: []byte{0xFF}, Sort: []byte("a")}},
		},
	} {
		encoded, err := json.Marshal(tr)
		require.NoError(t, err)
		var back sortkey.Trace
		require.NoError(t, json.Unmarshal(encoded, &back))
		require.Equal(t, tr, back, "%s", encoded)
		require.Equal(t, tr.String(), back.String())
	}
	require.Error(t, json.Unmarshal([]byte(`{"low":{"sort":[{"name":"a","value":{"X":1}}]}}`), new(sortkey.Trace)))
}
