package table_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/tabletest"
)

// TestIndexUnits follows one item through an index. The units are those of DG/GSI.html, "write operations".
func TestIndexUnits(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("t", "PK:S", "G g:S - INCLUDE v")
	for _, step := range []struct {
		name, item string
		units      float64
		rows       int
	}{
		{"without the key there is no entry", `{'PK':{'S':'a'}}`, 0, 0},
		{"a new entry is one write", `{'PK':{'S':'a'},'g':{'S':'x'}}`, 1, 1},
		{"nothing projected changed", `{'PK':{'S':'a'},'g':{'S':'x'},'other':{'N':'1'}}`, 0, 1},
		{"a projected attribute changed", `{'PK':{'S':'a'},'g':{'S':'x'},'v':{'N':'1'}}`, 1, 1},
		{"a moved entry is two", `{'PK':{'S':'a'},'g':{'S':'y'},'v':{'N':'1'}}`, 2, 1},
		{"a removed entry is one", `{'PK':{'S':'a'}}`, 1, 0},
	} {
		change := f.Put("t", step.item)
		units := 0.0
		for _, ix := range change.Capacity.Indexes {
			units += ix.Units
		}
		if units != step.units || change.Capacity.Table != 1 {
			t.Errorf("%s: table %v, index %v units; want 1, %v", step.name, change.Capacity.Table, units, step.units)
		}
		rows := tabletest.ScanIndex(f, "t", "G")
		if len(rows) != step.rows {
			t.Errorf("%s: entries %v, want %d", step.name, rows, step.rows)
		}
		tb, err := f.DB.Describe(t.Context(), "t")
		require.NoError(t, err)
		if n, _ := tb.Indexes()[0].Items(); n != int64(step.rows) {
			t.Errorf("%s: the index counts %d entries, want %d", step.name, n, step.rows)
		}
	}
}

func TestProjections(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("t", "PK:S SK:S", "ALL g:S - ALL", "KEYS g:S - KEYS_ONLY", "INCL g:S - INCLUDE v",
		"LOC PK:S n:N KEYS_ONLY", "MANY g:S,n:N SK:S KEYS_ONLY")
	f.Put("t", `{'PK':{'S':'a'},'SK':{'S':'b'},'g':{'S':'x'},'n':{'N':'1'},'v':{'BOOL':true},'w':{'L':[]}}`)
	for index, want := range map[string]string{
		"ALL":  `{"PK":{"S":"a"},"SK":{"S":"b"},"g":{"S":"x"},"n":{"N":"1"},"v":{"BOOL":true},"w":{"L":[]}}`,
		"KEYS": `{"PK":{"S":"a"},"SK":{"S":"b"},"g":{"S":"x"}}`,
		"INCL": `{"PK":{"S":"a"},"SK":{"S":"b"},"g":{"S":"x"},"v":{"BOOL":true}}`,
		"LOC":  `{"PK":{"S":"a"},"SK":{"S":"b"},"n":{"N":"1"}}`,
		"MANY": `{"PK":{"S":"a"},"SK":{"S":"b"},"g":{"S":"x"},"n":{"N":"1"}}`,
	} {
		if got := strings.Join(tabletest.ScanIndex(f, "t", index), ""); got != want {
			t.Errorf("%s holds %s, want %s", index, got, want)
		}
	}
}

// TestBadIndexKeys checks the messages for invalid index keys, as captured in dynalite (test/putItem.js) and
// alternator (test_gsi.py), and that nothing is written.
func TestBadIndexKeys(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("t", "PK:S", "G g:S n:N ALL")
	for _, tt := range []struct{ item, want string }{
		{
			`{'PK':{'S':'a'},'g':{'N':'1'}}`, "One or more parameter values were invalid: " +
				"Type mismatch for Index Key g Expected: S Actual: N IndexName: G",
		},
		{
			`{'PK':{'S':'a'},'g':{'S':''}}`, "One or more parameter values are not valid. " +
				"A value specified for a secondary index key is not supported. " +
				"The AttributeValue for a key attribute cannot contain an empty string value. " +
				"IndexName: G, IndexKey: g",
		},
		{
			`{'PK':{'N':'1'}}`,
			"One or more parameter values were invalid: Type mismatch for key PK expected: S actual: N",
		},
		{`{'g':{'S':'x'}}`, "One or more parameter values were invalid: Missing the key PK in the item"},
		{
			`{'PK':{'S':''}}`, "One or more parameter values are not valid. The AttributeValue for a key attribute " +
				"cannot contain an empty string value. Key: PK",
		},
		{
			`{'PK':{'S':'` + strings.Repeat("x", 2049) +
				`'}}`, "One or more parameter values were invalid: " +
				"Size of hashkey has exceeded the maximum size limit of2048 bytes",
		},
		{
			`{'PK':{'S':'a'},'v':{'S':'` + strings.Repeat("x", 400*1024) + `'}}`,
			"Item size has exceeded the maximum allowed size",
		},
	} {
		if _, err := f.TryPut("t", tt.item, nil); err == nil || err.Error() != tt.want {
			t.Errorf("put %.40s = %v, want %s", tt.item, err, tt.want)
		}
	}
	if rows := tabletest.ScanIndex(f, "t", "G"); rows != nil {
		t.Errorf("refused items left %v", rows)
	}
}

// TestAlter adds an index to a table while items are written, and then removes it. The index must have the same
// entries as that of a table that always had it.
func TestAlter(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("t", "PK:N")
	put := func(i int) { f.Put("t", fmt.Sprintf(`{'PK':{'N':'%d'},'g':{'S':'%d'}}`, i, i%3)) }
	for i := range 2500 {
		put(i)
	}
	f.Put("t", `{'PK':{'N':'-1'},'g':{'N':'1'}}`) // wrong kind for the key, so it has no entry
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 500 {
			put(2400 + i)
		}
	})
	wg.Go(func() {
		for i := range 100 {
			f.Delete("t", fmt.Sprintf(`{'PK':{'N':'%d'}}`, i))
		}
	})
	_, err := f.DB.Alter(context.Background(), "t", func(d *table.Definition) error {
		more := tabletest.Define(t, "t", "PK:N", "G g:S - ALL")
		d.Attributes, d.Global = more.Attributes, more.Global
		return nil
	})
	require.NoError(t, err)
	wg.Wait()
	rows := tabletest.ScanIndex(f, "t", "G")
	if len(rows) != 2800 {
		t.Errorf("the index has %d entries, want 2800", len(rows))
	}
	tb, err := f.DB.Describe(t.Context(), "t")
	require.NoError(t, err)
	if n, _ := tb.Indexes()[0].Items(); n != 2800 {
		t.Errorf("the index counts %d entries, want 2800", n)
	}
	_, err = f.DB.Alter(context.Background(), "t", func(d *table.Definition) error {
		less := tabletest.Define(t, "t", "PK:N")
		d.Attributes, d.Global = less.Attributes, nil
		return nil
	})
	require.NoError(t, err)
	f.Put("t", `{'PK':{'N':'7'},'g':{'N':'1'}}`) // unconstrained again
	tb, err = f.DB.Describe(t.Context(), "t")
	require.NoError(t, err)
	if _, err := tb.Index("G"); err == nil || err.Error() != "The table does not have the specified index: G" {
		t.Errorf("Index(G) = %v after it was deleted", err)
	}
}
