package sortkeytest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/keycond"
)

// Dump returns the items of tables as text, by default of all tables: a line for each table with its key as in
// [DB.Table], and a line for each item in the order of keys. Equal items give equal text.
//
//	Orders: customer / placed
//	"7" / "2026-01-30"  {total: 12}
func (db *DB) Dump(tables ...string) string {
	db.t.Helper()
	var b strings.Builder
	db.moment(func(ctx context.Context) {
		list := tables
		if len(tables) == 0 {
			list = db.tables(ctx)
		}
		for _, table := range list {
			s := db.findSchema(ctx, table, "")
			if s == nil && len(tables) == 0 {
				continue // the time of DELETING has ended since db.tables returned the name
			}
			if s == nil {
				db.missing(ctx, table)
			}
			fmt.Fprintf(&b, "%s: %s\n", table, s)
			for _, row := range db.rows(ctx, s, table) {
				b.WriteString(row.String() + "\n")
			}
		}
	})

	return b.String()
}

// Diff returns the differences between the items of all tables in before, which is usually a fork, and in db. A line
// with + is for a new item, a line with - for a deleted one, and a line with ~ for an item with changed attributes.
// Diff returns "" if nothing differs.
//
//	Orders: customer / placed
//	~ "7" / "2026-01-30"  {total: 12 → 13, note: none → "gift"}
//
// For a database in memory and its fork, the time depends on the number of differences, not on the number of items.
func (db *DB) Diff(before *DB) string {
	db.t.Helper()
	if before == nil {
		db.t.Fatalf("sortkeytest: Diff needs the database before, usually a fork, which is nil")
	}
	var diff string
	before.momentIn(quiet, func(ctx context.Context) {
		db.momentIn(ctx, func(ctx context.Context) { diff = db.diff(ctx, before) })
	})
	return diff
}

// diff implements Diff. With ctx, all reads of before see the same state of before, and all reads of db see the same
// state of db.
func (db *DB) diff(ctx context.Context, before *DB) string {
	db.t.Helper()
	sides := []*DB{before, db}
	schemas := map[string]*[2]*keycond.Schema{} // by table, before and now
	for i, side := range sides {
		for _, table := range side.tables(ctx) {
			if s := side.findSchema(ctx, table, ""); s != nil {
				if schemas[table] == nil {
					schemas[table] = new([2]*keycond.Schema)
				}
				schemas[table][i] = s
			}
		}
	}

	var b strings.Builder
	for _, table := range slices.Sorted(maps.Keys(schemas)) {
		both := schemas[table]
		if both[0] != nil && both[1] != nil && both[0].String() == both[1].String() {
			for i, c := range db.changes(ctx, before, both[1], table) {
				if i == 0 {
					fmt.Fprintf(&b, "%s: %s\n", table, both[1])
				}
				b.WriteString(c.String())
			}
			continue
		}
		for i, side := range sides {
			if both[i] == nil {
				continue
			}
			sign := []string{"- ", "+ "}[i]
			fmt.Fprintf(&b, "%s%s: %s\n", sign, table, both[i])
			for _, row := range side.rows(ctx, both[i], table) {
				b.WriteString(sign + row.String() + "\n")
			}
		}
	}
	return b.String()
}

// String returns the line that [DB.Diff] prints for the change.
func (c change) String() string {
	switch {
	case c.before.item == nil:
		return "+ " + c.now.String() + "\n"
	case c.now.item == nil:
		return "- " + c.before.String() + "\n"
	}
	return "~ " + c.before.changed(c.now) + "\n"
}

// Golden compares the result of [DB.Dump] with a file, and fails the test if they differ. If the environment has
// SORTKEY_UPDATE=1, Golden writes the file instead. It also does so with the flag -update, if the test program
// defines that flag.
func (db *DB) Golden(path string, tables ...string) {
	db.t.Helper()
	got := db.Dump(tables...)
	if updating() {
		err := os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // a folder of the source code
		if err == nil {
			err = os.WriteFile(path, []byte(got), 0o644) //nolint:gosec // a file of the source code
		}
		if err != nil {
			db.t.Fatalf("sortkeytest: %v", err)
		}
		return
	}

	file, err := os.ReadFile(path)
	if err != nil {
		db.t.Fatalf("sortkeytest: %v (SORTKEY_UPDATE=1 go test writes it)", err)
	}
	want := strings.ReplaceAll(string(file), "\r\n", "\n")
	if got != want {
		db.t.Errorf(
			"sortkeytest: the items differ from %s (SORTKEY_UPDATE=1 go test writes it anew)\n%s", path,
			compareLines(want, got),
		)
	}
}

// updating reports whether Golden should write the files. It only looks up the flag -update, which many test programs
// define. If this package defined the flag too, the two would collide.
func updating() bool {
	f := flag.Lookup("update")
	return os.Getenv("SORTKEY_UPDATE") != "" || f != nil && f.Value.String() == "true"
}

// compareLines returns the lines of want that are not in got, and then the lines of got that are not in want. It
// ignores the order of lines, as the lines of every dump are in the order of the keys.
func compareLines(want, got string) string {
	wanted, have := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b strings.Builder
	for _, line := range wanted {
		if !slices.Contains(have, line) {
			b.WriteString("- " + line + "\n")
		}
	}
	for _, line := range have {
		if !slices.Contains(wanted, line) {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}
