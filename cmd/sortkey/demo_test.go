package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/demo"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// TestExamples runs the demo and tests that every answer of every example is right.
func TestExamples(t *testing.T) {
	all, err := models.Examples()
	if err != nil {
		t.Fatal(err)
	}
	patterns := 0
	for _, m := range all {
		patterns += len(m.Patterns)
		r, err := demo.Run(t.Context(), m)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		for _, res := range r.Results {
			for _, f := range res.Failures {
				t.Errorf("%s: %s: %s %q", m.Name, res.Pattern.Name, f.Message, f.Keys)
			}
			if res.Pattern.Operation == "Query" && res.Report != nil && res.Report.Refused == nil && len(res.Report.Traces) != 1 {
				t.Errorf("%s: %s has %d slices, want 1", m.Name, res.Pattern.Name, len(res.Report.Traces))
			}
		}
	}
	if patterns < 63 {
		t.Errorf("there are only %d patterns", patterns)
	}
}

const ties = `
name: ties
tables:
  Ties:
    partition: {name: id, type: N}
    indexes: {ByG: {partition: g, sort: {name: h, type: N}, projection: all}}
items:
  Ties:
    - {id: 1, g: x, h: 10}
    - {id: 2, g: x, h: 10}
    - {id: 3, g: x, h: 9}
patterns: [{name: p, PATTERN}]
`

func runDemo(t *testing.T, text string) (*demo.Report, error) {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return demo.Run(t.Context(), m)
}

func TestJudge(t *testing.T) {
	const (
		query   = `query: {table: Ties, index: ByG, where: {g: x}}`
		refused = `query: {table: Ties, index: ByG, where: {g: x}, consistent: true}`
		get     = `get: {table: Ties, where: {id: "1.0"}}`
		nobody  = `get: {table: Ties, where: {id: 7}}`
		some    = `query: {table: Ties, index: ByG, where: {g: x}, project: [h]}`
	)
	for _, tt := range []struct{ name, pattern, want string }{
		{"ties one way", query + `, expect: {keys: [[3], [1], [2]], ties: true}`, ""},
		{"ties the other way", query + `, expect: {keys: [[3], [2], [1]], ties: true}`, ""},
		{"beyond ties", query + `, expect: {keys: [[1], [3], [2]], ties: true}`, "row 1 is 3, expected 1"},
		{"too many", query + `, expect: {keys: [[3], [2]]}`, "expected 2 keys, got 3: 1 is unexpected"},
		{"too few", query + `, expect: {keys: [[3], [2], [1], [4]]}`, "expected 4 keys, got 3: 4 is missing"},
		{"answered", query + `, expect: {error: ValidationException}`, "expected ValidationException, got 3 rows"},
		{"rows", query + `, expect: {rows: 3, units: 0.5, pages: 1}`, ""},
		{"other rows", query + `, expect: {rows: 2}`, "expected 2 rows, got 3"},
		{"units", query + `, expect: {units: 0.1}`, "expected at most 0.1 read units, got 0.5"},
		{"projected", some + `, expect: {keys: [[3], [2], [1]]}`, ""},
		{"projected keys are compared", some + `, expect: {keys: [[3], [1], [2]]}`, "row 2 is 2, expected 1"},
		{"refused", refused + `, expect: {keys: []}`, "the service refuses the request: ValidationException"},
		{"refused right", refused + `, expect: {error: ValidationException}`, ""},
		{"refused otherwise", refused + `, expect: {error: SomeException}`, "expected SomeException, got ValidationException"},
		{"item", get + `, expect: {item: {h: {N: "1e1"}, id: 1, g: x}}`, ""},
		{"other item", get + `, expect: {item: {id: 1}}`, "expected the item {\"id\":{\"N\":\"1\"}}, got {\"g\""},
		{"no item", nobody + `, expect: {item: {id: 1}}`, "expected an item, got none"},
		{"an item", get + `, expect: {item: none}`, "expected no item, got one"},
		{"scan", `scan: {table: Ties, filter: h = 9}, expect: {keys: [[3]]}`, ""},
		{"no range", `query: {table: Ties, index: ByG, where: {h: 9}}, expect: {error: NotARange}`, ""},
		{"no range, unexpected", `query: {table: Ties, index: ByG, where: {h: 9}}`, "the pattern is not one request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(ties, "PATTERN", tt.pattern, 1)
			r, err := runDemo(t, text)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range r.Results[0].Failures {
				got += f.Message
			}
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("wrong: %q, want %q", got, tt.want)
			}
			var out bytes.Buffer
			demo.Print(&out, r, show.Style{Paint: true, Width: 40})
			if mark := "✗"; strings.Contains(out.String(), mark) != (tt.want != "") {
				t.Errorf("Print = %s", &out)
			}
		})
	}
}

// TestGenerated: the demo has the items that design check generates.
func TestGenerated(t *testing.T) {
	r, err := runDemo(t, `
name: generated
tables: {Things: {partition: PK}}
entities:
  Thing: {attributes: {PK: "{id}"}, samples: [{id: a}], count: 100}
patterns:
  - {name: all, scan: {table: Things}, expect: {rows: 101}}
  - {name: one, get: {entity: Thing, where: {id: a}}, expect: {item: none}}
`)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Results[0].OK() || r.Results[1].OK() || len(r.Results[0].Report.Items) != 101 {
		t.Errorf("%+v", r.Results)
	}
}

// TestPages: all pages of an answer are read.
func TestDemoPages(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: pages\ntables: {Things: {partition: PK, sort: SK}}\nitems:\n  Things:\n")
	for _, sk := range "abcdef" {
		b.WriteString(`    - {PK: p, SK: ` + string(sk) + `, text: "` + strings.Repeat("x", 300_000) + "\"}\n")
	}
	b.WriteString("patterns:\n  - {name: q, query: {table: Things, where: {PK: p}}, expect: {rows: 6, pages: 2}}\n")
	b.WriteString("  - {name: s, scan: {table: Things}, expect: {rows: 6, pages: 1}}\n")
	r, err := runDemo(t, b.String())
	if err != nil {
		t.Fatal(err)
	}
	if q, s := r.Results[0], r.Results[1]; !q.OK() || s.OK() || len(q.Report.Items) != 6 || len(q.Report.Traces) != 2 {
		t.Errorf("%d items, %d slices, %v %v", len(q.Report.Items), len(q.Report.Traces), q.Failures, s.Failures)
	}
}

func TestRunErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{name: bad, tables: {Things: {partition: PK}}, items: {Things: [{PK: a}, {PK: a}]}}`, "the same key"},
	} {
		if _, err := runDemo(t, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Run = %v, want %s", err, tt.want)
		}
	}
}
