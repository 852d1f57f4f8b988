package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/world"
)

// TestDiffPage renders what changes between two versions, with text that could break out of the page.
func TestDiffPage(t *testing.T) {
	side := func(source string) diff.Side {
		w, r := checked(t, parse(t, source), world.Options{MaxItems: 100})
		b, err := bill.Of(r, bill.Known(), bill.DefaultRegion)
		require.NoError(t, err)
		return diff.Side{World: w, Result: r, Bill: b}
	}
	const old = `
name: drive
tables: {Drive: {partition: PK, sort: SK}}
entities: {Node: {attributes: {PK: "D#{drive}", SK: "{path:path}"}, samples: [{drive: a, path: "x"}], rates: {writes: 3}}}
patterns: [{name: "<script>alert(1)</script>", query: {entity: Node, where: {drive: a}}, rate: 2}]
`
	made := strings.NewReplacer("{path:path}", "X{path:path}", "path: \"x\"", "path: \"</style>\"", "D#", "DRIVE#").Replace(old)
	d, err := diff.Of(t.Context(), side(old), side(made), nil)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, report.Diff(&b, d, "old → <b>new</b>"))
	page := b.String()
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<b>")
	require.NotContains(t, page, "ZgotmplZ")
	root := tree(t, b.Bytes())
	require.Contains(t, root.text, "old → <b>new</b>")
	require.Len(t, root.id("plan").all(func(n *node) bool { return n.name == "li" }), len(d.Plan))
	require.Contains(t, root.id("plan").text, "on demand")
	require.Contains(t, root.id("money").text, "us-east-1")
	for _, c := range d.Changes {
		require.Contains(t, root.id("changes").text, c.Subject)
	}

	b.Reset()
	same := side(old)
	d, err = diff.Of(t.Context(), same, same, nil)
	require.NoError(t, err)
	require.NoError(t, report.Diff(&b, d, "x"))
	require.Contains(t, tree(t, b.Bytes()).text, "Nothing changed")
}
