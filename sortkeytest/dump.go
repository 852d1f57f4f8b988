package sortkeytest

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dump returns the items of tables as text, by default of all tables: a line for the
// key of each table, as in [DB.Table], and a line for each item in the order of keys.
// Equal items give equal text.
//
//	Orders: customer / placed
//	"7" / "2026-01-30"  {total: 12}
func (db *DB) Dump(tables ...string) string {
	defer resume()
	db.t.Helper()
	if len(tables) == 0 {
		tables = db.tables()
	}
	var b strings.Builder
	for _, table := range tables {
		fmt.Fprintf(&b, "%s: %s\n", table, db.schema(table, ""))
		for _, row := range db.rows(table) {
			b.WriteString(row.String() + "\n")
		}
	}
	return b.String()
}

// Diff returns what has changed in the items of all tables since before, which is
// usually a fork: a line with + for an item that is new, - for one that is gone,
// and ~ for one whose attributes differ. It returns "" if nothing has changed.
//
//	Orders: customer / placed
//	~ "7" / "2026-01-30"  {total: 12 → 13, note: none → "gift"}
//
// In memory, the time depends on what differs between a database and its fork, not on
// how many items there are.
func (db *DB) Diff(before *DB) string {
	defer resume()
	db.t.Helper()
	heads := map[string][2]string{} // the line of a table before and now
	for i, side := range []*DB{before, db} {
		for _, table := range side.tables() {
			head := heads[table]
			head[i] = side.schema(table, "").String()
			heads[table] = head
		}
	}
	var b strings.Builder
	for _, table := range slices.Sorted(maps.Keys(heads)) {
		head := heads[table]
		if head[0] == head[1] {
			for i, c := range db.changes(before, table) {
				if i == 0 {
					b.WriteString(table + ": " + head[0] + "\n")
				}
				b.WriteString(c.String())
			}
			continue
		}
		for i, side := range []*DB{before, db} {
			if head[i] == "" {
				continue
			}
			sign := []string{"- ", "+ "}[i]
			b.WriteString(sign + table + ": " + head[i] + "\n")
			for _, row := range side.rows(table) {
				b.WriteString(sign + row.String() + "\n")
			}
		}
	}
	return b.String()
}

// String returns the line of a change in [DB.Diff].
func (c change) String() string {
	switch {
	case c.before.item == nil:
		return "+ " + c.now.String() + "\n"
	case c.now.item == nil:
		return "- " + c.before.String() + "\n"
	}
	return "~ " + c.before.changed(c.now) + "\n"
}

// Golden compares [DB.Dump] with a file, and fails the test if they differ. With
// SORTKEY_UPDATE=1 in the environment it writes the file instead, also with a flag
// -update if the test program has defined one.
func (db *DB) Golden(path string, tables ...string) {
	defer resume()
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

// updating reports whether golden files are to be written. A flag of this package
// would collide with the one that many test programs define.
func updating() bool {
	f := flag.Lookup("update")
	return os.Getenv("SORTKEY_UPDATE") != "" || f != nil && f.Value.String() == "true"
}

// compareLines returns the lines in which two dumps differ. The lines of a dump
// are in order, so those in both need no alignment.
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
