// Package design tests key designs offline: which items are stored under which
// keys, and what each access pattern reads and costs, before a table exists. A
// design is a model file in YAML or JSON (see docs/model-file.md; package
// examples has seven). [Load] reads one. [Model.Check] runs every access
// pattern, compares the results with the model's expectations, and looks for
// the hazards that docs/lints.md lists. [Model.Open] opens a database with the
// tables and items of the model, for tests. The command does more, such as
// reports and generated code: see sortkey help design. Package designtest runs
// a subtest for each pattern of a model.
package design

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// A Model is a key design: tables, entities with the templates of their keys, and access patterns. [Load] and [Parse]
// read one.
type Model struct{ m *model.Model }

// Load reads a model from a file. The error lists every mistake in the file, each with its line and column.
func Load(path string) (*Model, error) { return made(modelfile.Load(path)) }

// Parse reads a model from YAML or JSON in memory. File is the file name that errors and findings show.
func Parse(file string, data []byte) (*Model, error) { return made(modelfile.Parse(file, data)) }

func made(m *model.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return &Model{m}, nil
}

// Patterns returns the names of the access patterns in the order of the file. [Options].Only takes such names.
func (m *Model) Patterns() []string {
	names := make([]string, len(m.m.Patterns))
	for i, p := range m.m.Patterns {
		names[i] = p.Name
	}
	return names
}

// Options configure how a model's items are generated and checked. The zero
// value is ready to use.
type Options struct {
	// Seed determines the generated items. Default: the seed of the model.
	Seed uint64
	// MaxItems limits the number of generated items. Items in the file do not count. Default: 100,000. If negative,
	// no items are generated.
	MaxItems int
	// Only lists the access patterns to check. Default: all.
	Only []string
	// NoLints skips the lint rules, so that only expectations can fail.
	NoLints bool
}

// Open returns a database in memory with the tables and the items of the model.
// Close it after use.
func (m *Model) Open(ctx context.Context, o Options) (*sortkey.DB, error) {
	w, err := m.build(ctx, o)
	if err != nil {
		return nil, err
	}
	return w.DB, nil
}

func (m *Model) build(ctx context.Context, o Options) (*dataset.Dataset, error) {
	return dataset.Build(ctx, m.m, dataset.Options{Seed: o.Seed, MaxItems: o.MaxItems})
}

// Check runs the access patterns of the model and the lint rules. It returns the same findings as the command sortkey
// design check, errors first. Package designtest makes subtests of the patterns instead.
func (m *Model) Check(ctx context.Context, o Options) (findings []Finding, err error) {
	w, err := m.build(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	rules := check.Options{Lint: lint.Run}
	if o.NoLints {
		rules.Lint = nil
	}
	r, err := check.Run(ctx, w, rules) // as the command does
	if err != nil {
		return nil, err
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Rule != check.Rule || len(o.Only) == 0 || slices.Contains(o.Only, f.Pattern) {
			findings = append(findings, newFinding(f))
		}
	}
	return findings, nil
}

// A Finding is an unmet expectation or a hazard in a model. [Model.Check] returns them.
type Finding struct {
	// Rule is a lint rule such as "foreign-rows", or "expectation" for an access
	// pattern that does not meet its expectations.
	Rule string
	// Severity is "error", "warning" or "note". Findings that the model accepts
	// are notes.
	Severity string
	// Place is file:line:column.
	Place string
	// Pattern is the access pattern of the finding, or "" if it is about
	// another part of the model.
	Pattern string
	// Message says what is wrong. Keys are keys of items that show it. Advice says what to do.
	Message string
	Keys    []string
	Advice  string
}

func newFinding(f *model.Finding) Finding {
	return Finding{
		Rule: f.Rule, Severity: f.Severity.String(), Place: f.Pos.String(), Pattern: f.Pattern, Message: f.Message,
		Keys: f.Keys, Advice: f.Advice,
	}
}

// String returns the finding on several lines: its place and message, the keys
// and the advice.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Place + ": ")
	if f.Rule != check.Rule {
		b.WriteString(f.Rule + ": ")
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
