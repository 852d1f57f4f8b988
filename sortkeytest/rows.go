package sortkeytest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// moment calls fn with a context in which all reads see the database as it is now, even if other goroutines write
// items or create and delete tables meanwhile.
func (db *DB) moment(fn func(ctx context.Context)) { db.momentIn(quiet, fn) }

// momentIn is like moment, but derives the context from ctx. ctx may be the context of a moment of another database.
func (db *DB) momentIn(ctx context.Context, fn func(ctx context.Context)) {
	db.t.Helper()
	err := db.DB.View(ctx, func(ctx context.Context) error {
		fn(ctx)
		return nil
	})
	db.must(err, "")
}

// tables returns the names of all tables, sorted.
func (db *DB) tables(ctx context.Context) []string {
	db.t.Helper()
	names, err := db.DB.Tables(ctx)
	db.must(err, "")
	return names
}

// schema returns the schema of a table or, if index is not "", of an index of the table. It fails the test if there
// is no such table.
func (db *DB) schema(ctx context.Context, table, index string) *keycond.Schema {
	db.t.Helper()
	s := db.findSchema(ctx, table, index)
	if s == nil {
		db.missing(ctx, table)
	}
	return s
}

// namesOf returns the names of the first n attributes of a key.
func namesOf(s *keycond.Schema, n int) (names []string) {
	for i := range n {
		names = append(names, s.Attribute(i).Name)
	}
	return names
}

// missing fails the test because a table does not exist.
func (db *DB) missing(ctx context.Context, table string) {
	db.t.Helper()
	db.t.Fatalf("sortkeytest: table %s: ResourceNotFoundException: Requested resource not found: Table: %s not found%s",
		table, table, db.similar(ctx, table))
}

// findSchema is like schema, but returns nil if there is no such table.
func (db *DB) findSchema(ctx context.Context, table, index string) *keycond.Schema {
	db.t.Helper()
	out, err := engine.Of(db.DB).Service.DescribeTable(ctx, &wire.DescribeTableInput{TableName: &table})
	if e, isWire := errors.AsType[*wire.Error](err); isWire && e.Code == "ResourceNotFoundException" {
		return nil
	}
	db.must(err, "table %s: ", table)

	keys, err := keyschema.Of(out.Table)
	if err != nil {
		db.t.Fatalf("sortkeytest: table %s: %v", table, err)
	}
	key := keys.Schema(index)
	if key == nil {
		db.t.Fatalf(
			"sortkeytest: table %s has no index %s: %s", table, index,
			cmp.Or(text.DidYouMean(index, keys.IndexNames()), "it has no index at all"),
		)
	}
	return key
}

// similar returns a hint for a message about a missing table. The hint names a table with a similar name. It is "" if
// there is none.
func (db *DB) similar(ctx context.Context, table string) string {
	if db.life.over() != "" {
		return ""
	}
	tables := db.tables(ctx)
	if slices.Contains(tables, table) {
		return ""
	}
	if len(tables) == 0 {
		return ": the database has no tables"
	}
	return ": " + text.DidYouMean(table, tables)
}

// A row is an item with the values of its key.
type row struct {
	schema *keycond.Schema
	key    []attr.Value
	item   attr.Item
}

// rows returns the items of a table in the order of their keys.
func (db *DB) rows(ctx context.Context, s *keycond.Schema, table string) (rows []row) {
	db.t.Helper()
	for _, c := range db.changes(ctx, nil, s, table) {
		rows = append(rows, c.now)
	}
	return rows
}

// A change is an item that differs between two databases, before and now. If the item is not in one of them, the row
// for that database is zero.
type change struct{ before, now row }

// key returns a row that has the item's key: now or, if the item was deleted, before.
func (c change) key() row {
	if c.now.item == nil {
		return c.before
	}
	return c.now
}

// changes returns the items of a table that differ between the databases before and db, in the order of their keys.
// If before is nil, it returns all items. The table must have the same key in both databases.
func (db *DB) changes(ctx context.Context, before *DB, s *keycond.Schema, table string) (list []change) {
	db.t.Helper()
	rowOf := func(it attr.Item) (r row) {
		if it == nil {
			return r
		}
		r = row{schema: s, item: slices.Clone(it)}
		for _, a := range s.Attributes() {
			r.key = append(r.key, r.item.Get(a.Name))
		}
		return r
	}

	var old *api.Service
	if before != nil {
		old = engine.Of(before.DB).Service
	}
	err := engine.Of(db.DB).Service.Changes(ctx, old, table, func(was, is attr.Item) error {
		list = append(list, change{rowOf(was), rowOf(is)})
		return nil
	})
	db.must(err, "table %s: ", table)
	// slices.SortFunc would compile to 25 KB of code for a type as large as change.
	sort.Slice(list, func(i, j int) bool { return compareRows(list[i].key(), list[j].key()) < 0 })
	return list
}

// compareRows compares the keys of two rows of tables with the same schema.
func compareRows(a, b row) int {
	for i := range a.key {
		if order, ok := attr.Compare(a.key[i], b.key[i]); ok && order != 0 {
			return order
		}
	}
	return 0
}

// String returns the key and the other attributes of the row on one line.
func (r row) String() string {
	var others []string
	for name, v := range r.item.All() {
		if !r.schema.Has(string(name)) {
			others = append(others, text.Name(string(name))+": "+text.Literal(v))
		}
	}
	return r.line(others)
}

// changed returns a line with the key and the attributes that differ between r and now.
func (r row) changed(now row) string {
	var names []string
	for _, it := range []attr.Item{r.item, now.item} {
		for name := range it.All() {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	show := func(v attr.Value) string {
		if v.IsZero() {
			return "none"
		}
		return text.Literal(v)
	}

	var parts []string
	for _, name := range slices.Compact(names) {
		if was, is := r.item.Get(name), now.item.Get(name); was.IsZero() || is.IsZero() || !attr.Equal(was, is) {
			parts = append(parts, text.Name(name)+": "+show(was)+" → "+show(is))
		}
	}
	return r.line(parts)
}

func (r row) line(attributes []string) string {
	keys := make([]string, len(r.key))
	for i, v := range r.key {
		keys[i] = text.Literal(v)
	}
	line := strings.Join(keys, " / ")
	if len(attributes) > 0 {
		line += "  {" + strings.Join(attributes, ", ") + "}"
	}
	return line
}
