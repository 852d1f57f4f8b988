package table_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store/memory"
)

// TestSweep follows DG/howitworks-ttl.html. Fractions, exponents and the horizon of five years are as in alternator's
// test_ttl.py.
func TestSweep(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	st := unlimited(memory.Open())
	f := begin(t, st)
	f.Create("t", "PK:S", "G g:S - ALL")
	for name, v := range map[string]string{
		"gone": `{'N':'1699999999'}`, "now": `{'N':'1700000000'}`, "fraction": `{'N':'1699999999.9'}`,
		"exponent": `{'N':'1.69e9'}`, "renewed": `{'N':'1699999999'}`,
		"later": `{'N':'1700000001'}`, "string": `{'S':'1'}`, "oldest": `{'N':'1542320000'}`,
		"old": `{'N':'1542319999'}`, "negative": `{'N':'-1'}`, "huge": `{'N':'1e100'}`,
	} {
		f.Put("t", fmt.Sprintf(`{'PK':{'S':'%s'},'ttl':%s,'g':{'S':'x'}}`, name, v))
	}
	f.Put("t", `{'PK':{'S':'none'},'g':{'S':'x'}}`)
	n, err := f.DB.Sweep(context.Background(), now)
	require.NoError(t, err)
	require.Zero(t, n, "time to live is not enabled")
	_, err = f.DB.Alter(context.Background(), "t", func(d *table.Definition) error { d.Expiry = "ttl"; return nil })
	require.NoError(t, err)
	st.atScan = func() { // after the sweep has begun to read
		st.atScan = nil
		f.Put("t", `{'PK':{'S':'renewed'},'ttl':{'N':'1700000001'},'g':{'S':'x'}}`)
	}
	n, err = f.DB.SweepTable(context.Background(), "t", now)
	require.NoError(t, err)
	if n != 5 {
		t.Errorf("Sweep deleted %d items, want 5", n)
	}
	rows := strings.Join(tabletest.ScanIndex(f, "t", "G"), "\n")
	for _, name := range []string{"renewed", "later", "string", "old", "negative", "huge", "none"} {
		if !strings.Contains(rows, `"PK":{"S":"`+name+`"}`) {
			t.Errorf("%s is gone from the index", name)
		}
	}
	if strings.Count(rows, "\n") != 6 {
		t.Errorf("the index holds\n%s", rows)
	}
}
