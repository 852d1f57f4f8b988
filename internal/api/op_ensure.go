package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A DifferenceError means that a table exists but differs from the wanted definition in ways that cannot be changed.
type DifferenceError struct {
	Table       string
	Differences []string
}

// Error lists the differences.
func (e *DifferenceError) Error() string {
	return fmt.Sprintf("sortkey: table %s exists, but %s: use another name, or delete the table and create it again",
		e.Table, strings.Join(e.Differences, "; "))
}

// Misuse marks the error as a mistake of the calling program.
func (e *DifferenceError) Misuse() {}

// EnsureTable makes sure that a table exists with the definition in the input. expiry is its time to live attribute,
// or "" for none. EnsureTable creates the table, or adds the global indexes, the stream and the time to live that the
// table lacks, all in one change. It removes nothing. If the table differs in another way, EnsureTable changes
// nothing and returns a [*DifferenceError]. If the table is being changed, the error has the kind [table.InUse]. The
// caller can then wait and call EnsureTable again.
func (s *Service) EnsureTable(ctx context.Context, in *wire.CreateTableInput, expiry string) error {
	_, err := call(ctx, s, wire.OpCreateTable, in,
		func(s *Service, ctx context.Context, in *wire.CreateTableInput) (*wire.CreateTableOutput, error) {
			return nil, s.ensureTable(ctx, in, expiry)
		})
	return err
}

func (s *Service) ensureTable(ctx context.Context, in *wire.CreateTableInput, expiry string) error {
	want, err := s.definition(in)
	if err != nil {
		return err
	}
	want.Expiry = expiry
	if err := want.Check(); err != nil {
		return err
	}

	for {
		have, err := s.found(ctx, in.TableName)
		if err != nil {
			if !isCode(err, codeNotFound) {
				return err
			}
			_, err = s.db.Create(ctx, want)
			return err
		}

		if have.Definition().Status(s.opts.Clock()) == table.StatusDeleting {
			return &table.Error{Kind: table.InUse, Msg: "Table is being deleted: " + want.Name}
		}
		if changed, err := s.extend(have.Definition().Clone(), want); err != nil || !changed {
			return err
		}
		_, err = s.db.Alter(ctx, want.Name, func(def *table.Definition) error {
			had := len(def.Global)
			changed, err := s.extend(def, want)
			switch {
			case err != nil:
				return err
			case !changed: // by somebody else, meanwhile
				return errUnchanged
			}
			return s.db.StartUpdate(def, len(def.Global) > had)
		})

		switch {
		case errors.Is(err, errUnchanged):
			return nil
		case !isNotFound(err):
			return err
		}
		// Another caller has deleted the table meanwhile, so try again.
	}
}

// errUnchanged ends an update of a definition that already has everything that is wanted.
var errUnchanged = errors.New("the table has all that is wanted")

const codeNotFound = "ResourceNotFoundException"

func isCode(err error, code string) bool {
	e, ok := errors.AsType[*wire.Error](err)
	return ok && e.Code == code
}

// extend adds to def the global indexes, the stream and the time to live that want has and def lacks. It reports
// whether it added anything. If def and want differ in another way, extend returns a [*DifferenceError].
func (s *Service) extend(def, want *table.Definition) (changed bool, err error) {
	have, wanted := traits(def), traits(want)
	var differences []string
	add := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if is, ok := have[name]; ok && is != wanted[name] {
			add("%s is %s, not %s", name, is, wanted[name])
		}
	}
	for _, ix := range want.Local {
		if have["index "+ix.Name] == "" {
			add("it has no local index %s, and one cannot be added", ix.Name)
		}
	}
	var missing []table.IndexDefinition
	for _, ix := range want.Global {
		if have["index "+ix.Name] != "" {
			continue
		}
		missing = append(missing, ix)
		for _, e := range ix.Key {
			is, not := attributeOf(def.Attributes, e.Name), attributeOf(want.Attributes, e.Name)
			if is != nil && is.Kind != not.Kind && def.Keys()[e.Name] {
				add("its key attribute %s has the type %s, not %s as in index %s", e.Name, is.Kind, not.Kind, ix.Name)
			}
		}
	}
	if differences != nil {
		return false, &DifferenceError{def.Name, differences}
	}

	for _, ix := range missing {
		if !def.OnDemandBilling() {
			ix.Throughput = table.Throughput{Read: def.Throughput.Read, Write: def.Throughput.Write}
		}
		def.Global = append(def.Global, ix)
		for _, e := range ix.Key {
			if attributeOf(def.Attributes, e.Name) == nil {
				def.Attributes = append(def.Attributes, *attributeOf(want.Attributes, e.Name))
			}
		}
		changed = true
	}
	if want.Stream != nil && def.Stream == nil {
		def.Stream, changed = want.Stream, true
	}
	if want.Expiry != "" && def.Expiry == "" {
		def.Expiry, changed = want.Expiry, true
	}
	return changed, nil
}

// traits returns the parts of a table that [Service.EnsureTable] compares, as text by name.
func traits(def *table.Definition) map[string]string {
	m := map[string]string{"its key": strconv.Quote(def.KeyText(def.Key))}
	indexes := func(kind string, list []table.IndexDefinition) {
		for _, ix := range list {
			m["index "+ix.Name] = fmt.Sprintf("a %s index with the key %q that projects %s",
				kind, def.KeyText(ix.Key), projectionText(ix.Projection))
		}
	}
	indexes("global", def.Global)
	indexes("local", def.Local)
	indexes("vector", def.Vectors)
	if def.Expiry != "" {
		m["its time to live attribute"] = strconv.Quote(def.Expiry)
	}
	if def.Stream != nil {
		m["the view type of its stream"] = def.Stream.View
	}
	return m
}

func projectionText(p table.Projection) string {
	switch p.Type {
	case table.ProjectAll:
		return "all attributes"
	case table.ProjectKeys:
		return "the keys only"
	}
	return "the keys and " + strings.Join(slices.Sorted(slices.Values(p.Include)), ", ")
}
