// Package designtest makes a subtest of every access pattern of a key design,
// so that a change of a model, or of the code that a model describes, fails
// where it reads more than it should.
//
//	func TestKeys(t *testing.T) { designtest.Run(t, "model.yaml", design.Options{}) }
package designtest

import (
	"slices"
	"testing"

	"github.com/sortkey/sortkey/design"
)

// Run makes the database of a model file and runs each access pattern as a
// subtest with its name. A subtest fails with every expectation that is not
// met: its place in the file, what was expected and what came, and the keys
// that show it. A subtest called lint fails with the errors of the lints and
// logs their warnings.
func Run(t *testing.T, file string, o design.Options) {
	t.Helper()
	m, err := design.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := m.Check(t.Context(), o)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	report := func(t *testing.T, is func(design.Finding) bool) {
		t.Helper()
		for _, f := range findings {
			switch {
			case !is(f):
			case f.Severity == "error":
				t.Error(f)
			case f.Severity == "warning":
				t.Log(f)
			}
		}
	}
	for _, name := range m.Patterns() {
		if len(o.Only) > 0 && !slices.Contains(o.Only, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			report(t, func(f design.Finding) bool { return f.Rule == "expectation" && f.Pattern == name })
		})
	}
	if !o.NoLints {
		t.Run("lint", func(t *testing.T) {
			report(t, func(f design.Finding) bool { return f.Rule != "expectation" })
		})
	}
}
