// Package designtest makes a subtest of every access pattern of a key design,
// so that a change of a model, or of the code that a model describes, fails
// where it reads more than it should.
//
//	func TestKeys(t *testing.T) { designtest.Run(t, "model.yaml") }
package designtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/design/check"
)

// Options configure [RunWith]. The zero value is ready to use.
type Options struct {
	// Design is how the model's items are made.
	Design design.Options
	// Check is how its patterns are asked.
	Check check.Options
}

// Run builds the world of a model file and runs each access pattern as a
// subtest with its name. A subtest fails with every expectation that is not
// met: its place in the file, what was expected and what came, and the keys
// that show it.
func Run(t *testing.T, file string) {
	t.Helper()
	RunWith(t, file, Options{})
}

// RunWith is [Run] with options. With [check.Options].Lint set, a subtest named
// lint fails with the errors that the lints find.
func RunWith(t *testing.T, file string, o Options) {
	t.Helper()
	m, err := design.Load(file)
	if err != nil {
		t.Fatalf("%v", err)
	}
	w, err := design.Build(t.Context(), m, o.Design)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("closing the world of %s: %v", file, err)
		}
	})
	for _, p := range m.Patterns {
		t.Run(p.Name, func(t *testing.T) {
			r, err := check.Pattern(t.Context(), w, p, o.Check)
			if err != nil {
				t.Fatalf("%s: %v", p.Pos, err)
			}
			for _, f := range r.Failures {
				t.Error(text(f))
			}
		})
	}
	if o.Check.Lint == nil {
		return
	}
	t.Run("lint", func(t *testing.T) {
		found, err := o.Check.Lint(t.Context(), w)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, f := range found {
			if f.Severity == design.Error {
				t.Error(text(f))
			} else {
				t.Log(text(f))
			}
		}
	})
}

// text writes a finding as a test failure.
func text(f design.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", f.Pos)
	if f.Rule != check.Rule {
		fmt.Fprintf(&b, "%s: ", f.Rule)
	}
	b.WriteString(f.Message)
	for _, k := range f.Keys {
		b.WriteString("\n    key " + k)
	}
	if f.Advice != "" {
		b.WriteString("\n    do  " + f.Advice)
	}
	return b.String()
}
