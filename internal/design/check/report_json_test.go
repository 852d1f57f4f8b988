package check_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/report"
)

type object = map[string]any

// TestJSONMembers compares the names of members with a fixed list, because programs depend on them.
func TestJSONMembers(t *testing.T) {
	_, r := linted(t, loaded(t, drive), dataset.Options{})
	r.Findings = append(r.Findings, model.Finding{Rule: "x", Severity: model.Note, Accepted: "yes", Table: "T", Index: "I", Entity: "E", Pattern: "P", Message: "m", Advice: "a"})
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, r, nil))
	var result any
	require.NoError(t, json.Unmarshal(b.Bytes(), &result))
	found := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(path+"[]", e)
			}
		case object:
			for name, e := range v {
				found[path+"."+name] = true
				// Other tests cover the report and DynamoDB JSON.
				if name != "report" && name != "request" && name != "partition" {
					walk(path+"."+name, e)
				}
			}
		}
	}
	walk("", result)
	want := strings.Fields(`
		.model .model.name .model.file .ok .items .scale
		.summary .summary.patterns .summary.ran .summary.expecting .summary.asExpected .summary.errors .summary.warnings .summary.notes
		.patterns .patterns[].name .patterns[].place .patterns[].place.file .patterns[].place.line .patterns[].place.column
		.patterns[].ok .patterns[].expecting .patterns[].operation .patterns[].request .patterns[].units .patterns[].waste .patterns[].report
		.patterns[].failures .patterns[].failures[].rule .patterns[].failures[].severity .patterns[].failures[].place
		.patterns[].failures[].place.file .patterns[].failures[].place.line .patterns[].failures[].place.column
		.patterns[].failures[].table .patterns[].failures[].pattern .patterns[].failures[].message .patterns[].failures[].keys
		.patterns[].failures[].advice .patterns[].failures[].entity .patterns[].notARange .patterns[].notARange.message .patterns[].notARange.advice
		.tables .tables[].table .tables[].items .tables[].bytes .tables[].partitions .tables[].declaredItems .tables[].declaredBytes .tables[].reads .tables[].writes .tables[].rowsWritten .patterns[].growth .tables[].entities .tables[].entities[].entity
		.tables[].entities[].items .tables[].entities[].bytes .tables[].entities[].declaredItems .tables[].mostItems .tables[].mostBytes
		.findings .findings[].rule .findings[].severity .findings[].place .findings[].place.file .findings[].place.line
		.findings[].place.column .findings[].table .findings[].index .findings[].entity .findings[].pattern .findings[].message
		.findings[].keys .findings[].advice .findings[].accepted`)
	for _, most := range []string{".tables[].mostItems", ".tables[].mostBytes"} {
		for _, name := range []string{"partition", "items", "bytes", "declaredItems", "declaredBytes", "reads", "writes"} {
			want = append(want, most+"."+name)
		}
	}
	want = append(want, strings.Fields(".patterns[].spread .patterns[].spread.partitions .patterns[].spread.values "+
		".patterns[].spread.mean")...)
	for _, at := range []string{"p50", "p95", "worst"} {
		want = append(want, ".patterns[].spread."+at)
		for _, name := range []string{
			"partition", "sort", "request", "rows", "examined", "bytes", "pages", "units", "waste", "growth",
			"declaredRows", "declaredUnits",
		} {
			want = append(want, ".patterns[].spread."+at+"."+name)
		}
	}
	for _, name := range want {
		if !found[name] {
			t.Errorf("there is no %s", name)
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("%s is new: add it to the list", name)
	}
}

func TestJSONValues(t *testing.T) {
	_, r := linted(t, loaded(t, drive), dataset.Options{})
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, r, nil))
	var got struct {
		OK       bool
		Summary  struct{ Patterns, Ran, Expecting, AsExpected, Errors int }
		Patterns []struct {
			Name   string
			OK     bool
			Waste  float64
			Report struct {
				Read *struct{ Examined, Returned int }
			}
		}
		Tables []struct {
			MostItems struct{ Partition []json.RawMessage }
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	require.False(t, got.OK)
	require.Equal(t, 10, got.Summary.Patterns)
	require.Equal(t, 10, got.Summary.Ran)
	require.Equal(t, 2, got.Summary.Expecting)
	require.Equal(t, 2, got.Summary.AsExpected)
	require.Equal(t, 8, got.Patterns[2].Report.Read.Examined)
	require.Equal(t, 4, got.Patterns[2].Report.Read.Returned)
	require.InDelta(t, 0.5, got.Patterns[2].Waste, 0.1)
	v, err := attr.ParseValue(got.Tables[0].MostItems.Partition[0])
	require.NoError(t, err)
	require.Equal(t, `DRIVE#a`, string(v.Raw()))
}
