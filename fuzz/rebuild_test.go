package fuzz_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// dump returns the rows of a space.
func dump(r store.Reader, space store.Space) (rows []store.Row, err error) {
	for row, err := range r.Scan(space, store.Everything()) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, store.Row{Partition: bytes.Clone(row.Partition), Sort: bytes.Clone(row.Sort), Value: bytes.Clone(row.Value)})
	}
	return rows, nil
}

func sameRows(a, b []store.Row) bool {
	return slices.EqualFunc(a, b, func(a, b store.Row) bool {
		return bytes.Equal(a.Partition, b.Partition) && bytes.Equal(a.Sort, b.Sort) && bytes.Equal(a.Value, b.Value)
	})
}

// checkIndexes compares every index of every table in a store, byte by byte,
// with one built anew from the items of the table.
func checkIndexes(st store.Store) error {
	ctx := context.Background()
	db, err := life.Open(ctx, st)
	if err != nil {
		return err
	}
	names, err := db.Names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		t, err := db.Describe(ctx, name)
		if err != nil {
			return err
		}
		if err := checkTable(ctx, st, t.Definition()); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return nil
}

func checkTable(ctx context.Context, st store.Store, def *table.Definition) error {
	spaces := map[string]store.Space{"": def.Space}
	for _, ix := range slices.Concat(def.Local, def.Global) {
		spaces[ix.Name] = ix.Space
	}
	have := map[string][]store.Row{}
	err := st.View(ctx, func(r store.Reader) (err error) {
		for name, space := range spaces {
			if have[name], err = dump(r, space); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	again, built, err := rebuild(ctx, def, have[""])
	if err != nil {
		return err
	}
	return again.View(ctx, func(r store.Reader) error {
		check := func(name string, space store.Space) error {
			want, err := dump(r, space)
			if err != nil {
				return err
			}
			if !sameRows(have[name], want) {
				return fmt.Errorf("the rows of index %q are\n%s, and built anew\n%s", name, showRows(have[name]), showRows(want))
			}
			return nil
		}
		if err := check("", built.Space); err != nil {
			return err
		}
		for _, ix := range slices.Concat(built.Local, built.Global) {
			if err := check(ix.Name, ix.Space); err != nil {
				return err
			}
		}
		return nil
	})
}

// rebuild creates a table with the items in rows in a new store. It adds the
// global indexes afterwards.
func rebuild(ctx context.Context, def *table.Definition, rows []store.Row) (store.Store, *table.Definition, error) {
	st := memory.Open()
	db, err := life.Open(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	first := *def
	first.Space, first.Global, first.Stream = 0, nil, nil
	first.Local = slices.Clone(def.Local)
	used := map[string]bool{}
	note := func(key []table.KeyElement) {
		for _, e := range key {
			used[e.Name] = true
		}
	}
	note(def.Key)
	for i := range first.Local {
		first.Local[i].Space = 0
		note(first.Local[i].Key)
	}
	first.Attributes = slices.DeleteFunc(slices.Clone(def.Attributes), func(a keycond.Attribute) bool { return !used[a.Name] })
	if _, err := db.Create(ctx, &first); err != nil {
		return nil, nil, err
	}
	err = db.Update(ctx, func(tx *table.Tx) error {
		t, err := tx.Table(def.Name)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if _, err := tx.Put(t, attr.Item(bytes.Clone(row.Value)), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	t, err := db.Alter(ctx, def.Name, func(d *table.Definition) error {
		d.Attributes = def.Attributes
		d.Global = slices.Clone(def.Global)
		for i := range d.Global {
			d.Global[i].Space = 0
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return st, t.Definition(), nil
}

func showRows(rows []store.Row) string {
	var out bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&out, "\t%q %q %s\n", r.Partition, r.Sort, attr.Item(r.Value).AppendJSON(nil))
	}
	return out.String()
}

// check compares the whole database with the model: the tables, their items and
// counts; it also compares the indexes with rebuilt ones.
func (w *world) check() {
	w.Helper()
	var list struct{ TableNames []string }
	w.must("ListTables", map[string]any{}, &list)
	if len(list.TableNames) != len(w.tables) {
		w.Fatalf("the tables are %v", list.TableNames)
	}
	for _, m := range w.tables {
		w.run(&read{view: view{m: m}})
		w.checkCounts(m)
		if w.streams {
			w.checkStream(m)
		}
	}
	if err := checkIndexes(w.store.Store); err != nil {
		w.Fatalf("%v", err)
	}
}

// checkCounts compares ItemCount and the sizes in a description with the model.
func (w *world) checkCounts(m *model) {
	w.Helper()
	type counts struct {
		IndexName                 string
		ItemCount, IndexSizeBytes int
	}
	var out struct {
		Table struct {
			ItemCount, TableSizeBytes                     int
			GlobalSecondaryIndexes, LocalSecondaryIndexes []counts
		}
	}
	w.must("DescribeTable", map[string]any{"TableName": m.name}, &out)
	got := map[string]counts{"": {"", out.Table.ItemCount, out.Table.TableSizeBytes}}
	for _, c := range slices.Concat(out.Table.GlobalSecondaryIndexes, out.Table.LocalSecondaryIndexes) {
		got[c.IndexName] = c
	}
	for _, v := range m.views() {
		want := counts{IndexName: v.name()}
		for _, e := range v.entries() {
			want.ItemCount++
			want.IndexSizeBytes += e.size() + overhead
		}
		if got[v.name()] != want {
			w.Fatalf("the description of %s counts %+v, want %+v", m.name, got[v.name()], want)
		}
	}
	if len(got) != len(m.views()) {
		w.Fatalf("the description of %s has %v, want %d indexes", m.name, json.RawMessage(w.buf), len(m.views())-1)
	}
}
