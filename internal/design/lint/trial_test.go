package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

const feed = `name: feed
tables:
  Feed:
    partition: PK
    sort: SK
    indexes:
      ByDay: {partition: GSI1PK, sort: GSI1SK}
      ByLength: {partition: GSI1PK, sort: {name: length, type: N}}
fields: {at: {type: millis}, shard: {values: ["0", "1"]}, level: {values: [low, ok, ok, ok, ok]}, body: {size: 3000}}
entities:
  Message:
    attributes:
      PK: "FEED#{shard}"
      SK: "{msg}"
      GSI1PK: "FEED#{at:date}#{shard}"
      GSI1SK: "{at:millis}#{msg}"
      length: {template: "{length:number}", type: N}
      level: "{level}"
      body: "{body}"
    samples:
      - {msg: m1, at: "2026-01-05T10:00:00.000Z", shard: "1", length: 7, level: low}
      - {msg: m2, at: "2026-01-05T11:00:00.000Z", shard: "1", length: 8, level: ok}
    count: 150
patterns:
  - {name: messages of a day, query: {entity: Message, index: ByDay, where: {at: 2026-01-05, shard: "1"}}}
  - name: short messages
    query: {entity: Message, where: {shard: "1"}, filter: length = 7}
    expect: {rows: 1, budget: sample}
`

// TestHarm holds that a proposal that breaks a pattern does not become advice, and that advice says what a proposal
// costs.
func TestHarm(t *testing.T) {
	attributes := func(names ...string) (all []model.Attribute) {
		for _, name := range names {
			all = append(all, model.Attribute{Name: name})
		}
		return all
	}
	finer := model.Index{
		Name: "ByDay", Projection: "ALL", Partition: attributes("SK"), Sort: attributes("GSI1SK"),
	}
	byLevel := model.Index{
		Name: "ByLevel", Projection: "KEYS_ONLY", Partition: attributes("level"), Sort: attributes("SK"),
	}
	limit := lint.OnPattern("short messages", func(_ *model.Model, p *model.Pattern) bool {
		p.Filter, p.Limit = "", 1
		return true
	})

	const general = "think"
	for _, tt := range []struct {
		name, want string
		edit       lint.Edit
	}{
		{"a partition for each message", general, lint.WriteIndex("Feed", finer)},
		{"another index", "do; write units of Message 11.9 → 12.9", lint.WriteIndex("Feed", byLevel)},
		{"a limit", "do; read units of \"short messages\" 28.8 → 0.5", limit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := modelfile.Parse("feed.yaml", []byte(feed))
			require.NoError(t, err)
			w, err := dataset.Build(t.Context(), m, dataset.Options{})
			require.NoError(t, err)
			defer w.Close()

			applied := false // whether the proposal has been applied, which removes the finding
			edit := func(m *model.Model) bool { applied = true; return tt.edit(m) }
			hazard := lint.Rule{
				ID: "hazard", Severity: model.Warning,
				Whole: func(p *lint.Pass) {
					if applied {
						return
					}
					f := &lint.Finding{}
					f.Message, f.Advice = "a hazard", general
					f.Propose("do", edit)
					p.Report(f)
				},
			}
			found, err := lint.RunRules(t.Context(), w, []lint.Rule{hazard})
			require.NoError(t, err)
			require.Equal(t, []string{tt.want}, advice(found))
		})
	}
}
