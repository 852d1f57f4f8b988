package export

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// exampleModels returns the models of the repository that are valid.
func exampleModels(t *testing.T) map[string]*model.Model {
	t.Helper()
	all := map[string]*model.Model{}
	for _, pattern := range []string{
		"testdata/*.yaml", "../../../design/examples/*/model.yaml",
		"../../../design/designtest/testdata/*.yaml", "../../../cmd/sortkey/testdata/*.yaml",
		"../gen/testdata/*.yaml", "../gen/testdata/store/*.yaml", "../world/testdata/*.yaml", "../modelfile/*.yaml",
		"../modelfile/testdata/*.yaml", "../report/testdata/*.yaml", "../convert/testdata/golden/*.yaml",
		"../lint/testdata/*/bad.yaml",
		"../lint/testdata/*/good.yaml", // the same but for a rule
	} {
		if strings.HasPrefix(pattern, "../lint/") && !proptest.Long() {
			continue // small models that differ little
		}
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			m, err := modelfile.Load(path)
			if strings.HasPrefix(path, "testdata/") {
				require.NoError(t, err)
			}
			if err == nil {
				all[strings.TrimPrefix(path, "../")] = m
			}
		}
	}
	least := 25
	if proptest.Long() {
		least = 80
	}
	require.Greater(t, len(all), least)
	return all
}

// readBack reads a file as sortkey design import does.
func readBack(t *testing.T, f Format, file File) *model.Model {
	t.Helper()
	in := convert.File{Name: file.Name, Data: file.Data}
	if f == CloudFormation || f == Terraform {
		var err error
		path := filepath.Join(t.TempDir(), file.Name)
		require.NoError(t, os.WriteFile(path, file.Data, 0o600))
		in.Tables, in.Notes, err = tabledef.Read(path, nil)
		require.NoError(t, err, string(file.Data))
		require.Empty(t, in.Notes)
	}
	m, _, err := convert.Import(context.Background(), []convert.File{in}, convert.Options{})
	require.NoError(t, err, string(file.Data))
	return m
}

// withoutInvented removes what an import makes up: patterns, and an item of an entity that has none.
func withoutInvented(was, is *model.Model) *model.Model {
	is.Patterns = slices.DeleteFunc(is.Patterns, func(p *model.Pattern) bool {
		return strings.HasPrefix(p.About, "Derived from the keys") && was.Pattern(p.Name) == nil
	})
	for _, e := range is.Entities {
		if from := was.Entity(e.Name); from != nil && len(from.Samples) == 0 {
			e.Samples = nil
		}
	}
	return is
}

// regrouped undoes what an import does to facets: it takes apart one whose keys have different words,
// and sorts items without a facet.
func regrouped(was, is *model.Model) *model.Model {
	is.Entities = slices.DeleteFunc(is.Entities, func(e *model.Entity) bool {
		for _, from := range was.Entities {
			if strings.HasPrefix(e.Name, from.Name+" ") && was.Entity(e.Name) == nil {
				e.Name = from.Name
			}
		}
		if was.Entity(e.Name) != nil {
			return false
		}
		for _, s := range e.Samples {
			if it, err := e.ItemWith(s.Values, s.Attributes); err == nil {
				is.Items = append(is.Items, &model.RawItem{Table: e.Table, Item: it})
			}
		}
		return true
	})
	return is
}

// TestRoundTrip exports each model of the repository in each format, reads the files back, and
// compares what the two models say: it differs where the losses of the file say so, and nowhere else.
func TestRoundTrip(t *testing.T) {
	for name, m := range exampleModels(t) {
		for _, f := range Formats() {
			if f == CDK {
				continue // which scripts/check-export.sh synthesizes
			}
			t.Run(name+"/"+string(f), func(t *testing.T) {
				t.Parallel()
				files, err := Export(m, f)
				require.NoError(t, err)
				for i, file := range files {
					was := m
					if writerOf(f).each {
						was = Only(m, m.Tables[i])
					}
					if file.Data == nil {
						require.Contains(t, file.Losses, Loss{Part: Tables, Names: []string{was.Tables[0].Name}})
						continue
					}
					is := readBack(t, f, file)
					if f == Workbench {
						is = regrouped(was, is)
					}
					compareModels(t, f, file, was, withoutInvented(was, is))
				}
			})
		}
	}
}

// compareModels compares a model with what was made of its file.
func compareModels(t *testing.T, f Format, file File, was, is *model.Model) {
	t.Helper()
	d := &design{m: was, w: writerOf(f), facts: facts(was)}
	for _, l := range file.Losses {
		if !slices.Contains(d.w.carries, l.Part) && l.Part != Added {
			continue
		}
		if len(l.Names) == 0 {
			d.lose(l.Part, "")
		}
		for _, name := range l.Names {
			d.lose(l.Part, name)
		}
	}
	before, after := map[string]fact{}, map[string]fact{}
	for _, c := range d.facts {
		before[c.path] = c
	}
	for _, c := range facts(is) {
		after[c.path] = c
	}

	for path, c := range before {
		got, ok := after[path]
		if same := ok && got.value == c.value; !same && !d.lacks(c) {
			t.Errorf("%s\n  model:    %q\n  imported: %q\n  losses: %v", path, c.value, got.value, file.Losses)
		}
	}
	for path, c := range after {
		if _, ok := before[path]; !ok && !d.lacks(c) {
			t.Errorf("%s: the import has %q, but the model does not; losses: %v", path, c.value, file.Losses)
		}
	}

	// A loss that loses nothing is not one.
	for _, l := range file.Losses {
		names := l.Names
		if names == nil {
			names = []string{""}
		}
		for _, name := range names {
			real := slices.ContainsFunc(d.facts, func(c fact) bool {
				got, ok := after[c.path]
				return c.part == l.Part && d.nameOf(c) == name && (!ok || got.value != c.value)
			})
			if l.Part == Added {
				real = slices.ContainsFunc(facts(is), func(c fact) bool {
					_, ok := before[c.path]
					return !ok && c.attribute != "" && strings.HasSuffix("."+name, "."+c.attribute)
				})
			}
			if !real && !inferred(f, l.Part) {
				t.Errorf("the loss of %q for %q loses nothing", l.Part, name)
			}
		}
	}
}

// inferred reports whether an import can infer a part that its file does not have.
func inferred(f Format, part Part) bool {
	if f == Workbench && slices.Contains([]Part{Templates, Types, Constants, Conditions}, part) {
		return true
	}
	if f == ElectroDB && part == Items {
		return true // which import makes up, sometimes the same
	}
	return slices.Contains([]Part{Parents, Values, Generation, Name, TableNames, Patterns}, part)
}

// lacks reports whether the losses say that a fact is lost, or for a fact of the import that it may
// have been added.
func (d *design) lacks(c fact) bool {
	if d.loses(c) || d.losesWhole(c) {
		return true
	}
	if c.attribute == "" {
		return false
	}
	template := single{Templates, c.of + "." + c.attribute}
	constant := single{Constants, c.of + "." + c.attribute}
	if c.part == Templates || c.part == Constants || c.part == Types {
		if slices.Contains(d.lost, template) || slices.Contains(d.lost, constant) {
			return true
		}
	}
	return slices.Contains(d.lost, single{Added, c.attribute}) ||
		slices.Contains(d.lost, single{Added, c.of + "." + c.attribute})
}
