package sortkey_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
)

func TestTraceString(t *testing.T) {
	tr := sortkey.Trace{Partition: `PK = "a"`, Range: "all of it", Examined: 1, Returned: 1, Bytes: 1, Units: 1, Stop: "end of the range"}
	require.Equal(t, `PK = "a", all of it: 1 row examined, 1 returned, 1 byte, 1 read unit`, tr.String())
	tr = sortkey.Trace{
		Partition: `PK = "a"`, Range: `SK from "b"`, Reverse: true, Examined: 9, Returned: 4, Bytes: 900, Fetched: 80, Units: 0.5, Stop: "Limit",
	}
	require.Equal(t, `PK = "a", SK from "b", backwards`, tr.Slice())
	require.Equal(t, "9 rows examined, 4 returned, 900 bytes and 80 bytes from the table, 0.5 read units, stopped at Limit", tr.Cost())
}
