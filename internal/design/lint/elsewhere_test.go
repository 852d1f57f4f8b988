package lint_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func findingsOf(t *testing.T, src string) []model.Finding {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(src))
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), m, dataset.Options{})
	require.NoError(t, err)
	defer w.Close()
	found, err := lint.RunAlone(t.Context(), w)
	require.NoError(t, err)
	return found
}

// digits matches what may differ between findings for different dates: figures, and the name of the most loaded of
// three partitions.
var digits = regexp.MustCompile(`SENSOR#\w+|[0-9,]*[0-9]`)

// TestSampleDate holds that findings do not depend on the date in a sample. If the sample's range is a month, the
// rules estimate a month in each partition. They take a range with only one end literally.
func TestSampleDate(t *testing.T) {
	proptest.NeedLong(t) // a second for each condition
	conditions := []string{
		"{between: [%[1]s-01, %[1]s-28]}", "{begins_with: %[1]s}", "%[1]s-05",
	}
	months := []string{"2019-02", "2031-02", "2025-02", "2025-11"}
	for _, condition := range conditions {
		var all []string
		for _, month := range months {
			found := findingsOf(t, fmt.Sprintf(`name: sensors
tables: {Data: {partition: PK, sort: SK}}
fields: {sensor: {distinct: 3}}
entities:
  Reading:
    fields: {at: {type: time}, raw: {size: 300}}
    attributes: {PK: "SENSOR#{sensor}", SK: "{at:time}#{reading}"}
    samples: [{sensor: x, at: "%[1]s-05T10:00:00Z", reading: r1, raw: x}]
    count: 60000
patterns:
  - name: readings of a time
    query: {entity: Reading, where: {sensor: x, at: `+condition+`}}
    rate: 200
`, month))
			var about []string
			for _, f := range found {
				about = append(about, f.Rule, f.Severity.String(), f.Message)
			}
			all = append(all, strings.Join(about, "\n"))
		}
		for _, one := range all[1:] {
			require.Equal(t, digits.ReplaceAllString(all[0], "N"), digits.ReplaceAllString(one, "N"), condition)
		}
		if strings.Contains(condition, "between") {
			require.Regexp(t, `loads\nerror\n.* gets [0-9,]+ read units per second`, all[0])
		}
	}
}

// TestFilterElsewhere holds that rules judge a filter in all partitions, even if it drops nothing in that of the
// sample.
func TestFilterElsewhere(t *testing.T) {
	slow(t)
	const src = `name: tasks
tables: {App: {partition: PK, sort: SK}}
entities:
  Project: {count: 100, attributes: {PK: "PROJ#{project}", SK: META}}
  Task:
    of: Project
    per: 20..60
    fields: {kind: {values: [bug, idea, idea, idea, %s]}}
    attributes: {PK: "PROJ#{project}", SK: "TASK#{task}", kind: "{kind}"}
    samples: [{project: empty, task: t1, kind: bug}]
patterns:
  - {name: bugs of a project, query: {entity: Task, where: {project: empty}, filter: "kind = 'bug'"}}
`
	drops := regexp.MustCompile(`"bugs of a project" reads \d+ rows in partition "PROJ#.*" and returns \d+: the filter drops [0-9.]+%`)
	for kinds, want := range map[string]bool{"idea": true, "bug, bug, bug, bug, bug, bug, bug, bug, bug, bug, bug, bug": false} {
		about := ""
		for _, f := range findingsOf(t, fmt.Sprintf(src, kinds)) {
			if f.Rule == "filter-for-key" {
				about += f.Message
			}
		}
		require.Equal(t, want, drops.MatchString(about), about)
	}
}

// TestForeignElsewhere holds that rules report rows of another entity and siblings of a prefix, even if the partition
// of the sample has none. If a limit ends before these rows, there is no finding.
func TestForeignElsewhere(t *testing.T) {
	const src = `name: orders
tables: {App: {partition: PK, sort: SK}}
entities:
  Order:
    attributes: {PK: "C#{customer}", SK: "ORDER#{order}"}
    samples: [{customer: c1, order: o1}, {customer: c2, order: o1}, {customer: c2, order: o2}]
  Line:
    attributes: {PK: "C#{customer}", SK: "ORDER#{order}#LINE#{line}"}
    samples: [{customer: c2, order: o1, line: l1}, {customer: c2, order: o10, line: l1}]
patterns:
  - {name: q, query: {entity: Order, where: {customer: c1%s}%s}}
`
	for _, tt := range []struct{ where, more, want string }{
		{"", "", `"q" asks for rows of Order and reads 2 rows of Line in partition "C#c2"`},
		{"", ", limit: 2", `"q" asks for rows of Order and reads 1 row of Line in partition "C#c2"`},
		{"", ", limit: 1", ""},
		{", order: {begins_with: o1}", "", `the prefix "ORDER#o1" also reads siblings: ORDER#o10#`},
	} {
		var about []string
		for _, f := range findingsOf(t, fmt.Sprintf(src, tt.where, tt.more)) {
			if f.Rule == "foreign-rows" {
				about = append(about, f.Message)
			}
		}
		if tt.want == "" {
			require.Empty(t, about, tt)
		} else {
			require.Contains(t, about, tt.want, tt)
		}
	}
}
