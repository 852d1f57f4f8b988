// Package designtest lets tests use the tables of a deployment and the patterns of a key design.
//
// [Load] creates the tables of a deployment, or of a key design, in the database of a test. [Run] runs a subtest for
// every access pattern of a key design, so that a change of the model that reads more than expected fails a test:
//
//	func TestKeys(t *testing.T) { designtest.Run(t, "model.yaml", design.Options{}) }
package designtest

import (
	"slices"
	"testing"

	"github.com/sortkey/sortkey/design"
)

// Run builds the database of a model file and runs each access pattern as a subtest with the pattern's name. A
// subtest fails for every unmet expectation. The message has the place in the file, the expected and the actual
// result, and the keys that show the difference. A subtest called lint fails for errors of lint rules and logs their
// warnings.
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
