package check_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/text"
)

// TestReportOfExamples renders every example and compares the page with the result of the check.
func TestReportOfExamples(t *testing.T) {
	files, err := filepath.Glob("../../../design/examples/*/model.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	if !proptest.Long() {
		files = files[:2]
	}
	for _, file := range append(files, "../modelfile/testdata/shop.yaml", "../report/testdata/work.yaml") {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			w, r := linted(t, loaded(t, file), dataset.Options{MaxItems: proptest.Cases(3000)})
			root := inspect(t, render(t, w, r))
			require.Contains(t, root.text, r.Model.About)
			for i, pr := range r.Patterns {
				card := root.id(fmt.Sprintf("pattern-%d", i+1))
				require.NotNil(t, card, pr.Pattern.Name)
				require.Contains(t, card.text, pr.Pattern.Name)
				slice := root.id(fmt.Sprintf("slice-%d", i+1))
				if pr.Report == nil || pr.Report.Refused != nil {
					require.Nil(t, slice, "%s is no slice", pr.Pattern.Name)
					continue
				}
				require.NotNil(t, slice, pr.Pattern.Name)
				require.NotEmpty(t, slice.class("bracket"), pr.Pattern.Name)
				if pr.Spread != nil {
					median := root.id(fmt.Sprintf("slice-%d-median", i+1))
					same := string(pr.Spread.P50.Request) == string(pr.Spread.Worst.Request)
					require.Equal(t, same, median == nil, pr.Pattern.Name)
				}
			}
			for _, f := range r.Findings {
				require.Contains(t, root.id("findings").text, text.Visible(f.Message))
				for _, k := range f.Keys {
					require.Contains(t, root.id("findings").text, terminal.ClipMiddle(text.Visible(k), 120))
				}
			}
			spaces := 0
			for _, table := range w.Model.Tables {
				spaces += 1 + len(table.Indexes)
			}
			require.Len(t, root.class("space"), spaces)
		})
	}
}

const drive = "../report/testdata/drive.yaml"

// TestFolds holds that the page begins with the design, then has the patterns and then the findings. A large page
// folds notes, tables and indexes.
func TestFolds(t *testing.T) {
	w, r := linted(t, loaded(t, "../report/testdata/work.yaml"), dataset.Options{MaxItems: 500})
	root := inspect(t, render(t, w, r))
	slices, scrolled := len(root.class("slice")), 0
	for _, box := range root.class("scroll") {
		scrolled += len(box.class("slice"))
	}
	require.Equal(t, slices, scrolled, "a slice is wider than a narrow window")
	style := root.all(func(n *node) bool { return n.name == "style" })[0].text
	require.Contains(t, style, "prefers-color-scheme: dark")
	require.Contains(t, style, "@media (max-width: 600px)")
	require.Contains(t, style, ".k1 { --c: oklch(var(--bright) 0.13 calc(40 + 1 * 137.508)); }")

	var order []string
	for _, title := range root.all(func(n *node) bool { return n.name == "h2" }) {
		order = append(order, title.attrs["id"])
	}
	require.Equal(t, []string{
		"design-title", "overview-title", "findings-title", "bill-title", "space-title", "patterns-title",
	}, order)

	mend := map[string]bool{}
	for _, f := range r.Findings {
		mend[f.Pattern] = mend[f.Pattern] || f.Severity != model.Note
	}
	open := func(n *node) bool { return n.attrs["open"] != "" }
	cards := 0
	for i, pr := range r.Patterns {
		card := root.id(fmt.Sprintf("pattern-%d", i+1))
		require.Equal(t, "summary", card.children[0].name)
		require.Contains(t, card.children[0].children[0].text, pr.Pattern.Name)
		require.Equal(t, !pr.OK() || mend[pr.Pattern.Name], open(card), pr.Pattern.Name)
		if open(card) {
			cards++
		}
	}
	require.Positive(t, cards)
	require.Less(t, cards, len(r.Patterns)/2)
	for _, n := range root.class("space") {
		require.False(t, open(n), n.attrs["id"])
	}
	require.True(t, open(root.id("findings-error")))
	require.False(t, open(root.id("findings-note")))

	w, r = linted(t, loaded(t, drive), dataset.Options{})
	root = inspect(t, render(t, w, r))
	for _, n := range root.class("space") {
		require.True(t, open(n), "a small page shows everything")
	}
}

// TestSlices holds that a card shows the worst and the median slice of its pattern, row by row.
func TestSlices(t *testing.T) {
	w, r := linted(t, loaded(t, drive), dataset.Options{})
	root := inspect(t, render(t, w, r))
	for i, pr := range r.Patterns {
		if pr.Report == nil || pr.Report.Refused != nil {
			continue
		}
		returned, examined := pr.Report.Returned, pr.Report.Examined
		if s := pr.Spread; s != nil {
			returned, examined = s.Worst.Rows, s.Worst.Examined
		}
		slice := root.id(fmt.Sprintf("slice-%d", i+1))
		require.Len(t, slice.class("read"), returned, pr.Pattern.Name)
		require.Len(t, slice.class("hatch"), examined-returned, pr.Pattern.Name)
	}
	require.Contains(t, root.id("pattern-9").text, "ValidationException")
	require.Contains(t, root.id("overview").text, "A pattern reads rows that nobody meant")
	for i := range r.Tables {
		require.NotNil(t, root.id(fmt.Sprintf("partition-%d", i+1)))
	}
}

// TestDesignBlock holds that each entity shows the parts of its key templates, and links to its patterns.
func TestDesignBlock(t *testing.T) {
	w, r := linted(t, loaded(t, "../modelfile/testdata/shop.yaml"), dataset.Options{MaxItems: 100})
	root := inspect(t, render(t, w, r))
	for i, e := range w.Model.Entities {
		block := root.id(fmt.Sprintf("entity-%d", i+1))
		require.NotNil(t, block, e.Name)
		shown := block.class("template")
		require.GreaterOrEqual(t, len(shown), len(e.Table.Keys()), e.Name)
		for k, a := range e.Table.Keys() {
			parts := shown[k].class("part")
			require.Len(t, parts, len(e.Attribute(a.Name).Components()), "%s: %s", e.Name, a.Name)
		}
		for _, p := range r.Patterns {
			if p.Pattern.Entity != e {
				continue
			}
			leads := func(n *node) bool { return n.name == "a" && n.attrs["title"] == p.Pattern.Name }
			require.Len(t, block.all(leads), 1, "%s does not lead to %s", e.Name, p.Pattern.Name)
		}
	}
}

// TestHostile renders a model whose texts try to break out of the page or to mislead its reader.
func TestHostile(t *testing.T) {
	const evil = `</style></svg><script>alert("1")</script>'onload=x \u0007\u001b[31m \u202Eexe.gpj &amp; <!-- ]]>`
	source := strings.ReplaceAll(`
name: hostile
about: "EVIL"
tables: {Drive: {partition: "PK<b>", sort: "SK\"'", indexes: {ByKind: {partition: kind, sort: "SK\"'"}}}}
entities:
  Node:
    about: "EVIL"
    attributes: {"PK<b>": "{drive}", "SK\"'": "{path:path}", kind: "{kind}"}
    samples:
      - {drive: "EVIL", path: "EVIL", kind: "EVIL"}
      - {drive: "EVIL", path: "EVIL/1", kind: "EVIL"}
      - {drive: "EVIL", path: "EVIL/2", kind: "EVIL"}
patterns:
  - name: "EVIL"
    about: "EVIL"
    query: {entity: Node, where: {drive: "EVIL", path: {begins_with: "EVIL"}}, filter: "kind <> 'EVIL'"}
    expect: {rows: 7}
  - name: "EVIL refused"
    query: {entity: Node, index: ByKind, where: {kind: "EVIL"}, consistent: true}
  - name: not one range
    query: {entity: Node, where: {path: "EVIL"}}
`, "EVIL", strings.NewReplacer(`"`, `\"`).Replace(evil))
	source = strings.Replace(source, `filter: "kind <> '`+strings.ReplaceAll(evil, `"`, `\"`)+`'"`, `filter: 'kind = "x"'`, 1)
	m := parsed(t, source)
	w, r := linted(t, m, dataset.Options{})
	require.NotNil(t, r.Patterns[0].Report)
	require.Equal(t, 3, r.Patterns[0].Report.Examined)
	page := render(t, w, r)
	root := inspect(t, page)
	require.Contains(t, root.text, `<script>alert(`, "it is there as text")
	for _, c := range string(page) {
		if c != '\n' && c != '\t' && !unicode.IsPrint(c) {
			t.Fatalf("the page has %U in it", c)
		}
	}
	for _, bad := range []string{"<script>alert", "<b>", "<!--", "onload=x \""} {
		require.False(t, strings.Contains(string(page), bad), bad)
	}
}

// TestEmpty renders almost empty models.
func TestEmpty(t *testing.T) {
	for _, source := range []string{
		"name: empty\ntables: {Drive: {partition: PK}}",
		"name: empty\ntables: {Drive: {partition: PK, sort: SK, indexes: {ByA: {partition: a, sort: [b, c]}}}}\npatterns: [{name: all, scan: {table: Drive}}, {name: p, query: {table: Drive, where: {PK: x}}}]",
		"name: one\ntables: {Drive: {partition: {name: PK, type: N}}}\nitems: {Drive: [{PK: 7}, {PK: 10}]}\npatterns: [{name: p, get: {table: Drive, where: {PK: 7}}}]",
		"name: bytes\ntables: {Drive: {partition: {name: PK, type: B}, sort: {name: SK, type: B}}}\nitems: {Drive: [{PK: {B: AAEC}, SK: {B: /w==}}]}",
	} {
		w, r := linted(t, parsed(t, source), dataset.Options{})
		inspect(t, render(t, w, r))
	}
}

// TestLarge holds that the page is small even if a partition is large, there are many partitions, and a pattern reads
// many rows.
func TestLarge(t *testing.T) {
	proptest.NeedLong(t)
	if testing.Short() {
		t.Skip("many items in one goroutine; the race detector learns nothing")
	}
	const source = `
name: large
tables: {Shop: {partition: PK, sort: SK, indexes: {ByDay: {partition: day, sort: SK}}}}
fields: {customer: {distinct: 8000, distribution: zipf(1.4)}}
entities:
  Order:
    fields: {status: {values: [NEW, PAID]}}
    attributes: {PK: "CUSTOMER#{customer}", SK: "ORDER#{placed:time}#{order:ulid}", day: "{placed:date}", status: "{status}"}
    samples: [{customer: first, placed: "2026-01-05T10:00:00Z", order: 01HZZZZZZZZZZZZZZZZZZZZZZZ, status: NEW}]
    count: 30000
    rates: {reads: 90000, writes: 9000}
  Note:
    attributes: {PK: "CUSTOMER#big", SK: "NOTE#{note:ulid}"}
    count: 12000
patterns:
  - {name: notes, query: {table: Shop, where: {PK: "CUSTOMER#big", SK: {begins_with: "NOTE#"}}}}
  - {name: some, query: {table: Shop, where: {PK: "CUSTOMER#big"}, limit: 5}}
  - {name: dropped, query: {table: Shop, where: {PK: "CUSTOMER#big"}, filter: 'status = "NEW"'}}
  - {name: scan, scan: {table: Shop}}
`
	w, r := linted(t, parsed(t, source), dataset.Options{})
	page := render(t, w, r)
	if len(page) > 300_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	root := inspect(t, page)
	require.Regexp(t, `in \d,\d\d\d partitions`, root.id("space-1").text)
	require.Contains(t, root.id("slice-1").text, "more rows")
	require.NotEmpty(t, root.id("slice-3").class("hatch"))
	require.Contains(t, root.id("slice-2").text, "next page")
	require.Equal(t, string(page), string(render(t, w, r)), "equal results give equal pages")
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	w, r := linted(t, loaded(t, drive), dataset.Options{})
	require.ErrorIs(t, report.HTML(full{}, w, r, nil), errFull)
	require.ErrorIs(t, report.JSON(full{}, r, nil), errFull)
}

// TestThenCosts holds that the table of patterns counts the items that are got for rows once, in each partition for
// its own rows.
func TestThenCosts(t *testing.T) {
	w, r := linted(t, parsed(t, `
name: then
tables: {Teams: {partition: PK, sort: SK}}
entities:
  Member:
    attributes: {PK: "TEAM#{team}", SK: "M#{person}"}
    samples: [{team: a, person: p1}, {team: b, person: p1}, {team: b, person: p2}, {team: b, person: p3}]
  Person: {attributes: {PK: "P#{person}", SK: P}, samples: [{person: p1}, {person: p2}, {person: p3}]}
patterns:
  - {name: members, query: {entity: Member, where: {team: a}}, then: Person}
`), dataset.Options{})
	cells := map[string]string{}
	for _, cell := range inspect(t, render(t, w, r)).id("overview").all(func(n *node) bool { return n.name == "td" }) {
		cells[cell.attrs["data-label"]] = strings.TrimSuffix(cell.text, " R")
	}
	require.Equal(t, "1", cells["read units, p50"], "half a unit for a member, and half a unit for a person")
	require.Equal(t, "2", cells["worst"], "the last of the row with this label")
}

// TestHugeRates holds that figures are right even at the highest rates.
func TestHugeRates(t *testing.T) {
	w, r := linted(t, parsed(t, `
name: huge
tables: {Tab: {partition: PK}}
entities: {Thing: {attributes: {PK: "{id}"}, count: 10, rates: {reads: 1e9, writes: 1e9}}}
patterns: [{name: get, get: {entity: Thing, where: {id: a}}, rate: 1e9, expect: {rows: 0}}]
`), dataset.Options{})
	text := inspect(t, render(t, w, r)).id("bill").text
	require.Contains(t, text, "$1,971,000,000\n")
	require.Contains(t, text, "2,628,000,000,000,000 records a month")
}

// TestSameEachTime holds that a model always gives the same page, even if many ranges of times have slices of equal
// size.
func TestSameEachTime(t *testing.T) {
	m := loaded(t, "../lint/testdata/large-airline.yaml")
	var first []byte
	for range 2 {
		w, r := linted(t, m, dataset.Options{MaxItems: 1000})
		page := render(t, w, r)
		if first == nil {
			first = page
		}
		require.Equal(t, string(first), string(page))
	}
}
