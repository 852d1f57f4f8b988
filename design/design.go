// Package design runs key designs offline: what is stored under which keys, and
// what each access pattern reads and costs, before a table exists.
//
// A design is a model file, YAML or JSON (docs/model-file.md describes it, and
// package examples has seven). [Load] reads one. [Model.Check] asks every access
// pattern, holds the answers to what the model expects, and looks for the
// hazards of byte order that docs/lints.md lists. [Model.Open] opens a database
// with the tables and items of the model, for tests.
//
// The command does the same and more, with reports and generated code: see
// sortkey help design. Package designtest makes subtests of a model's patterns.
package design

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/lint"
)

// A Model is a key design: tables, entities with the templates of their keys,
// and access patterns.
type Model struct{ m *design.Model }

// Load reads the model in a file. The error lists everything that is wrong with
// it, each with its place.
func Load(path string) (*Model, error) { return made(design.Load(path)) }

// Parse reads a model from YAML or JSON. File is the name in the places that
// errors and findings give.
func Parse(file string, data []byte) (*Model, error) { return made(design.Parse(file, data)) }

func made(m *design.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return &Model{m}, nil
}

// Patterns returns the names of the access patterns, in the order of the file.
func (m *Model) Patterns() []string {
	names := make([]string, len(m.m.Patterns))
	for i, p := range m.m.Patterns {
		names[i] = p.Name
	}
	return names
}

// Options say how a model's items are made and checked. The zero value is ready
// to use.
type Options struct {
	// Seed makes other generated items. Default: that of the model.
	Seed uint64
	// MaxItems is how many items to generate at most, besides those that the
	// model writes out. Default: 100,000. Negative: none.
	MaxItems int
	// Only checks the access patterns with these names. Default: all.
	Only []string
	// NoLints leaves out the lints, so that only expectations can fail.
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

func (m *Model) build(ctx context.Context, o Options) (*design.World, error) {
	return design.Build(ctx, m.m, design.Options{Seed: o.Seed, MaxItems: o.MaxItems})
}

// Check asks the access patterns of the model, one after the other, and returns
// what is wrong with them and with the keys, errors first. A model without
// findings is what it says it is.
func (m *Model) Check(ctx context.Context, o Options) (findings []Finding, err error) {
	w, err := m.build(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	found := []design.Finding{}
	for _, p := range m.m.Patterns {
		if len(o.Only) > 0 && !slices.Contains(o.Only, p.Name) {
			continue
		}
		r, err := check.Pattern(ctx, w, p, check.Options{})
		if err != nil {
			return nil, err
		}
		found = append(found, r.Failures...)
	}
	if !o.NoLints {
		hazards, err := lint.Run(ctx, w)
		if err != nil {
			return nil, err
		}
		found = append(found, hazards...)
	}
	for _, severity := range []design.Severity{design.Error, design.Warning, design.Note} {
		for _, f := range found {
			if f.Severity == severity {
				findings = append(findings, newFinding(&f))
			}
		}
	}
	return findings, nil
}

// A Finding is something in a model that its author should look at.
type Finding struct {
	// Rule is the lint, as "open-prefix", or "expectation" for an access pattern
	// that did not do what the model expects.
	Rule string
	// Severity is "error", "warning" or "note". What the model accepts is a
	// note.
	Severity string
	// Place is file:line:column.
	Place string
	// Pattern is the access pattern that it is about, "" if it is about another
	// part of the model.
	Pattern string
	// Message says what is wrong, Keys are real keys that show it, and Advice
	// says what to do.
	Message string
	Keys    []string
	Advice  string
}

func newFinding(f *design.Finding) Finding {
	return Finding{
		Rule: f.Rule, Severity: f.Severity.String(), Place: f.Pos.String(), Pattern: f.Pattern, Message: f.Message, Keys: f.Keys, Advice: f.Advice,
	}
}

// String returns the finding in lines: its place, what is wrong, the keys that
// show it and what to do.
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
