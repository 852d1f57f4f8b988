package report_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/world"
)

type object = map[string]any

// sarif writes a log and parses it.
func sarif(t *testing.T, r *check.Result, o report.SARIFOptions) object {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.SARIF(&b, r, o))
	var log object
	require.NoError(t, json.Unmarshal(b.Bytes(), &log))
	return log
}

// conform checks a log against the rules of SARIF 2.1.0: required and unknown
// members, values of enumerations, indexes.
func conform(t *testing.T, log object) (rules, results []any) {
	t.Helper()
	members(t, log, []string{"version", "runs"}, "$schema")
	require.Equal(t, "2.1.0", log["version"])
	runs := log["runs"].([]any)
	require.Len(t, runs, 1)
	run := runs[0].(object)
	members(t, run, []string{"tool"}, "results", "invocations", "columnKind")
	require.Contains(t, []any{"utf16CodeUnits", "unicodeCodePoints"}, run["columnKind"])
	for _, i := range run["invocations"].([]any) {
		members(t, i.(object), []string{"executionSuccessful"})
	}
	tool := run["tool"].(object)
	members(t, tool, []string{"driver"})
	driver := tool["driver"].(object)
	members(t, driver, []string{"name"}, "version", "informationUri", "rules")
	rules = driver["rules"].([]any)
	ids := map[string]bool{}
	for _, r := range rules {
		r := r.(object)
		members(t, r, []string{"id"}, "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration")
		require.False(t, ids[r["id"].(string)], "a rule is there twice")
		ids[r["id"].(string)] = true
		for _, name := range []string{"shortDescription", "fullDescription", "help"} {
			if m, ok := r[name]; ok {
				members(t, m.(object), []string{"text"})
			}
		}
		if at, ok := r["helpUri"]; ok {
			u, err := url.Parse(at.(string))
			require.NoError(t, err)
			require.True(t, u.IsAbs())
		}
		level(t, r["defaultConfiguration"].(object)["level"])
	}
	results = run["results"].([]any)
	for _, r := range results {
		r := r.(object)
		members(t, r, []string{"message"}, "ruleId", "ruleIndex", "level", "locations", "partialFingerprints", "suppressions", "properties")
		members(t, r["message"].(object), []string{"text"})
		level(t, r["level"])
		require.Equal(t, r["ruleId"], rules[int(r["ruleIndex"].(float64))].(object)["id"])
		for _, l := range r["locations"].([]any) {
			l := l.(object)
			members(t, l, nil, "physicalLocation", "logicalLocations")
			if p, ok := l["physicalLocation"]; ok {
				members(t, p.(object), []string{"artifactLocation"}, "region")
				members(t, p.(object)["artifactLocation"].(object), []string{"uri"})
				region := p.(object)["region"].(object)
				members(t, region, []string{"startLine"}, "startColumn")
				require.GreaterOrEqual(t, region["startLine"], 1.0)
			}
			if all, ok := l["logicalLocations"]; ok {
				for _, at := range all.([]any) {
					members(t, at.(object), []string{"name", "fullyQualifiedName", "kind"})
				}
			}
		}
		if all, ok := r["suppressions"]; ok {
			for _, s := range all.([]any) {
				members(t, s.(object), []string{"kind"}, "justification")
				require.Contains(t, []any{"inSource", "external"}, s.(object)["kind"])
			}
		}
	}
	return rules, results
}

// members requires that an object has some members and no others.
func members(t *testing.T, o object, required []string, optional ...string) {
	t.Helper()
	for _, name := range required {
		require.Contains(t, o, name)
	}
	for name := range o {
		require.True(t, slices.Contains(required, name) || slices.Contains(optional, name), "%s is no member", name)
	}
}

func level(t *testing.T, v any) {
	t.Helper()
	require.Contains(t, []any{"none", "note", "warning", "error"}, v)
}

func TestSARIF(t *testing.T) {
	_, r := checked(t, load(t, "../../../design/examples/file-tree/model.yaml"), world.Options{MaxItems: -1})
	rules, results := conform(t, sarif(t, r, report.SARIFOptions{Version: "v1.2.3"}))
	require.Len(t, rules, 1+len(lint.Rules()))
	require.Len(t, results, len(r.Findings))
	var text string
	for i, f := range r.Findings {
		res := results[i].(object)
		require.Equal(t, f.Rule, res["ruleId"])
		require.Equal(t, f.Severity.String(), res["level"])
		at := res["locations"].([]any)[0].(object)["physicalLocation"].(object)
		require.Equal(t, "../../../design/examples/file-tree/model.yaml", at["artifactLocation"].(object)["uri"])
		require.Equal(t, float64(f.Pos.Line), at["region"].(object)["startLine"])
		require.Equal(t, float64(f.Pos.Col), at["region"].(object)["startColumn"])
		if f.Rule == "open-prefix" {
			text = res["message"].(object)["text"].(string)
		}
	}
	require.Contains(t, text, `root/photos-old/`)
	require.Contains(t, text, "\nKeys: ")
	require.Contains(t, text, "\nWhat to do: end the prefix with the delimiter")
}

// TestSARIFVersion holds that versions begin with a digit.
func TestSARIFVersion(t *testing.T) {
	for version, want := range map[string]any{"v1.2.3": "1.2.3", "0.4": "0.4", "(devel)": nil, "v": nil, "": nil} {
		log := sarif(t, &check.Result{Model: &model.Model{Name: "m"}}, report.SARIFOptions{Version: version})
		driver := log["runs"].([]any)[0].(object)["tool"].(object)["driver"].(object)
		require.Equal(t, want, driver["version"], version)
	}
}

// TestSARIFEdges writes findings without a place, with an unknown rule, with
// hostile keys, or accepted.
func TestSARIFEdges(t *testing.T) {
	r := &check.Result{Model: &model.Model{Name: "m"}, Findings: []model.Finding{
		{Rule: "own-rule", Severity: model.Warning, Message: "w"},
		{Rule: check.Rule, Severity: model.Error, Message: "<e>", Pattern: "p", Pos: model.Pos{File: "/repo/a b/model.yaml", Line: 3, Col: 7}, Keys: []string{"\x00\u202e"}},
		{Rule: "own-rule", Severity: model.Note, Message: "n", Table: "T", Pos: model.Pos{File: "m.yaml", Line: 9}, Accepted: "it is meant"},
		{Rule: "own-rule", Severity: model.Note, Message: "n", Table: "T", Pos: model.Pos{File: "m.yaml", Line: 8}, Accepted: "it is meant"},
	}}
	var b bytes.Buffer
	require.NoError(t, report.SARIF(&b, r, report.SARIFOptions{Root: "/repo"}))
	require.Contains(t, b.String(), "<e>")
	var log object
	require.NoError(t, json.Unmarshal(b.Bytes(), &log))
	for _, res := range log["runs"].([]any)[0].(object)["results"].([]any)[:1] {
		require.NotContains(t, res.(object), "locations")
		res.(object)["locations"] = []any{} // conform asks for it
	}
	_, results := conform(t, log)
	second := results[1].(object)
	require.Equal(t, "<e>\nKey: \\u{0000}\\u{202E}", second["message"].(object)["text"])
	uri := second["locations"].([]any)[0].(object)["physicalLocation"].(object)["artifactLocation"].(object)["uri"]
	require.Equal(t, "a%20b/model.yaml", uri)
	third, fourth := results[2].(object), results[3].(object)
	require.Equal(t, []any{object{"kind": "inSource", "justification": "it is meant"}}, third["suppressions"])
	require.Equal(t, third["partialFingerprints"], fourth["partialFingerprints"], "a finding is known again when lines move")
	require.NotEqual(t, second["partialFingerprints"], third["partialFingerprints"])

	empty := sarif(t, &check.Result{Model: &model.Model{Name: "m"}}, report.SARIFOptions{})
	_, results = conform(t, empty)
	require.NotNil(t, results)
	require.Empty(t, results)
}

// TestJSONMembers compares the names of members with a fixed list, because
// programs depend on them.
func TestJSONMembers(t *testing.T) {
	_, r := checked(t, parse(t, drive), world.Options{})
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
		.summary .summary.patterns .summary.asExpected .summary.errors .summary.warnings .summary.notes
		.patterns .patterns[].name .patterns[].place .patterns[].place.file .patterns[].place.line .patterns[].place.column
		.patterns[].ok .patterns[].operation .patterns[].request .patterns[].units .patterns[].waste .patterns[].report
		.patterns[].failures .patterns[].failures[].rule .patterns[].failures[].severity .patterns[].failures[].place
		.patterns[].failures[].place.file .patterns[].failures[].place.line .patterns[].failures[].place.column
		.patterns[].failures[].table .patterns[].failures[].pattern .patterns[].failures[].message .patterns[].failures[].keys
		.patterns[].failures[].advice
		.tables .tables[].table .tables[].items .tables[].bytes .tables[].partitions .tables[].declaredItems .tables[].declaredBytes .tables[].reads .tables[].writes .tables[].rowsWritten .tables[].itemsExpired .patterns[].growth .tables[].entities .tables[].entities[].entity
		.tables[].entities[].items .tables[].entities[].bytes .tables[].mostItems .tables[].mostBytes
		.findings .findings[].rule .findings[].severity .findings[].place .findings[].place.file .findings[].place.line
		.findings[].place.column .findings[].table .findings[].index .findings[].entity .findings[].pattern .findings[].message
		.findings[].keys .findings[].advice .findings[].accepted`)
	for _, most := range []string{".tables[].mostItems", ".tables[].mostBytes"} {
		for _, name := range []string{"partition", "items", "bytes", "declaredItems", "declaredBytes", "reads", "writes"} {
			want = append(want, most+"."+name)
		}
	}
	want = append(want, strings.Fields(".patterns[].spread .patterns[].spread.partitions .patterns[].spread.values "+
		".patterns[].spread.mean .patterns[].spread.meanByRows")...)
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
	_, r := checked(t, parse(t, drive), world.Options{})
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, r, nil))
	var got struct {
		OK       bool
		Summary  struct{ Patterns, AsExpected, Errors int }
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
	require.Equal(t, 9, got.Summary.Patterns)
	require.Equal(t, 8, got.Summary.AsExpected, "one is refused")
	require.Equal(t, 8, got.Patterns[2].Report.Read.Examined)
	require.Equal(t, 4, got.Patterns[2].Report.Read.Returned)
	require.InDelta(t, 0.5, got.Patterns[2].Waste, 0.1)
	v, err := attr.ParseValue(got.Tables[0].MostItems.Partition[0])
	require.NoError(t, err)
	require.Equal(t, `DRIVE#a`, string(v.Raw()))
}
