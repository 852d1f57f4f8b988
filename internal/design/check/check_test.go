package check_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

func TestShop(t *testing.T) {
	source, err := os.ReadFile("../modelfile/testdata/shop.yaml")
	require.NoError(t, err)
	w, r := checkedIn(t, dataset.Options{}, string(source))
	m := w.Model
	for _, f := range r.Findings {
		t.Errorf("%s: pattern %s: %s", f.Pos, f.Pattern, f.Message)
	}
	require.Len(t, r.Patterns, len(m.Patterns))
	require.Len(t, r.Tables, 4)
	require.Equal(t, len(m.Entities[0].Samples)+len(m.Entities[1].Samples)+2501, r.Tables[0].Items)
	require.Equal(t, 2, r.Tables[1].Partitions, "shipped orders are not in the sparse index")
}

const small = `
name: small
tables: {Drive: {partition: PK, sort: SK, indexes: {ByKind: {partition: kind, sort: size}}}}
entities:
  File:
    attributes: {PK: "D#{drive}", SK: "F#{path:path}", kind: "{kind}", size: "{size:int(4)}"}
    samples:
      - {drive: a, path: one, kind: jpg, size: 1}
      - {drive: a, path: two, kind: jpg, size: 1}
      - {drive: a, path: three, kind: png, size: 2}
  Drive:
    attributes: {PK: "D#{drive}", SK: META}
    samples: [{drive: a}]
patterns:
  - name: p
`

// TestExpectations has a pattern that meets each expectation, and one that does not.
func TestExpectations(t *testing.T) {
	const all = `query: {table: Drive, where: {PK: "D#a"}}`
	const filtered = `query: {entity: File, where: {drive: a}, filter: 'size = "0001"'}`
	for _, tt := range []struct{ question, expect, want string }{
		{all, "rows: 4", ""},
		{all, "rows: 3", "expected 3 rows, got 4"},
		{all, "max_rows: 4", ""},
		{all, "max_rows: 1", "expected at most 1 row, got 4"},
		{all, "entities: [File, Drive]", ""},
		{all, "entities: [File]", "expected only File, got 1 row of Drive"},
		{all, "units: 0.5", ""},
		{all, "units: 0.4", "expected at most 0.4 read units, got 0.5"},
		{all, "pages: 1", ""},
		{all, "pages: 0", "expected at most 0 pages, got 1"},
		{filtered, "{rows: 2, waste: 0.4}", ""},
		{filtered, "waste: 0.3", "1 of 3 rows were read and dropped"},
		{all, "error: ValidationException", "expected ValidationException, got 4 rows"},
		{filtered, `keys: [["D#a", "F#one"], ["D#a", "F#two"]]`, ""},
		{filtered, `keys: [["D#a", "F#two"], ["D#a", "F#one"]]`, `row 1 is "D#a", "F#one", expected "D#a", "F#two"`},
		{filtered, `keys: [["D#a", "F#one"]]`, `"D#a", "F#two" is unexpected`},
		{filtered, `keys: [["D#a", "F#one"], ["D#a", "F#two"], ["D#a", "F#z"]]`, `"D#a", "F#z" is missing`},
		{`query: {entity: File, index: ByKind, where: {kind: jpg}}`, `{ties: true, keys: [["D#a", "F#two"], ["D#a", "F#one"]]}`, ""},
		{`query: {entity: File, index: ByKind, where: {kind: jpg}}`, `keys: [["D#a", "F#two"], ["D#a", "F#one"]]`, "row 1 is"},
		{`get: {entity: Drive, where: {drive: a}}`, `item: {PK: "D#a", SK: META}`, ""},
		{`get: {entity: Drive, where: {drive: a}}`, `item: {PK: "D#a", SK: META, x: 1}`, `got {"PK":{"S":"D#a"},"SK":{"S":"META"}}`},
		{`get: {entity: Drive, where: {drive: a}}`, `item: none`, "expected no item, got one"},
		{`get: {entity: Drive, where: {drive: b}}`, `item: none`, ""},
		{`get: {entity: Drive, where: {drive: b}}`, `item: {PK: x, SK: y}`, "expected an item, got none"},
		{`query: {entity: File, index: ByKind, where: {size: 1}}`, "rows: 1", "the pattern is not one request: kind, the partition key, is {kind}, but the pattern does not give kind"},
		{`query: {entity: File, index: ByKind, where: {size: 1}}`, "error: NotARange", ""},
		{`query: {entity: File, index: ByKind, where: {size: 1}}`, "error: ValidationException", "got NotARange"},
		{`query: {entity: Drive, where: {drive: A}}`, "units: 1", `finds nothing; the nearest key that exists is "D#a", "META"`},
		{`query: {table: Drive, where: {PK: "D|a", SK: META}}`, "", `the nearest key that exists is "D#a", "META"`},
		{`query: {table: Drive, where: {PK: "D#a", SK: {begins_with: "F|t"}}}`, "", `exists is "D#a", "F#two"`},
		{`query: {table: Drive, where: {PK: "D#a", SK: {begins_with: "F|t"}}}`, "rows: 0", ""},
		{`query: {table: Drive, where: {PK: "D#a", SK: {begins_with: "F|t"}}}`, "max_rows: 0", ""},
		{`query: {entity: File, index: ByKind, where: {kind: gif}}`, "", `exists is "png", "0002"`},
		{`get: {entity: File, where: {drive: a, path: ones}}`, "", `exists is "D#a", "F#one"`},
		{`get: {entity: File, where: {drive: a, path: one}}`, "", ""},
		{`query: {entity: File, where: {drive: a}, filter: 'size = "1"'}`, "", "finds nothing: the filter drops all of 3 rows"},
		{`query: {entity: File, where: {drive: a}, filter: "attribute_not_exists(gone)"}`, "rows: 3", ""},
		{`scan: {table: Drive, filter: 'size = "1"'}`, "", "finds nothing: the filter drops all of 4 rows"},
		{`query: {entity: File, index: ByKind, where: {kind: png}, consistent: true}`, "rows: 1", "the service refuses the request: ValidationException"},
		{`query: {entity: File, index: ByKind, where: {kind: png}, consistent: true}`, "error: ValidationException", ""},
		{`query: {entity: File, index: ByKind, where: {kind: png}, consistent: true}`, "error: Other", "expected Other, got ValidationException"},
	} {
		r := checked(t, dataset.Options{}, small+"    "+tt.question+"\n    expect: "+wrap(tt.expect)+"\n")
		var got []string
		for _, f := range r.Patterns[0].Failures {
			got = append(got, f.Message)
		}
		text := strings.Join(got, "; ")
		if tt.want == "" && text != "" || !strings.Contains(text, tt.want) {
			t.Errorf("%s, expecting %s: %q, want %q", tt.question, tt.expect, text, tt.want)
		}
		if r.Patterns[0].OK() != (tt.want == "") || r.Failed(model.Error) != (tt.want != "") {
			t.Errorf("%s, expecting %s: OK is %v", tt.question, tt.expect, r.Patterns[0].OK())
		}
	}
}

func wrap(expect string) string {
	if strings.HasPrefix(expect, "{") {
		return expect
	}
	return "{" + expect + "}"
}
