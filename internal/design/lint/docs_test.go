package lint_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/lint"
)

const docsHead = `# Lints

What ` + "`sortkey design check`" + ` looks for in a model, besides the expectations of its
access patterns. This page is generated from the rules. To change it, edit them and run
` + "`go test ./internal/design/lint -rewrite`" + `.

An **error** says that the design gives wrong results, or will be refused or
throttled at the declared scale. A **warning** is a hazard that the data or the
templates show. A **note** is worth knowing. A finding can be more or less severe
than its rule usually is: a filter that drops most of what it reads is a note if the
pattern expects that waste.

Rules about text look only at samples, raw items and declared values, because
randomly generated text proves nothing. Counts, sizes and rates also use
generated items, and are extrapolated when fewer were generated than are
declared.

A change of indexes that a finding proposes was applied to a copy of the model with
few items. It is printed only if the finding is gone, no other error or warning has
come, and every pattern is still answered with its rows. What it changes in read and
write units on average is printed with it: ` + "`read units 12 → 1.5`" + `. Other advice is
general.

## Accepting a finding

If you know better, say so in the model, with a reason. The finding becomes a
note with that reason:

` + "```yaml" + `
allow:
  - {rule: natural-order, on: Version, why: a document never has ten versions}
` + "```" + `

` + "`on`" + ` is a table, an index, an entity or a pattern; without it, the rule is accepted
everywhere. An allowance that accepts nothing is a finding itself.

## The rules
`

// page returns the content of docs/lints.md. Its findings come from the rules' own models.
func page(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(docsHead)
	for _, r := range lint.Rules() {
		bad := of(find(t, filepath.Join("testdata", r.ID, "bad.yaml")), r.ID)
		require.NotEmpty(t, bad, r.ID)
		_, first, _ := strings.Cut(text(bad[:1]), "\n")
		fmt.Fprintf(&b, "\n### %s\n\n%s; usually %s %s. %s\n\n```text\n%s\n```\n", r.ID, r.Title,
			article(r.Severity.String()), r.Severity, r.Help, strings.TrimRight(first, "\n"))
	}
	return b.String()
}

func article(word string) string {
	if word[0] == 'e' {
		return "an"
	}
	return "a"
}

// TestDocs holds that docs/lints.md is up to date.
func TestDocs(t *testing.T) {
	for _, r := range lint.Rules() {
		if r.Title == "" || r.Help == "" || r.Severity == 0 || strings.HasSuffix(r.Title, ".") {
			t.Errorf("rule %s is incomplete: %+v", r.ID, r)
		}
	}
	all := page(t)
	if n := len(strings.Fields(all)); n > 4000 {
		t.Errorf("docs/lints.md has %d words, want at most 4,000", n)
	}
	golden(t, "../../../docs/lints.md", all)
}
