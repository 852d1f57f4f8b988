package lint_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

func side(t *testing.T, src string) diff.Side {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(src))
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: 1000})
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	r, err := check.Run(t.Context(), w, check.Options{Lint: lint.Run})
	require.NoError(t, err)
	return diff.Side{Dataset: w, Result: r}
}

func differ(t *testing.T, was, is diff.Side, renames diff.Renames) *diff.Diff {
	t.Helper()
	d, err := diff.Of(t.Context(), was, is, renames)
	require.NoError(t, err)
	return d
}

// TestAlign holds that new names of an entity and a field do not change the generated items.
func TestAlign(t *testing.T) {
	const src = `name: m
tables: {Tab: {partition: PK, sort: SK}}
entities:
  Owner: {attributes: {PK: "O#{owner}", SK: A}, count: 20}
  Pet: {of: Owner, attributes: {PK: "O#{owner}", SK: "P#{pet}", text: "{note}"}, fields: {note: {size: 1..90}}, count: 99}
`
	parsed := func(src string) *model.Model {
		m, err := modelfile.Parse("m.yaml", []byte(src))
		require.NoError(t, err)
		return m
	}
	was, is := parsed(src), parsed(strings.NewReplacer("Owner", "Holder", "Pet", "Animal", "note", "remark").Replace(src))
	diff.Align(was, is, nil)
	var items [2][]string
	for i, m := range []*model.Model{was, is} {
		w, err := dataset.Build(t.Context(), m, dataset.Options{})
		require.NoError(t, err)
		defer w.Close()
		for k := range w.Items {
			items[i] = append(items[i], string(w.Items[k].Attributes))
		}
	}
	require.Equal(t, items[0], items[1])
}

// renamesOf returns the renames in a script's arguments, such as rename=(Old=New, Other=).
func renamesOf(d *datadriven.TestData) diff.Renames {
	renames := diff.Renames{}
	for _, arg := range d.CmdArgs {
		for _, v := range arg.Vals {
			old, made, _ := strings.Cut(v, "=")
			renames[old] = made
		}
	}
	return renames
}

// TestDiff compares the two models of each case, which are separated by a line of ===. The command plan prints only
// the plan, with its questions and names, and also carries it out.
func TestDiff(t *testing.T) {
	datadriven.Walk(t, "../diff/testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			old, made, ok := strings.Cut(d.Input, "\n===\n")
			require.True(t, ok)
			was, is, renames := side(t, old), side(t, made), renamesOf(d)
			result := differ(t, was, is, renames)
			var b strings.Builder
			switch d.Cmd {
			case "markdown":
				require.NoError(t, result.WriteMarkdown(&b, "a <title> | *b*"))
			case "plan":
				plan := diff.Diff{Questions: result.Questions, Names: result.Names, Plan: result.Plan}
				require.NoError(t, plan.WriteText(&b, 100))
				if len(result.Questions) == 0 {
					carryOutSamples(t, was.Dataset.Model, is.Dataset.Model, result, renames)
				}
				if len(result.Questions)+len(result.Plan) == 0 {
					return "nothing to do\n"
				}
				return b.String()
			default:
				require.NoError(t, result.WriteText(&b, 100))
			}
			if result.Worse() {
				b.WriteString("worse\n")
			}
			return b.String()
		})
	})
}

// carryOutSamples carries out a plan on a database that has the samples of the old version. If an entity has as many
// samples in the new version, the n-th sample is the same item in both.
func carryOutSamples(t *testing.T, was, is *model.Model, d *diff.Diff, renames diff.Renames) {
	becomes := map[string]string{}
	var things []*thing
	for _, e := range was.Entities {
		name, said := renames[e.Name]
		if name = strings.TrimPrefix(name, "="); !said {
			name = e.Name
		}
		made := is.Entity(name)
		if made == nil && !said && len(was.Entities) == 1 && len(is.Entities) == 1 {
			made = is.Entities[0]
		}
		for i, s := range e.Samples {
			g := &thing{was: e.Name, before: s.Values}
			if made != nil {
				g.made, g.after = made.Name, s.Values
				if len(made.Samples) == len(e.Samples) {
					g.after = made.Samples[i].Values
				}
			}
			// If the entity was split, take the new entity whose sample has these values.
			for _, other := range is.Entities {
				for _, sample := range other.Samples {
					if was.Entity(other.Name) == nil && len(is.Entities) > len(was.Entities) &&
						is.Entity(renames[e.Name]) != nil && within(sample.Values, s.Values) {
						g.made, g.after = other.Name, sample.Values
					}
				}
			}
			if becomes[e.Name] == "" || becomes[e.Name] == g.made {
				becomes[e.Name] = g.made
			} else {
				becomes[e.Name] = e.Name // e was split
			}
			things = append(things, g)
		}
	}
	newTeam(t.Context(), t, opened(t), was, d, becomes, things).carryOut(nil)
}

// within reports whether others has all of values.
func within(values, others map[string]string) bool {
	for name, v := range values {
		if others[name] != v {
			return false
		}
	}
	return true
}

// TestSame holds that a model does not differ from itself.
func TestSame(t *testing.T) {
	m, err := modelfile.Load("../modelfile/testdata/shop.yaml")
	require.NoError(t, err)
	var src strings.Builder
	require.NoError(t, modelfile.Write(&src, m))
	shop := side(t, src.String())
	d := differ(t, shop, shop, nil)
	require.True(t, d.Empty())
	require.Empty(t, d.Plan)
	require.False(t, d.Worse())
}
