package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
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
	d := difference{have: def, want: want}
	d.keys()
	for i := range want.Local {
		d.index(&want.Local[i], true)
	}
	var missing []table.IndexDefinition
	for i := range want.Global {
		if ix := want.Global[i]; !d.index(&ix, false) {
			missing = append(missing, ix)
		}
	}
	d.rest()
	if d.list != nil {
		return false, &DifferenceError{def.Name, d.list}
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

// A difference collects the differences between two definitions of a table that [Service.EnsureTable] cannot remove.
type difference struct {
	have, want *table.Definition
	list       []string
}

func (d *difference) add(format string, args ...any) {
	d.list = append(d.list, fmt.Sprintf(format, args...))
}

func (d *difference) keys() {
	if have, want := KeyText(d.have, d.have.Key), KeyText(d.want, d.want.Key); have != want {
		d.add("its key is %q, not %q", have, want)
	}
}

// index compares the wanted index with the existing index of the same name. If the table has no such index but it can
// be added, index returns false.
func (d *difference) index(want *table.IndexDefinition, local bool) bool {
	named := func(ix table.IndexDefinition) bool { return ix.Name == want.Name }
	list, others, kind, other := d.have.Global, d.have.Local, "global", "local"
	if local {
		list, others, kind, other = others, list, other, kind
	}
	at := slices.IndexFunc(list, named)
	switch {
	case slices.ContainsFunc(others, named):
		d.add("index %s is a %s index, not a %s one", want.Name, other, kind)
		return true
	case slices.ContainsFunc(d.have.Vectors, named):
		d.add("index %s is a vector index", want.Name)
		return true
	case at < 0 && local:
		d.add("it has no local index %s, and one cannot be added", want.Name)
		return true
	case at < 0:
		for _, e := range want.Key {
			have, wanted := attributeOf(d.have.Attributes, e.Name), attributeOf(d.want.Attributes, e.Name)
			if have != nil && have.Kind != wanted.Kind && d.have.Keys()[e.Name] {
				d.add("its key attribute %s has the type %s, not %s as in index %s",
					e.Name, have.Kind, wanted.Kind, want.Name)
			}
		}
		return false
	}

	have := &list[at]
	if is, text := KeyText(d.have, have.Key), KeyText(d.want, want.Key); is != text {
		d.add("index %s has the key %q, not %q", want.Name, is, text)
	}
	if is, text := projectionText(have.Projection), projectionText(want.Projection); is != text {
		d.add("index %s projects %s, not %s", want.Name, is, text)
	}
	return true
}

// rest compares the streams and the time to live of the two definitions.
func (d *difference) rest() {
	have, want := d.have, d.want
	if have.Expiry != "" && want.Expiry != "" && have.Expiry != want.Expiry {
		d.add("its time to live is attribute %q, not %q", have.Expiry, want.Expiry)
	}
	if have.Stream != nil && want.Stream != nil && have.Stream.View != want.Stream.View {
		d.add("its stream has the view type %s, not %s", have.Stream.View, want.Stream.View)
	}
}

// KeyText returns a key in the text form of [keycond.Schema].
func KeyText(def *table.Definition, key []table.KeyElement) string {
	var partition, sort []keycond.Attribute
	for _, e := range key {
		a := attributeOf(def.Attributes, e.Name)
		if a == nil {
			continue // cannot happen in a valid definition, which defines all key attributes
		}
		if e.Hash {
			partition = append(partition, *a)
		} else {
			sort = append(sort, *a)
		}
	}
	return keycond.NewSchema(partition, sort).String()
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
