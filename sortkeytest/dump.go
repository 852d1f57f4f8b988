package sortkeytest

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// Dump returns the items of tables as text, by default those of all tables: a line
// for the key of each table, as in [DB.Table], and a line for each item in the
// order of keys. Equal items give equal text.
//
//	Orders: customer / placed
//	"7" / "2026-01-30"  {total: 12}
func (db *DB) Dump(tables ...string) string {
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
func (db *DB) Diff(before *DB) string {
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
			lines := changes(before.rows(table), db.rows(table))
			if len(lines) > 0 {
				b.WriteString(table + ": " + head[0] + "\n" + strings.Join(lines, ""))
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

// changes merges the rows of two databases in the order of keys.
func changes(before, now []row) (lines []string) {
	for len(before) > 0 || len(now) > 0 {
		order := 0
		switch {
		case len(before) == 0:
			order = 1
		case len(now) == 0:
			order = -1
		default:
			order = compareRows(before[0], now[0])
		}
		switch {
		case order < 0:
			lines = append(lines, "- "+before[0].String()+"\n")
		case order > 0:
			lines = append(lines, "+ "+now[0].String()+"\n")
		case !before[0].item.Equal(now[0].item):
			lines = append(lines, "~ "+before[0].changed(now[0])+"\n")
		}
		if order <= 0 {
			before = before[1:]
		}
		if order >= 0 {
			now = now[1:]
		}
	}
	return lines
}

// Golden compares [DB.Dump] with a file, and fails the test if they differ. With
// SORTKEY_UPDATE=1 in the environment it writes the file instead, also with a flag
// -update if the test program has defined one.
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
		db.t.Errorf("sortkeytest: the items differ from %s (SORTKEY_UPDATE=1 go test writes it anew)\n%s", path, compareLines(want, got))
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

// tables returns the names of all tables, sorted.
func (db *DB) tables() (names []string) {
	db.t.Helper()
	pages := dynamodb.NewListTablesPaginator(db.Direct, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(quiet)
		if err != nil {
			db.t.Fatalf("sortkeytest: %v", err)
		}
		names = append(names, page.TableNames...)
	}
	return names
}

// A schema is the key of a table or an index.
type schema struct {
	names     []string // of the attributes
	partition int      // how many of them are the partition key
	text      string   // as in [DB.Table]
}

// String returns the schema in the form that [DB.Table] and [Global] take.
func (s schema) String() string { return s.text }

func (db *DB) schema(table, index string) (s schema) {
	db.t.Helper()
	out, err := inside.Service(db.DB).DescribeTable(quiet, &wire.DescribeTableInput{TableName: &table})
	if err != nil {
		db.t.Fatalf("sortkeytest: table %s: %v", table, err)
	}
	d := out.Table
	key := d.KeySchema
	for _, x := range d.GlobalSecondaryIndexes {
		if index != "" && *x.IndexName == index {
			key, index = x.KeySchema, ""
		}
	}
	for _, x := range d.LocalSecondaryIndexes {
		if index != "" && *x.IndexName == index {
			key, index = x.KeySchema, ""
		}
	}
	if index != "" {
		db.t.Fatalf("sortkeytest: table %s has no index %s", table, index)
	}
	for i, k := range key {
		switch {
		case *k.KeyType == "HASH":
			s.partition++
			fallthrough
		case i > s.partition:
			if i > 0 {
				s.text += ", "
			}
		default:
			s.text += " / "
		}
		s.names = append(s.names, *k.AttributeName)
		s.text += *k.AttributeName
		for _, a := range d.AttributeDefinitions {
			if *a.AttributeName == *k.AttributeName && *a.AttributeType != "S" {
				s.text += ":" + *a.AttributeType
			}
		}
	}
	return s
}

// A row is an item with its key.
type row struct {
	names []string // of the key
	key   []attr.Value
	item  attr.Item
}

// rows returns the items of a table in the order of their keys.
func (db *DB) rows(table string) (rows []row) {
	db.t.Helper()
	names := db.schema(table, "").names
	pages := dynamodb.NewScanPaginator(db.Direct, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(quiet)
		if err != nil {
			db.t.Fatalf("sortkeytest: %v", err)
		}
		for _, attributes := range page.Items {
			it, err := sdkvalue.Item(attributes)
			if err != nil {
				db.t.Fatalf("sortkeytest: table %s: %v", table, err)
			}
			r := row{names: names, item: it}
			for _, name := range names {
				r.key = append(r.key, it.Get(name))
			}
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, compareRows)
	return rows
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

// String returns the key and the other attributes.
func (r row) String() string {
	var others []string
	for name, v := range r.item.All() {
		if !slices.Contains(r.names, string(name)) {
			others = append(others, text.Name(string(name))+": "+text.Literal(v))
		}
	}
	return r.line(others)
}

// changed returns the key and the attributes that differ in another row.
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
