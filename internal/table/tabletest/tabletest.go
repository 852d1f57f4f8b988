// Package tabletest has helpers for the tests of packages table and life.
package tabletest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store/memory"
	"github.com/stretchr/testify/require"
)

// A Fixture is a database in memory with helpers that fail the test on errors.
type Fixture struct {
	testing.TB
	DB *life.DB
}

// Open returns a database in memory.
func Open(t testing.TB) *Fixture {
	t.Helper()
	db, err := life.Open(context.Background(), memory.Open())
	require.NoError(t, err)
	return &Fixture{t, db}
}

// Define returns a definition. A table key has the form "PK:S SK:S". An index has a name, a partition key, a sort key
// and a projection, such as "GSI1 tag:S at:S ALL", "GSI2 a:S,b:S - KEYS_ONLY" or "LSI1 PK:S n:N INCLUDE x". An index
// whose name begins with L is a local index.
func Define(t testing.TB, name, key string, indexes ...string) *table.Definition {
	t.Helper()
	def := &table.Definition{Name: name}
	elements := func(text string, hash bool) (out []table.KeyElement) {
		for part := range strings.SplitSeq(text, ",") {
			if part == "-" {
				continue
			}
			n, k, _ := strings.Cut(part, ":")
			kind, ok := attr.ParseKind(k)
			require.True(t, ok, "%q is no kind", k)
			a := keycond.Attribute{Name: n, Kind: kind}
			known := false
			for _, d := range def.Attributes {
				known = known || d == a
			}
			if !known {
				def.Attributes = append(def.Attributes, a)
			}
			out = append(out, table.KeyElement{Name: n, Hash: hash})
		}
		return out
	}

	schema := func(fields []string) []table.KeyElement {
		out := elements(fields[0], true)
		if len(fields) > 1 {
			out = append(out, elements(fields[1], false)...)
		}
		return out
	}

	def.Key = schema(strings.Fields(key))
	for _, text := range indexes {
		f := strings.Fields(text)
		ix := table.IndexDefinition{Name: f[0], Key: schema(f[1:3]), Projection: table.Projection{Type: f[3]}}
		if len(f) > 4 {
			ix.Projection.Include = strings.Split(f[4], ",")
		}
		if f[0][0] == 'L' {
			def.Local = append(def.Local, ix)
		} else {
			def.Global = append(def.Global, ix)
		}
	}

	return def
}

// Create creates the table that [Define] describes.
func (f *Fixture) Create(name, key string, indexes ...string) *table.Table {
	f.Helper()
	tb, err := f.DB.Create(context.Background(), Define(f, name, key, indexes...))
	require.NoError(f, err)
	return tb
}

// Item parses DynamoDB JSON with single quotes.
func Item(t testing.TB, text string) attr.Item {
	t.Helper()
	it, err := attr.ParseItem([]byte(strings.ReplaceAll(text, "'", `"`)))
	require.NoError(t, err)
	return it
}

func Condition(t testing.TB, param expr.Param, src, values string) *expr.Condition {
	t.Helper()
	if src == "" {
		return nil
	}
	var bound attr.Item
	if values != "" {
		bound = Item(t, values)
	}
	env, err := expr.NewEnv(expr.Params{Values: bound})
	require.NoError(t, err)
	c, err := env.Condition(param, src)
	require.NoError(t, err)
	return c
}

// Put puts an item into a table.
func (f *Fixture) Put(name, text string) table.Change {
	f.Helper()
	change, err := f.TryPut(name, text, nil)
	require.NoError(f, err)
	return change
}

// TryPut is Put with a condition, and returns its error.
func (f *Fixture) TryPut(name, text string, cond *expr.Condition) (change table.Change, err error) {
	it := Item(f, text)
	err = f.DB.Update(context.Background(), func(tx *table.Tx) error {
		tb, err := tx.Table(name)
		if err != nil {
			return err
		}
		change, err = tx.Put(tb, it, cond)
		return err
	})
	return change, err
}

// Delete deletes the item with a key.
func (f *Fixture) Delete(name, key string) table.Change {
	f.Helper()
	k := Item(f, key)
	var change table.Change
	require.NoError(f, f.DB.Update(context.Background(), func(tx *table.Tx) error {
		tb, err := tx.Table(name)
		if err != nil {
			return err
		}
		change, err = tx.Delete(tb, k, nil)
		return err
	}))
	return change
}

// Show returns the values that the items have for an attribute, separated by spaces.
func Show(items []attr.Item, name string) string {
	var out []string
	for _, it := range items {
		out = append(out, strings.Trim(it.Get(name).String(), "{}SNB:"))
	}
	return strings.Join(out, " ")
}

// KindOf returns the kind of a [table.Error], or 0.
func KindOf(err error) table.Kind {
	if e, ok := errors.AsType[*table.Error](err); ok {
		return e.Kind
	}
	return 0
}

// Scan returns the items of a table as JSON, in scan order.
func (f *Fixture) Scan(name string) (rows []string) {
	f.Helper()
	require.NoError(f, f.DB.View(context.Background(), func(s *table.View) error {
		tb, err := s.Table(name)
		if err != nil {
			return err
		}
		_, err = s.Scan(&table.Scan{Read: table.Read{Table: tb}}, func(it attr.Item) error {
			rows = append(rows, string(it.AppendJSON(nil)))
			return nil
		})
		return err
	}))
	return rows
}

// ScanIndex returns the entries of an index as JSON, sorted.
func ScanIndex(f *Fixture, name, index string) (rows []string) {
	f.Helper()
	require.NoError(f, f.DB.View(context.Background(), func(s *table.View) error {
		tb, err := s.Table(name)
		if err != nil {
			return err
		}
		ix, err := tb.Index(index)
		if err != nil {
			return err
		}
		_, err = s.Scan(&table.Scan{Read: table.Read{Table: tb, Index: ix}}, func(it attr.Item) error {
			rows = append(rows, string(it.AppendJSON(nil)))
			return nil
		})
		return err
	}))
	slices.Sort(rows)
	return rows
}

// Names returns the names of all tables.
func Names(t *testing.T, db *life.DB) []string {
	list, err := db.Names(t.Context())
	require.NoError(t, err)
	return list
}
