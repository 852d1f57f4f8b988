package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

const shop = `name: shop
tables: {Shop: {partition: PK, sort: SK, indexes: {ByDay: {partition: day, sort: SK}}}}
entities:
  Order:
    attributes: {PK: "C#{customer}", SK: "O#{placed:date}#{order}", day: "{placed:date}"}
    samples: [{customer: c1, placed: "2026-01-05", order: o1}]
  Profile:
    attributes: {PK: "C#{customer}", SK: "PROFILE"}
    samples: [{customer: c1}]
patterns:
  - {name: orders, query: {entity: Order, where: {customer: c1}}}
allow:
  - {rule: subjects, on: ByDay, why: a test}
  - {rule: unknown, why: a test}
`

// run applies rules to the shop model.
func run(t *testing.T, rules ...lint.Rule) []*lint.Finding {
	t.Helper()
	m, err := modelfile.Parse("shop.yaml", []byte(shop))
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), m, dataset.Options{})
	require.NoError(t, err)
	defer w.Close()
	found, err := lint.RunRules(t.Context(), w, rules)
	require.NoError(t, err)
	return found
}

// TestSubjects holds that a rule sees all subjects of its kinds in file order, and that it sees the allowances last,
// when they have accepted findings.
func TestSubjects(t *testing.T) {
	var seen []string
	see := func(kind string, subject any) { seen = append(seen, fmt.Sprint(kind, " ", subject)) }
	found := run(t, lint.Rule{
		ID: "subjects", Severity: model.Warning,
		Whole: func(p *lint.Pass) { see("whole", p.Model.Name) },
		View: func(p *lint.Pass, v *lint.View) {
			see("view", v)
			if v.Index != nil {
				p.Report(v.Finding("%s has %s", v, v.Hash[0].Name))
			}
		},
		Entity:    func(_ *lint.Pass, e *model.Entity) { see("entity", e.Name) },
		Query:     func(_ *lint.Pass, q *lint.Query) { see("query", q.Name) },
		Slot:      func(_ *lint.Pass, s *lint.Slot) { see("slot", s.Entity.Name+" "+s.Name) },
		Component: func(_ *lint.Pass, c lint.Component) { see("component", c.Slot.Name+" "+c.Name) },
	}, lint.Rule{
		ID: "last",
		Whole: func(p *lint.Pass) {
			for _, a := range p.Model.Allow {
				see("allowance", fmt.Sprint(a.Rule, " ", p.Known[a.Rule], " ", p.Used[a]))
			}
		},
	})
	require.Equal(t, strings.Split(strings.TrimSpace(`
whole shop
view table Shop
view index ByDay
entity Order
entity Profile
query orders
slot Order PK
slot Order SK
slot Order day
slot Profile PK
slot Profile SK
component PK customer
component SK placed
component SK order
component day placed
component PK customer
allowance subjects true true
allowance unknown false false`), "\n"), seen)

	require.Len(t, found, 1)
	require.Equal(t, "index ByDay has day", found[0].Message)
	require.Equal(t, model.Note, found[0].Severity)
	require.Equal(t, "a test", found[0].Accepted)
}

func advice(found []*lint.Finding) (all []string) {
	for _, f := range found {
		all = append(all, f.Advice)
	}
	return all
}
