package sortkeytest

import (
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
